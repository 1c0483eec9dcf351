"""The secret of a simulated game, from a seed: that of a server with the same development seed."""

import base64
import hashlib
import hmac
from typing import Self

from opolyx_rules.chance import Chance, SeededChance


def seeded_game_id(seed: str, number: int) -> str:
    """Id of the game `number`, from 0, of a seed; a server gives the same to its game `number`."""
    return "g_" + base64.b32encode(_derived(seed, b"game", number)[:15]).decode().lower()


def seeded_secret(seed: str, number: int) -> bytes:
    """The secret that the dice of that game come from, likewise."""
    return _derived(seed, b"secret", number)


class BuiltInLuck(Chance):
    """What a game's built-in bots draw from, likewise; never the game's own chance.

    It follows from the game and its last update alone. Most bots draw nothing, so that the streams
    are made only when one does.
    """

    __slots__ = ("_game_id", "_made", "_seed", "_seq")

    def __init__(self, seed: str, game_id: str) -> None:
        self._seed = seed.encode()
        self._game_id = game_id
        self._seq = 0
        self._made: SeededChance | None = None

    def at(self, seq: int) -> Self:
        """The luck of who answers after the update `seq`."""
        self._seq = seq
        self._made = None
        return self

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`."""
        if self._made is None:
            place = f"{self._game_id} {self._seq}".encode()
            self._made = SeededChance(hashlib.sha256(self._seed + b"\x00" + place).digest())
        return self._made.draw(label, sides)


def _derived(seed: str, purpose: bytes, number: int) -> bytes:
    message = purpose + b"\x00" + number.to_bytes(8, "big")
    return hmac.new(seed.encode(), message, hashlib.sha256).digest()
