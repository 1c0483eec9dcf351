"""The one place where property changes hands, so that events account for every square."""

from opolyx_rules.events import PROPERTY_MOVED, Log
from opolyx_rules.ids import Seat, Square
from opolyx_rules.state import State


def move_property(state: State, square: Square, taker: Seat, cause: int, log: Log) -> None:
    """Hand a property from its owner to `taker`, each a seat or BANK, with all that is on it."""
    giver = state.owner[square]
    state.give(square, taker)
    log.append((PROPERTY_MOVED, square, giver, taker, cause))
