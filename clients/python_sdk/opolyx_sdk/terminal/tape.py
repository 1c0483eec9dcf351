"""A game that was played, as a tape that can be wound to any step."""

from bisect import bisect_right
from collections.abc import Iterable, Sequence

from opolyx_sdk.terminal.chronicle import Chronicle
from opolyx_sdk.terminal.moment import Moment
from opolyx_sdk.terminal.worths import Worths
from opolyx_sdk.updates import GameInfo, Update


class Tape:
    """Every update of a game, by its number."""

    def __init__(self, info: GameInfo, updates: Iterable[Update]) -> None:
        """Take over a game; its start is the first update."""
        self.info = info
        """What stays the same."""
        self.updates: Sequence[Update] = tuple(updates)
        """The start, and every update after it."""
        self.worths = Worths()
        """Net worth round by round."""
        self._rounds: list[int] = []
        for number, update in enumerate(self.updates):
            if update.view.turn.round > len(self._rounds):
                self._rounds += [number] * (update.view.turn.round - len(self._rounds))
            self.worths.add(update.view)

    @property
    def last(self) -> int:
        """Number of the last step."""
        return len(self.updates) - 1

    @property
    def rounds(self) -> int:
        """How many rounds there are."""
        return len(self._rounds)

    def round_at(self, step: int) -> int:
        """The round of a step."""
        return bisect_right(self._rounds, step)

    def start_of(self, number: int) -> int:
        """The first step of a round; of the nearest one that there is."""
        return self._rounds[min(max(number, 1), self.rounds) - 1]

    def moment(self, step: int) -> Moment:
        """The game after a step."""
        update = self.updates[step]
        return Moment(self.info, update.view, update.decisions, update.state)

    def chronicle(self, step: int, most: int | None = None) -> Chronicle:
        """What had happened by then; the last `most` steps of it."""
        found = Chronicle()
        first = 0 if most is None else max(0, step + 1 - most)
        for update in self.updates[first : step + 1]:
            found.add(update.events)
        return found
