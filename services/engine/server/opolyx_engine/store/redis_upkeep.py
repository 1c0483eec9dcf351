"""What spans games, made out of the games: facts get their numbers, the index of open games.

A game's own keys say which of its facts have a number and whether it is over. Each piece of work
here may be done twice, by two engines at once, and may stop at any place: whoever looks at the game
next finishes it. It is looked at when it changes, when it is taken up, and by a slow round over all
open games, which is for those whose engine died in between.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

import structlog

from opolyx_engine.store.base import FINISHED, RUNNING, VOID
from opolyx_engine.store.redis_scripts import (
    FACT_LOG,
    FACTS_TAKEN,
    LAST_FACT,
    MARK_MOVED,
    NUMBER,
    OPEN_GAMES,
    facts_key,
    game_key,
    owned_key,
)
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.redis_job import Value
from opolyx_servicekit.redis_link import RedisLink

_log = structlog.get_logger(__name__)

_MOST_NOTED: Final = 10_000
_PAGE: Final = 500
_RETRY_S: Final = 0.5
_PAGE_PAUSE_S: Final = 0.25  # 2,000 games a second: some percent of a core
_ROUND_PAUSE_S: Final = 5.0


@dataclass(frozen=True, slots=True)
class Look:
    """What a game itself says of what is to be done for it."""

    game_id: str
    """The game."""

    state: int
    """As `StoredGame.state`; -1 if there is no such game."""

    started_ms: int
    """When it started, Unix milliseconds."""

    facts: int
    """How many facts it has made."""

    moved: int
    """How many of them are known to have a number."""

    owner: str
    """The replica that runs it; empty for nobody."""

    @property
    def over(self) -> bool:
        """Whether it ended and all have heard of it: nothing will ever change."""
        return self.state in {FINISHED, VOID} and self.facts == self.moved


class Upkeep:
    """Looks after games: at once after the ones noted here, in time after all."""

    def __init__(self, link: RedisLink) -> None:
        """Nothing is noted yet."""
        self._link = link
        self._noted: dict[str, None] = {}
        self._news = asyncio.Event()
        self._working = asyncio.Lock()
        self._passes = 0

    def note(self, game_id: str, *, unless: int = _MOST_NOTED) -> None:
        """Something of the game may be to be done.

        Not so with `unless` or more noted: the round will come to it.
        """
        if len(self._noted) < unless:
            self._noted[game_id] = None
            self._news.set()

    async def run(self) -> None:
        """Do what is noted, and go round, until cancelled."""
        async with asyncio.TaskGroup() as both:
            both.create_task(self._do_noted())
            both.create_task(self._go_round())

    async def settle(self) -> None:
        """Do what is noted now, as far as Redis lets us."""
        asked_in = self._passes
        async with self._working:
            if self._passes > asked_in:  # it began after this was asked: it has done it, or failed
                return
            self._passes += 1
            noted = list(self._noted)
            self._noted.clear()
            try:
                while noted:
                    await self._do(noted[:_PAGE])
                    del noted[:_PAGE]
            except ServiceError as error:
                _log.warning("store_upkeep_waits", games=len(noted), error=str(error))
            finally:  # once more what isn't done, also if the caller was cancelled
                for game_id in noted:
                    self.note(game_id)

    async def look(self, game_ids: Iterable[str]) -> list[Look]:
        """How the games are, and note those for which something is to be done."""
        looks = await asyncio.gather(*(self._look(game_id) for game_id in game_ids))
        for look in looks:
            if look.facts != look.moved or look.over:
                self.note(look.game_id)
        return looks

    async def round(self) -> None:
        """Look at all open games once."""
        cursor: int | str = 0
        while True:
            cursor, page = await self._link.call("ZSCAN", OPEN_GAMES, cursor, "COUNT", _PAGE)
            scores = {game_id.decode(): score for game_id, score in page}
            for look in await self.look(scores):
                if look.state == RUNNING and look.started_ms != scores[look.game_id]:
                    self.note(look.game_id)
            if not int(cursor):
                return
            await asyncio.sleep(_PAGE_PAUSE_S)

    async def _do_noted(self) -> None:
        while True:
            await self._news.wait()
            self._news.clear()
            await self.settle()
            if self._noted:  # new ones, or Redis is away
                await asyncio.sleep(_RETRY_S)

    async def _go_round(self) -> None:
        while True:
            try:
                await self.round()
            except ServiceError:
                pass  # the next one will do
            except Exception:
                _log.exception("store_round_failed")
            await asyncio.sleep(_ROUND_PAUSE_S)

    async def _do(self, game_ids: Sequence[str]) -> None:
        """Look after the games in their order; a bug with one is no other's."""
        looks = await asyncio.gather(
            *(self._look(game_id) for game_id in game_ids), return_exceptions=True
        )
        for game_id, look in zip(game_ids, looks, strict=True):
            try:
                if isinstance(look, BaseException):
                    raise look
                await self._tend(look)
            except ServiceError:
                raise
            except Exception:
                _log.exception("store_upkeep_failed", game_id=game_id)

    async def _look(self, game_id: str) -> Look:
        found = await self._link.call(
            "HMGET", game_key(game_id), "state", "started", "facts", "moved", "owner"
        )
        *numbers, owner = found
        state, started_ms, facts, moved = (int(value or 0) for value in numbers)
        if found[0] is None:
            state = -1
        return Look(game_id, state, started_ms, facts, moved, (owner or b"").decode())

    async def _tend(self, look: Look) -> None:
        if look.facts != look.moved:
            await self._move_facts(look)
        if look.state == RUNNING:
            await self._link.call("ZADD", OPEN_GAMES, look.started_ms, look.game_id)
        elif look.state in {FINISHED, VOID}:
            await self._link.call("ZREM", OPEN_GAMES, look.game_id)
            await self._link.call("SREM", owned_key(look.owner), look.game_id)

    async def _move_facts(self, look: Look) -> None:
        """Give numbers to the game's facts that have none; the game keeps them all the same."""
        taken = look.moved
        while True:
            first = taken
            taken = await self._number(look.game_id, first)
            if taken >= first:
                break
            # Numbers that were given are gone, with a node that lost its last writes.
            _log.error("facts_lost_numbers", game_id=look.game_id, known=taken, before=first)
        await self._link.run(MARK_MOVED, (game_key(look.game_id),), (taken,))

    async def _number(self, game_id: str, first: int) -> int:
        """Bring the facts from `first` on; how many have a number now."""
        found = await self._link.call("XRANGE", facts_key(game_id), f"1-{first}", "+")
        arguments: list[Value] = [game_id, first]
        for _, fields in found:
            arguments += (fields[b"k"], fields[b"a"], fields[b"b"])
        return int(await self._link.run(NUMBER, (FACT_LOG, FACTS_TAKEN, LAST_FACT), arguments))
