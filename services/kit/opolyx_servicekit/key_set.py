"""Keys in JWKS files: public ones that check tokens, private ones that sign them."""

import base64
import hashlib
import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

import jwt
import structlog
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from jwt.algorithms import OKPAlgorithm

_log = structlog.get_logger(__name__)

ALGORITHMS: Final = ("EdDSA", "ES256", "RS256")
"""The signature algorithms that can be allowed."""

ROLES: Final = "roles"
"""Member of a key's entry that bounds whose tokens may be signed with it."""

_PRIVATE_PART: Final = "d"
_RELOAD_SECONDS: Final = 2.0


class KeyFile:
    """A JWKS file held in memory and read again when it changes, so that keys can rotate.

    A change that can't be read (half written, say) is logged and the old keys stay.
    """

    def __init__(
        self,
        path: Path,
        *,
        private: bool = False,
        algorithms: Iterable[str] = ("EdDSA",),
        monotonic: Callable[[], float] | None = None,
    ) -> None:
        """Read the file.

        Args:
            path: a JSON Web Key Set, each key with a `kid`.
            private: whether it holds private keys; a public set that does is refused.
            algorithms: the algorithms allowed, out of `ALGORITHMS`; other keys are left out.
            monotonic: seconds, to look for a change at most every two; None looks every time.

        Raises:
            ValueError: an algorithm isn't known, or the file isn't such a set.
            OSError: it can't be read.
        """
        self._algorithms = frozenset(algorithms)
        if unknown := self._algorithms - set(ALGORITHMS):
            raise ValueError(f"signature algorithm {sorted(unknown)} is not one of {ALGORITHMS}")
        self._path = path
        self._private = private
        self._monotonic = monotonic
        self.version = 0
        """Rises whenever the keys changed."""
        self._roles: dict[str, frozenset[str]] = {}
        self._stamp = self._stamp_now()
        self._keys = self._read()
        self._looked = monotonic() if monotonic else 0.0

    def keys(self) -> Mapping[str, jwt.PyJWK]:
        """The keys by `kid`, in the file's order."""
        if self._monotonic is not None:
            now = self._monotonic()
            if now - self._looked < _RELOAD_SECONDS:
                return self._keys
            self._looked = now
        self._refresh()
        return self._keys

    def may_sign(self, kid: str, role: str) -> bool:
        """Whether tokens of `role` may be signed with a key: all roles, unless its entry says which.

        So a service that signs its own tokens holds no key that makes operators.
        """
        roles = self._roles.get(kid)
        return roles is None or role in roles

    def _refresh(self) -> None:
        try:
            stamp = self._stamp_now()
            if stamp == self._stamp:
                return
            self._keys = self._read()
            self._stamp = stamp
            self.version += 1
            _log.info("keys_reloaded", path=str(self._path), keys=list(self._keys))
        except (OSError, ValueError) as error:
            _log.warning("keys_not_reloaded", path=str(self._path), error=str(error))

    def _stamp_now(self) -> tuple[int, int, int]:
        found = os.stat(self._path)
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _read(self) -> dict[str, jwt.PyJWK]:
        try:
            entries = json.loads(self._path.read_text("utf-8"))["keys"]
            parsed = [self._parse(entry) for entry in entries]
            roles = {entry["kid"]: _roles_of(entry) for entry in entries if ROLES in entry}
        except (jwt.PyJWTError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{self._path} is not a usable key set") from error
        keys = {str(key.key_id): key for key in parsed if key.algorithm_name in self._algorithms}
        if not keys:
            raise ValueError(f"{self._path} has no key for {sorted(self._algorithms)}")
        self._roles = roles
        return keys

    def _parse(self, entry: dict[str, object]) -> jwt.PyJWK:
        if not entry.get("kid"):
            raise ValueError(f"a key in {self._path} has no kid")
        if (_PRIVATE_PART in entry) != self._private or entry.get("kty") == "oct":
            kind = "private" if self._private else "public"
            raise ValueError(f"{self._path} must hold {kind} keys only")
        return jwt.PyJWK(entry)


def _roles_of(entry: dict[str, object]) -> frozenset[str]:
    """The roles that a key's entry names; a list that is none must not pass for no bound."""
    roles = entry[ROLES]
    if not isinstance(roles, list) or not all(isinstance(role, str) for role in roles):
        raise TypeError("roles are not a list of texts")
    return frozenset(roles)


def public_keys_path(private_path: Path) -> Path:
    """Where the public set of a private one lies: `keys.json` has `keys.public.json` beside it."""
    return private_path.with_name(f"{private_path.stem}.public{private_path.suffix}")


def create_keys(private_path: Path, roles: Iterable[str] = ()) -> Path:
    """Write a new Ed25519 key pair; returns the public set's path.

    The private file appears whole, with mode 0600.

    Args:
        private_path: of the private set.
        roles: of the tokens that may be signed with it; empty for all.

    Raises:
        FileExistsError: there is a private set already; it is left as it is.
    """
    private_path.parent.mkdir(parents=True, exist_ok=True)
    temporary = private_path.with_name(f".{private_path.name}.{secrets.token_hex(6)}")
    write_key_file(temporary, {"keys": [new_private_key(roles)]}, mode=0o600)
    try:
        os.link(temporary, private_path)
    finally:
        temporary.unlink()
    return write_public_keys(private_path)


def ensure_keys(private_path: Path) -> Path:
    """As `create_keys`, but an existing pair is kept; safe when several processes start at once."""
    try:
        return create_keys(private_path)
    except FileExistsError:
        return write_public_keys(private_path)


def new_private_key(roles: Iterable[str] = ()) -> dict[str, object]:
    """A new Ed25519 key as a private JWK, named by its thumbprint, to sign for all roles or these."""
    jwk: dict[str, str] = OKPAlgorithm.to_jwk(Ed25519PrivateKey.generate(), as_dict=True)
    thumbprint = hashlib.sha256(jwk["x"].encode()).digest()[:9]
    kid = base64.urlsafe_b64encode(thumbprint).decode()
    bound: dict[str, object] = {ROLES: sorted(roles)} if roles else {}
    return {**jwk, "kid": kid, "alg": "EdDSA", "use": "sig", **bound}


def write_public_keys(private_path: Path) -> Path:
    """Write the public set of a private one beside it; its path.

    It is derived from the private set, so that whoever writes it last writes the same.
    """
    private = json.loads(private_path.read_text("utf-8"))
    public = [{k: v for k, v in key.items() if k != _PRIVATE_PART} for key in private["keys"]]
    path = public_keys_path(private_path)
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(6)}")
    write_key_file(temporary, {"keys": public}, mode=0o644)
    os.replace(temporary, path)
    return path


def add_public_keys(public_path: Path, to: Path) -> None:
    """Put the keys of a public set into another, or make that; it is replaced as a whole.

    Raises:
        ValueError: one of them is no set of keys.
        OSError: one can't be read or written.
    """
    try:
        keys = {key["kid"]: key for path in (to, public_path) for key in _entries(path)}
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{to} or {public_path} is not a set of keys") from error
    temporary = to.with_name(f".{to.name}.{secrets.token_hex(6)}")
    write_key_file(temporary, {"keys": list(keys.values())}, mode=0o644)
    os.replace(temporary, to)


def _entries(path: Path) -> list[dict[str, object]]:
    if not path.exists():
        return []
    entries: list[dict[str, object]] = json.loads(path.read_text("utf-8"))["keys"]
    return entries


def write_key_file(path: Path, content: Mapping[str, object], *, mode: int) -> None:
    """Write a new file with this mode, on the disk once this returns; FileExistsError if it is there."""
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        json.dump(content, file, indent=1)
        file.flush()
        os.fsync(file.fileno())
