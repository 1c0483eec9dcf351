"""Calling the other services: the channel to them, and the token to show there."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

import grpc
import structlog
from pydantic import Field, SecretStr

from opolyx_servicekit.secret_files import read_secret
from opolyx_servicekit.settings import ServiceSettings
from opolyx_servicekit.tokens import TokenSigner
from opolyx_servicekit.tracing import CallsTraced, tracing
from opolyx_servicekit.wall_clock import Clock, SystemClock

_log = structlog.get_logger(__name__)

_ROLE: Final = "service"
_TOKEN_SECONDS: Final = 3600
_KEPT_SECONDS: Final = 1800
_OPTIONS: Final = (
    ("grpc.keepalive_time_ms", 30_000),
    ("grpc.keepalive_timeout_ms", 10_000),
    ("grpc.http2.ping_timeout_ms", 10_000),  # alone counts while another ping is under way
    ("grpc.http2.max_pings_without_data", 0),  # facts may be quiet for long
    ("grpc.max_receive_message_length", 16 << 20),
    # A peer that was away is found again soon; by itself gRPC waits for up to two minutes.
    ("grpc.initial_reconnect_backoff_ms", 100),
    ("grpc.min_reconnect_backoff_ms", 2_000),  # is how long one attempt may take
    ("grpc.max_reconnect_backoff_ms", 2_000),
    ("grpc.use_local_subchannel_pool", 1),  # no channel inherits the back-off of another
)


class PeerSettings(ServiceSettings):
    """Settings of a service that calls others."""

    peer_ca_file: Path | None = None
    """PEM authority that the services called must prove themselves by; plaintext if absent."""

    peer_cert_file: Path | None = None
    """PEM certificate chain to show to the services called; none is shown if absent."""

    peer_key_file: Path | None = None
    """PEM private key that belongs to `peer_cert_file`."""

    service_token: SecretStr | None = Field(default=None)
    """Token for calls to the other services; goes before a key to sign one with. From the
    environment, or out of the file that `..._SERVICE_TOKEN_FILE` names, read again as it changes."""


def open_channel(
    address: str, settings: PeerSettings, *, name: str = "", one_serves: bool = False
) -> grpc.aio.Channel:
    """A channel to a service, for the caller to close.

    Args:
        address: host and port; nothing needs to be there yet.
        settings: what both sides prove themselves by; plaintext without an authority.
        name: what the service's certificate must name; the host of the address if empty.
        one_serves: whether of several processes at the address one serves and the others refuse:
            then each call goes to the next of them, else all stay with the first that connects.

    Raises:
        OSError: a file can't be read.
        ValueError: only a part of what belongs together is set.
    """
    between = [CallsTraced()] if tracing() else None
    options = (*_OPTIONS, ("grpc.lb_policy_name", "round_robin")) if one_serves else _OPTIONS
    ca, cert, key = settings.peer_ca_file, settings.peer_cert_file, settings.peer_key_file
    if (cert is None) != (key is None):
        raise ValueError("peer_cert_file and peer_key_file belong together")
    if ca is None:
        if cert is not None:
            raise ValueError("peer_cert_file needs peer_ca_file")
        return grpc.aio.insecure_channel(address, options=options, interceptors=between)
    named = (("grpc.ssl_target_name_override", name),) if name else ()
    credentials = grpc.ssl_channel_credentials(
        ca.read_bytes(),
        key.read_bytes() if key else None,
        cert.read_bytes() if cert else None,
    )
    return grpc.aio.secure_channel(
        address, credentials, options=(*options, *named), interceptors=between
    )


def given_token(settings: PeerSettings) -> Callable[[], str] | None:
    """Gives the token that the settings hold or name a file of; None if they do neither."""
    if settings.service_token is None:
        return None
    variable = f"{settings.model_config.get('env_prefix', '')}SERVICE_TOKEN"
    path = os.environ.get(f"{variable}_FILE")
    if path is None or variable in os.environ:
        return settings.service_token.get_secret_value
    return TokenFile(Path(path))


class TokenFile:
    """A token in a file, read again when the file changes: it is replaced without a restart."""

    def __init__(self, path: Path) -> None:
        """Read it; raises ValueError if it can't be read."""
        self._path = path
        self._stamp = self._stamp_now()
        self._token = read_secret(path)

    def __call__(self) -> str:
        """The token; the last one that could be read."""
        try:
            stamp = self._stamp_now()
            if stamp != self._stamp:
                self._token, self._stamp = read_secret(self._path), stamp
        except ValueError as error:
            _log.warning("service_token_not_reloaded", error=str(error))
        return self._token

    def _stamp_now(self) -> tuple[int, int]:
        try:
            found = os.stat(self._path)
        except OSError as error:
            raise ValueError(f"can't read {self._path}: {error.strerror}") from None
        return found.st_mtime_ns, found.st_ino


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
