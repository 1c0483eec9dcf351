"""What the pieces of the matchmaker share; made once, by `service`."""

from dataclasses import dataclass

from opolyx_matchmaker.bots import BotDirectory
from opolyx_matchmaker.metrics import MatchmakerMetrics
from opolyx_matchmaker.peers import Engine, Progression
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.watch import RoomBoard
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.wall_clock import Clock


@dataclass(frozen=True, slots=True)
class Parts:
    """Settings, store, peers and the like."""

    settings: MatchmakerSettings
    """Limits, waits and intervals."""

    store: Store
    """Accounts, rooms, placements."""

    engine: Engine
    """The engine."""

    progression: Progression
    """What players bring."""

    board: RoomBoard
    """Who watches rooms."""

    bots: BotDirectory
    """Who offers bots."""

    tasks: TaskOwner
    """Owns the work in the background."""

    metrics: MatchmakerMetrics
    """What is counted."""

    clock: Clock
    """The time."""
