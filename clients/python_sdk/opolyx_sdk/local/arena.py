"""Many games between bots: seats rotated, reproducible, on as many processes as you like.

```python
from opolyx_sdk.local.arena import ArenaPlan, run_arena

if __name__ == "__main__":
    plan = ArenaPlan(("my_bot:MyBot", "steady", "steady", "random"), games=100)
    result = run_arena(plan, workers=2)
    for line in result.standings:
        print(line.name, line.win_rate, line.rating)
```

Processes are started afresh and import the program, so that it must guard what it does by
`if __name__ == "__main__"`.
"""

import hashlib
import os
import time
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from typing import Final

from opolyx_rules import compiled
from opolyx_sdk.local._arena_workers import play_in_processes
from opolyx_sdk.local.arena_plan import ArenaPlan, play_game
from opolyx_sdk.local.standings import GameRow, Standing, standings

__all__ = ["ArenaPlan", "ArenaResult", "play_games", "rules_build", "run_arena"]

_TRIAL_S: Final = 1.0
"""After so many seconds it is known how long the rest will take."""
_WORTH_S: Final = 3.0
"""A rest of so many seconds is worth starting processes: each takes about half a second for that."""


def rules_build() -> str:
    """Which build of the rules plays here, compiled or interpreted: the same games at another speed."""
    return "compiled" if compiled else "interpreted"


@dataclass(frozen=True, slots=True)
class ArenaResult:
    """What was played. May hold fewer games than planned, if it was stopped."""

    plan: ArenaPlan
    """What was planned."""

    games: tuple[GameRow, ...]
    """The games in the order of their numbers."""

    standings: tuple[Standing, ...] = field(init=False)
    """How each entrant did, the best rating first."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "standings", standings(self.plan.names, self.games))

    @property
    def digest(self) -> str:
        """Hex SHA-256 over the digests of all games: equal for equal plans and bots, anywhere."""
        return hashlib.sha256("".join(game.digest for game in self.games).encode()).hexdigest()


def run_arena(
    plan: ArenaPlan, *, workers: int | None = 1, on_game: Callable[[GameRow], None] | None = None
) -> ArenaResult:
    """Play all games; the same result for any number of workers.

    Args:
        plan: who plays what.
        workers: processes; 1 plays in this one. None begins in this one, and starts as many as
            there are cores for it once it is clear that the rest takes long enough to pay for that.
        on_game: is told of each game as it ends, in any order.

    Raises:
        ValueError: the plan can't be played.
        OpolyxError: an entrant can't be found, or is no bot.
        BotError: a bot failed and the plan is strict, or a bot ended its process.
        OSError: a replay can't be written.
    """
    rows = []
    for row in play_games(plan, workers=workers):
        rows.append(row)
        if on_game is not None:
            on_game(row)
    return ArenaResult(plan, tuple(sorted(rows, key=lambda row: row.number)))


def play_games(plan: ArenaPlan, *, workers: int | None = 1) -> Generator[GameRow, None, None]:
    """The games as they end, in any order; close the iterator to stop.

    Takes and raises what `run_arena` does.
    """
    plan.check()
    if workers is None:
        return _as_many_as_pay(plan)
    workers = min(workers, plan.games)
    if workers > 1:
        return play_in_processes(plan, workers)
    return (play_game(plan, number) for number in range(plan.games))


def _as_many_as_pay(plan: ArenaPlan) -> Generator[GameRow, None, None]:
    """A run that is short ends here before processes would have started."""
    cores, began = _cores(), time.perf_counter()
    for number in range(plan.games):
        gone, left = time.perf_counter() - began, plan.games - number
        if cores > 1 and number and gone >= _TRIAL_S and gone / number * left >= _WORTH_S:
            yield from play_in_processes(plan, min(cores, left), first=number)
            return
        yield play_game(plan, number)


def _cores() -> int:
    """Cores that this process may use, where the system says so."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
