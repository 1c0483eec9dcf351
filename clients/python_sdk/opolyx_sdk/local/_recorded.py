"""What a replay file holds that was found right, ready to be played again."""

import json
from typing import Any, Self

from opolyx_rules import replay
from opolyx_rules.chance import Chance, RecordedChance
from opolyx_sdk.errors import ReplayError
from opolyx_sdk.local._local_game import LocalGame
from opolyx_sdk.local.verify import verify_replay
from opolyx_sdk.replays import Verification


class Recorded:
    """A replay, verified: its lines, and the game before its first step."""

    def __init__(self, data: bytes) -> None:
        """Read a replay, finished or not.

        Raises:
            ReplayError: it isn't right.
        """
        self.found: Verification = verify_replay(data)
        """What the verification found."""
        if not self.found.ok:
            raise ReplayError(f"the replay can't be trusted: {self.found.problem}")
        lines = [json.loads(line) for line in data.splitlines()[:-1]]
        self._header, self._start, *self.steps = lines
        self._draws = _Draws()

    def begin(self) -> LocalGame:
        """The game before its first step."""
        return LocalGame(_header(self._header), self._draws.of(self._start))

    def step(self, game: LocalGame, line: dict[str, Any]) -> None:
        """Carry out the next of `steps`."""
        self._draws.of(line)
        game.clock.now_ms = line["at_unix_ms"]
        game.act(tuple(line["action"]))


class _Draws(Chance):
    """Chance that gives what a record holds."""

    __slots__ = ("_recorded",)

    def of(self, line: dict[str, Any]) -> Self:
        """From now on the draws of this record."""
        self._recorded = RecordedChance(line["draws"])
        return self

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`."""
        return self._recorded.draw(label, sides)


def _header(line: dict[str, Any]) -> replay.Header:
    """The header of a replay that was found right."""
    values = {name: value for name, value in line.items() if name not in ("format", "seats")}
    seats = tuple(replay.SeatRecord(**seat) for seat in line["seats"])
    return replay.Header(seats=seats, **values)
