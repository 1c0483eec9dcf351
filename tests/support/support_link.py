"""Links to Redis with trouble: they die, lose answers, or are overtaken."""

import sys
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

from opolyx_servicekit.errors import StoreUnavailable
from opolyx_servicekit.redis_link import RedisLink, Script, Value


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
