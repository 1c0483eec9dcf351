"""Games under fire: a real server killed again and again, an unreliable network, patient clients.

What is claimed is checked from the outside only: what clients were told, against the log in the
server's file and the replays that it serves.
"""

import asyncio
import collections
import contextlib
import json
import random
import sqlite3
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, Final, TypeVar

from opolyx_engine.record import command_key
from opolyx_rules.actions import TIME_OUT
from opolyx_sdk import AsyncClient, ClientOptions, RoomOptions, SteadyBot
from opolyx_sdk._mirror import Mirror
from opolyx_sdk.actions import Action
from opolyx_sdk.bots import fallback_action
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import Occupant, RoomState
from opolyx_sdk.errors import (
    ConnectionLost,
    LimitReached,
    OpolyxError,
    OutcomeUnknown,
    Refused,
    ServiceUnavailable,
    WrongState,
)
from opolyx_sdk.game import Game
from opolyx_sdk.local.verify import verify_replay
from support_proxy import FlakyProxy
from support_sdk import ServeProcess

T = TypeVar("T")

RULESETS: Final = ("classic@full", "blitz@full", "speed@guide", "fortune@full", "team@full")
DATABASE: Final = "opolyx.sqlite"
PATIENT: Final = ClientOptions(patience_s=600, command_timeout_s=600, connect_timeout_s=2)
_SEATS: Final = 4
_SETUP_SECONDS: Final = 600.0
_PLAY_SECONDS: Final = 5.0
_LAST_GAME_SECONDS: Final = 900.0
"""What a game may take after the last kill."""


@dataclass
class Plan:
    """How much chaos."""

    kills: int = 200
    """Kills of the server with -9."""

    games: int = 50
    """Games that run at every kill."""

    minutes: float = 20.0
    """No further kill after so long."""

    most_pause_s: float = 2.0
    """Most seconds before that, for clients to come back."""

    seed: int = 1
    """Where the moments are drawn from."""

    round_cap: int = 40
    """Round cap of the games, more or less: they aren't to end all at once."""

    most_commands: int = 60
    """Most commands that are acknowledged between a server that serves and its kill."""

    cuts: bool = True
    """Whether connections are cut, swallowed and halved besides."""


