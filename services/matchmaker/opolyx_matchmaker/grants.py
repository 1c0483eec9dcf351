"""What a player brings to a table; progression knows it."""

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class SeatGrant:
    """What the player of a seat brings to the table."""

    vip: bool = False
    """Whether the seat may finance (FIN-1)."""

    cards: tuple[tuple[int, int], ...] = ()
    """Square and rent bonus in basis points of each collection card (RENT-5)."""


NO_GRANT: Final = SeatGrant()
"""Of bots, open seats, and players of whom nothing is known."""
