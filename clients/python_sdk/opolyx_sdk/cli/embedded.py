"""The server in this process, found by entry point: the SDK never imports a service."""

from collections.abc import Callable
from importlib.metadata import entry_points
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from opolyx_sdk.errors import MissingExtra

GROUP = "opolyx.embedded"
NAME = "server"


class Embedded(Protocol):
    """All services on one port, as an async context."""

    @property
    def address(self) -> str:
        """Host and port."""
        ...

    def operator_token(self) -> str:
        """A token of an operator."""
        ...

    async def __aenter__(self) -> Self:
        """Start."""
        ...

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop."""
        ...


class EmbeddedClass(Protocol):
    """What the entry point names."""

    def __call__(
        self, data_dir: Path, *, seed: str | None, bot_delay_ms: int, listen: str
    ) -> Embedded:
        """A server that keeps everything in `data_dir`."""
        ...

    def sign_operator_token(self, data_dir: Path, name: str = "") -> str:
        """A token of the operator of that name, signed with the keys in `data_dir`."""
        ...

    def run(
        self,
        data_dir: Path,
        *,
        listen: str,
        bot_delay_ms: int,
        on_ready: Callable[[str], None],
        store: str,
    ) -> int:
        """Serve until SIGTERM or SIGINT; the process's exit code."""
        ...


def find_embedded() -> EmbeddedClass:
    """The server's class.

    Raises:
        MissingExtra: it isn't installed.
    """
    for entry in entry_points(group=GROUP, name=NAME):
        found: EmbeddedClass = entry.load()
        return found
    raise MissingExtra("the server is not installed here; `make setup` in a clone of opolyx does")
