"""A load of games: players with a connection of their own each, who play until the time is over.

Every call and every command is timed, from asking to the answer, across whatever the client does by
itself to get one. A call or game that fails in the end is an error; a refusal under the rules is
none, as it may be late by no fault of anybody's.
"""

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from opolyx_sdk._latencies import Latencies
from opolyx_sdk.actions import Surrender
from opolyx_sdk.bots import Bot, SteadyBot
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.errors import NoDecision, OpolyxError, Refused, WrongState
from opolyx_sdk.game import Game
from opolyx_sdk.rooms import RoomOptions

T = TypeVar("T")

_AFTER_ERROR_S: Final = 0.5
_FREE_WITHIN_S: Final = 20.0
_LOOK_S: Final = 0.05
_LEAVE_WITHIN_S: Final = 30.0
_STILL_PLAYING: Final = "ALREADY_PLAYING"
_POLICY: Final = "steady"
_LONGEST_ERROR: Final = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadPlan:
    """What load to make."""

    games: int = 10
    """Most games at once."""

    rate: float = 5.0
    """Games that begin in a second, at most."""

    duration_s: float = 30.0
    """For how long games begin and go on; then everybody gives up, seconds."""

    think_s: float = 0.1
    """How long a player waits before each answer, seconds."""

    ruleset: str = "speed@full"
    """The ruleset, mode@edition."""

    seats: int = 2
    """Players of a game, each with a client of its own."""

    built_in: int = 0
    """Built-in bots of a game besides."""

    rounds: int | None = None
    """The round cap of a game; the ruleset's own if absent."""

    make_bot: Callable[[], Bot] = SteadyBot
    """Makes the bot of a player in a game."""


@dataclass(slots=True)
class LoadReport:
    """What came of it."""

    seconds: float = 0.0
    """How long it took, with the giving up."""

    games_begun: int = 0
    """Games that began."""

    games_ended: int = 0
    """Games that were played to their end before the time was over."""

    games_left: int = 0
    """Games whose players gave up when the time was over."""

    latencies: dict[str, Latencies] = field(default_factory=dict)
    """How long each kind of call took until it succeeded, and commands until their answer."""

    refusals: Counter[str] = field(default_factory=Counter)
    """Refused commands, by reason."""

    errors: Counter[str] = field(default_factory=Counter)
    """What failed, and how often."""

    @property
    def commands(self) -> int:
        """Commands that were accepted."""
        return self.latencies["command"].count if "command" in self.latencies else 0


async def run_load(plan: LoadPlan, make_client: Callable[[], AsyncClient]) -> LoadReport:
    """Make the load; returns once everybody has left.

    Args:
        plan: what load.
        make_client: makes the client of a player, who becomes a guest.
    """
    load = _Load(plan, make_client)
    begun = time.perf_counter()
    async with asyncio.TaskGroup() as group:
        for number in range(plan.games):
            group.create_task(load.table(number))
    load.report.seconds = time.perf_counter() - begun
    return load.report


