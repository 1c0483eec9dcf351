"""Plays bots in live games: asks them, sends their answers, and answers for them if it must."""

import asyncio
import inspect
import logging
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeVar

from opolyx_sdk._thinker import Thinker
from opolyx_sdk.actions import Action
from opolyx_sdk.bots import Bot, fallback_action
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.decisions import Decision
from opolyx_sdk.errors import BotError, NoDecision, OpolyxError, OutcomeUnknown, Refused
from opolyx_sdk.game import Game
from opolyx_sdk.views import GameView, ResultView

T = TypeVar("T")

_log = logging.getLogger(__name__)

_CLOCK_MARGIN_S: Final = 1.0
_MOST_REFUSALS: Final = 20
_METHODS: Final = ("on_start", "on_update", "on_end", "decide")


@dataclass(slots=True)
class GameReport:
    """How a bot's game went."""

    game_id: str
    """The game."""

    seat: int
    """The bot's seat."""

    updates: int = 0
    """Updates seen."""

    missed: int = 0
    """Updates replaced by a snapshot."""

    decisions: int = 0
    """Decisions answered."""

    refusals: list[str] = field(default_factory=list)
    """What was refused, and why."""

    fallbacks: int = 0
    """Decisions for which the runner answered, because the bot failed or was too slow."""

    hook_failures: list[str] = field(default_factory=list)
    """What `on_start`, `on_update` or `on_end` raised, or that it took too long."""

    thinking_s: float = 0.0
    """Seconds the bot thought in all."""

    result: ResultView | None = None
    """The game's result; None while it runs and when it was void."""

    error: OpolyxError | None = None
    """Why the game could not be played to its end; `play` raises it, `play_all` keeps it."""


class BotRunner:
    """Plays one seat in each of many games, all on one client's stream.

    A bot that fails harms nobody: what it raises, and what it takes too long for, is answered with
    `fallback_action`, logged and counted in the game's report. `strict` makes it loud instead.
    """

    def __init__(
        self,
        client: AsyncClient,
        make_bot: Callable[[], Bot],
        *,
        budget_s: float = 5.0,
        strict: bool = False,
    ) -> None:
        """Describe the player.

        Args:
            client: acts for the account that has the seats.
            make_bot: makes the bot of a game; a class of bots does.
            budget_s: how long a decision, or a hook, may take, seconds; for a decision the game's
                own clock may allow less.
            strict: for development: stop with BotError when the bot raises, is too slow, or is
                refused, instead of answering for it.

        Raises:
            TypeError: `make_bot` makes nothing: one bot can't play several games.
        """
        check_bot_maker(make_bot)
        self._client = client
        self._make_bot = make_bot
        self._budget_s = budget_s
        self._strict = strict

    async def play(self, game_id: str) -> GameReport:
        """Play one game to its end.

        Raises:
            BotError: the bot failed, and the runner is strict; or there is no bot, as `make_bot`
                failed.
            GameError: the game can't go on for this client.
            ConnectionLost: an outage lasted too long.
        """
        bot = self._made_bot()
        async with self._client.play(game_id) as game:
            return await _Playing(game, bot, self._budget_s, self._strict).run()

    async def play_all(self, game_ids: Iterable[str]) -> list[GameReport]:
        """Play many games at once; the reports in the order of the ids.

        One that can't be played to its end doesn't end the others: its report has the `error`.

        Raises:
            BotError: a bot failed, and the runner is strict: all games are left.
        """
        try:
            async with asyncio.TaskGroup() as group:
                tasks = [group.create_task(self.report(game_id)) for game_id in game_ids]
        except* BotError as group_of_errors:
            raise first_error(group_of_errors) from None
        return [task.result() for task in tasks]

    async def report(self, game_id: str) -> GameReport:
        """As `play`, but a game that can't be played to its end is a report, too.

        Raises:
            BotError: the bot failed, and the runner is strict.
        """
        try:
            return await self.play(game_id)
        except OpolyxError as error:
            if self._strict and isinstance(error, BotError):
                raise
            _log.warning("game %s can't be played: %s", game_id, error)
            return GameReport(game_id, seat=-1, error=error)

    def _made_bot(self) -> Bot:
        try:
            bot = self._make_bot()
        except Exception as error:
            raise BotError(f"make_bot failed: {type(error).__name__}: {error}") from error
        if not isinstance(bot, Bot):
            raise BotError(f"make_bot made {bot!r}, which is no opolyx_sdk.Bot")
        for method in _METHODS:
            if inspect.iscoroutinefunction(getattr(bot, method)):
                raise BotError(f"{type(bot).__name__}.{method} is async: write it without")
        return bot


def check_bot_maker(make_bot: object) -> None:
    """Whether this makes bots.

    Raises:
        TypeError: it doesn't, and what to write instead.
    """
    if isinstance(make_bot, Bot):
        name = type(make_bot).__name__
        raise TypeError(
            f"a bot plays one game: give its class {name}, or `lambda: {name}(...)`, not an object"
        )
    if not callable(make_bot):
        raise TypeError(f"make_bot must be a class of bots or a function, not {make_bot!r}")


