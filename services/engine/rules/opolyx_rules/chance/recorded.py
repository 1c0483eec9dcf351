"""Chance that is written down, and chance that comes out of a record."""

from opolyx_rules.chance.source import LABELS, Chance
from opolyx_rules.reasons import InvariantError


class RecordingChance:
    """Passes draws on and keeps them, for the log of a step."""

    __slots__ = ("_source", "drawn")

    def __init__(self, source: Chance) -> None:
        self._source = source
        self.drawn: list[int] = []

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`."""
        value = self._source.draw(label, sides)
        self.drawn.append(value)
        return value

    def take(self) -> list[int]:
        """The draws since the last call, in order."""
        drawn, self.drawn = self.drawn, []
        return drawn


class RecordedChance:
    """Gives back the draws of a record; asking for more, or for other bounds, is an error."""

    __slots__ = ("_draws", "_next")

    def __init__(self, draws: list[int]) -> None:
        self._draws = draws
        self._next = 0

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`.

        Raises:
            InvariantError: The record holds no further draw, or one outside the bounds.
        """
        if self._next >= len(self._draws):
            raise InvariantError(f"the record has no draw for {LABELS[label].decode()}")
        value = self._draws[self._next]
        if not 0 <= value < sides:
            raise InvariantError(f"the record's draw {value} is outside 0..{sides - 1}")
        self._next += 1
        return value

    def rest(self) -> int:
        """How many draws have not been asked for."""
        return len(self._draws) - self._next
