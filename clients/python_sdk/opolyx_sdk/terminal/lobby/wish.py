"""What kind of game somebody would like."""

from dataclasses import dataclass
from typing import Final

RULESETS: Final = (
    "classic@full",
    "blitz@full",
    "speed@full",
    "team@full",
    "halal@full",
    "fortune@full",
    "classic@guide",
    "speed@guide",
    "classic@origins",
    "classic@teams",
    "speed@teams",
    "team@teams",
)
"""The rulesets, the usual ones first."""

POLICIES: Final = ("steady", "trader", "random")
"""Built-in bots in the order in which they are seated."""

_SIDES: Final = "team"


@dataclass(slots=True)
class Wish:
    """What is asked for; changed in the lobby."""

    ruleset: str = RULESETS[0]
    """The ruleset."""

    seats: int = 4
    """How many play."""

    bots: bool = True
    """Whether bots may fill a quick match."""

    public: bool = False
    """Whether a room is listed."""

    def next_ruleset(self) -> None:
        """Ask for the next ruleset, with a number of seats that it has."""
        at = RULESETS.index(self.ruleset) if self.ruleset in RULESETS else -1
        self.ruleset = RULESETS[(at + 1) % len(RULESETS)]
        self.seats = min(seat_counts(self.ruleset), key=lambda count: abs(count - self.seats))

    def next_seats(self) -> None:
        """Ask for the next number of seats."""
        counts = seat_counts(self.ruleset)
        at = counts.index(self.seats) if self.seats in counts else -1
        self.seats = counts[(at + 1) % len(counts)]


def seat_counts(ruleset: str) -> tuple[int, ...]:
    """How many can play a ruleset (TABLE-1, TABLE-2)."""
    return (4, 6) if ruleset.startswith(f"{_SIDES}@") else (2, 3, 4, 5, 6)
