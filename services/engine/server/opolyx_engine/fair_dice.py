"""The server's share in the dice: secrets made at reservation, never shown before the end."""

import base64
import hashlib
import hmac
import secrets
from collections.abc import Sequence

from opolyx_engine.header import GameHeader
from opolyx_engine.store.base import Reservation
from opolyx_rules.chance import SeededChance, derive_game_key


def new_reservation(request_id: str, ordinal: int, seed: str | None, at_ms: int) -> Reservation:
    """A new game id and secret.

    Args:
        request_id: who asks for it.
        ordinal: number of games reserved before.
        seed: the development seed, from which both follow with `ordinal`; random without one.
        at_ms: now, Unix milliseconds.
    """
    if seed is None:
        entropy, secret = secrets.token_bytes(15), secrets.token_bytes(32)
    else:
        entropy = _derived(seed, b"game", ordinal)[:15]
        secret = _derived(seed, b"secret", ordinal)
    game_id = "g_" + base64.b32encode(entropy).decode().lower()
    return Reservation(request_id=request_id, game_id=game_id, secret=secret, at_ms=at_ms)


def game_key(secret: bytes, header: GameHeader) -> bytes:
    """The key of a game's dice."""
    return derive_game_key(secret, header.game_id, header.nonces())


def _derived(seed: str, purpose: bytes, ordinal: int) -> bytes:
    message = purpose + b"\x00" + ordinal.to_bytes(8, "big")
    return hmac.new(seed.encode(), message, hashlib.sha256).digest()


class Dice:
    """A game's fair chance, taken up at any place of its streams."""

    def __init__(self, secret: bytes, header: GameHeader) -> None:
        """The dice of the game that `header` describes."""
        self._key = game_key(secret, header)
        self._live = SeededChance(self._key)

    def at(self, places: Sequence[int]) -> SeededChance:
        """The chance from `places` on; the same object again if that is where it stands."""
        if self._live.places() != list(places):
            self._live = SeededChance(self._key, list(places))
        return self._live
