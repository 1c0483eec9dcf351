"""Games that run, or ran, and have no actor: only what is needed to find them again is in memory."""

from collections import OrderedDict
from dataclasses import dataclass

from opolyx_engine.timers import Alarm


@dataclass(frozen=True, slots=True)
class RestingGame:
    """A game in which nothing went on, so that it was put away; its clock still runs."""

    ruleset: str
    """The ruleset, `mode@edition`."""

    seq: int
    """Its last record."""

    round: int
    """Its round."""

    quiet_since_ms: int
    """Since when nobody has asked for it, Unix milliseconds."""

    alarm: Alarm
    """Rings when its clock is due."""

    @property
    def next_due_ms(self) -> int | None:
        """When its clock acts next, Unix milliseconds."""
        return self.alarm.next_due_ms


@dataclass(frozen=True, slots=True)
class HeldGame:
    """A running game whose log can't be followed, kept as it is until an operator acts."""

    ruleset: str
    """The ruleset, `mode@edition`."""

    seq: int
    """Its last record."""


class UnreadableGames:
    """Ended games whose log can't be followed; the latest that were asked for."""

    def __init__(self, most: int) -> None:
        """Remember at most so many; of others it is found out again."""
        self._most = most
        self._lives: OrderedDict[str, int] = OrderedDict()

    def __contains__(self, game_id: object) -> bool:
        """Whether the game is known to be one."""
        return game_id in self._lives

    def life(self, game_id: str) -> int | None:
        """FINISHED or VOID; None if the game isn't known to be one."""
        return self._lives.get(game_id)

    def add(self, game_id: str, life: int) -> None:
        """Remember a game."""
        self._lives[game_id] = life
        self._lives.move_to_end(game_id)
        while len(self._lives) > self._most:
            self._lives.popitem(last=False)
