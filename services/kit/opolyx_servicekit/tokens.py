"""Tokens: JWTs that say who calls. No error and no log line ever holds one."""

import hashlib
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import jwt

from opolyx_servicekit.access import Principal, bad_token
from opolyx_servicekit.key_set import KeyFile
from opolyx_servicekit.settings import ServiceSettings
from opolyx_servicekit.wall_clock import Clock, SystemClock

LEEWAY_SECONDS: Final = 30
"""How far two machines' clocks may differ."""

_LATEST_UNIX: Final = 1 << 40  # no time beyond it, and no NaN, ever reaches an answer
_LONGEST_TOKEN: Final = 4096
_LONGEST_TEXT: Final = 128
_MOST_REMEMBERED: Final = 10_000
_CHECKED_BY_US: Final = {
    "verify_exp": False,  # against the injected clock, below
    "verify_nbf": False,
    "verify_iat": False,
    "require": ["exp", "iss", "aud", "sub"],
}


class TokenVerifier:
    """Checks tokens against a JWKS file of public keys."""

    def __init__(
        self,
        keys_file: Path,
        *,
        roles: Iterable[str],
        issuer: str = "opolyx",
        audience: str = "opolyx",
        algorithms: Iterable[str] = ("EdDSA",),
        clock: Clock | None = None,
        is_revoked: Callable[[Principal], bool] | None = None,
    ) -> None:
        """Read the keys.

        Args:
            keys_file: public keys; read again when they change.
            roles: the roles that exist; a token with another is refused.
            issuer: the `iss` required.
            audience: the `aud` required.
            algorithms: the signature algorithms allowed.
            clock: the system's if absent.
            is_revoked: asked for every call, so it must be fast.

        Raises:
            ValueError: the file isn't a set of public keys.
            OSError: it can't be read.
        """
        self._clock = clock or SystemClock()
        self._keys = KeyFile(keys_file, algorithms=algorithms, monotonic=self._clock.monotonic)
        self._roles = frozenset(roles)
        self._issuer = issuer
        self._audience = audience
        self._is_revoked = is_revoked
        self._remembered: OrderedDict[bytes, Principal] = OrderedDict()
        self._remembered_version = 0

    def verify(self, token: str) -> Principal:
        """Whom the token speaks for.

        Raises:
            Unauthenticated: its metadata has the `problem`: malformed, invalid, expired or revoked.
        """
        if len(token) > _LONGEST_TOKEN:
            raise bad_token("malformed", f"token is over {_LONGEST_TOKEN} bytes")
        keys = self._keys.keys()
        self._forget_if_keys_changed()
        digest = hashlib.sha256(token.encode()).digest()
        principal = self._remembered.get(digest)
        if principal is None:
            kid, claims = _checked_claims(token, keys, self._issuer, self._audience)
            principal = self._principal(claims)
            if not self._keys.may_sign(kid, principal.role):
                raise bad_token("invalid", "token's key signs no such role")
            self._remember(digest, principal)
        self.check(principal)
        return principal

    def check(self, principal: Principal) -> None:
        """Look again whether a verified token is still good, as for a stream that goes on.

        Raises:
            Unauthenticated: it has expired, or was revoked.
        """
        now_s = self._clock.now_ms() // 1000
        if now_s >= principal.expires_unix + LEEWAY_SECONDS:
            raise bad_token("expired", "token is expired")
        not_before = principal.claims.get("nbf", 0)
        if not isinstance(not_before, int | float) or now_s < not_before - LEEWAY_SECONDS:
            raise bad_token("invalid", "token is not valid yet")
        if self._is_revoked is not None and self._is_revoked(principal):
            raise bad_token("revoked", "token is revoked")

    def _forget_if_keys_changed(self) -> None:
        if self._remembered_version != self._keys.version:
            self._remembered_version = self._keys.version
            self._remembered.clear()

    def _remember(self, digest: bytes, principal: Principal) -> None:
        """A checked signature costs 100 µs, a remembered one 1; the oldest are forgotten."""
        self._remembered[digest] = principal
        if len(self._remembered) > _MOST_REMEMBERED:
            self._remembered.popitem(last=False)

    def _principal(self, claims: Mapping[str, object]) -> Principal:
        role = claims.get("role")
        if not isinstance(role, str) or role not in self._roles:
            raise bad_token("invalid", "token has no known role")
        expires = claims["exp"]
        if isinstance(expires, bool) or not isinstance(expires, int | float):
            raise bad_token("invalid", "token has no usable exp")
        if not 0 < expires < _LATEST_UNIX:
            raise bad_token("invalid", "token has no usable exp")
        subject = _text(claims, "sub")
        if not subject:
            raise bad_token("invalid", "token has no sub")
        return Principal(
            subject=subject,
            role=role,
            name=_text(claims, "name"),
            token_id=_text(claims, "jti"),
            expires_unix=int(expires),
            claims=claims,
        )


