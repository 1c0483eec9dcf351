"""Whether a connection without TLS would show the token to others: warned of, once an address."""

import ipaddress
import logging
from functools import cache

_log = logging.getLogger(__name__)


@cache
def warn_of_plaintext(address: str) -> None:
    """Log a warning if `address`, host and port, is on another machine."""
    if not stays_here(address):
        _log.warning(
            "the token crosses the network to %s in plaintext: give the client TLS", address
        )


def stays_here(address: str) -> bool:
    """Whether `address` is this machine's own."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"
