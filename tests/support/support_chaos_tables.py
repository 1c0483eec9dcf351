"""Tables of patient players, who play one game after another whatever happens to the server.

They use the public API, as a user's own program would; what they were told is in the ledgers.
"""

import asyncio
import collections
import random
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeVar

from opolyx_sdk import AsyncClient, ClientOptions, RoomOptions, SteadyBot
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
from support_chaos_ledger import Ledger, Summary

T = TypeVar("T")

RULESETS: Final = ("classic@full", "blitz@full", "speed@guide", "fortune@full", "team@full")
PATIENT: Final = ClientOptions(patience_s=600, command_timeout_s=600, connect_timeout_s=2)
_SEATS: Final = 4
SETUP_SECONDS: Final = 600.0
"""What may pass until a game is started."""

_LAST_GAME_SECONDS: Final = 900.0
"""What a game may take after the last blow."""


@dataclass(frozen=True)
class Habits:
    """How the tables play."""

    seed: int
    """Where their choices are drawn from."""

    round_cap: int
    """Round cap of the games, more or less: they aren't to end all at once."""

    minutes: float
    """How long the blows go on."""


class Tables:
    """The tables of one run, over one address."""

    def __init__(
        self,
        address: str,
        habits: Habits,
        summary: Summary,
        say: Callable[[str], object],
        options: ClientOptions = PATIENT,
    ) -> None:
        """Nobody sits yet; `options` are those of the clients."""
        self.running: set[str] = set()
        """Games that run."""
        self.ledgers: dict[str, Ledger] = collections.defaultdict(Ledger)
        """What the clients of each game were told."""
        self.finishing = False
        """Whether no further games are begun."""
        self.watch: Callable[[str], object] = _nobody
        """Told of each update that a client receives, by the client's game and seat."""
        self._address = address
        self._options = options
        self._habits = habits
        self._summary = summary
        self._say = say

    @property
    def acknowledged(self) -> int:
        """Commands acknowledged so far."""
        return self._summary.counts["commands acknowledged"]

    async def play(self, number: int) -> None:
        """Two guests who play one game after another with built-in bots."""
        address = self._address
        rng = random.Random(self._habits.seed * 1_000 + number)
        async with (
            AsyncClient(address, options=self._options) as host,
            AsyncClient(address, options=self._options) as guest,
        ):
            for client in (host, guest):
                await self._persist(partial(client.create_guest, f"Table {number}"))
            while not self.finishing:
                async with asyncio.timeout(SETUP_SECONDS):
                    game_id = await self._start_game(host, guest, rng)
                self.running.add(game_id)
                try:
                    async with asyncio.timeout(self._habits.minutes * 60 + _LAST_GAME_SECONDS):
                        await asyncio.gather(*(self._play(one, game_id) for one in (host, guest)))
                    self.ledgers[game_id].over = True
                    self._summary.counts["games ended"] += 1
                except (OpolyxError, TimeoutError) as error:
                    self._summary.wrong(f"{game_id} was not played to its end: {error!r}")
                    self._say(self._summary.problems[-1])
                    return
                finally:
                    self.running.discard(game_id)

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
        cap = self._habits.round_cap
        options = RoomOptions(round_cap=rng.randint(max(1, cap // 2), cap * 3 // 2), watchable=True)
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
            ledger = self.ledgers[game_id]
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
                self.watch(f"{game_id} {game.seat}")
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


def _nobody(client: str) -> None:
    """Who is told if nobody watches."""