def verifier_of(
    settings: ServiceSettings,
    *,
    roles: Iterable[str],
    clock: Clock | None = None,
    is_revoked: Callable[[Principal], bool] | None = None,
) -> TokenVerifier:
    """The verifier that the settings describe.

    Raises:
        ValueError: they name no file of keys, or it isn't a set of public keys.
        OSError: it can't be read.
    """
    if settings.verification_keys_file is None:
        raise ValueError("verification_keys_file is not set")
    return TokenVerifier(
        settings.verification_keys_file,
        roles=roles,
        issuer=settings.issuer,
        audience=settings.audience,
        algorithms=settings.token_algorithms,
        clock=clock,
        is_revoked=is_revoked,
    )


class TokenSigner:
    """Makes tokens with the first key of a private JWKS file."""

    def __init__(
        self,
        keys_file: Path,
        *,
        issuer: str = "opolyx",
        audience: str = "opolyx",
        clock: Clock | None = None,
    ) -> None:
        """Read the private keys, as `create_keys` writes them; they are re-read on a change."""
        self._clock = clock or SystemClock()
        self._keys = KeyFile(keys_file, private=True, monotonic=self._clock.monotonic)
        self._issuer = issuer
        self._audience = audience

    def sign(
        self,
        *,
        subject: str,
        role: str,
        ttl_seconds: int,
        name: str = "",
        token_id: str | None = None,
        extra: Mapping[str, object] | None = None,
    ) -> str:
        """A new token, valid from now.

        Args:
            subject: the `sub` claim.
            role: the `role` claim.
            ttl_seconds: how long it is valid.
            name: display name.
            token_id: the `jti` claim; a random one if absent.
            extra: further claims; they can't replace the others.
        """
        now_s = self._clock.now_ms() // 1000
        claims = {
            **(extra or {}),
            "sub": subject,
            "role": role,
            "name": name,
            "iss": self._issuer,
            "aud": self._audience,
            "iat": now_s,
            "exp": now_s + ttl_seconds,
            "jti": token_id or secrets.token_urlsafe(12),
        }
        kid, key = next(iter(self._keys.keys().items()))
        return jwt.encode(claims, key.key, algorithm=key.algorithm_name, headers={"kid": kid})


def _checked_claims(
    token: str, keys: Mapping[str, jwt.PyJWK], issuer: str, audience: str
) -> tuple[str, dict[str, object]]:
    """Signature, issuer and audience; the key decides the algorithm, never the token.

    Returns:
        The key's id and the claims.
    """
    try:
        kid = jwt.get_unverified_header(token).get("kid", "")
        key = keys.get(kid)
    except (jwt.PyJWTError, ValueError, TypeError):
        raise bad_token("malformed", "token is not a JWT") from None
    if key is None:
        raise bad_token("invalid", "token is signed with an unknown key")
    try:
        claims: dict[str, object] = jwt.decode(
            token,
            key.key,
            algorithms=[key.algorithm_name],
            issuer=issuer,
            audience=audience,
            options=_CHECKED_BY_US,  # type: ignore[arg-type]
        )
    except (jwt.PyJWTError, ValueError, TypeError):
        raise bad_token("invalid", "token is not valid here") from None
    return kid, claims


def _text(claims: Mapping[str, object], name: str) -> str:
    value = claims.get(name, "")
    if not isinstance(value, str) or len(value) > _LONGEST_TEXT:
        raise bad_token("invalid", f"token has no usable {name}")
    return value
