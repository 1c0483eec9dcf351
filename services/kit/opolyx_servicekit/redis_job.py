"""What is sent to Redis: a command or a script, and where its caller waits."""

import asyncio
import hashlib
import time
from dataclasses import dataclass, field
from typing import Any

Value = bytes | str | int
"""What a command may be made of."""


@dataclass(frozen=True, slots=True)
class Script:
    """A Lua script, atomic where it runs; all its keys must be in one slot."""

    name: str
    """For logs."""

    lua: str
    """Its text."""

    repeatable: bool = True
    """Whether running it twice is as good as once. If not, a lost answer is `StoreUnavailable`."""

    writes: bool = True
    """Whether it may write; if not, no replica is waited for."""

    sha: str = field(init=False)
    """What Redis knows it by."""

    def __post_init__(self) -> None:
        """Hash the text."""
        digest = hashlib.sha1(self.lua.encode(), usedforsecurity=False).hexdigest()
        object.__setattr__(self, "sha", digest)


class Job:
    """What is to be sent, and where its caller waits."""

    __slots__ = ("asked", "command", "key", "script", "sent", "unsure", "waiter")

    def __init__(self, command: tuple[Value, ...], key: str, script: Script | None) -> None:
        """A command about `key`, or the call of a script."""
        self.asked = time.perf_counter()
        self.command = command
        self.key = key
        self.script = script
        self.sent = False
        self.unsure = False
        self.waiter: asyncio.Future[Any] = asyncio.get_running_loop().create_future()

    @property
    def repeatable(self) -> bool:
        """Whether it may be sent twice."""
        return self.script is None or self.script.repeatable

    @property
    def writes(self) -> bool:
        """Whether it may write what replicas must have."""
        return self.script is not None and self.script.writes

    def as_source(self) -> None:
        """Send the script's text instead of its hash: the node doesn't have it (any more)."""
        if self.script is not None:
            self.command = ("EVAL", self.script.lua, *self.command[2:])

    def succeed(self, answer: object) -> None:
        """Give the answer to whoever still waits."""
        if not self.waiter.done():
            self.waiter.set_result(answer)

    def fail(self, error: BaseException) -> None:
        """Raise an error where somebody still waits."""
        if not self.waiter.done():
            self.waiter.set_exception(error)
