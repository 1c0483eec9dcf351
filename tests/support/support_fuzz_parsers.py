"""The parsers of what strangers hand over as bytes, and inputs for them: replay files, tokens."""

import base64
import json
import random
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from opolyx_rules.verification import verify
from opolyx_servicekit.access import AccessTable
from opolyx_servicekit.errors import PermissionDenied, Unauthenticated
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier
from support_fuzz_inputs import HostileInputs
from support_replay import record_game, replay_header

METHOD: Final = "/shop.v1.Shop/Buy"
_STEPS: Final = (0, 2, 5)


class Accepted(AssertionError):
    """Something that was made up was taken for good."""


def replays(inputs: HostileInputs, luck: random.Random) -> Callable[[], bytes]:
    """Feeds one broken replay to `verify` at each call; the bytes it fed."""
    whole = record_game(replay_header(options={"round_cap": 12})).splitlines(keepends=True)
    files = [record_game(replay_header(), steps=steps) for steps in _STEPS]
    files.append(b"".join([*whole[:6], whole[-1]]))  # says that it is complete

    def feed() -> bytes:
        original = luck.choice(files)
        data = _relined(original, luck) if luck.random() < 0.3 else inputs.broken(original)
        verify_replay(data)
        return data

    return feed


def verify_replay(data: bytes) -> None:
    """Must not raise, and must not believe in a finished game that nobody played."""
    verdict = verify(data)
    if verdict.ok and verdict.complete:
        raise Accepted(repr(data[:200]))


def _relined(data: bytes, luck: random.Random) -> bytes:
    """A file of the same lines in another order, or of values of other types."""
    lines = data.splitlines(keepends=True)
    if luck.random() < 0.5:
        luck.shuffle(lines)
        return b"".join(lines)
    at = luck.randrange(len(lines))
    values = json.loads(lines[at])
    values[luck.choice(list(values))] = luck.choice(_VALUES)
    lines[at] = json.dumps(values, separators=(",", ":")).encode() + b"\n"
    return b"".join(lines)


_VALUES: Final[tuple[Any, ...]] = (
    None,
    True,
    -1,
    10**400,
    1.5,
    "",
    "é",
    "ff" * 40,
    [],
    [[]],
    {},
    [10**30] * 3,
    {"seq": 0},
    [100, 0],
    [20, 0, 0, -1, -1, 0, 0],
)


class TokenGate:
    """Who may call, as every service asks it."""

    def __init__(self, directory: Path) -> None:
        """Keys of its own in `directory`."""
        public = ensure_keys(directory / "keys.json")
        self.signer = TokenSigner(directory / "keys.json")
        verifier = TokenVerifier(public, roles=("player", "operator"))
        self._table = AccessTable({METHOD: frozenset({"operator"})}, verifier)

    def try_token(self, token: bytes) -> None:
        """Must refuse, in one of two ways, whatever is not one of ours."""
        value = token.decode("utf-8", "replace")
        try:
            self._table.admit(METHOD, [("authorization", f"Bearer {value}")])
        except (Unauthenticated, PermissionDenied):
            return
        raise Accepted(value[:200])


def tokens(inputs: HostileInputs, luck: random.Random, directory: Path) -> Callable[[], bytes]:
    """Feeds one token that isn't ours at each call; the bytes it fed."""
    gate = TokenGate(directory)
    good = [
        gate.signer.sign(subject=f"p_{number}", role="player", ttl_seconds=600).encode()
        for number in range(20)
    ]

    def feed() -> bytes:
        original = luck.choice(good)
        choice = luck.random()
        if choice < 0.3:
            token = _remade(original, luck)
        elif choice < 0.7:
            token = inputs.broken(original)
        else:
            head, rest = original.split(b".", 1)
            token = inputs.broken(head) + b"." + rest
        gate.try_token(token)
        return token

    return feed


def _remade(token: bytes, luck: random.Random) -> bytes:
    """The token with other claims or another head under its signature."""
    parts = token.split(b".")
    at = luck.randrange(2)
    values = json.loads(base64.urlsafe_b64decode(parts[at] + b"=="))
    name = luck.choice([*values, "alg", "kid", "role", "crit", "exp", "b64", "jwk", "sub"])
    values[name] = luck.choice([*_VALUES, "none", "HS256", "operator", "RS256"])
    text = json.dumps(values, default=str).encode()
    parts[at] = base64.urlsafe_b64encode(text).rstrip(b"=")
    return b".".join(parts)
