"""How seats and squares are told apart: by shape and letter, and by colour beside them.

The seats' colours are those of Okabe and Ito, which people with any colour vision can tell apart.
"""

from typing import Final

from opolyx_sdk.board import SQUARES, SquareKind

SEAT_SHAPES: Final = "●■▲◆★✚"
"""The token of each seat."""

OWNER_SHAPES: Final = "○□△◇☆✛"
"""The same shapes, hollow: what a seat owns."""

SEAT_COLOURS: Final = ("#e69f00", "#56b4e9", "#00b583", "#f0e442", "#dd8fbc", "#ff7f3f")
"""The colour of each seat, on a dark ground."""

GROUPS: Final[dict[str, tuple[str, str, str]]] = {
    "brown": ("A", "#f5e6da", "#6b4226"),
    "sky": ("B", "#102a38", "#9bd3ef"),
    "pink": ("C", "#ffffff", "#b8437f"),
    "orange": ("D", "#2b1a00", "#f2a33c"),
    "red": ("E", "#ffffff", "#b3261e"),
    "yellow": ("F", "#2b2800", "#f4e04d"),
    "green": ("G", "#ffffff", "#1f7a3d"),
    "blue": ("H", "#ffffff", "#22409a"),
    "station": ("S", "#111111", "#c9c9c9"),
    "utility": ("U", "#111111", "#8fb8ad"),
}
"""Letter, ink and ground of each group."""

KINDS: Final[dict[SquareKind, str]] = {
    SquareKind.START: "»",
    SquareKind.CHANCE: "?",
    SquareKind.TAX: "%",
    SquareKind.JAIL: "#",
    SquareKind.CORNER: "*",
    SquareKind.GO_TO_JAIL: "!",
}
"""The letter of a square that is no property."""

PLAIN: Final = ("#d8d8d8", "#3a3a3a")
"""Ink and ground of a square that is no property."""

MORTGAGED: Final = "×"
"""Stands where the level would."""

TOP_LEVEL: Final = 5


def seat_shape(seat: int) -> str:
    """The token of a seat."""
    return SEAT_SHAPES[seat % len(SEAT_SHAPES)]


def owner_shape(seat: int) -> str:
    """The mark on what a seat owns."""
    return OWNER_SHAPES[seat % len(OWNER_SHAPES)]


def seat_colour(seat: int) -> str:
    """The colour of a seat."""
    return SEAT_COLOURS[seat % len(SEAT_COLOURS)]


def square_letter(square: int) -> str:
    """The letter of a square's group, or of its kind."""
    found = SQUARES[square]
    return GROUPS[found.group][0] if found.group else KINDS[found.kind]


def square_colours(square: int) -> tuple[str, str]:
    """Ink and ground of a square."""
    group = SQUARES[square].group
    return GROUPS[group][1:] if group else PLAIN
