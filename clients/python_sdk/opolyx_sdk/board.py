"""The board's numbers (BOARD-2), for bots and displays. The same in every ruleset; money is in k."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class SquareKind(StrEnum):
    """What a square is."""

    START = "start"
    """Square 0."""

    STREET = "street"
    """A property that can be built on."""

    STATION = "station"
    """A property whose rent depends on how many the owner has."""

    UTILITY = "utility"
    """A property whose rent depends on the dice."""

    CHANCE = "chance"
    """A card is drawn."""

    TAX = "tax"
    """An amount is owed to the bank."""

    JAIL = "jail"
    """Jail, or just visiting."""

    CORNER = "corner"
    """The third corner."""

    GO_TO_JAIL = "go_to_jail"
    """Sends to jail."""


@dataclass(frozen=True, slots=True)
class Square:
    """One square."""

    number: int
    """0..39, clockwise."""

    kind: SquareKind
    """What it is."""

    group: str = ""
    """Colour group of a street, "station" or "utility"; empty for others."""

    price: int = 0
    """List price of a property, or the amount of a tax, in k."""

    rents: tuple[int, ...] = ()
    """Streets: rent in k with 0 to 5 buildings. Stations: with 1 to 4 owned. Utilities: k for
    each pip of the dice, with one or both owned.
    """

    build_cost: int = 0
    """What a level costs, in k; 0 for all but streets."""


_STATION_RENTS: Final = (250, 500, 1000, 2000)
_UTILITY_RATES: Final = (40, 100)
_STREETS: Final[dict[int, tuple[str, int, tuple[int, ...]]]] = {
    1: ("brown", 600, (20, 100, 300, 900, 1600, 2500)),
    3: ("brown", 600, (40, 200, 600, 1800, 3200, 4500)),
    6: ("sky", 1000, (60, 300, 900, 2700, 4000, 5500)),
    8: ("sky", 1000, (60, 300, 900, 2700, 4000, 5500)),
    9: ("sky", 1200, (80, 400, 1000, 3000, 4500, 6000)),
    11: ("pink", 1400, (100, 500, 1500, 4500, 6250, 7500)),
    13: ("pink", 1400, (100, 500, 1500, 4500, 6250, 7500)),
    14: ("pink", 1600, (120, 600, 1800, 5000, 7000, 9000)),
    16: ("orange", 1800, (140, 700, 2000, 5500, 7500, 9500)),
    18: ("orange", 1800, (140, 700, 2000, 5500, 7500, 9500)),
    19: ("orange", 2000, (160, 800, 2200, 6000, 8000, 10000)),
    21: ("red", 2200, (180, 900, 2500, 7000, 8750, 10500)),
    23: ("red", 2200, (180, 900, 2500, 7000, 8750, 10500)),
    24: ("red", 2400, (200, 1000, 3000, 7500, 9250, 11000)),
    26: ("yellow", 2600, (220, 1100, 3300, 8000, 9750, 11500)),
    27: ("yellow", 2600, (220, 1100, 3300, 8000, 9750, 11500)),
    29: ("yellow", 2800, (240, 1200, 3600, 8500, 10250, 12000)),
    31: ("green", 3000, (260, 1300, 3900, 9000, 11000, 12750)),
    32: ("green", 3000, (260, 1300, 3900, 9000, 11000, 12750)),
    34: ("green", 3200, (280, 1500, 4500, 10000, 12000, 14000)),
    37: ("blue", 3500, (350, 1750, 5000, 11000, 13000, 15000)),
    39: ("blue", 4000, (500, 2000, 6000, 14000, 17000, 20000)),
}
_BUILD_COSTS: Final = {
    "brown": 500,
    "sky": 500,
    "pink": 1000,
    "orange": 1000,
    "red": 1500,
    "yellow": 1500,
    "green": 2000,
    "blue": 2000,
}
_OTHERS: Final[dict[int, Square]] = {
    0: Square(0, SquareKind.START),
    4: Square(4, SquareKind.TAX, price=2000),
    10: Square(10, SquareKind.JAIL),
    20: Square(20, SquareKind.CORNER),
    30: Square(30, SquareKind.GO_TO_JAIL),
    38: Square(38, SquareKind.TAX, price=1000),
    **{n: Square(n, SquareKind.CHANCE) for n in (2, 7, 17, 22, 33, 36)},
    **{n: Square(n, SquareKind.STATION, "station", 2000, _STATION_RENTS) for n in (5, 15, 25, 35)},
    **{n: Square(n, SquareKind.UTILITY, "utility", 1500, _UTILITY_RATES) for n in (12, 28)},
}


def _square(number: int) -> Square:
    if number in _OTHERS:
        return _OTHERS[number]
    group, price, rents = _STREETS[number]
    return Square(number, SquareKind.STREET, group, price, rents, _BUILD_COSTS[group])


SQUARES: Final[tuple[Square, ...]] = tuple(_square(number) for number in range(40))
"""The 40 squares by number."""

GROUPS: Final[dict[str, tuple[int, ...]]] = {
    group: tuple(one.number for one in SQUARES if one.group == group)
    for group in dict.fromkeys(one.group for one in SQUARES if one.group)
}
"""The squares of each group, ascending."""
