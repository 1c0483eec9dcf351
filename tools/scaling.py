"""Rewrite the figures of docs/scaling.md: what so many games need, from what one thing costs.

`make scaling`; `--check` only tells whether they differ. The costs are in `docs/scaling-costs.json`,
as `make scaling-costs` measured them. Shares of replicas are counted with the engine's own hashing.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Final

from opolyx_engine.ownership.shares import chosen
from opolyx_engine.replica import Replica
from opolyx_engine.settings import EngineSettings

DOCS: Final = Path(__file__).resolve().parents[1] / "docs"
PAGE: Final = DOCS / "scaling.md"
COSTS: Final = DOCS / "scaling-costs.json"
_BEGIN: Final = "<!-- figures: made by `make scaling` -->\n"
_END: Final = "<!-- end of the figures -->\n"

SEATS: Final = 4
GAMES: Final = (1_000, 10_000, 100_000)
SECONDS_AN_ACTION: Final = 4.0
"""Between two actions of one game, of people who think."""

GAME_MINUTES: Final = 30.0
CORES: Final = 2.0
"""Of a replica's pod; one process of Python fills about 1.3 of them."""

BUSY: Final = 0.6
"""Of those 1.3 cores that may be used, so that a replica bears its neighbours' games."""

USABLE_CORES: Final = 1.3
REDIS_BUSY: Final = 0.5
"""Of a master's one core."""

KEPT_DAYS: Final = 7.0
"""How long ended games stay in memory before an operator moves them elsewhere."""

REDIS_GIB: Final = 32.0
"""Of a master's memory that logs may fill."""

_SAMPLE: Final = 20_000


@dataclass(frozen=True, slots=True)
class Need:
    """What so many games need."""

    games: int
    actions_a_second: float
    replicas: int
    engine_gib: float
    redis_by_cpu: int
    redis_by_memory: int
    redis_mib_a_second: float
    client_mib_a_second: float
    beats_a_second: float
    beats_redis_cores: float
    facts_a_second: float
    games_a_replica: int
    adopt_seconds: float
    adopt_cores: float


def need(games: int, costs: dict[str, float], settings: EngineSettings) -> Need:
    """What so many games need, by the costs of one action, game, stream and heartbeat."""
    actions = games / SECONDS_AN_ACTION
    replicas = max(
        3, ceil(actions * costs["engine_cpu_us_an_action"] / 1e6 / (USABLE_CORES * BUSY))
    )
    by_cpu = ceil(actions * costs["redis_cpu_us_an_action"] / 1e6 / REDIS_BUSY)
    day_bytes = actions * 86_400 * costs["redis_memory_bytes_an_action"]
    beats = replicas / (settings.heartbeat_ms / 1000)
    beat_us = costs["redis_cpu_us_a_beat_of_50"] * replicas / 50
    a_replica = ceil(games / replicas)
    # Each of the others takes its share of a dead replica's games, at the settings' pace.
    adopt = a_replica / max(1, replicas - 1) / settings.adoptions_per_second
    took_up = settings.adoptions_per_second * costs["take_up_cpu_ms_a_game"] / 1000
    return Need(
        games=games,
        actions_a_second=actions,
        replicas=replicas,
        engine_gib=a_replica
        * (costs["engine_memory_kib_a_game"] + SEATS * costs["engine_memory_kib_a_stream"])
        / 1024**2,
        redis_by_cpu=by_cpu,
        redis_by_memory=ceil(day_bytes * KEPT_DAYS / (REDIS_GIB * 1024**3)),
        redis_mib_a_second=actions
        * (costs["redis_received_bytes_an_action"] + costs["redis_sent_bytes_an_action"])
        / 1024**2,
        client_mib_a_second=actions * SEATS * costs["client_bytes_an_action_and_seat"] / 1024**2,
        beats_a_second=beats,
        beats_redis_cores=beats * beat_us / 1e6,
        facts_a_second=games * (SEATS + 1) / (GAME_MINUTES * 60),
        games_a_replica=a_replica,
        adopt_seconds=settings.replica_ttl_ms / 1000 + adopt,
        adopt_cores=min(
            took_up, a_replica / max(1, replicas - 1) * costs["take_up_cpu_ms_a_game"] / 1000
        ),
    )


def shares(replicas: int) -> tuple[float, float]:
    """The largest and the smallest share of `_SAMPLE` games, as parts of an equal one."""
    living = [Replica(f"{number:024x}", "") for number in range(replicas)]
    counts: Counter[str] = Counter()
    for number in range(_SAMPLE):
        found = chosen(f"g_{number:024}", living)
        counts[found.replica_id if found else ""] += 1
    equal = _SAMPLE / replicas
    return max(counts.values()) / equal, min(counts.values()) / equal


def figures() -> str:
    """The tables, as they stand in the page."""
    costs: dict[str, float] = json.loads(COSTS.read_text())
    settings = EngineSettings()
    needs = [need(games, costs, settings) for games in GAMES]
    lines = ["| what one costs | |\n|---|---|\n"]
    lines += [f"| {name.replace('_', ' ')} | {value:,.1f} |\n" for name, value in costs.items()]
    lines.append("\n| concurrent games | " + " | ".join(f"{one.games:,}" for one in needs) + " |\n")
    lines.append("|---|" + "---:|" * len(needs) + "\n")
    for title, value in _ROWS:
        lines.append(f"| {title} | " + " | ".join(value(one) for one in needs) + " |\n")
    sizes = sorted({min(one.replicas, 60) for one in needs})
    lines.append(
        "\n| replicas | largest share of 20,000 games | smallest share |\n|---:|---:|---:|\n"
    )
    for size in sizes:
        largest, smallest = shares(size)
        lines.append(f"| {size} | {largest:.2f} | {smallest:.2f} |\n")
    return "".join(lines)


_ROWS: Final[tuple[tuple[str, Callable[[Need], str]], ...]] = (
    ("actions a second", lambda one: f"{one.actions_a_second:,.0f}"),
    ("engine replicas", lambda one: f"{one.replicas:,}"),
    ("games a replica", lambda one: f"{one.games_a_replica:,}"),
    ("memory of a replica for games and streams, GiB", lambda one: f"{one.engine_gib:.2f}"),
    ("masters of Redis by CPU", lambda one: f"{one.redis_by_cpu:,}"),
    (
        f"masters of Redis by memory, {KEPT_DAYS:.0f} days kept",
        lambda one: f"{one.redis_by_memory:,}",
    ),
    ("to and from Redis, MiB/s", lambda one: f"{one.redis_mib_a_second:.1f}"),
    ("to clients, MiB/s", lambda one: f"{one.client_mib_a_second:.1f}"),
    ("heartbeats a second", lambda one: f"{one.beats_a_second:.1f}"),
    ("Redis cores for heartbeats", lambda one: f"{one.beats_redis_cores:.3f}"),
    ("facts a second, through one slot", lambda one: f"{one.facts_a_second:.1f}"),
    ("a dead replica's last game goes on after, s", lambda one: f"{one.adopt_seconds:.1f}"),
    ("cores of each other replica meanwhile", lambda one: f"{one.adopt_cores:.2f}"),
)


def main() -> int:
    """Write or compare; 1 if the page is old."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    text = PAGE.read_text()
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    made = before + _BEGIN + figures() + _END + after
    if not parser.parse_args().check:
        PAGE.write_text(made)
    elif made != text:
        sys.stderr.write("run `make scaling`: docs/scaling.md is old\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
