"""The built-in bots: they look at tables, think off the games' path and act like everybody else."""

import asyncio
import hashlib
import secrets
import time
from collections import deque
from typing import Final

import structlog

from opolyx_engine.command import Answer, Command
from opolyx_engine.game_actor import GameActor, Watcher
from opolyx_engine.header import BUILT_IN
from opolyx_engine.settings import EngineSettings
from opolyx_engine.table import Table
from opolyx_rules.actions import (
    ACCEPT_TRADE,
    ARGUMENT,
    DECLINE_TRADE,
    KIND,
    SURRENDER,
    TIME_OUT,
    WITHDRAW_TRADE,
    Action,
)
from opolyx_rules.chance import SeededChance
from opolyx_rules.engine import default_action, legal_actions
from opolyx_rules.policies import POLICIES as _POLICIES
from opolyx_rules.queries import awaited_seat
from opolyx_rules.state import State
from opolyx_servicekit.wall_clock import Clock

_log = structlog.get_logger(__name__)

POLICIES: Final = frozenset(_POLICIES)
"""Names of the policies that a built-in bot may play."""

_ANSWERS: Final = frozenset({ACCEPT_TRADE, DECLINE_TRADE})
_OFFER_ID: Final = 0
_RECIPIENT: Final = 2


class BotDriver(Watcher):
    """Plays all built-in seats of all games in one task, a game at a time, in turn."""

    def __init__(self, settings: EngineSettings, clock: Clock) -> None:
        """Play nothing yet."""
        seed = settings.development_seed
        text = secrets.token_hex(16) if seed is None else seed.get_secret_value()
        self._seed = text.encode()
        self._think_s = settings.bot_think_ms / 1000
        self._slice_s = settings.bot_slice_ms / 1000
        self._clock = clock
        self._ready: deque[tuple[GameActor, str]] = deque()
        self._asked: dict[str, set[str]] = {}
        self._wake = asyncio.Event()

    def changed(self, game: GameActor) -> None:
        """Note the decisions that wait for a bot, each once."""
        open_now = _bot_decisions(game.table)
        asked = self._asked.get(game.game_id, set())
        for decision in open_now:
            if decision not in asked:
                self._note(game, decision)
        if open_now:
            self._asked[game.game_id] = set(open_now)
        else:
            self._asked.pop(game.game_id, None)

    def ended(self, game: GameActor) -> None:
        """Forget the game."""
        self._asked.pop(game.game_id, None)

    def busy(self, game: GameActor) -> bool:
        """Whether a decision waits for a bot."""
        return game.game_id in self._asked

    def _note(self, game: GameActor, decision: str) -> None:
        if self._think_s:
            asyncio.get_running_loop().call_later(self._think_s, self._enqueue, game, decision)
        else:
            self._enqueue(game, decision)

    def _enqueue(self, game: GameActor, decision: str) -> None:
        self._ready.append((game, decision))
        self._wake.set()

    async def run(self) -> None:
        """Think until cancelled, letting others run after every slice of time."""
        while True:
            await self._wake.wait()
            self._wake.clear()
            until = time.perf_counter() + self._slice_s
            while self._ready:
                game, decision = self._ready.popleft()
                self._act_safely(game, decision)
                if time.perf_counter() >= until:
                    await asyncio.sleep(0)
                    until = time.perf_counter() + self._slice_s

    def _act_safely(self, game: GameActor, decision: str) -> None:
        """A bug in one game must not keep the bots of the others from playing."""
        try:
            self._act(game, decision)
        except Exception:
            _log.exception("bot_crashed", game_id=game.game_id, decision=decision)

    def _act(self, game: GameActor, decision: str) -> None:
        table = game.table
        if game.stopped or decision not in _bot_decisions(table):
            return
        seat, action = self._choose(table, decision)

        def answered(answer: Answer) -> None:
            if answer.retry_after_ms:
                delay = answer.retry_after_ms / 1000
                asyncio.get_running_loop().call_later(delay, self._enqueue, game, decision)
            elif answer.refusal is not None and game.table is not table:
                self._enqueue(game, decision)  # thought about what has changed since
            elif answer.refusal is not None:
                _log.warning(
                    "bot_refused",
                    game_id=game.game_id,
                    policy=table.header.holders[seat].policy,
                    action=action,
                    refusal=str(answer.refusal.reason),
                )

        game.submit(
            Command(
                command_id="",  # any other could be taken by a client before
                decision_id="" if action[KIND] in (SURRENDER, WITHDRAW_TRADE) else decision,
                seat=seat,
                action=action,
                arrived_ms=self._clock.now_ms(),
                reply=answered,
            )
        )

    def _choose(self, table: Table, decision: str) -> tuple[int, Action]:
        """What the bot does about a decision; the game's own default if its policy fails."""
        seat = _seat_of(table, decision)
        holder = table.header.holders[seat]
        chance = self._chance(table)
        try:
            action = _POLICIES[holder.policy](_state_for(table.state, decision), seat, chance)
        except Exception:
            _log.exception("policy_failed", game_id=table.header.game_id, policy=holder.policy)
            return seat, _default(table, seat, decision)
        return seat, action if _fits(action, decision) else _default(table, seat, decision)

    def _chance(self, table: Table) -> SeededChance:
        """Chance of the bots' own, never the game's; the same again with a development seed.

        It follows from the place in the game alone, so that a bot chooses alike whether its game
        was in memory all the time or not.
        """
        place = f"{table.header.game_id} {table.seq}".encode()
        return SeededChance(hashlib.sha256(self._seed + b"\x00" + place).digest())


def _bot_decisions(table: Table) -> list[str]:
    """Ids of the open decisions that wait for built-in bots."""
    state, holders = table.state, table.header.holders
    if state.over or table.clocks.next_due_ms is None:
        return []
    found = [
        f"o{offer[_OFFER_ID]}"
        for offer in state.offers
        if holders[offer[_RECIPIENT]].kind == BUILT_IN
    ]
    if holders[awaited_seat(state)].kind == BUILT_IN:
        found.append(f"d{state.decision}")
    return found


def _seat_of(table: Table, decision: str) -> int:
    if decision[0] == "d":
        return awaited_seat(table.state)
    offer_id = int(decision[1:])
    return next(o[_RECIPIENT] for o in table.state.offers if o[_OFFER_ID] == offer_id)


def _state_for(state: State, decision: str) -> State:
    """The state with no other decision open to the seat: a policy answers the first it sees."""
    offers = [one for one in state.offers if decision == f"o{one[_OFFER_ID]}"]
    if decision[0] == "d":
        offers = [one for one in state.offers if one[_RECIPIENT] != awaited_seat(state)]
    if len(offers) == len(state.offers):
        return state
    narrowed = state.clone()
    narrowed.offers = offers
    return narrowed


def _fits(action: Action, decision: str) -> bool:
    """Whether a policy, which sees all that waits for its seat, answers this decision."""
    if decision[0] == "o":
        return action[KIND] in _ANSWERS and action[ARGUMENT] == int(decision[1:])
    return action[KIND] not in _ANSWERS


def _default(table: Table, seat: int, decision: str) -> Action:
    """What the game itself would play; where that is to wait for the clock, any legal action."""
    if decision[0] == "o":
        return (DECLINE_TRADE, seat, int(decision[1:]))
    action = default_action(table.state, seat)
    if action[KIND] < TIME_OUT:
        return action
    return next(each for each in legal_actions(table.state, seat) if each[KIND] not in _ANSWERS)