@dataclass
class Ledger:
    """What the clients of one game were told."""

    acknowledged: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By command id: the seat that sent it, and the update that it was told it caused."""

    digests: dict[int, str] = field(default_factory=dict)
    """Digest of the log at each update that some client saw."""

    seats: dict[int, str] = field(default_factory=dict)
    """Whose seat it is."""

    over: bool = False
    """Whether every client saw the end."""


@dataclass
class Summary:
    """What happened, and what was found wrong."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    """How often what happened."""

    problems: list[str] = field(default_factory=list)
    """What must not be; empty if all is well."""

    running_at_kills: list[int] = field(default_factory=list)
    """Games that ran, at each kill."""

    took_s: float = 0.0
    """How long it took."""

    def wrong(self, problem: str) -> None:
        """Note a broken promise."""
        self.problems.append(problem)

    def table(self) -> str:
        """All of it, as lines."""
        running = self.running_at_kills or [0]
        rows = [
            ("seconds", f"{self.took_s:,.0f}"),
            ("games running at a kill, least", f"{min(running):,}"),
            *((name, f"{count:,}") for name, count in sorted(self.counts.items())),
            ("broken promises", f"{len(self.problems):,}"),
        ]
        lines = [f"{name:44}{value:>12}" for name, value in rows]
        return "\n".join(lines + self.problems[:20])


class Chaos:
    """One run: a server, a network, tables of players, and somebody with an axe."""

    def __init__(self, plan: Plan, say: Callable[[str], object] = lambda line: None) -> None:
        """Run by `plan`; `say` is told how it goes."""
        self._plan = plan
        self._say = say
        self._rng = random.Random(plan.seed)
        self._summary = Summary()
        self._ledgers: dict[str, Ledger] = collections.defaultdict(Ledger)
        self._running: set[str] = set()
        self._finishing = False

    async def run(self) -> Summary:
        """Do it all; what is wrong is in the summary."""
        began = time.monotonic()
        with tempfile.TemporaryDirectory() as name, watched_mirrors(self._ledgers, self._summary):
            directory = Path(name)
            async with ServeProcess(directory) as server, FlakyProxy(server.port) as network:
                await self._play_under_fire(server, network)
                async with AsyncClient(server.address) as reader:
                    await self._check_replays(reader, directory)
                await self._check_awards(directory / DATABASE)
                self._summary.counts["exit code at the end"] = await server.terminate()
            self._check_log(directory / DATABASE)
        self._summary.took_s = time.monotonic() - began
        return self._summary

    async def _play_under_fire(self, server: ServeProcess, network: FlakyProxy) -> None:
        count = self._plan.games + max(2, self._plan.games // 5)
        tables = [
            asyncio.create_task(self._table(network.address, number), name=f"table {number}")
            for number in range(count)
        ]
        cutting = asyncio.create_task(self._cut_now_and_then(network), name="cuts")
        try:
            await self._kill_again_and_again(server, tables)
        finally:
            self._finishing = True
            cutting.cancel()
            await asyncio.gather(cutting, return_exceptions=True)
        for result in await asyncio.gather(*tables, return_exceptions=True):
            if isinstance(result, BaseException):
                self._summary.wrong(f"a table broke: {result!r}")

    # --- The axe --------------------------------------------------------------------------------

    async def _kill_again_and_again(
        self, server: ServeProcess, tables: list[asyncio.Task[None]]
    ) -> None:
        until = time.monotonic() + self._plan.minutes * 60
        kills = said = 0
        while kills < self._plan.kills and time.monotonic() < until and not self._summary.problems:
            async with asyncio.timeout(_SETUP_SECONDS):
                while len(self._running) < self._plan.games and not self._summary.problems:
                    if broken := [one for one in tables if one.done()]:
                        await broken[0]
                    await asyncio.sleep(0.01)
            await self._let_play()
            await self._kill(server)
            kills += 1
            if self._rng.random() < 0.15 and kills < self._plan.kills:
                await server.spawn()
                await asyncio.sleep(self._rng.uniform(0, 1.5))
                await self._kill(server)
                self._summary.counts["kills while it started"] += 1
                kills += 1
            began = time.monotonic()
            await server.start()
            if kills // 10 > said:
                said = kills // 10
                self._say(
                    f"{kills} kills, {len(self._running)} games running,"
                    f" {self._summary.counts['games ended']} ended;"
                    f" serves again after {time.monotonic() - began:.2f} s"
                )

    async def _let_play(self) -> None:
        """Until a random number of commands more was acknowledged: kills are to meet moves."""
        await asyncio.sleep(self._rng.uniform(0, self._plan.most_pause_s))
        goal = self._acknowledged + self._rng.randint(0, self._plan.most_commands)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_PLAY_SECONDS):
                while self._acknowledged < goal:  # noqa: ASYNC110 - others count
                    await asyncio.sleep(0.01)

    @property
    def _acknowledged(self) -> int:
        return self._summary.counts["commands acknowledged"]

    async def _kill(self, server: ServeProcess) -> None:
        self._summary.running_at_kills.append(len(self._running))
        self._summary.counts["kills"] += 1
        await server.kill()

    async def _cut_now_and_then(self, network: FlakyProxy) -> None:
        while self._plan.cuts:
            await asyncio.sleep(self._rng.uniform(0.2, 1.2))
            kind = self._rng.choice(("cut", "halved", "swallowed", "unheard"))
            for link in network.some_links(self._rng, 0.15):
                self._summary.counts[f"connections {kind}"] += 1
                if kind == "cut":
                    link.cut()
                elif kind == "halved":
                    link.halves_next = True
                else:
                    link.swallows_up = kind == "swallowed"
                    link.swallows_down = True
                    asyncio.get_running_loop().call_later(self._rng.uniform(0.1, 3), link.cut)

    # --- The tables -----------------------------------------------------------------------------

    async def _table(self, address: str, number: int) -> None:
        """Two guests who play one game after another with built-in bots."""
        rng = random.Random(self._plan.seed * 1_000 + number)
        async with (
            AsyncClient(address, options=PATIENT) as host,
            AsyncClient(address, options=PATIENT) as guest,
        ):
            for client in (host, guest):
                await self._persist(partial(client.create_guest, f"Table {number}"))
            while not self._finishing:
                async with asyncio.timeout(_SETUP_SECONDS):
                    game_id = await self._start_game(host, guest, rng)
                self._running.add(game_id)
                try:
                    async with asyncio.timeout(self._plan.minutes * 60 + _LAST_GAME_SECONDS):
                        await asyncio.gather(*(self._play(one, game_id) for one in (host, guest)))
                    self._ledgers[game_id].over = True
                    self._summary.counts["games ended"] += 1
                except (OpolyxError, TimeoutError) as error:
                    self._summary.wrong(f"{game_id} was not played to its end: {error!r}")
                    self._say(self._summary.problems[-1])
                    return
                finally:
                    self._running.discard(game_id)

    async def _persist(self, call: Callable[[], Awaitable[T]]) -> T:
        """The call's result, however often the server is away meanwhile."""
        while True:
            try:
                return await call()
            except (ConnectionLost, ServiceUnavailable, LimitReached):
                self._summary.counts["calls made again"] += 1
                await asyncio.sleep(0.1)

    async def _start_game(self, host: AsyncClient, guest: AsyncClient, rng: random.Random) -> str:
        """A new game's id; each step may be lost on the way, so each looks where it is first."""
        request_id = uuid.uuid4().hex
        ruleset = rng.choice(RULESETS)
        cap = self._plan.round_cap
        options = RoomOptions(round_cap=rng.randint(max(1, cap // 2), cap * 3 // 2))
        while True:
            try:
                room = await host.create_room(
                    ruleset, _SEATS, options=options, request_id=request_id
                )
                if room.state is RoomState.STARTED:
                    return room.game_id
                room, _ = await guest.join_room(code=room.code)
                for seat in room.seats:
                    if seat.occupant is Occupant.UNSPECIFIED:
                        policy = rng.choice(("steady", "random", "trader"))
                        await host.add_bot(room.room_id, policy=policy, seat=seat.seat)
                return await host.start_game(room.room_id)
            except (ConnectionLost, ServiceUnavailable, LimitReached, WrongState) as error:
                self._summary.counts["calls made again"] += 1
                if isinstance(error, WrongState):
                    self._summary.counts[f"set-up met {error.reason}"] += 1
                await asyncio.sleep(0.1)

    async def _play(self, client: AsyncClient, game_id: str) -> None:
        """Play one seat by the public API, as a user's own program would."""
        bot = SteadyBot()
        answered = ("", -1)
        async with client.play(game_id) as game:
            ledger = self._ledgers[game_id]
            assert game.seat is not None
            ledger.seats[game.seat] = "client"
            while not game.over:
                decision = game.decision
                if decision and (key := (decision.decision_id, game.seq)) != answered:
                    answered = key
                    await self._act(game, decision, bot.decide(game.view, decision), ledger)
                try:
                    update = await anext(game)
                except StopAsyncIteration:
                    break
                self._summary.counts["updates received"] += 1
                self._summary.counts["updates replaced by a snapshot"] += update.missed

    async def _act(self, game: Game, decision: Decision, action: Action, ledger: Ledger) -> None:
        """Send until the server has judged; the same id again if the outcome is unknown."""
        command_id = uuid.uuid4().hex
        while True:
            try:
                seq = await game.submit(action, decision=decision, command_id=command_id)
            except OutcomeUnknown:
                self._summary.counts["outcomes unknown at first"] += 1
                continue
            except Refused as refused:
                self._summary.counts[f"refused {refused.refusal.reason.name}"] += 1
                if all(one.decision_id != decision.decision_id for one in game.own_decisions):
                    return
                action, command_id = fallback_action(decision), uuid.uuid4().hex
                continue
            assert game.seat is not None
            ledger.acknowledged[command_id] = (game.seat, seq)
            self._summary.counts["commands acknowledged"] += 1
            return

    # --- What was promised ----------------------------------------------------------------------

    async def _check_replays(self, reader: AsyncClient, directory: Path) -> None:
        """Each game's replay is whole, verifies, and is what the clients saw."""
        path = directory / "replay.jsonl"
        await reader.create_guest("Reader")
        for game_id, ledger in self._ledgers.items():
            complete = await reader.get_replay(game_id, path)
            data = await asyncio.to_thread(path.read_bytes)
            found = await asyncio.to_thread(verify_replay, data)
            if not (complete and found.ok and found.complete):
                self._summary.wrong(f"{game_id}: replay {found.problem or 'incomplete'}")
            else:
                self._summary.counts["replays verified with the revealed secret"] += 1
            records = {one["seq"]: one for one in map(json.loads, data.split(b"\n")[1:-2])}
            for seq, digest in ledger.digests.items():
                self._summary.counts["digests seen by clients and in the log"] += 1
                if records.get(seq, {}).get("log_digest") != digest:
                    self._summary.wrong(f"{game_id}: update {seq} was seen and is not in the log")
            self._check_clocks(game_id, ledger, records)

    def _check_clocks(self, game_id: str, ledger: Ledger, records: dict[int, Any]) -> None:
        """Nobody who plays loses a turn to an outage."""
        for record in records.values():
            action = record["action"]
            if action and action[0] == TIME_OUT and action[1] in ledger.seats:
                self._summary.counts["turns lost to the clock"] += 1
                self._summary.wrong(f"{game_id}: seat {action[1]} lost a turn to the clock")

    async def _check_awards(self, path: Path) -> None:
        """Whoever played is paid once, also for a game that ended as the server died."""
        owed = {(game_id, seat) for game_id, one in self._ledgers.items() for seat in one.seats}
        paid: collections.Counter[tuple[str, int]] = collections.Counter()
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        try:
            for _ in range(300):
                rows = database.execute("SELECT game_id, seat FROM progression_awards").fetchall()
                paid = collections.Counter((game_id, seat) for game_id, seat in rows)
                if owed <= paid.keys():
                    break
                await asyncio.sleep(0.1)
        finally:
            database.close()
        for key in owed:
            if paid[key] != 1:
                self._summary.wrong(f"{key[0]}: seat {key[1]} was paid {paid[key]} times")
        self._summary.counts["awards, one for each seat of a client"] = len(owed)

    def _check_log(self, path: Path) -> None:
        """The log holds each acknowledged command once, and no other of the clients'."""
        database = sqlite3.connect(path)
        try:
            (problem,) = database.execute("PRAGMA integrity_check").fetchone()
            if problem != "ok":
                self._summary.wrong(f"the file is damaged: {problem}")
            for game_id, ledger in self._ledgers.items():
                self._check_commands(game_id, ledger, database)
        finally:
            database.close()

    def _check_commands(self, game_id: str, ledger: Ledger, database: sqlite3.Connection) -> None:
        rows = database.execute(
            "SELECT command_id, seq, body FROM engine_records WHERE game_id = ?", (game_id,)
        ).fetchall()
        log: dict[str, tuple[int, int]] = {}
        for key, seq, body in rows:
            if not key:
                continue
            seat = json.loads(body.split(b"\n")[0])["action"][1]
            command_id = key.removeprefix(command_key(seat, ""))
            if command_id in log:
                self._summary.wrong(f"{game_id}: command {command_id} was applied twice")
            log[command_id] = (seat, seq)
        for command_id, told in ledger.acknowledged.items():
            if log.get(command_id) != told:
                self._summary.wrong(
                    f"{game_id}: {command_id} was acknowledged as {told},"
                    f" the log has {log.get(command_id)}"
                )
        if extra := log.keys() - ledger.acknowledged.keys():
            self._summary.wrong(f"{game_id}: {len(extra)} commands in the log no client counted")
        self._summary.counts["commands in the log"] += len(log)


@contextlib.contextmanager
def watched_mirrors(ledgers: dict[str, Ledger], summary: Summary) -> Iterator[None]:
    """Make the SDK's mirrors loud: note what each was told, and each digest that didn't match."""
    old_init, old_apply, old_matches = Mirror.__init__, Mirror.apply, Mirror.matches

    def saw(mirror: Mirror) -> None:
        digests = ledgers[mirror.info.game_id].digests
        digest = mirror.log_digest.hex()
        if digest and digests.setdefault(mirror.seq, digest) != digest:
            summary.wrong(f"{mirror.info.game_id}: two histories at update {mirror.seq}")

    def init(mirror: Mirror, *arguments: Any) -> None:
        old_init(mirror, *arguments)
        saw(mirror)

    def apply(mirror: Mirror, *arguments: Any) -> Any:
        update = old_apply(mirror, *arguments)
        saw(mirror)
        return update

    def matches(mirror: Mirror, digest: bytes) -> bool:
        fits = old_matches(mirror, digest)
        summary.counts["mirrors compared with a digest"] += bool(digest)
        if not fits:
            summary.wrong(f"{mirror.info.game_id}: a mirror differs at update {mirror.seq}")
        return fits

    Mirror.__init__, Mirror.apply, Mirror.matches = init, apply, matches  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        Mirror.__init__, Mirror.apply, Mirror.matches = old_init, old_apply, old_matches  # type: ignore[method-assign]
