"""A game at one point, as a screen shows it."""

from dataclasses import dataclass

from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import GameState
from opolyx_sdk.terminal.painting import printable
from opolyx_sdk.text import Table
from opolyx_sdk.updates import GameInfo
from opolyx_sdk.views import GameView


@dataclass(frozen=True, slots=True)
class Moment:
    """A game as it is at one point."""

    info: GameInfo
    """What stays the same."""

    view: GameView
    """The state."""

    decisions: tuple[Decision, ...] = ()
    """All that is awaited."""

    state: GameState = GameState.RUNNING
    """Whether it runs."""

    connected_seats: tuple[int, ...] = ()
    """Who is connected."""


def table_of(info: GameInfo, language: str) -> Table:
    """How a game is told in a language; names hold nothing that a terminal would obey."""
    return Table([printable(seat.name) for seat in info.seats], info.ruleset, language)
