"""The settings every service shares.

A service subclasses `ServiceSettings` in its own `settings.py`, adds its fields and names its
prefix: `model_config = SettingsConfigDict(env_prefix="OPOLYX_<SERVICE>_")`.
"""

import os
import re
from pathlib import Path
from typing import Annotated, Final, Literal

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import (
    BaseSettings,
    NoDecode,
    PydanticBaseSettingsSource,
    SettingsConfigDict,
)

from opolyx_servicekit.secret_files import FILE as _FILE
from opolyx_servicekit.secret_files import SecretFiles

_SHARED_PREFIX: Final = "OPOLYX_"
_MASK: Final = "***"
_SECRET_NAME: Final = re.compile(r"secret|token|key|password")
_URL_USER: Final = re.compile(r"(?<=://)[^/@\s]+(?=@)")


class ServiceSettings(BaseSettings):
    """Settings common to all services; frozen, read from the environment.

    Unknown arguments are refused. Unknown names in the environment can't be, as Kubernetes puts
    some with our prefix there; `unknown_names` tells them.
    """

    model_config = SettingsConfigDict(
        env_prefix=_SHARED_PREFIX, extra="forbid", frozen=True, use_attribute_docstrings=True
    )

    listen_address: str = "127.0.0.1:0"
    """Host and port of the gRPC server; port 0 takes a free one."""

    probe_address: str | None = None
    """Host and port of a plaintext server with health alone, for probes that can't speak TLS."""

    metrics_address: str | None = None
    """Host and port of the Prometheus endpoint; none if absent."""

    store_url: str = "sqlite:///opolyx.db"
    """The store; `sqlite:///file` is relative to the working directory, `sqlite:////file` absolute."""

    store_require_durable: bool = True
    """Refuse a Redis whose settings let it forget what it acknowledged; if not, only warn."""

    store_replicas: int = Field(default=0, ge=0)
    """On how many replicas of its node of Redis a write must be before it counts as stored."""

    verification_keys_file: Path | None = None
    """JWKS file of the public keys that callers' tokens are checked with."""

    token_algorithms: Annotated[tuple[str, ...], NoDecode] = ("EdDSA",)
    """Signature algorithms accepted in tokens, out of EdDSA, ES256 and RS256, with commas."""

    issuer: str = "opolyx"
    """The `iss` that tokens must carry."""

    audience: str = "opolyx"
    """The `aud` that tokens must carry."""

    tls_cert_file: Path | None = None
    """PEM certificate chain of the gRPC server; plaintext if absent; re-read when it changes."""

    tls_key_file: Path | None = None
    """PEM private key that belongs to `tls_cert_file`."""

    tls_client_ca_file: Path | None = None
    """PEM authority that certificates of clients must come from: those of all clients, or those on
    `service_address` if that is set. Services are then believed only with one."""

    service_address: str | None = None
    """Host and port of a second listener for the other services, which show certificates there."""

    calls_per_second: int = Field(default=200, ge=0)
    """Single calls a second that one account may make on average; 0 for no limit."""

    call_burst: int = Field(default=2_000, ge=1)
    """Single calls that one account may make at once, before the average counts."""

    refused_calls_per_second: int = Field(default=5, ge=0)
    """Calls a second of one connection that may be refused on average before it is closed; 0 for any
    number, behind a proxy, whose connections are many clients'. An engine with a `replica_address` has
    0, as other replicas send clients' calls on."""

    refused_call_burst: int = Field(default=100, ge=1)
    """Calls of one connection that may be refused at once, before the average counts."""

    request_seconds: float = Field(default=10.0, gt=0)
    """How long the request of a call may take to come once the call was opened, seconds."""

    most_connections: int = Field(default=8_192, ge=1)
    """Connections that may be open at once; further ones are closed as they come."""

    most_connection_calls: int = Field(default=10_000, ge=1)
    """Calls that one connection may have open at once; further ones wait at the client."""

    most_pending_calls: int = Field(default=2_500, ge=1)
    """Calls that may wait to be taken; of further ones more and more are refused, past twice as many
    all. A burst of clients that come back must fit in."""

    handshake_seconds: float = Field(default=10.0, gt=0)
    """How long a new connection may take until it speaks HTTP/2, seconds."""

    idle_connection_seconds: float = Field(default=900.0, gt=0)
    """After how long without a call a connection is closed; clients open the next by themselves."""

    most_health_watches: int = Field(default=100, ge=0)
    """Streams of health, which need no token, that may be open at once."""

    keepalive_seconds: float = Field(default=30.0, gt=0)
    """After how long without a word from a peer it is pinged, seconds."""

    keepalive_timeout_seconds: float = Field(default=10.0, gt=0)
    """How long a pinged peer may take to answer before its connection is given up, seconds."""

    least_ping_seconds: float = Field(default=5.0, gt=0)
    """What clients must leave between their own pings, seconds; who pings more often is cut off."""

    grace_seconds: float = Field(default=20.0, ge=0)
    """Seconds that open calls may take to end once the service drains."""

    log_format: Literal["auto", "json", "console"] = "auto"
    """How log lines look; auto is console on a terminal and JSON elsewhere."""

    log_level: Literal["debug", "info", "warning", "error"] = "info"
    """The lowest level that is logged."""

    traces_endpoint: str | None = None
    """URL of a collector of traces, OTLP over gRPC, `http://` without TLS; none if absent."""

    traces_ratio: float = Field(default=0.05, ge=0, le=1)
    """The share of traces that is kept, where there is a collector."""

    reflection: bool = False
    """Whether the server describes its services to tools such as grpcurl."""

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Arguments, the environment, then the files that it names for secrets."""
        return init_settings, env_settings, SecretFiles(settings_cls)

    @field_validator("token_algorithms", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        """In the environment it is a list with commas."""
        return tuple(value.replace(" ", "").split(",")) if isinstance(value, str) else value

    def unknown_names(self) -> list[str]:
        """Names in the environment with the service's prefix that are no setting: typos, perhaps."""
        prefix = str(self.model_config.get("env_prefix", "")).upper()
        known = {prefix + name.upper() for name in type(self).model_fields}
        if prefix == _SHARED_PREFIX:
            return []
        known |= {name + _FILE for name in known}
        found = {name.upper() for name in os.environ}
        return sorted(name for name in found - known if name.startswith(prefix))

    def describe(self) -> dict[str, object]:
        """The effective values, for the log at start, with every secret masked.

        Masked are secret types, texts in a field named for a secret (a path named `*_file` isn't
        one) and the user part of a URL.
        """
        return {name: _shown(name, getattr(self, name)) for name in type(self).model_fields}


def _shown(name: str, value: object) -> object:
    if isinstance(value, SecretStr):
        return _MASK
    if isinstance(value, Path):
        return str(value)
    if not isinstance(value, str):
        return value
    if _SECRET_NAME.search(name) and not name.endswith("_file") and value:
        return _MASK
    return _URL_USER.sub(_MASK, value)
