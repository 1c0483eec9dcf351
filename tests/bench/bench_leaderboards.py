"""How fast the leaderboards are with a million players, and what they take: `make bench`.

The boards are read as the service reads them: through the store. The CPU of all threads of this
process stands beside the time, which is a busy machine's also where nothing is slow; Redis has its
own beside it.
"""

import asyncio
import multiprocessing
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from itertools import islice
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parents[1] / "support"))

from opolyx_progression.deliveries import Delivery
from opolyx_progression.games import FinishedGame, FinishedSeat, Scheme, SeatKind
from opolyx_progression.leaderboards import XP_BOARD, place_of
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.settlement import Standing
from opolyx_progression.store.base import Store
from opolyx_progression.store.opening import open_store
from opolyx_progression.store.redis_forms import (
    BOARDS,
    ROSTER,
    PlayerRecord,
    board_key,
    player_key,
)
from opolyx_progression.store.scores import SHIFTS
from results import note
from support_redis import RedisServer, find_redis_server, redis_server

PLAYERS: Final = 1_000_000
QUICK_PLAYERS: Final = 50_000
ROWS: Final = 100
"""Rows a page: the most that the service gives."""

BATCH: Final = 200
"""Facts a change: the most that the consumer takes at once."""


def run(*, quick: bool) -> None:
    """Fill a board on each store, measure, and print the table."""
    players = QUICK_PLAYERS if quick else PLAYERS
    calls = 150 if quick else 1_000
    print(f"\nleaderboard, {players:,} players, {ROWS} rows a page")
    with tempfile.TemporaryDirectory(prefix="opolyx-bench-") as folder:
        asyncio.run(_on_sqlite(Path(folder) / "board.db", players, calls))
        if find_redis_server() is None:
            print("no redis-server here: Redis is not measured")
            return
        with redis_server(Path(folder) / "redis") as server:
            asyncio.run(_on_redis(server, players, calls))


async def _on_sqlite(path: Path, players: int, calls: int) -> None:
    settings = ProgressionSettings(store_url=f"sqlite:///{path}")
    async with open_store(settings):
        pass
    filled_s = _filled_elsewhere(_fill_sqlite, path, players)
    before = _resident_mib()
    async with open_store(settings) as store:
        assert [] == await store.miscounted_boards()
        print(f"SQLite, filled in {filled_s:.0f} s")
        await _measured("SQLite", store, players, calls)
    size = sum(one.stat().st_size for one in path.parent.iterdir()) / (1 << 20)
    print(
        f"memory: {_resident_mib():.0f} MiB at the most, {before:.0f} of it before the store was"
        f" opened; {size:.0f} MiB on disk"
    )


async def _on_redis(server: RedisServer, players: int, calls: int) -> None:
    empty = _redis_bytes(server)
    filled_s = _filled_elsewhere(_fill_redis, server.port, players)
    full = _redis_bytes(server)
    async with open_store(ProgressionSettings(store_url=server.url)) as store:
        print(f"Redis, filled in {filled_s:.0f} s")
        games = await _measured("Redis", store, players, calls)
    added = _redis_bytes(server) - full
    print(
        f"memory of Redis: {(full - empty) / players:.0f} bytes a player on one board;"
        f" {added / games:.0f} more a game of four (its result, awards, ratings and their board)"
    )


