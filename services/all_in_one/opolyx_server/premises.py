"""What a server needs of the machine, checked before it opens anything: its address and its files."""

import errno
import fcntl
import os
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

LOCK: Final = "server.lock"
"""Name of the file in the data directory that a running server holds."""


class CannotStart(OSError):
    """The server can't start; the message says what to change."""


class CannotGoOn(OSError):
    """The server can't serve any longer; the message says why."""


@contextmanager
def held_directory(path: Path) -> Iterator[None]:
    """Hold a data directory, made if absent, against every other server.

    Two servers on one database would both act in the same games. The hold ends with the process,
    however it ends.

    Raises:
        CannotStart: another server holds it, or it can't be used.
    """
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(path / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise CannotStart(f"can't use the data directory {path}: {error.strerror}") from error
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise CannotStart(f"another server uses the data directory {path}") from None
        yield
    finally:
        os.close(descriptor)


def check_address(listen: str) -> None:
    """See whether `listen`, host and port, is free to listen on.

    gRPC alone would log a line of its own, and is content when one of several addresses is taken.

    Raises:
        CannotStart: it isn't.
    """
    host, _, port = listen.rpartition(":")
    try:
        found = socket.getaddrinfo(
            host.strip("[]"), int(port), type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )
        failures = [error for one in found if (error := _bind_failure(one[0], one[4]))]
        taken = [error for error in failures if error.errno == errno.EADDRINUSE]
        if taken or len(failures) == len(found):
            raise (taken or failures)[0]
    except OSError as error:
        raise CannotStart(f"can't listen on {listen}: {error.strerror}") from error


def _bind_failure(family: int, address: tuple[object, ...]) -> OSError | None:
    try:
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
            probe.listen(1)
    except OSError as error:
        return error
    return None
