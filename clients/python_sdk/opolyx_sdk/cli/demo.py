"""`opolyx demo`: the whole system in one process, seen through one game."""

import asyncio
import hashlib
import json
import secrets
import tempfile
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Final, TypeAlias

from opolyx_sdk._digest import state_digest
from opolyx_sdk.bots import Bot, SteadyBot
from opolyx_sdk.cli.demo_screen import DemoScreen
from opolyx_sdk.cli.embedded import find_embedded
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.errors import GameError, OpolyxError
from opolyx_sdk.profiles import Award
from opolyx_sdk.replays import Verification
from opolyx_sdk.runner import BotRunner
from opolyx_sdk.views import GameView

VerifyFile: TypeAlias = Callable[[Path], Verification]

SEATS: Final = 4
_AWARDS_WAIT_S: Final = 15.0
_GUESTS: Final = ("Ada", "Bruno")
_BUILT_IN: Final = ("steady", "random")


@dataclass(frozen=True, slots=True)
class DemoResult:
    """What `--json` prints."""

    game_id: str
    """The game."""

    ruleset: str
    """Its ruleset."""

    seats: list[str]
    """Names in seat order."""

    rounds: int
    """Round of the end."""

    updates: int
    """Number of the last update."""

    seconds: float
    """From the start of the game to its end."""

    places: list[int]
    """Places in seat order."""

    awards: list[int]
    """XP in seat order, from the ledger of awards."""

    digest: str
    """Digest of the last state, hex; the same for the same seed."""

    verified: bool
    """Whether the replay holds, down to every die."""


def run_demo(
    *, seed: int | None, ruleset: str, keep: Path | None, as_json: bool, language: str = "en"
) -> int:
    """Run the demo; 0 if the game was verified.

    Raises:
        OpolyxError: the server or the rules aren't installed, or the game can't be played.
        OSError: `keep` can't be written to.
    """
    from opolyx_sdk.local.verify import verify_file  # tells at once when the rules are missing

    with tempfile.TemporaryDirectory(prefix="opolyx-demo-") as scratch:
        data_dir = _free_directory(keep) if keep else Path(scratch)
        screen = DemoScreen(quiet=as_json, language=language)
        demo = _Demo(seed, ruleset, data_dir, keep is not None, screen)
        try:
            result = asyncio.run(demo.run(verify_file))
        except BaseExceptionGroup as group:
            raise _first(group) from None
    if as_json:
        print(json.dumps(asdict(result)), flush=True)
    return 0 if result.verified else 1