async def _measured(title: str, store: Store, players: int, calls: int) -> int:
    """Measure the store under its title; how many games were settled."""
    print(f"{title:38}{'p50 ms':>12}{'p99 ms':>12}{'CPU ms':>12}")
    chance = random.Random(1)

    async def top() -> None:
        page = await store.top(XP_BOARD, ROWS)
        assert (ROWS, players) == (len(page.rows), page.players)

    async def around() -> None:
        page = await store.around(XP_BOARD, _player(chance.randrange(players)), ROWS)
        assert page is not None
        assert ROWS == len(page.rows)

    games = (game_of_four(number, chance, players) for number in range(sys.maxsize))

    async def settle() -> None:
        await store.apply([next(games)], now_ms=0)

    for name, call in (("top", top), ("around a player", around)):
        p99 = await _measure(name, call, calls)
        note("leaderboards", f"{players:,} players, {title}, {name}, p99", p99, "ms")
    p99 = await _measure("a game of four settled, to the disk", settle, calls // 10)
    note("leaderboards", f"{players:,} players, {title}, a game settled, p99", p99, "ms")
    batches = [[next(games) for _ in range(BATCH)] for _ in range(calls // 150)]
    begun = time.perf_counter()
    for batch in batches:
        await store.apply(batch, now_ms=0)
    rate = BATCH * len(batches) / (time.perf_counter() - begun)
    note("leaderboards", f"{players:,} players, {title}, games settled", rate, "games/s")
    print(f"{rate:,.0f} games a second are settled in batches of {BATCH}: {4 * rate:,.0f} awards")
    assert await store.last_sequence() == calls // 10 + BATCH * len(batches)
    return await store.last_sequence()


async def _measure(name: str, work: Callable[[], Awaitable[None]], calls: int) -> float:
    """Print how long the work takes; 99 of 100 times it took at most so many milliseconds."""
    took: list[float] = []
    cpu = time.process_time()
    for _ in range(calls):
        begun = time.perf_counter()
        await work()
        took.append((time.perf_counter() - begun) * 1000)
    cpu = (time.process_time() - cpu) * 1000 / calls
    took.sort()
    p50, p99 = took[len(took) // 2], took[len(took) * 99 // 100]
    print(f"{name:38}{p50:12.2f}{p99:12.2f}{cpu:12.2f}", flush=True)
    return p99


def _filled_elsewhere(fill: Callable[..., None], *arguments: object) -> float:
    """Fill a store in another process, whose memory is not ours; the seconds it took."""
    began = time.perf_counter()
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as other:
        other.submit(fill, *arguments).result()
    return time.perf_counter() - began


def _xp(players: int) -> Iterator[tuple[str, str, int]]:
    """Ids, names and XP, spread as XP is: many with little, and many alike."""
    chance = random.Random(7)
    for number in range(players):
        yield _player(number), f"Player {number}", int(chance.expovariate(1 / 9_000))


def _fill_sqlite(path: Path, players: int) -> None:
    with closing(sqlite3.connect(path)) as connection:
        _insert(connection, players)


def _insert(connection: sqlite3.Connection, players: int) -> None:
    connection.execute("PRAGMA cache_size = -262144")  # 256 MiB, while it is filled
    connection.execute("PRAGMA synchronous = OFF")
    with connection:
        connection.executemany(
            "INSERT INTO progression_players VALUES (?, ?, 1, ?, 9, 2, 0)", _xp(players)
        )
        connection.execute(
            "INSERT INTO progression_scores SELECT ?, player_id, xp FROM progression_players",
            (XP_BOARD,),
        )
        for shift in SHIFTS:
            connection.execute(
                "INSERT INTO progression_score_counts"
                " SELECT board, ?1, score >> ?1, count(*) FROM progression_scores GROUP BY 1, 3",
                (shift,),
            )
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _fill_redis(port: int, players: int) -> None:
    from redis import Redis

    with Redis(port=port) as client:
        client.sadd(BOARDS, XP_BOARD)
        rows = _xp(players)
        while some := list(islice(rows, 10_000)):
            client.mset({player_key(row[0]): _record(*row) for row in some})
            client.rpush(ROSTER, *(player_id for player_id, _, _ in some))
            client.zadd(board_key(XP_BOARD), _places(some))


def _record(player_id: str, name: str, xp: int) -> str:
    standing = Standing(player_id=player_id, name=name, xp=xp, games=9, wins=2)
    return PlayerRecord(standing, 0, {}).to_json()


def _places(rows: Sequence[tuple[str, str, int]]) -> dict[str, int]:
    return {player_id: place_of(xp, player_id)[0] for player_id, _, xp in rows}


def _redis_bytes(server: RedisServer) -> int:
    with server.client() as client:
        return int(client.info("memory")["used_memory"])


def _player(number: int) -> str:
    """An id as long as they are; as they rise with time, they have no order of the scores."""
    return f"p_{number:026d}"


def game_of_four(number: int, chance: random.Random, players: int) -> Delivery:
    """The fact that four of the players have finished a game."""
    chosen = chance.sample(range(players), 4)
    game = FinishedGame(
        game_id=f"g_{number}",
        ruleset="classic@full",
        scheme=Scheme.EVERY_SEAT,
        round=50,
        places=4,
        cause=1,
        ended_unix_ms=0,
        log_digest="",
        seats=tuple(
            FinishedSeat(
                seat=seat,
                player_id=_player(one),
                name=f"Player {one}",
                kind=SeatKind.PERSON,
                side=seat,
                place=seat + 1,
                survived=seat == 0,
                full_groups=0,
                net_worth=0,
            )
            for seat, one in enumerate(chosen)
        ),
    )
    return Delivery(number=number + 1, game_id=game.game_id, at_unix_ms=0, effect=game, raw=b"")


def _resident_mib() -> float:
    """The most this process ever held, MiB."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20) if sys.platform == "darwin" else peak / 1024
