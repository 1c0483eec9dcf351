"""Games that their replicas own in the store: entered by any replica, whatever happens to the owner."""

import asyncio
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

import grpc
import pytest

from opolyx_sdk import AsyncClient, ClientOptions
from opolyx_servicekit.key_set import ensure_keys
from support_engine import Caller, Engine, new_game, people
from support_owners import fast, running_replicas
from support_redis import free_port, redis_server
from support_waiting import until


@contextmanager
def engine_process(directory: Path, url: str, port: int) -> Iterator[subprocess.Popen[bytes]]:
    """`opolyx-engine` as it is installed, on the store of the others and with their keys."""
    public = ensure_keys(directory / "keys.json")
    settings = fast(port, store_url=url, verification_keys_file=public, restart_grace_ms=60_000)
    names = {
        f"OPOLYX_ENGINE_{name.upper()}": str(value)
        for name, value in settings.items()
        if value is not None
    }
    with (directory / "owner.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "opolyx_engine.main"],
            env={**os.environ, **names},
            stdout=log,
            stderr=log,
        )
    try:
        yield process
    finally:
        process.kill()
        process.wait(20)


@asynccontextmanager
async def clients_of(engines: list[Engine], seats: int) -> AsyncIterator[list[AsyncClient]]:
    """A client for each seat, each of which enters by another engine."""
    async with AsyncExitStack() as stack:
        yield [
            await stack.enter_async_context(
                AsyncClient(
                    f"127.0.0.1:{engines[seat % len(engines)].port}",
                    token=engines[0].token(f"p_{seat}"),
                    options=ClientOptions(call_timeout_s=20),
                )
            )
            for seat in range(seats)
        ]


async def played(client: AsyncClient, game_id: str, moves: list[int]) -> tuple[bytes, int]:
    """Play to the end by whatever comes last in the list, and note every move; how it ended."""
    async with client.play(game_id) as game:
        while not game.over:
            if decision := game.decision:
                moves.append(await game.submit(decision.legal_actions[-1]))
            else:
                await anext(game)
        return game.log_digest, game.seq


def check_nothing_is_lost(games: list[asyncio.Task[tuple[bytes, int]]], moves: list[int]) -> None:
    """All saw the same game, each of its updates was a player's move, and none was taken twice."""
    ends = {game.result() for game in games}
    assert 1 == len(ends)
    assert list(range(1, ends.pop()[1] + 1)) == sorted(moves)


@pytest.mark.timeout(120)
async def test_the_owner_is_killed_in_the_middle_and_nobody_notices_more_than_a_pause(
    tmp_path: Path,
) -> None:
    with redis_server(tmp_path / "redis") as redis:
        port = free_port()
        async with running_replicas(tmp_path, redis.url, 2) as engines:
            with engine_process(tmp_path, redis.url, port) as owner:
                async with grpc.aio.insecure_channel(f"127.0.0.1:{port}") as channel:
                    await asyncio.wait_for(channel.channel_ready(), 40)
                    service = Caller(channel, engines[0].token("s_matchmaker", "service"))
                    game_id = await new_game(service, "r1", people(4), round_cap=2)
                async with clients_of(engines, 4) as clients, asyncio.TaskGroup() as group:
                    moves: list[int] = []
                    games = [
                        group.create_task(played(client, game_id, moves)) for client in clients
                    ]
                    await until(lambda: len(moves) > 8)
                    owner.kill()
                    owner.wait(20)
        check_nothing_is_lost(games, moves)


async def test_a_drained_owner_hands_over_and_the_games_go_on_through_other_replicas(
    tmp_path: Path,
) -> None:
    with redis_server(tmp_path / "redis") as redis:
        async with running_replicas(tmp_path, redis.url, 3) as engines:
            game_id = await engines[2].new_game(people(4), round_cap=2)
            async with clients_of(engines[:2], 4) as clients, asyncio.TaskGroup() as group:
                moves: list[int] = []
                games = [group.create_task(played(client, game_id, moves)) for client in clients]
                await until(lambda: len(moves) > 8)
                assert engines[2].service.registry.find_running(game_id) is not None
                await engines[2].server.drain()
                assert engines[2].service.registry.find_running(game_id) is None
            check_nothing_is_lost(games, moves)
            assert 0 < sum(
                engine.service.metrics.forwards.labels("answered")._value.get()
                for engine in engines[:2]
            )