def first_error(group: BaseExceptionGroup[BaseException]) -> BaseException:
    """The first error that is no group."""
    error: BaseException = group
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


class _Playing:
    """One bot in one game."""

    def __init__(self, game: Game, bot: Bot, budget_s: float, strict: bool) -> None:
        if game.seat is None:
            raise NoDecision("the account has no seat in the game")
        self._game = game
        self._bot = bot
        self._budget_s = budget_s
        self._strict = strict
        self._thinker = Thinker()
        self._answered: set[tuple[str, int]] = set()
        self._listens = type(bot).on_update is not Bot.on_update
        self._report = GameReport(game.info.game_id, game.seat)

    async def run(self) -> GameReport:
        try:
            await self._tell("on_start", partial(self._bot.on_start, self._game.info))
            await self._answer_all()
            async for update in self._game:
                self._report.updates += 1
                self._report.missed += update.missed
                if self._listens:
                    await self._tell("on_update", partial(self._bot.on_update, update))
                await self._answer_all()
            self._report.result = self._game.view.result
            await self._tell("on_end", partial(self._bot.on_end, self._game.current))
            return self._report
        finally:
            self._thinker.close()

    async def _tell(self, hook: str, call: Callable[[], None]) -> None:
        """Call a hook of the bot; one that fails doesn't end the game."""
        try:
            await self._think(call, self._budget_s)
        except Exception as error:
            why = _why(error, self._budget_s)
            if self._strict:
                raise BotError(f"{hook} failed: {why}") from error
            _log.warning("%s failed: %s", hook, why)
            self._report.hook_failures.append(f"{hook}: {why}")

    async def _answer_all(self) -> None:
        """Answer what is awaited now, and what follows from it, once for each state."""
        for known in self._game.own_decisions:
            decision = self._still_open(known)  # the answer before may have changed or closed it
            key = (known.decision_id, self._game.seq)
            if decision is None or key in self._answered or self._game.over:
                continue
            self._answered.add(key)
            if decision.legal_actions:
                await self._answer(decision)
            else:  # the game's clock decides
                _log.warning("%s: nothing may be done that this SDK knows", decision.phase.name)

    async def _answer(self, decision: Decision) -> None:
        self._report.decisions += 1
        action = await self._decide(self._game.view, decision)
        for _ in range(_MOST_REFUSALS):
            try:
                await self._submit(action, decision)
                return
            except Refused as refused:
                if not self._still_open(decision):
                    return  # somebody was faster: the table has moved on
                self._report.refusals.append(f"{action}: {refused}")
                if self._strict:
                    raise BotError(f"{action} was refused: {refused}") from refused
                _log.warning("refused %s: %s", action, refused)
                self._report.fallbacks += 1
                action = fallback_action(decision)
            except (TypeError, ValueError) as error:  # the bot's answer can't even be sent
                action = self._fall_back(decision, f"{type(error).__name__}: {error}", error)

    async def _submit(self, action: Action, decision: Decision) -> None:
        """Act. When no answer comes, the same command is sent once more: it can't act twice."""
        try:
            await self._game.submit(action, decision=decision)
        except OutcomeUnknown as unknown:
            if not self._still_open(decision):
                return  # it was answered, by this command or by the clock
            _log.warning("no answer to %s: asking for it", action)
            await self._game.submit(action, decision=decision, command_id=unknown.command_id)

    def _still_open(self, decision: Decision) -> Decision | None:
        """The decision as it is now; None once it is closed."""
        now = (one for one in self._game.own_decisions if one.decision_id == decision.decision_id)
        return next(now, None)

    async def _decide(self, view: GameView, decision: Decision) -> Action:
        left = decision.time_left() - _CLOCK_MARGIN_S
        # A deadline that has passed was moved by an outage: the server says when it is over.
        budget = min(self._budget_s, left) if left > 0 else self._budget_s
        started = time.perf_counter()
        try:
            return await self._think(partial(self._bot.decide, view, decision), budget)
        except Exception as error:
            return self._fall_back(decision, _why(error, budget), error)
        finally:
            self._report.thinking_s += time.perf_counter() - started

    async def _think(self, job: Callable[[], T], budget_s: float) -> T:
        try:
            return await self._thinker.think(job, budget_s)
        except TimeoutError:
            self._thinker.close()  # its thread is lost to the bot
            self._thinker = Thinker()
            raise

    def _fall_back(self, decision: Decision, why: str, error: Exception) -> Action:
        if self._strict:
            raise BotError(f"bot failed in {decision.phase.name}: {why}") from error
        _log.warning("bot failed in %s: %s", decision.phase.name, why)
        self._report.fallbacks += 1
        return fallback_action(decision)


def _why(error: Exception, budget_s: float) -> str:
    if isinstance(error, TimeoutError):
        return f"no answer within {budget_s:g} s"
    return f"{type(error).__name__}: {error}"
