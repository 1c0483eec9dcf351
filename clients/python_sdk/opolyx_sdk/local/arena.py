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
from collections.abc import Callable, Generator
from dataclasses import dataclass, field

from opolyx_rules import compiled
from opolyx_sdk.local._arena_workers import play_in_processes
from opolyx_sdk.local.arena_plan import ArenaPlan, play_game
from opolyx_sdk.local.standings import GameRow, Standing, standings

__all__ = ["ArenaPlan", "ArenaResult", "play_games", "rules_build", "run_arena"]


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
    plan: ArenaPlan, *, workers: int = 1, on_game: Callable[[GameRow], None] | None = None
) -> ArenaResult:
    """Play all games; the same result for any number of workers.

    Args:
        plan: who plays what.
        workers: processes; 1 plays in this one.
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


def play_games(plan: ArenaPlan, *, workers: int = 1) -> Generator[GameRow, None, None]:
    """The games as they end, in any order; close the iterator to stop.

    Raises as `run_arena` does.
    """
    plan.check()
    workers = min(workers, plan.games)
    if workers > 1:
        return play_in_processes(plan, workers)
    return (play_game(plan, number) for number in range(plan.games))
