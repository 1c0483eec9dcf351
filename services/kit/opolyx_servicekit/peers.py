"""Calling the other services: the channel to them, and the token to show there."""

from pathlib import Path
from typing import Final

import grpc

from opolyx_servicekit.tokens import TokenSigner
from opolyx_servicekit.tracing import CallsTraced, tracing
from opolyx_servicekit.wall_clock import Clock, SystemClock

_ROLE: Final = "service"
_TOKEN_SECONDS: Final = 3600
_KEPT_SECONDS: Final = 1800
_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),  # alone counts while another ping is under way
    ("grpc.http2.max_pings_without_data", 0),  # facts may be quiet for long
    ("grpc.max_receive_message_length", 16 << 20),
)


def open_channel(address: str, ca_file: Path | None) -> grpc.aio.Channel:
    """A channel to a service, for the caller to close.

    Args:
        address: host and port; nothing needs to be there yet.
        ca_file: PEM authority that the service must prove itself by; plaintext if absent.

    Raises:
        OSError: the file can't be read.
    """
    between = [CallsTraced()] if tracing() else None
    if ca_file is None:
        return grpc.aio.insecure_channel(address, options=_OPTIONS, interceptors=between)
    credentials = grpc.ssl_channel_credentials(ca_file.read_bytes())
    return grpc.aio.secure_channel(address, credentials, options=_OPTIONS, interceptors=between)


class ServiceToken:
    """A service's own token, signed anew long before it expires; call it for each call."""

    def __init__(self, signer: TokenSigner, subject: str, clock: Clock | None = None) -> None:
        """Sign nothing yet.

        Args:
            signer: has the keys.
            subject: the `sub` claim, the service's id.
            clock: the system's if absent.
        """
        self._signer = signer
        self._subject = subject
        self._clock = clock or SystemClock()
        self._made: tuple[float, str] | None = None

    def __call__(self) -> str:
        """A token that is good for at least half an hour."""
        now = self._clock.monotonic()
        if self._made is None or now - self._made[0] > _KEPT_SECONDS:
            jwt = self._signer.sign(subject=self._subject, role=_ROLE, ttl_seconds=_TOKEN_SECONDS)
            self._made = now, jwt
        return self._made[1]
