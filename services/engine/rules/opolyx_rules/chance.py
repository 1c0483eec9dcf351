"""Dice and draws, as an argument of the rules.

`SeededChance` is the fair one. For each label there is one stream of bytes, so that drawing a card
never shifts the dice: block b of a label is HMAC-SHA256(key, label || 0x00 || b as 8 bytes, big
endian), 32 bytes, consumed in order. A draw of 0..n-1 takes one byte for n up to 256, else two
(big endian); values at or above the largest multiple of n are skipped; the rest modulo n counts.
For a die that means: bytes from 252 on are skipped, face = byte mod 6 + 1. Test vectors:
docs/fair-dice.md.
"""

import hashlib
import hmac
from abc import ABC, abstractmethod
from typing import Final

from opolyx_rules.reasons import InvariantError

FIRST_SEAT: Final = 0
DECK: Final = 1
DICE: Final = 2
THIRD_DIE: Final = 3
WAGER: Final = 4
PACKET: Final = 5

LABELS: Final[tuple[bytes, ...]] = (
    b"first_seat",
    b"deck",
    b"dice",
    b"third_die",
    b"wager",
    b"packet",
)
"""The label of each stream by its number. Part of the format: never change."""

_BLOCK: Final = 32


def commitment_of(secret: bytes) -> bytes:
    """SHA-256 of the server's secret, published before anybody joins."""
    return hashlib.sha256(secret).digest()


def derive_game_key(secret: bytes, game_id: str, nonces: list[bytes]) -> bytes:
    """The key of a game: HMAC-SHA256(secret, game id and every seat's nonce).

    Each part is preceded by its length as 4 bytes, big endian, so that no two lists collide.

    Args:
        secret: The server's secret, committed to before the nonces were known.
        game_id: The game's id.
        nonces: One for each seat in seat order; empty where a seat gave none.
    """
    message = b""
    for part in [game_id.encode(), *nonces]:
        message += len(part).to_bytes(4, "big") + part
    return hmac.new(secret, message, hashlib.sha256).digest()


class Chance(ABC):
    """Where the rules get their random numbers from."""

    @abstractmethod
    def draw(self, label: int, sides: int) -> int:
        """A number from 0 to `sides` - 1 from the stream `label` (one of this module's)."""


class SeededChance(Chance):
    """The fair streams of a game key. Its place in each stream is not part of the state.

    Args:
        key: The game's key, any length; 32 bytes from `derive_game_key`.
        places: Bytes consumed of each stream, in the order of `LABELS`; all 0 at the start.
    """

    __slots__ = ("_blocks", "_key", "_places")

    def __init__(self, key: bytes, places: list[int] | None = None) -> None:
        self._key = key
        self._places = list(places) if places is not None else [0] * len(LABELS)
        self._blocks = [b""] * len(LABELS)
        for label in range(len(LABELS)):
            if self._places[label] % _BLOCK:
                self._blocks[label] = self._block(label, self._places[label] // _BLOCK)

    def places(self) -> list[int]:
        """Bytes consumed of each stream: enough, with the key, to go on from here."""
        return list(self._places)

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`; uniform, for `sides` from 1 to 65,536."""
        if sides <= 256:
            bound, offset = 256 - 256 % sides, self._places[label] % _BLOCK
            if offset:  # most draws: the block is there, and its next byte is not skipped
                value = self._blocks[label][offset]
                if value < bound:
                    self._places[label] += 1
                    return value % sides
            value = self._byte(label)
            while value >= bound:
                value = self._byte(label)
            return value % sides
        bound = 65536 - 65536 % sides
        value = self._byte(label) << 8 | self._byte(label)
        while value >= bound:
            value = self._byte(label) << 8 | self._byte(label)
        return value % sides

    def _byte(self, label: int) -> int:
        place = self._places[label]
        offset = place % _BLOCK
        if offset == 0:
            self._blocks[label] = self._block(label, place // _BLOCK)
        self._places[label] = place + 1
        return self._blocks[label][offset]

    def _block(self, label: int, number: int) -> bytes:
        message = LABELS[label] + b"\x00" + number.to_bytes(8, "big")
        return hmac.digest(self._key, message, "sha256")


class RecordingChance(Chance):
    """Passes draws on and keeps them, for the log of a step."""

    __slots__ = ("_source", "drawn")

    def __init__(self, source: Chance) -> None:
        self._source = source
        self.drawn: list[int] = []

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`."""
        value = self._source.draw(label, sides)
        self.drawn.append(value)
        return value

    def take(self) -> list[int]:
        """The draws since the last call, in order."""
        drawn, self.drawn = self.drawn, []
        return drawn


class RecordedChance(Chance):
    """Gives back the draws of a record; asking for more, or for other bounds, is an error."""

    __slots__ = ("_draws", "_next")

    def __init__(self, draws: list[int]) -> None:
        self._draws = draws
        self._next = 0

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`.

        Raises:
            InvariantError: The record holds no further draw, or one outside the bounds.
        """
        if self._next >= len(self._draws):
            raise InvariantError(f"the record has no draw for {LABELS[label].decode()}")
        value = self._draws[self._next]
        if not 0 <= value < sides:
            raise InvariantError(f"the record's draw {value} is outside 0..{sides - 1}")
        self._next += 1
        return value

    def rest(self) -> int:
        """How many draws have not been asked for."""
        return len(self._draws) - self._next


class ScriptedChance(Chance):
    """Chance for tests: scripted values by label, then zeros or an error.

    Args:
        dice: Faces of the white dice in the order rolled, 1..6.
        third: Faces of the third die: 0..5 as drawn (1, 2, 3, bus, X, X).
        other: Values of other streams by label.
    """

    __slots__ = ("_scripts",)

    def __init__(
        self,
        dice: list[int] | None = None,
        third: list[int] | None = None,
        other: dict[int, list[int]] | None = None,
    ) -> None:
        self._scripts: dict[int, list[int]] = {label: [] for label in range(len(LABELS))}
        self._scripts[DICE] = [face - 1 for face in dice or []]
        self._scripts[THIRD_DIE] = list(third or [])
        for label, values in (other or {}).items():
            self._scripts[label] = list(values)

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`.

        Raises:
            InvariantError: The script of a die has ended; other streams give 0 then.
        """
        script = self._scripts[label]
        if script:
            value = script.pop(0)
            if not 0 <= value < sides:
                raise InvariantError(f"the script's {value} is outside 0..{sides - 1}")
            return value
        if label in (DICE, THIRD_DIE):
            raise InvariantError(f"the script of {LABELS[label].decode()} has ended")
        return 0
