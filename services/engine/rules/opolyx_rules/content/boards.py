"""The board: 40 squares, walked clockwise from Start (BOARD-1, BOARD-2).

One board serves every ruleset. Tuples are indexed by square; prices, rents and costs are in k.
"""

from typing import Final

START: Final = 0
STREET: Final = 1
STATION: Final = 2
UTILITY: Final = 3
CHANCE: Final = 4
TAX: Final = 5
JAIL: Final = 6
CORNER: Final = 7
GO_TO_JAIL: Final = 8

START_SQUARE: Final = 0
JAIL_SQUARE: Final = 10

BROWN: Final = 0
SKY: Final = 1
PINK: Final = 2
ORANGE: Final = 3
RED: Final = 4
YELLOW: Final = 5
GREEN: Final = 6
BLUE: Final = 7
STATIONS: Final = 8
UTILITIES: Final = 9
NO_GROUP: Final = -1
COLOUR_GROUPS: Final = 8

# square: kind, group, list price (or tax), cost of a level, rents by level
_TABLE: Final[tuple[tuple[int, int, int, int, tuple[int, ...]], ...]] = (
    (START, NO_GROUP, 0, 0, ()),  # 0
    (STREET, BROWN, 600, 500, (20, 100, 300, 900, 1600, 2500)),  # 1
    (CHANCE, NO_GROUP, 0, 0, ()),  # 2
    (STREET, BROWN, 600, 500, (40, 200, 600, 1800, 3200, 4500)),  # 3
    (TAX, NO_GROUP, 2000, 0, ()),  # 4
    (STATION, STATIONS, 2000, 0, (250, 500, 1000, 2000)),  # 5
    (STREET, SKY, 1000, 500, (60, 300, 900, 2700, 4000, 5500)),  # 6
    (CHANCE, NO_GROUP, 0, 0, ()),  # 7
    (STREET, SKY, 1000, 500, (60, 300, 900, 2700, 4000, 5500)),  # 8
    (STREET, SKY, 1200, 500, (80, 400, 1000, 3000, 4500, 6000)),  # 9
    (JAIL, NO_GROUP, 0, 0, ()),  # 10
    (STREET, PINK, 1400, 1000, (100, 500, 1500, 4500, 6250, 7500)),  # 11
    (UTILITY, UTILITIES, 1500, 0, (40, 100)),  # 12
    (STREET, PINK, 1400, 1000, (100, 500, 1500, 4500, 6250, 7500)),  # 13
    (STREET, PINK, 1600, 1000, (120, 600, 1800, 5000, 7000, 9000)),  # 14
    (STATION, STATIONS, 2000, 0, (250, 500, 1000, 2000)),  # 15
    (STREET, ORANGE, 1800, 1000, (140, 700, 2000, 5500, 7500, 9500)),  # 16
    (CHANCE, NO_GROUP, 0, 0, ()),  # 17
    (STREET, ORANGE, 1800, 1000, (140, 700, 2000, 5500, 7500, 9500)),  # 18
    (STREET, ORANGE, 2000, 1000, (160, 800, 2200, 6000, 8000, 10000)),  # 19
    (CORNER, NO_GROUP, 0, 0, ()),  # 20
    (STREET, RED, 2200, 1500, (180, 900, 2500, 7000, 8750, 10500)),  # 21
    (CHANCE, NO_GROUP, 0, 0, ()),  # 22
    (STREET, RED, 2200, 1500, (180, 900, 2500, 7000, 8750, 10500)),  # 23
    (STREET, RED, 2400, 1500, (200, 1000, 3000, 7500, 9250, 11000)),  # 24
    (STATION, STATIONS, 2000, 0, (250, 500, 1000, 2000)),  # 25
    (STREET, YELLOW, 2600, 1500, (220, 1100, 3300, 8000, 9750, 11500)),  # 26
    (STREET, YELLOW, 2600, 1500, (220, 1100, 3300, 8000, 9750, 11500)),  # 27
    (UTILITY, UTILITIES, 1500, 0, (40, 100)),  # 28
    (STREET, YELLOW, 2800, 1500, (240, 1200, 3600, 8500, 10250, 12000)),  # 29
    (GO_TO_JAIL, NO_GROUP, 0, 0, ()),  # 30
    (STREET, GREEN, 3000, 2000, (260, 1300, 3900, 9000, 11000, 12750)),  # 31
    (STREET, GREEN, 3000, 2000, (260, 1300, 3900, 9000, 11000, 12750)),  # 32
    (CHANCE, NO_GROUP, 0, 0, ()),  # 33
    (STREET, GREEN, 3200, 2000, (280, 1500, 4500, 10000, 12000, 14000)),  # 34
    (STATION, STATIONS, 2000, 0, (250, 500, 1000, 2000)),  # 35
    (CHANCE, NO_GROUP, 0, 0, ()),  # 36
    (STREET, BLUE, 3500, 2000, (350, 1750, 5000, 11000, 13000, 15000)),  # 37
    (TAX, NO_GROUP, 1000, 0, ()),  # 38
    (STREET, BLUE, 4000, 2000, (500, 2000, 6000, 14000, 17000, 20000)),  # 39
)

KIND: Final[tuple[int, ...]] = tuple(row[0] for row in _TABLE)
"""Kind of each square."""

GROUP: Final[tuple[int, ...]] = tuple(row[1] for row in _TABLE)
"""Group of each property; `NO_GROUP` elsewhere."""

PRICE: Final[tuple[int, ...]] = tuple(row[2] for row in _TABLE)
"""List price of each property; what a tax square takes; 0 elsewhere."""

BUILD_COST: Final[tuple[int, ...]] = tuple(row[3] for row in _TABLE)
"""Cost of one level on each street; 0 elsewhere."""

RENTS: Final[tuple[tuple[int, ...], ...]] = tuple(row[4] for row in _TABLE)
"""Rents: of a street by level 0..5, of a station by stations held less one; of a utility the
factors by utilities held less one."""

GROUPS: Final[tuple[tuple[int, ...], ...]] = tuple(
    tuple(square for square in range(40) if GROUP[square] == group) for group in range(10)
)
"""Squares of each group, ascending."""

PROPERTIES: Final[tuple[int, ...]] = tuple(square for square in range(40) if GROUP[square] >= 0)
"""The 28 properties, ascending."""

MAX_LEVEL: Final = 5
"""Levels a street can have (BUILD-1)."""
