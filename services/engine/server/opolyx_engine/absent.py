"""Games that run, or ran, and have no actor: only what is needed to find them again is in memory."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, replace

from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.store.base import RUNNING, StoredGame
from opolyx_engine.timers import Alarm, Timers


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

    excused: bool = False
    """Whether it could not be taken up when it was to be, so that who is awaited could not act."""

    @property
    def next_due_ms(self) -> int | None:
        """When its clock acts next, Unix milliseconds."""
        return self.alarm.next_due_ms

    def rest(self) -> "Rest":
        """What another replica must know of it."""
        return Rest(self.ruleset, self.seq, self.round, self.quiet_since_ms, self.next_due_ms)


@dataclass(frozen=True, slots=True)
class Rest:
    """What has to be known of a game so that it can rest, here or at another replica."""

    ruleset: str
    """The ruleset, `mode@edition`."""

    seq: int
    """Its last record."""

    round: int
    """Its round."""

    quiet_since_ms: int
    """Since when nobody has asked for it, Unix milliseconds."""

    next_due_ms: int | None
    """When its clock acts next, Unix milliseconds; None if none runs."""


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


class AbsentGames:
    """The resting, the held and the unreadable games of one engine."""

    def __init__(self, timers: Timers, metrics: EngineMetrics, most_unreadable: int) -> None:
        """None yet.

        Args:
            timers: ring for resting games that are due.
            metrics: where they are counted.
            most_unreadable: how many unreadable ones are remembered.
        """
        self._timers = timers
        self._metrics = metrics
        self.resting: dict[str, RestingGame] = {}
        """The resting games by id; not to be changed."""
        self.held: dict[str, HeldGame] = {}
        """The held games by id; not to be changed."""
        self.unreadable = UnreadableGames(most_unreadable)
        """The unreadable games."""

    def __contains__(self, game_id: object) -> bool:
        """Whether the game rests, or is held."""
        return game_id in self.resting or game_id in self.held

    def has_fault(self, game_id: str) -> bool:
        """Whether the game is known to have a log that leads to no state."""
        return game_id in self.held or game_id in self.unreadable

    def rest(self, game_id: str, rests: "Rest", ring: Callable[[], object]) -> None:
        """Keep a game that rests; `ring` is called when its clock is due."""
        alarm = Alarm(ring)
        self.wake(game_id)
        self.resting[game_id] = RestingGame(
            rests.ruleset, rests.seq, rests.round, rests.quiet_since_ms, alarm
        )
        alarm.next_due_ms = rests.next_due_ms
        self._timers.watch(alarm)
        self._metrics.evicted_games.labels(rests.ruleset).inc()

    def wake(self, game_id: str) -> RestingGame | None:
        """Keep a game no longer that rested; what was kept of it."""
        rested = self.resting.pop(game_id, None)
        if rested is not None:
            rested.alarm.off()
            self._metrics.evicted_games.labels(rested.ruleset).dec()
        return rested

    def excuse(self, game_id: str) -> None:
        """Note of a game that rests, if it does, that its store failed when it was to be taken up."""
        if rested := self.resting.get(game_id):
            self.resting[game_id] = replace(rested, excused=True)

    def hold(self, game_id: str, ruleset: str, seq: int) -> None:
        """Keep a game whose log can't be followed."""
        self.held[game_id] = HeldGame(ruleset, seq)
        self._metrics.held_games.set(len(self.held))

    def hold_unread(self, stored: StoredGame) -> None:
        """Keep a game whose log was found to be so."""
        self.wake(stored.game_id)
        if stored.state == RUNNING:
            self.hold(stored.game_id, stored.ruleset, stored.seq)
        else:
            self.unreadable.add(stored.game_id, stored.state)

    def forget(self, game_id: str) -> None:
        """Keep a game no longer, in whatever way it was kept."""
        self.wake(game_id)
        if self.held.pop(game_id, None) is not None:
            self._metrics.held_games.set(len(self.held))
