"""A game in the wire's messages, the server in a process of its own, and what tests do with both."""

import asyncio
import random
import socket
import sys
from pathlib import Path
from typing import Self

from opolyx.engine.v1 import (
    action_pb2,
    decision_pb2,
    engine_service_pb2,
    event_pb2,
    game_pb2,
)
from opolyx_sdk import AsyncClient, Award
from opolyx_sdk._convert import read
from opolyx_sdk._digest import state_digest
from opolyx_sdk.board import SQUARES
from opolyx_sdk.views import GameView

PROPERTIES = tuple(square.number for square in SQUARES if square.group)
NOW_MS = 1_800_000_000_000


def digest_of(view: game_pb2.GameView) -> bytes:
    return state_digest(read(view, GameView))


class ScriptedGame:
    """A game without rules: each update changes something at random, reproducibly."""

    def __init__(self, game_id: str, *, seats: int = 4, seed: int = 0) -> None:
        self.game_id = game_id
        self.rng = random.Random(seed)
        self.view = game_pb2.GameView(
            players=[
                game_pb2.PlayerView(seat=seat, cash=15000, in_game=True, net_worth=15000)
                for seat in range(seats)
            ],
            properties=[game_pb2.PropertyView(square=square) for square in PROPERTIES],
            turn=game_pb2.TurnView(round=1, turn_number=1, phase=decision_pb2.PHASE_ROLL),
        )
        self.view.turn.awaited_seat = 0
        self.seq = 0
        self.updates: dict[int, engine_service_pb2.Update] = {}
        self.state = engine_service_pb2.GAME_STATE_RUNNING
        self.deadline_ms = NOW_MS + 3_600_000

    def decisions(self) -> list[decision_pb2.Decision]:
        if self.state != engine_service_pb2.GAME_STATE_RUNNING:
            return []
        return [
            decision_pb2.Decision(
                decision_id=f"d{self.seq}",
                seat=0,
                phase=decision_pb2.PHASE_ROLL,
                deadline_unix_ms=self.deadline_ms,
                legal_actions=[action_pb2.Action(roll=action_pb2.Roll())],
            )
        ]

    def snapshot(self) -> engine_service_pb2.Snapshot:
        return engine_service_pb2.Snapshot(
            seq=self.seq,
            ruleset="classic@full",
            seats=[engine_service_pb2.Seat(seat=seat, name=f"P{seat}") for seat in range(4)],
            view=self.view,
            decisions=self.decisions(),
            now_unix_ms=NOW_MS,
            state_digest=digest_of(self.view),
            your_seat=0,
            state=self.state,
        )

    def advance(self, *, command_id: str = "", over: bool = False) -> engine_service_pb2.Update:
        """Make the next update."""
        old = game_pb2.GameView()
        old.CopyFrom(self.view)
        self._change()
        if over:
            self.state = engine_service_pb2.GAME_STATE_FINISHED
            self.view.turn.ClearField("awaited_seat")
            self.view.turn.phase = decision_pb2.PHASE_UNSPECIFIED
            self.view.result.CopyFrom(
                game_pb2.ResultView(cause=game_pb2.END_CAUSE_ROUND_CAP, round=self.view.turn.round)
            )
        self.seq += 1
        update = engine_service_pb2.Update(
            seq=self.seq,
            at_unix_ms=NOW_MS + self.seq,
            events=[event_pb2.Event(round_started=event_pb2.RoundStarted(round=self.seq))],
            delta=delta_between(old, self.view),
            decisions=self.decisions(),
            state_digest=digest_of(self.view),
            command_id=command_id,
            state=self.state,
        )
        self.updates[self.seq] = update
        return update

    def _change(self) -> None:
        rng, view = self.rng, self.view
        player = view.players[rng.randrange(len(view.players))]
        player.cash += rng.randrange(-500, 900)
        player.position = rng.randrange(40)
        owned = view.properties[rng.randrange(len(view.properties))]
        owned.owner = rng.randrange(4)
        owned.level = rng.randrange(6)
        view.turn.turn_number += 1
        view.turn.dice[:] = [rng.randrange(1, 7), rng.randrange(1, 7)]
        if rng.random() < 0.3:
            view.auction.CopyFrom(game_pb2.AuctionView(square=5, bid=rng.randrange(5000)))
        elif rng.random() < 0.5:
            view.ClearField("auction")
        del view.debts[:]
        if rng.random() < 0.3:
            claim = game_pb2.ClaimView(creditor=1, amount=rng.randrange(1, 900))
            view.debts.append(game_pb2.DebtView(debtor=0, claims=[claim]))
        if rng.random() < 0.3:
            view.offers.append(
                game_pb2.OfferView(offer_id=self.seq + 1, proposer=1, recipient=0, give_cash=7)
            )
        elif view.offers and rng.random() < 0.3:
            del view.offers[0]


