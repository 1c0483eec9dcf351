"""Closes connections of a server, which gRPC has no call for.

A connection's socket is found among the files that the process has open, and shut down. To gRPC that
is the same as if the peer had gone: the calls on it are cancelled, and all of it is given back.
"""

import ipaddress
import os
import socket
import stat
from collections.abc import Collection
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote

_OPEN_FILES: Final = "/dev/fd"
_MOST_KEPT: Final = 1_024
_INTERNET: Final = ("ipv4", "ipv6")

_Address = tuple[str, int]
_NOBODY: Final = "", 0


@lru_cache(_MOST_KEPT)
def host_of(peer: str) -> str:
    """The address in the name that gRPC's context gives a peer, without the port.

    Empty if there is none: who comes by a Unix socket is of this machine.
    """
    return _address(peer)[0]


class Connections:
    """The connections of a process; what was found out of one is kept while it is open."""

    def __init__(self) -> None:
        """Nothing was looked at yet."""
        self._seen: dict[int, tuple[int, _Address]] = {}

    def close(self, peers: Collection[str], ports: Collection[int]) -> int:
        """Close those from `peers`, named as gRPC's contexts do, to `ports` of this process.

        It looks at every open file, some microseconds each: call it for many peers at once, and
        where nobody waits for it.

        Returns:
            How many were there.
        """
        wanted = {_address(peer) for peer in peers} - {_NOBODY}
        seen: dict[int, tuple[int, _Address]] = {}
        closed = 0
        for name in os.listdir(_OPEN_FILES):
            number = int(name)
            try:
                status = os.fstat(number)
                if not stat.S_ISSOCK(status.st_mode):
                    continue
                known = self._seen.get(number)
                if known is None or known[0] != status.st_ino:
                    known = status.st_ino, _client_of(number, ports)
                seen[number] = known
                if known[1] in wanted and _shut(number, known[1], ports):
                    closed += 1
            except OSError:  # closed meanwhile
                continue
        self._seen = seen
        return closed


def _client_of(number: int, ports: Collection[int]) -> _Address:
    """Who is connected by an open socket to one of the ports."""
    with _duplicate(number) as held:
        return _client(held, ports)


def _shut(number: int, client: _Address, ports: Collection[int]) -> bool:
    """Shut a socket down, if it is still the client's."""
    with _duplicate(number) as held:
        if _client(held, ports) != client:
            return False
        held.shutdown(socket.SHUT_RDWR)
        return True


def _client(held: socket.socket, ports: Collection[int]) -> _Address:
    try:
        peer, own = held.getpeername(), held.getsockname()
    except OSError:  # it isn't connected
        return _NOBODY
    is_client = isinstance(own, tuple) and own[1] in ports
    return _plain(peer) if is_client else _NOBODY


def _duplicate(number: int) -> socket.socket:
    """An open socket of our own: a number may mean another one any time.

    Its family isn't found out, to save time: what has room for an address of IPv6 has room for any.
    """
    duplicate = os.dup(number)
    try:
        return socket.socket(socket.AF_INET6, socket.SOCK_STREAM, 0, duplicate)
    except OSError:
        os.close(duplicate)
        raise


def _address(peer: str) -> _Address:
    """Host and port in `ipv4:1.2.3.4:5` or `ipv6:%5B::1%5D:5`."""
    kind, _, rest = unquote(peer).partition(":")
    host, _, port = rest.rpartition(":")
    if kind not in _INTERNET or not port.isdecimal():
        return _NOBODY
    return _plain((host.strip("[]"), int(port)))


def _plain(address: Any) -> _Address:
    """Host and port, an IPv4 address as such however it is written."""
    host, port = address[0].partition("%")[0], address[1]
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return _NOBODY
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found), port
