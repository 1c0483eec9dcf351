"""Log lines: JSON, or console on a terminal; no locals in tracebacks, no token anywhere."""

import logging
import re
import sys
from collections.abc import Iterator, Mapping, MutableMapping
from contextlib import contextmanager
from typing import Any, Final, Literal, TextIO

import structlog
from structlog.typing import Processor

from opolyx_servicekit.tracing import add_trace_ids

_JWT: Final = re.compile(r"eyJ[\w-]{5,}\.[\w-]+\.[\w-]*")
_BEARER: Final = re.compile(r"(?i)\b(bearer )[\w.~+/=-]{8,}")


def configure_logs(
    *,
    form: Literal["auto", "json", "console"] = "auto",
    level: str = "info",
    stream: TextIO | None = None,
) -> None:
    """Send structlog's and the standard library's log lines through one pipe.

    Args:
        form: how lines look; auto is console on a terminal and JSON elsewhere.
        level: the lowest level logged.
        stream: standard error if absent.
    """
    stream = stream or sys.stderr
    console = form == "console" or (form == "auto" and stream.isatty())
    number = logging.getLevelNamesMapping()[level.upper()]
    structlog.configure(
        processors=[*_shared(), structlog.stdlib.ProcessorFormatter.wrap_for_formatter],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.make_filtering_bound_logger(number),
        cache_logger_on_first_use=False,
    )
    handler = logging.StreamHandler(stream)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared(),
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                RedactedRenderer(_renderer(console, stream)),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(number)
    logging.captureWarnings(True)


class BorrowedLogs:
    """The process's logs, set for as long as a server runs in a program that has set none.

    Servers may overlap: the first sets them, the last puts back what was there before.
    """

    def __init__(self) -> None:
        """Nothing is borrowed."""
        self._borrowers = 0
        self._handlers: list[logging.Handler] = []
        self._level = logging.WARNING

    @contextmanager
    def at(self, level: str) -> Iterator[None]:
        """Log from `level` on for the length of a block, unless the program has its own logs."""
        if structlog.is_configured() and not self._borrowers:
            yield
            return
        if not self._borrowers:
            root = logging.getLogger()
            self._handlers, self._level = root.handlers[:], root.level
            configure_logs(level=level)
        self._borrowers += 1
        try:
            yield
        finally:
            self._borrowers -= 1
            if not self._borrowers:
                self._give_back()

    def _give_back(self) -> None:
        root = logging.getLogger()
        root.handlers[:] = self._handlers
        root.setLevel(self._level)
        logging.captureWarnings(False)
        structlog.reset_defaults()


borrowed_logs: Final = BorrowedLogs()
"""Those of this process."""


class RedactedRenderer:
    """Renders a line with another renderer, then blots out whatever looks like a token."""

    def __init__(self, renderer: Processor) -> None:
        """Wrap `renderer`, which must give text."""
        self._renderer = renderer

    def __call__(self, logger: Any, name: str, event: MutableMapping[str, Any]) -> str:
        """The line, without tokens."""
        return redacted(str(self._renderer(logger, name, event)))


def redacted(text: str) -> str:
    """`text` without anything that looks like a JWT or a bearer token."""
    return _BEARER.sub(r"\1[redacted]", _JWT.sub("[redacted]", text))


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        add_trace_ids,
        structlog.stdlib.add_log_level,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,  # plain text: never the values of locals
        structlog.processors.UnicodeDecoder(),
    ]


def _renderer(console: bool, stream: TextIO) -> Processor:
    if not console:
        return structlog.processors.JSONRenderer(default=_as_text)
    plain = structlog.dev.plain_traceback
    return structlog.dev.ConsoleRenderer(colors=stream.isatty(), exception_formatter=plain)


def _as_text(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)