def delta_between(old: game_pb2.GameView, new: game_pb2.GameView) -> game_pb2.GameDelta:
    delta = game_pb2.GameDelta(
        players=[b for a, b in zip(old.players, new.players, strict=True) if a != b],
        properties=[b for a, b in zip(old.properties, new.properties, strict=True) if a != b],
    )
    if old.turn != new.turn:
        delta.turn.CopyFrom(new.turn)
    if old.HasField("auction") != new.HasField("auction") or old.auction != new.auction:
        delta.auction.SetInParent()
        if new.HasField("auction"):
            delta.auction.auction.CopyFrom(new.auction)
    if list(old.debts) != list(new.debts):
        delta.debts.SetInParent()
        delta.debts.debts.extend(new.debts)
    if list(old.offers) != list(new.offers):
        delta.offers.SetInParent()
        delta.offers.offers.extend(new.offers)
    if new.HasField("result"):
        delta.result.CopyFrom(new.result)
    return delta


_START_SECONDS = 120.0  # a busy machine is no failure
OPOLYX = Path(sys.executable).with_name("opolyx")


class ServeProcess:
    """`opolyx serve` in a process of its own, that can be killed and started again."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self.port = _free_port()
        self.address = f"127.0.0.1:{self.port}"
        self.log = data_dir / "serve.log"
        self._process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start it, and wait until it serves."""
        await self.spawn()
        assert self._process is not None
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), _START_SECONDS)
        assert self.address in line.decode(), self.log.read_text()[-3000:]

    async def spawn(self) -> None:
        """Start it, no more: `kill` may find it half started."""
        with self.log.open("ab") as stderr:
            self._process = await asyncio.create_subprocess_exec(
                OPOLYX,
                "serve",
                f"--port={self.port}",
                f"--data={self._data_dir}",
                "--bot-delay-ms=0",
                stdout=asyncio.subprocess.PIPE,
                stderr=stderr,
            )

    @property
    def pid(self) -> int:
        """The process's number."""
        assert self._process is not None
        return self._process.pid

    async def kill(self) -> None:
        """As kill -9."""
        assert self._process is not None
        self._process.kill()
        await self._process.communicate()

    async def terminate(self) -> int:
        """As SIGTERM; the exit code."""
        assert self._process is not None
        self._process.terminate()
        await asyncio.wait_for(self._process.communicate(), 30)
        assert self._process.returncode is not None
        return self._process.returncode

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._process is not None and self._process.returncode is None:
            await self.kill()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


async def start_game(client: AsyncClient, ruleset: str = "blitz@full") -> str:
    """A game of the client's guest with three built-in bots."""
    await client.create_guest("Ada")
    room = await client.create_room(ruleset, 4)
    for policy in ("steady", "random", "steady"):
        await client.add_bot(room.room_id, policy=policy)
    return await client.start_game(room.room_id)


async def eventually_awards(client: AsyncClient, game_id: str, count: int) -> tuple[Award, ...]:
    """So many awards of a game, once its end has reached progression."""
    async with asyncio.timeout(30):
        while len(awards := await client.awards(game_id=game_id)) < count:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    return awards
