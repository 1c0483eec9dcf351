"""Who calls, and what that role may call: deny by default."""

from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Final, Protocol

from google.protobuf.descriptor import ServiceDescriptor

from opolyx_servicekit.errors import PermissionDenied, Unauthenticated

PUBLIC: Final[frozenset[str]] = frozenset({"*"})
"""Marks a method that anybody may call, with or without a token."""

IDENTITY_DOMAIN: Final = "opolyx.identity"
"""Who defines the reasons TOKEN.. and ROLE, whatever service was called."""

_INFRASTRUCTURE: Final = ("/grpc.health.v1.Health/", "/grpc.reflection.v1")
_SCHEME: Final = "bearer "


@dataclass(frozen=True, slots=True)
class Principal:
    """Who a valid token speaks for."""

    subject: str
    """The `sub` claim: the caller's id."""

    role: str
    """One of the roles that the verifier knows."""

    name: str = ""
    """Display name, or empty."""

    token_id: str = ""
    """The `jti` claim, or empty."""

    expires_unix: int = 0
    """When the token ends, Unix seconds; a long stream should look again then."""

    claims: Mapping[str, object] = field(default_factory=dict, repr=False, hash=False)
    """All claims of the token."""


class Verifier(Protocol):
    """Turns a token into its principal."""

    def verify(self, token: str) -> Principal:
        """The token's principal; raises `Unauthenticated` if it isn't valid."""
        ...


_current: ContextVar[Principal | None] = ContextVar("opolyx_principal", default=None)


def current_principal() -> Principal:
    """The caller of the RPC being served, also in tasks it starts.

    Raises:
        Unauthenticated: the method is public and the call carries no valid token.
    """
    principal = _current.get()
    if principal is None:
        raise bad_token("missing", "this call needs a token")
    return principal


def bad_token(problem: str, message: str) -> Unauthenticated:
    """There is no valid token; `problem` says in one word why, in the error's metadata.

    A token that was good once has a reason of its own: with it no attempt can succeed any more.
    """
    metadata = {"problem": problem}
    if problem == "revoked":
        return Unauthenticated("TOKEN_REVOKED", message, domain=IDENTITY_DOMAIN, metadata=metadata)
    if problem == "expired":
        return Unauthenticated("TOKEN_EXPIRED", message, domain=IDENTITY_DOMAIN, metadata=metadata)
    return Unauthenticated("TOKEN", message, domain=IDENTITY_DOMAIN, metadata=metadata)


def set_principal(principal: Principal | None) -> None:
    """Make `principal` the caller in this task; for the interceptor, and for tests."""
    _current.set(principal)


def methods_of(service: ServiceDescriptor) -> list[str]:
    """Full method names of a service, `/package.Service/Method`, in the proto's order."""
    return [f"/{service.full_name}/{method.name}" for method in service.methods]


def is_infrastructure(method: str) -> bool:
    """Whether `method` belongs to health or reflection, which are public and unlimited."""
    return method.startswith(_INFRASTRUCTURE)


class AccessTable:
    """Which roles may call which method."""

    def __init__(
        self,
        roles: Mapping[str, frozenset[str]],
        verifier: Verifier | None,
        *,
        gate: Callable[[str], None] | None = None,
    ) -> None:
        """Allow what is listed and nothing else.

        Args:
            roles: by full method name, the roles that may call it, or `PUBLIC`.
            verifier: checks tokens; without one, only public methods can be called.
            gate: raises if a method isn't served by this process now, whoever calls.
        """
        self._roles = dict(roles)
        self._verifier = verifier
        self._gate = gate

    def admit(self, method: str, metadata: Iterable[tuple[str, str | bytes]]) -> Principal | None:
        """The caller, or None for an anonymous caller of a public method.

        Raises:
            Unauthenticated: the method isn't public and there is no valid token.
            PermissionDenied: the role isn't listed, or the method isn't.
            ServiceError: the gate's.
        """
        if is_infrastructure(method):
            return None
        if self._gate is not None:
            self._gate(method)
        roles = self._roles.get(method, frozenset())
        if roles == PUBLIC:
            return self._guess(metadata)
        principal = self._authenticated(metadata)
        if principal.role not in roles:
            raise PermissionDenied(
                "ROLE",
                f"role {principal.role} may not call {method}",
                domain=IDENTITY_DOMAIN,
                metadata={"role": principal.role, "method": method},
            )
        return principal

    def _guess(self, metadata: Iterable[tuple[str, str | bytes]]) -> Principal | None:
        """On a public method a stale token is no worse than none."""
        try:
            return self._authenticated(metadata)
        except Unauthenticated:
            return None

    def _authenticated(self, metadata: Iterable[tuple[str, str | bytes]]) -> Principal:
        found = [value for key, value in metadata if key == "authorization"]
        if not found or self._verifier is None:
            raise bad_token("missing", "this call needs a token")
        value = found[0]
        if len(found) > 1 or isinstance(value, bytes) or not value.lower().startswith(_SCHEME):
            raise bad_token("malformed", "authorization must be one bearer token")
        return self._verifier.verify(value[len(_SCHEME) :].strip())