class _Load:
    """One run."""

    def __init__(self, plan: LoadPlan, make_client: Callable[[], AsyncClient]) -> None:
        self.report = LoadReport()
        self._plan = plan
        self._make_client = make_client
        self._ends_s = time.perf_counter() + plan.duration_s
        self._next_game_s = time.perf_counter()

    async def table(self, number: int) -> None:
        """Games one after the other, of the same players; of new ones after an error."""
        while self._left_s() > 0:
            try:
                async with self._players(number) as players:
                    while await self._paced():
                        await self._one_game(players)
            except (OpolyxError, BaseExceptionGroup) as error:
                await self._failed(error)

    @contextlib.asynccontextmanager
    async def _players(self, number: int) -> AsyncIterator[list[AsyncClient]]:
        async with AsyncExitStack() as stack:
            players = []
            for seat in range(self._plan.seats):
                player = await stack.enter_async_context(self._make_client())
                await self._timed("guest", player.create_guest(f"Load {number + 1}.{seat + 1}"))
                players.append(player)
            yield players

    async def _paced(self) -> bool:
        """Wait until another game may begin; False if the time is over first."""
        now_s = time.perf_counter()
        self._next_game_s = max(self._next_game_s, now_s)
        wait_s = self._next_game_s - now_s
        self._next_game_s += 1 / self._plan.rate
        if wait_s >= self._left_s():
            return False
        await asyncio.sleep(wait_s)
        return True

    async def _one_game(self, players: list[AsyncClient]) -> None:
        host, plan = players[0], self._plan
        seats, options = plan.seats + plan.built_in, RoomOptions(round_cap=plan.rounds)
        room = await self._timed(
            "create room",
            self._once_free(partial(host.create_room, plan.ruleset, seats, options=options)),
        )
        for player in players[1:]:
            joining = self._once_free(partial(player.join_room, code=room.code))
            await self._timed("join room", joining)
        for _ in range(plan.built_in):
            await self._timed("add bot", host.add_bot(room.room_id, policy=_POLICY))
        game_id = await self._timed("start game", host.start_game(room.room_id))
        self.report.games_begun += 1
        async with asyncio.TaskGroup() as group:
            ends = [group.create_task(self._play(player, game_id)) for player in players]
        if all(task.result() for task in ends):
            self.report.games_ended += 1
        else:
            self.report.games_left += 1

    async def _play(self, player: AsyncClient, game_id: str) -> bool:
        """Play a seat; whether the game ended before the time was over."""
        begun = time.perf_counter()
        async with player.play(game_id) as game:
            self._took("attach", begun)
            bot = self._plan.make_bot()
            try:
                async with asyncio.timeout(max(self._left_s(), 0.0)):
                    await self._answer(game, bot)
                    async for _ in game:
                        await self._answer(game, bot)
                return True
            except TimeoutError:
                async with asyncio.timeout(_LEAVE_WITHIN_S):
                    await self._give_up(game)
                return False

    async def _answer(self, game: Game, bot: Bot) -> None:
        """Answer all that is open, after thinking; what was answered meanwhile is left."""
        while (decision := game.decision) is not None and not game.over:
            await asyncio.sleep(self._plan.think_s)
            if game.decision is None or game.decision.decision_id != decision.decision_id:
                continue
            action = bot.decide(game.view, decision)
            begun = time.perf_counter()
            try:
                await game.submit(action, decision=decision)
            except Refused as refused:
                self.report.refusals[refused.refusal.reason.name.lower()] += 1
                return  # the next update shows what is open
            except NoDecision:
                return
            self._took("command", begun)

    async def _give_up(self, game: Game) -> None:
        """A game without players ends at once and stays nobody's."""
        with contextlib.suppress(Refused, NoDecision):
            if not game.over:
                await game.submit(Surrender())

    async def _once_free(self, call: Callable[[], Awaitable[T]]) -> T:
        """Make a call that needs a free player: one is free shortly after the end of its game."""
        give_up = time.perf_counter() + _FREE_WITHIN_S
        while True:
            try:
                return await call()
            except WrongState as error:
                if error.reason != _STILL_PLAYING or time.perf_counter() > give_up:
                    raise
            await asyncio.sleep(_LOOK_S)

    async def _timed(self, what: str, call: Awaitable[T]) -> T:
        begun = time.perf_counter()
        answer = await call
        self._took(what, begun)
        return answer

    def _took(self, what: str, begun: float) -> None:
        self.report.latencies.setdefault(what, Latencies()).add(time.perf_counter() - begun)

    async def _failed(self, error: BaseException) -> None:
        while isinstance(error, BaseExceptionGroup):
            error = error.exceptions[0]
        if not isinstance(error, OpolyxError | TimeoutError):
            raise error
        text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
        self.report.errors[text[:_LONGEST_ERROR]] += 1
        await asyncio.sleep(min(_AFTER_ERROR_S, max(self._left_s(), 0.0)))

    def _left_s(self) -> float:
        return self._ends_s - time.perf_counter()
