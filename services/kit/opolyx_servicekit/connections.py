"""Closes connections of a server, which gRPC has no call for.

A connection's socket is found among the files that the process has open, and shut down. To gRPC that
is the same as if the peer had gone: the calls on it are cancelled, and all of it is given back.
"""

import ipaddress
import os
import socket
import stat
from collections.abc import Collection
from typing import Any, Final
from urllib.parse import unquote

_OPEN_FILES: Final = "/dev/fd"
_INTERNET: Final = ("ipv4", "ipv6")


def host_of(peer: str) -> str:
    """The address in the name that gRPC's context gives a peer, without the port.

    Empty if there is none: who comes by a Unix socket is of this machine.
    """
    return _address(peer)[0]


def close_connections(peers: Collection[str], ports: Collection[int]) -> int:
    """Close the connections from `peers`, named as gRPC's contexts do, to `ports` of this process.

    It looks at every open file, a microsecond or two each: call it for many peers at once, and
    where nobody waits for it.

    Returns:
        How many were there.
    """
    wanted = {_address(peer) for peer in peers} - {("", 0)}
    closed = 0
    for name in os.listdir(_OPEN_FILES):
        number = int(name)
        try:
            if not stat.S_ISSOCK(os.fstat(number).st_mode):
                continue
            # A duplicate of our own: the number may mean another file any time.
            with socket.socket(fileno=os.dup(number)) as held:
                if _is_wanted(held, wanted, ports):
                    held.shutdown(socket.SHUT_RDWR)
                    closed += 1
        except OSError:  # closed meanwhile, or not connected
            continue
    return closed


def _is_wanted(held: socket.socket, wanted: set[tuple[str, int]], ports: Collection[int]) -> bool:
    if held.family not in (socket.AF_INET, socket.AF_INET6):
        return False
    return held.getsockname()[1] in ports and _plain(held.getpeername()) in wanted


def _address(peer: str) -> tuple[str, int]:
    """Host and port in `ipv4:1.2.3.4:5` or `ipv6:%5B::1%5D:5`."""
    kind, _, rest = unquote(peer).partition(":")
    host, _, port = rest.rpartition(":")
    if kind not in _INTERNET or not port.isdecimal():
        return "", 0
    return _plain((host.strip("[]"), int(port)))


def _plain(address: Any) -> tuple[str, int]:
    """Host and port, an IPv4 address as such however it is written."""
    host, port = address[0].partition("%")[0], address[1]
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return "", 0
    mapped = getattr(found, "ipv4_mapped", None)
    return str(mapped or found), port
