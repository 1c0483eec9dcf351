"""Whether what a server is told lets others see tokens: warned of at its start."""

import ipaddress
import os
from collections.abc import Mapping

import structlog

from opolyx_servicekit.settings import ServiceSettings

_log = structlog.get_logger(__name__)

_SHOW_HEADERS = frozenset({"all", "api", "http", "http2_hpack", "call"})


def warn_of_exposure(
    settings: ServiceSettings, environment: Mapping[str, str] = os.environ
) -> None:
    """Log a warning for each way in which tokens could be seen."""
    if settings.tls_cert_file is None and not is_local(settings.listen_address):
        _log.warning(
            "tokens_cross_the_network_in_plaintext",
            address=settings.listen_address,
            hint="set tls_cert_file and tls_key_file, or put a proxy with TLS in front",
        )
    traced = {word.strip() for word in environment.get("GRPC_TRACE", "").split(",")}
    if shown := sorted(traced & _SHOW_HEADERS):
        _log.warning("grpc_trace_prints_tokens", traces=shown, hint="unset GRPC_TRACE")


def is_local(address: str) -> bool:
    """Whether `address`, host and port or a Unix socket, is reached from this machine alone."""
    if address.startswith("unix:"):
        return True
    host = address.rpartition(":")[0].strip("[]")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