def _first(group: BaseExceptionGroup) -> BaseException:
    """What went wrong first of the tasks that play."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Demo:
    """One run."""

    def __init__(
        self, seed: int | None, ruleset: str, data_dir: Path, keep: bool, screen: DemoScreen
    ) -> None:
        self._seed = seed
        self._ruleset = ruleset
        self._data_dir = data_dir
        self._keep = keep
        self._screen = screen

    async def run(self, verify: VerifyFile) -> DemoResult:
        seed = None if self._seed is None else str(self._seed)
        embedded = find_embedded()(self._data_dir, seed=seed, bot_delay_ms=0, listen="127.0.0.1:0")
        async with embedded as server, AsyncExitStack() as stack:
            self._screen.tell("serving", address=server.address)
            players = [
                await stack.enter_async_context(AsyncClient(server.address)) for _ in _GUESTS
            ]
            watcher = await stack.enter_async_context(
                AsyncClient(server.address, token=server.operator_token())
            )
            game_id = await self._seat(players)
            return await self._play(players, watcher, game_id, verify)

    async def _seat(self, players: list[AsyncClient]) -> str:
        """Open a room over gRPC and fill it; the id of the started game."""
        for player, name in zip(players, _GUESTS, strict=True):
            await player.create_guest(name)
        host = players[0]
        room = await host.create_room(self._ruleset, SEATS, nonce=self._nonce(0))
        for number, player in enumerate(players[1:], 1):
            await player.join_room(code=room.code, nonce=self._nonce(number))
        for policy in _BUILT_IN:
            room = await host.add_bot(room.room_id, policy=policy)
        self._screen.room(room.code, [seat.name for seat in room.seats])
        self._screen.tell("commitment", digest=room.commitment.hex())
        return await host.start_game(room.room_id)

    async def _play(
        self, players: list[AsyncClient], watcher: AsyncClient, game_id: str, verify: VerifyFile
    ) -> DemoResult:
        started = time.perf_counter()
        bots: tuple[Callable[[], Bot], ...] = (SteadyBot, partial(SteadyBot, reserve=500))
        async with watcher.watch(game_id) as game:
            names = [seat.name for seat in game.info.seats]
            self._screen.begin(game.info.ruleset, names)
            past = await watcher.past_events(game_id, up_to=game.seq) if game.seq else {}
            for seq in sorted(past):
                self._screen.show(past[seq], game.view)
            async with asyncio.TaskGroup() as group:
                for player, bot in zip(players, bots, strict=True):
                    group.create_task(BotRunner(player, bot).play(game_id))
                async for update in game:
                    self._screen.show(update.events, update.view)
            view, seq = game.view, game.seq
        seconds = time.perf_counter() - started
        if view.result is None:
            raise GameError(game_id, "it ended without a result")
        awards = await _awards(watcher, game_id, len(names))
        self._screen.standings(view, awards)
        # Made only now: a run that ends early leaves no directory behind.
        folder = self._data_dir if self._keep else Path(tempfile.mkdtemp(prefix="opolyx-replay-"))
        path = folder / f"{game_id}.jsonl"
        await players[0].get_replay(game_id, path)
        found = await asyncio.to_thread(verify, path)
        self._screen.end(path, found, seq, seconds)
        return self._result(game_id, names, view, seq, seconds, awards, found)

    def _result(
        self,
        game_id: str,
        names: list[str],
        view: GameView,
        seq: int,
        seconds: float,
        awards: dict[int, Award],
        found: Verification,
    ) -> DemoResult:
        assert view.result is not None  # noqa: S101 - checked by the caller
        seats = range(len(names))
        places = {one.seat: one.place for one in view.result.seats}
        return DemoResult(
            game_id=game_id,
            ruleset=self._ruleset,
            seats=names,
            rounds=view.result.round,
            updates=seq,
            seconds=round(seconds, 3),
            places=[places[seat] for seat in seats],
            awards=[awards[seat].xp if seat in awards else 0 for seat in seats],
            digest=state_digest(view).hex(),
            verified=found.fair and found.updates == seq,
        )

    def _nonce(self, number: int) -> bytes:
        """A player's share in the dice; it follows from the seed, if there is one."""
        if self._seed is None:
            return secrets.token_bytes(16)
        return hashlib.sha256(f"opolyx-demo:{self._seed}:{number}".encode()).digest()[:16]


async def _awards(client: AsyncClient, game_id: str, seats: int) -> dict[int, Award]:
    """The awards by seat, once the facts of the game have reached progression.

    Raises:
        OpolyxError: they don't come.
    """
    give_up = time.monotonic() + _AWARDS_WAIT_S
    while True:
        awards = {one.seat: one for one in await client.awards(game_id=game_id)}
        if len(awards) >= seats:
            return awards
        if time.monotonic() > give_up:
            raise OpolyxError(f"{len(awards)} of {seats} awards after {_AWARDS_WAIT_S:g} s")
        await asyncio.sleep(0.02)


def _free_directory(wanted: Path) -> Path:
    """`wanted`, or a numbered directory in it when it holds an earlier run."""
    directory, number = wanted, 1
    while directory.exists() and any(directory.iterdir()):
        number += 1
        directory = wanted / f"run-{number}"
    directory.mkdir(parents=True, exist_ok=True)
    return directory
