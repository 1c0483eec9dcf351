"""What the benchmark measures, by the names that `--only` takes; each line of the page names its part."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Final

import bench_audit
import bench_core
import bench_flood
import bench_idle_streams
import bench_leaderboards
import bench_metrics
import bench_recovery
import bench_rooms
import bench_seats
import bench_simulate
import bench_stores


@dataclass(frozen=True, slots=True)
class Part:
    """One piece of the benchmark."""

    name: str
    """What `--only` calls it."""

    run: Callable[..., None]
    """Measures it, prints its lines and notes its figures; takes `quick`."""

    of_the_core: bool = False
    """Whether the compiled core makes a difference that is to be shown."""

    usual: bool = True
    """Whether it belongs to a run that names nothing; others take minutes of their own."""


PARTS: Final = (
    *(
        Part(name, partial(bench_core.run, name), of_the_core=True)
        for name in dict.fromkeys(row.part for row in bench_core.ROWS)
    ),
    Part("simulate", bench_simulate.run_simulate, of_the_core=True),
    Part("arena", bench_simulate.run_arena, of_the_core=True),
    *(
        Part(f"rooms-{count}", partial(bench_rooms.run_rooms, f"rooms-{count}", count))
        for count in bench_rooms.BOARDGAME_IO
    ),
    Part("many-games", bench_rooms.run_many_games),
    Part("paced", bench_rooms.run_paced),
    Part("tls", bench_rooms.run_tls),
    Part("rooms-redis", bench_rooms.run_redis),
    Part("flat", bench_rooms.run_flat),
    Part("metrics", bench_metrics.run),
    Part("stores", bench_stores.run),
    Part("recovery", bench_recovery.run),
    Part("idle-streams", bench_idle_streams.run),
    Part("leaderboards", bench_leaderboards.run),
    Part("seats", bench_seats.run, usual=False),
    Part("flood", bench_flood.run, usual=False),
    Part("audit", bench_audit.run, usual=False),
)
"""All parts, in the order they are run."""


def choose(wanted: Sequence[str]) -> list[Part]:
    """The parts that are named, wholly or by a piece of their names; the usual ones if none is.

    Raises:
        ValueError: no part is called so.
    """
    if not wanted:
        return [part for part in PARTS if part.usual]
    chosen = []
    for name in wanted:
        found = [part for part in PARTS if part.name == name]
        found = found or [part for part in PARTS if name in part.name]
        if not found:
            known = ", ".join(part.name for part in PARTS)
            raise ValueError(f"no part is called {name!r}; there are {known}")
        chosen += found
    return [part for part in PARTS if part in chosen]
