"""How often something may be done in a minute, and by whom."""

import ipaddress
from typing import Final
from urllib.parse import unquote

from opolyx_servicekit.errors import ResourceExhausted
from opolyx_servicekit.wall_clock import Clock

_MINUTE_MS: Final = 60_000
_MOST_KEYS: Final = 10_000
_SITE_BITS: Final = 64  # what one customer of a network gets at least


class MinuteLimit:
    """Counts by key within each minute of the clock.

    Its memory is bounded: when a minute sees more keys than it holds, all are counted anew.
    """

    def __init__(self, name: str, most: int, clock: Clock) -> None:
        """Count nothing yet.

        Args:
            name: of the setting, so that a refusal can name it.
            most: allowed a key in a minute; 0 for no limit.
            clock: the time.
        """
        self._name = name
        self._most = most
        self._clock = clock
        self._minute = 0
        self._taken: dict[str, int] = {}

    def take(self, key: str) -> None:
        """Count one.

        Raises:
            ResourceExhausted: the key has had all of this minute; it may retry in the next.
        """
        if not self._most:
            return
        now_ms = self._clock.now_ms()
        if now_ms // _MINUTE_MS != self._minute or len(self._taken) > _MOST_KEYS:
            self._minute = now_ms // _MINUTE_MS
            self._taken.clear()
        taken = self._taken.get(key, 0)
        if taken >= self._most:
            raise ResourceExhausted(
                "LIMIT",
                f"the {self._most} of {self._name} are used up",
                metadata={"limit": self._name, "value": self._most},
                retry_after_ms=_MINUTE_MS - now_ms % _MINUTE_MS,
            )
        self._taken[key] = taken + 1

    def give_back(self, key: str) -> None:
        """Count one less: what was taken proved to be none that counts."""
        if taken := self._taken.get(key, 0):
            self._taken[key] = taken - 1


def caller_address(peer: str, forwarded: str, proxies: int) -> str:
    """The address that a call counts for: of IPv6, the network, as a caller has all of it.

    Args:
        peer: gRPC's own word for who is connected, such as `ipv4:192.0.2.1:5000`.
        forwarded: the header `x-forwarded-for`.
        proxies: how many proxies of our own append to that header; what is before theirs was
            written by the caller and is worth nothing.
    """
    hops = [hop.strip() for hop in forwarded.split(",") if hop.strip()]
    if proxies and len(hops) >= proxies:
        return _network(hops[-proxies])
    host = unquote(peer.partition(":")[2]).rpartition(":")[0].strip("[]")
    return _network(host or peer)


def _network(address: str) -> str:
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(parsed, ipaddress.IPv6Address):
        if parsed.ipv4_mapped is not None:
            return str(parsed.ipv4_mapped)
        return str(ipaddress.ip_network((int(parsed), _SITE_BITS), strict=False))
    return str(parsed)
