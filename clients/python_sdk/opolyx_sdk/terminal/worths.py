"""Net worth round by round."""

from collections.abc import Sequence

from opolyx_sdk.views import GameView


class Worths:
    """The net worth of every seat at the end of each round, as far as it was seen."""

    def __init__(self) -> None:
        self._rounds: dict[int, tuple[int, ...]] = {}

    def add(self, view: GameView) -> None:
        """A state of the game; the last one of a round counts."""
        self._rounds[view.turn.round] = tuple(one.net_worth for one in view.players)

    @property
    def rounds(self) -> Sequence[int]:
        """The rounds that were seen, ascending."""
        return sorted(self._rounds)

    @property
    def seats(self) -> int:
        """How many seats there are; 0 before anything was seen."""
        return len(next(iter(self._rounds.values()), ()))

    def of(self, seat: int) -> list[tuple[int, int]]:
        """Round and net worth of one seat, until it is out and at 0."""
        points = []
        for number in self.rounds:
            worth = self._rounds[number][seat]
            points.append((number, worth))
            if not worth:
                break
        return points

    @property
    def most(self) -> int:
        """The highest net worth of all."""
        return max((max(worths) for worths in self._rounds.values()), default=0)

    def up_to(self, last: int) -> "Worths":
        """Without the rounds after `last`."""
        found = Worths()
        found._rounds = {number: row for number, row in self._rounds.items() if number <= last}
        return found
