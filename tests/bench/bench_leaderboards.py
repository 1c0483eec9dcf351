"""How fast the leaderboards are with a million players, and what they take: `make bench`.

The boards are read as the service reads them: through the store's reader, a snapshot each. The
CPU of all threads stands beside the time, which is a busy machine's also where nothing is slow.
"""

import asyncio
import multiprocessing
import random
import resource
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Final

from opolyx_progression.deliveries import Delivery
from opolyx_progression.games import FinishedGame, FinishedSeat, Scheme, SeatKind
from opolyx_progression.leaderboards import XP_BOARD
from opolyx_progression.store.scores import SHIFTS
from opolyx_progression.store.sqlite import SqliteStore
from opolyx_servicekit.sqlite_file import SqliteFile

PLAYERS: Final = 1_000_000
QUICK_PLAYERS: Final = 50_000
ROWS: Final = 100
"""Rows a page: the most that the service gives."""


def run(*, quick: bool) -> None:
    """Fill a board, measure, and print the table."""
    players = QUICK_PLAYERS if quick else PLAYERS
    with tempfile.TemporaryDirectory(prefix="opolyx-bench-") as folder:
        asyncio.run(_run(Path(folder) / "board.db", players, calls=300 if quick else 3_000))


async def _run(path: Path, players: int, calls: int) -> None:
    began = time.perf_counter()
    async with SqliteFile(path) as file:
        await SqliteStore.open(file)
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as other:
        other.submit(_fill, path, players).result()  # its memory is not ours
    filled_s = time.perf_counter() - began
    before = _resident_mib()
    async with SqliteFile(path) as file:
        store = await SqliteStore.open(file)
        assert [] == await store.miscounted_boards()
        print(f"\nleaderboard, {players:,} players, {ROWS} rows a page; filled in {filled_s:.0f} s")
        print(f"{'':38}{'p50 ms':>12}{'p99 ms':>12}{'CPU ms':>12}")
        chance = random.Random(1)

        async def top() -> None:
            page = await store.top(XP_BOARD, ROWS)
            assert (ROWS, players) == (len(page.rows), page.players)

        async def around() -> None:
            page = await store.around(XP_BOARD, _player(chance.randrange(players)), ROWS)
            assert page is not None
            assert ROWS == len(page.rows)

        games = iter(range(calls))

        async def settle() -> None:
            await store.apply([_game(next(games), chance, players)], now_ms=0)

        await _measure("top", top, calls)
        await _measure("around a player", around, calls)
        await _measure("a game of four settled, to the disk", settle, calls // 10)
    size = sum(one.stat().st_size for one in path.parent.iterdir()) / (1 << 20)
    print(
        f"memory: {_resident_mib():.0f} MiB at the most, {before:.0f} of it before the store was"
        f" opened; {size:.0f} MiB on disk"
    )


async def _measure(name: str, work: Callable[[], Awaitable[None]], calls: int) -> None:
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


def _fill(path: Path, players: int) -> None:
    """Players whose XP is spread as XP are: many with little, and many alike."""
    with closing(sqlite3.connect(path)) as connection:
        _insert(connection, players)


def _insert(connection: sqlite3.Connection, players: int) -> None:
    chance = random.Random(7)
    connection.execute("PRAGMA cache_size = -262144")  # 256 MiB, while it is filled
    connection.execute("PRAGMA synchronous = OFF")
    with connection:
        connection.executemany(
            "INSERT INTO progression_players VALUES (?, ?, 1, ?, 9, 2, 0)",
            (
                (_player(number), f"Player {number}", int(chance.expovariate(1 / 9_000)))
                for number in range(players)
            ),
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


def _player(number: int) -> str:
    """An id as long as they are; as they rise with time, they have no order of the scores."""
    return f"p_{number:026d}"


def _game(number: int, chance: random.Random, players: int) -> Delivery:
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
