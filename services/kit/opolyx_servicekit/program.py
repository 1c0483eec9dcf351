"""A service as a program: its settings, its logs, its exit code.

Exit codes: 0 after a drain, 1 when a second signal cut the drain short, 2 when it could not start
or go on with what its environment gives it: a setting, a file, a port, the store.
"""

import asyncio
import sqlite3
import sys
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

import structlog
from pydantic import ValidationError

from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.logs import configure_logs
from opolyx_servicekit.server import run
from opolyx_servicekit.settings import ServiceSettings
from opolyx_servicekit.tracing import traced_to

_log = structlog.get_logger(__name__)

_USAGE: Final = 2

_Settings = TypeVar("_Settings", bound=ServiceSettings)


def run_program(
    read_settings: Callable[[], _Settings],
    serve: Callable[[_Settings, asyncio.Event], Awaitable[None]],
) -> int:
    """Read the settings, configure the logs and serve until told to stop; the exit code.

    Args:
        read_settings: makes the settings from the environment, most often their class.
        serve: serves until the event is set, then drains.
    """
    return run_command(read_settings, lambda settings: run(lambda stop: serve(settings, stop)))


def run_command(read_settings: Callable[[], _Settings], work: Callable[[_Settings], int]) -> int:
    """Read the settings, configure the logs and do some work; the exit code.

    What the environment has wrong is one line that names it, without a traceback; level `debug`
    shows where it was met. A bug keeps its traceback.

    Args:
        read_settings: makes the settings from the environment, most often their class.
        work: does it; the exit code.
    """
    try:
        settings = read_settings()
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_input=False):
            name = ".".join(str(part) for part in problem["loc"])
            sys.stderr.write(f"setting {name}: {problem['msg']}\n")
        return _USAGE
    except ValueError as error:  # a secret's file
        sys.stderr.write(f"settings: {error}\n")
        return _USAGE
    configure_logs(form=settings.log_format, level=settings.log_level)
    service = read_settings.__module__.partition(".")[0].replace("_", "-")
    try:
        with traced_to(settings.traces_endpoint, service, settings.traces_ratio):
            return work(settings)
    except (OSError, ValueError, sqlite3.Error, ServiceError) as error:
        _log.error("service_failed", error=str(error))
        _log.debug("service_failed_at", exc_info=True)
        return _USAGE
