"""The options of every command that asks a server: where it is, and who is asking."""

import re
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

from cyclopts import Parameter

from opolyx_sdk.errors import OpolyxError
from opolyx_sdk.options import ClientOptions, Tls

if TYPE_CHECKING:
    from opolyx_sdk.client import AsyncClient

T = TypeVar("T")

_JWT: Final = re.compile(r"[\w-]+(\.[\w-]+)*", re.ASCII)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Connection:
    """A server, and the account to ask it as."""

    server: Annotated[str, Parameter(env_var="OPOLYX_SERVER")] = "127.0.0.1:7443"
    """Host and port of the server."""

    token: Annotated[str | None, Parameter(env_var="OPOLYX_TOKEN")] = field(
        default=None, repr=False
    )
    """JWT to ask with. Better in the environment: everybody on a machine sees its commands."""

    tls: Annotated[bool, Parameter(env_var="OPOLYX_TLS", negative="")] = False
    """Speak TLS, trusting whom this machine trusts."""

    ca: Annotated[Path | None, Parameter(env_var="OPOLYX_CA")] = None
    """PEM file of the authorities to trust instead; implies --tls."""

    cert: Annotated[Path | None, Parameter(env_var="OPOLYX_CERT")] = None
    """PEM file of the certificate to show, where the server asks for one; with --key."""

    key: Annotated[Path | None, Parameter(env_var="OPOLYX_KEY")] = None
    """PEM file of that certificate's key."""

    server_name: Annotated[str, Parameter(env_var="OPOLYX_SERVER_NAME")] = ""
    """What the server's certificate names, if that isn't the host of --server."""

    def client(self, *, call_timeout_s: float = 10.0) -> "AsyncClient":
        """A client of the server that acts for the token's account.

        Args:
            call_timeout_s: how long a single call may take, seconds.

        Raises:
            OpolyxError: there is no token, or nothing that can be one; or a file of TLS can't be read.
        """
        token = (self.token or "").strip()
        if not token:
            raise OpolyxError(
                "no token: set OPOLYX_TOKEN, or give --token; `opolyx admin token` prints one where"
                " the server runs"
            )
        return self.open(token, ClientOptions(call_timeout_s=call_timeout_s))

    def open(self, token: str | None, options: ClientOptions | None = None) -> "AsyncClient":
        """A client of the server that acts with `token`, or for nobody yet.

        Raises:
            OpolyxError: what was given is no token; or a file of TLS can't be read.
        """
        from opolyx_sdk.client import AsyncClient

        if token is not None and not _JWT.fullmatch(token):
            raise OpolyxError("what was given as the token is no JWT")
        options = replace(options or ClientOptions(), tls=self._secured())
        return AsyncClient(self.server, token=token, options=options)

    def _secured(self) -> Tls | None:
        if (self.cert is None) != (self.key is None):
            raise OpolyxError("--cert and --key belong together")
        if not (self.tls or self.ca or self.cert or self.server_name):
            return None
        return Tls(_content(self.ca), _content(self.key), _content(self.cert), self.server_name)


def _content(path: Path | None) -> bytes | None:
    if path is None:
        return None
    try:
        return path.read_bytes()
    except OSError as error:
        raise OpolyxError(f"can't read {path}: {error.strerror}") from error


def ask(work: Coroutine[Any, Any, T]) -> T:
    """What a server answers; asyncio is loaded only now, by a command that needs it."""
    import asyncio

    return asyncio.run(work)


LOCAL: Final = Connection()
"""A server on this machine."""
