"""What the rules draw from, and the streams that they draw from."""

from abc import abstractmethod
from typing import Final, Protocol

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


class Chance(Protocol):
    """Where the rules get their random numbers from.

    A protocol, because a compiled class can't derive from an interpreted one, nor the other way.
    """

    @abstractmethod
    def draw(self, label: int, sides: int) -> int:
        """A number from 0 to `sides` - 1 from the stream `label` (one of this module's)."""
