"""Fair chance: streams of bytes out of a key that nobody knows alone.

For each label there is one stream of bytes, so that drawing a card never shifts the dice: block b of
a label is HMAC-SHA256(key, label || 0x00 || b as 8 bytes, big endian), 32 bytes, consumed in order.
A draw of 0..n-1 takes one byte for n up to 256, else two (big endian); values at or above the
largest multiple of n are skipped; the rest modulo n counts. For a die that means: bytes from 252 on
are skipped, face = byte mod 6 + 1. Test vectors: docs/fair-dice.md.
"""

import hashlib
import hmac
from typing import Final

from opolyx_rules.chance.source import LABELS

_BLOCK: Final = 32
_HASHED: Final = 64
_INNER: Final = bytes([byte ^ 0x36 for byte in range(256)])
_OUTER: Final = bytes([byte ^ 0x5C for byte in range(256)])


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


class SeededChance:
    """The fair streams of a game key. Its place in each stream is not part of the state.

    Args:
        key: The game's key, any length; 32 bytes from `derive_game_key`.
        places: Bytes consumed of each stream, in the order of `LABELS`; all 0 at the start.
    """

    __slots__ = ("_blocks", "_inner", "_outer", "_places")

    def __init__(self, key: bytes, places: list[int] | None = None) -> None:
        short = key if len(key) <= _HASHED else hashlib.sha256(key).digest()
        padded = short.ljust(_HASHED, b"\x00")
        self._inner = padded.translate(_INNER)
        self._outer = padded.translate(_OUTER)
        self._places = list(places) if places is not None else [0] * len(LABELS)
        self._blocks = [b""] * len(LABELS)

    def places(self) -> list[int]:
        """Bytes consumed of each stream: enough, with the key, to go on from here."""
        return list(self._places)

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`; uniform, for `sides` from 1 to 65,536."""
        if sides <= 256:
            bound, offset = 256 - 256 % sides, self._places[label] % _BLOCK
            block = self._blocks[label]
            if offset and block:  # most draws: the block is there, its next byte is not skipped
                value = block[offset]
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
        if offset == 0 or not self._blocks[label]:
            self._blocks[label] = self._block(label, place // _BLOCK)
        self._places[label] = place + 1
        return self._blocks[label][offset]

    def _block(self, label: int, number: int) -> bytes:
        message = LABELS[label] + b"\x00" + number.to_bytes(8, "big")
        # HMAC-SHA256 written out: the library looks its parts up anew, which takes as long again.
        within = hashlib.sha256(self._inner + message).digest()
        return hashlib.sha256(self._outer + within).digest()
