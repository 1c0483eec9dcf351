"""A game at one point, as a screen shows it."""

from dataclasses import dataclass

from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import GameState
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
