"""A replay as its spectators saw it: every update in order, recomputed here.

```python
from pathlib import Path
from opolyx_sdk.local.replay_run import ReplayRun

run = ReplayRun(Path("game.jsonl").read_bytes())
for update in run.updates():
    print(update.seq, update.view.turn.round, update.events)
```
"""

from collections.abc import Iterator

from opolyx_sdk.local._recorded import Recorded
from opolyx_sdk.replays import Verification
from opolyx_sdk.updates import GameInfo, Update


class ReplayRun:
    """The updates of a game that was played."""

    def __init__(self, data: bytes) -> None:
        """Read a replay, finished or not.

        Raises:
            ReplayError: it isn't right.
        """
        self._recorded = Recorded(data)
        self.info: GameInfo = self._recorded.begin().info(None)
        """What stays the same in the game."""

    @property
    def found(self) -> Verification:
        """What was found when the replay was verified."""
        return self._recorded.found

    def updates(self) -> Iterator[Update]:
        """The start, which has the number 0, and every update after it."""
        game = self._recorded.begin()
        yield game.update()
        for line in self._recorded.steps:
            self._recorded.step(game, line)
            yield game.update()
