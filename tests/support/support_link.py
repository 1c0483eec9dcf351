"""Links to Redis with trouble: they die, lose answers, or are overtaken."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from opolyx_servicekit.errors import StoreUnavailable
from opolyx_servicekit.redis_job import Script, Value
from opolyx_servicekit.redis_link import RedisLink


class DyingLink:
    """What the process behind it is killed at: call `dies_at`, counted from 0."""

    def __init__(self, inner: RedisLink, dies_at: int, *, after_effect: bool) -> None:
        self._inner = inner
        self._dies_at = dies_at
        self._after_effect = after_effect
        self.calls = 0
        """How many there were."""

    def revive(self) -> None:
        """Die no more."""
        self._dies_at = sys.maxsize

    @property
    def dead(self) -> bool:
        return self.calls > self._dies_at

    async def run(self, script: Script, keys: Iterable[str], args: Iterable[Value] = ()) -> Any:
        await self._live_or_die(script, keys, args)
        return await self._inner.run(script, keys, args)

    async def call(self, *command: Value, key: str = "") -> Any:
        await self._live_or_die(None, command, key)
        return await self._inner.call(*command, key=key)

    async def _live_or_die(self, script: Script | None, what: Any, more: Any) -> None:
        number, self.calls = self.calls, self.calls + 1
        if number < self._dies_at:
            return
        if number == self._dies_at and self._after_effect:
            if script is None:
                await self._inner.call(*what, key=more)
            else:
                await self._inner.run(script, what, more)
        raise StoreUnavailable("STORE_UNAVAILABLE", "the process was killed")


class ForgetfulLink:
    """Each answer is lost once: what was asked is asked again, and has been done before."""

    def __init__(self, inner: RedisLink) -> None:
        self._inner = inner

    async def run(self, script: Script, keys: Iterable[str], args: Iterable[Value] = ()) -> Any:
        named, told = tuple(keys), tuple(args)
        await self._inner.run(script, named, told)
        return await self._inner.run(script, named, told)

    async def call(self, *command: Value, key: str = "") -> Any:
        return await self._inner.call(*command, key=key)


class OvertakenLink:
    """Something else happens before a script runs, once."""

    def __init__(self, inner: RedisLink, name: str) -> None:
        self._inner = inner
        self._name = name
        self.meanwhile: Callable[[], Awaitable[object]] | None = None
        """What happens before the next script of the name."""

    async def run(self, script: Script, keys: Iterable[str], args: Iterable[Value] = ()) -> Any:
        if script.name == self._name and (meanwhile := self.meanwhile):
            self.meanwhile = None
            await meanwhile()
        return await self._inner.run(script, keys, args)

    async def call(self, *command: Value, key: str = "") -> Any:
        return await self._inner.call(*command, key=key)


class Turns:
    """Lets several use one link call by call, in an order that is given by their names."""

    def __init__(self, schedule: Iterable[str]) -> None:
        self._schedule = list(schedule)
        self._changed = asyncio.Condition()

    def link(self, link: RedisLink, who: str) -> "TurnLink":
        return TurnLink(link, self, who)

    async def until_done(self, who: str, work: Awaitable[object]) -> None:
        """Do `work`; the turns that it doesn't need are nobody's."""
        await work
        async with self._changed:
            self._schedule = [each for each in self._schedule if each != who]
            self._changed.notify_all()

    async def take(self, who: str, call: Callable[[], Awaitable[Any]]) -> Any:
        """Make a call when it is its turn; one for which there is no more turn comes last."""
        async with self._changed:
            await self._changed.wait_for(lambda: not self._schedule or self._schedule[0] == who)
            answer = await call()
            if self._schedule:
                del self._schedule[0]
            self._changed.notify_all()
            return answer


class TurnLink:
    """A link whose calls wait for their turn."""

    def __init__(self, link: RedisLink, turns: Turns, who: str) -> None:
        self._link = link
        self._turns = turns
        self._who = who

    async def run(self, *arguments: Any) -> Any:
        return await self._turns.take(self._who, lambda: self._link.run(*arguments))

    async def call(self, *arguments: Any) -> Any:
        return await self._turns.take(self._who, lambda: self._link.call(*arguments))
