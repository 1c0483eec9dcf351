"""Where the squares are on a grid of eleven by eleven: Start at the lower right, then clockwise."""

from typing import Final

EDGE: Final = 10
"""The last column and row."""


def _place(square: int) -> tuple[int, int]:
    side, step = divmod(square, EDGE)
    return ((EDGE - step, EDGE), (0, EDGE - step), (step, 0), (EDGE, step))[side]


PLACES: Final[tuple[tuple[int, int], ...]] = tuple(_place(square) for square in range(40))
"""Column and row of each square."""

ARROWS: Final[dict[str, tuple[int, int]]] = {
    "up": (0, -1),
    "down": (0, 1),
    "left": (-1, 0),
    "right": (1, 0),
}
"""Where the arrow keys lead."""

_AT: Final = {place: square for square, place in enumerate(PLACES)}


def moved(square: int, arrow: str) -> int:
    """The square that an arrow leads to: the next one, the one across the board, or none other."""
    x, y = PLACES[square]
    right, down = ARROWS[arrow]
    x, y = x + right, y + down
    if 0 < x < EDGE and 0 < y < EDGE:
        x, y = (EDGE * (right > 0), y) if right else (x, EDGE * (down > 0))
    return _AT.get((x, y), square)
