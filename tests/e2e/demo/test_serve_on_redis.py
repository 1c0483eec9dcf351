"""All three services in one process on Redis: a game from the room to its XP, and one server a Redis."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from opolyx_sdk import AsyncClient, BotRunner, RoomOptions, SteadyBot
from opolyx_server.embedded import DATABASE, EmbeddedServer
from opolyx_server.premises import CannotGoOn, CannotStart
from opolyx_server.serve import serve_until_stopped
from support_redis import Cluster, RedisServer, redis_cluster, redis_server
from support_sdk import eventually_awards

ROUNDS = 21
"""The fewest that are paid for."""

Redis = Callable[[Path], AbstractContextManager[RedisServer] | AbstractContextManager[Cluster]]


@pytest.fixture(autouse=True)
def _short_lease(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPOLYX_MATCHMAKER_LEASE_SECONDS", "2")


@pytest.mark.timeout(180)
@pytest.mark.parametrize("redis", [redis_server, redis_cluster], ids=["redis", "cluster"])
async def test_a_game_is_played_paid_and_there_after_a_restart(
    tmp_path: Path, redis: Redis
) -> None:
    data = tmp_path / "data"
    with redis(tmp_path / "redis") as store:
        async with (
            EmbeddedServer(data, store=store.url) as server,
            AsyncClient(server.address) as ada,
            AsyncClient(server.address) as bo,
        ):
            token = (await ada.create_guest("Ada")).token.jwt
            await bo.create_guest("Bo")
            options = RoomOptions(round_cap=ROUNDS)
            room = await ada.create_room("classic@guide", 2, options=options)
            await bo.join_room(code=room.code)
            game_id = await ada.start_game(room.room_id)
            await asyncio.gather(*(BotRunner(one, SteadyBot).play(game_id) for one in (ada, bo)))
            paid = [(await eventually_awards(one, game_id, 1))[0] for one in (ada, bo)]
            assert [0, 200] == sorted(award.xp for award in paid)
            again = await ada.rematch(game_id)
            profile = await ada.profile()

        async with (
            EmbeddedServer(data, store=store.url) as server,
            AsyncClient(server.address, token=token) as ada,
        ):
            assert again.room_id == (await ada.current_game()).room_id
            assert profile == await ada.profile()
            assert await ada.get_replay(game_id, tmp_path / "game.jsonl")
    assert not (data / DATABASE).exists()


async def test_one_server_uses_a_redis_and_another_that_took_it_over_ends_it(
    tmp_path: Path,
) -> None:
    with redis_server(tmp_path / "redis") as redis:
        async with EmbeddedServer(tmp_path / "one", store=redis.url) as server:
            with pytest.raises(CannotStart, match="another server uses the store"):
                async with EmbeddedServer(tmp_path / "two", store=redis.url):
                    pytest.fail("it started")
            redis.command("HSET", "{matchmaker}:lease", "fence", "7-another")
            async with asyncio.timeout(10):
                await server.until_lost()


@pytest.mark.parametrize(
    ("store", "why"),
    [
        ("postgres://127.0.0.1/0", "must begin with one of redis://"),
        ("redis://127.0.0.1:1/0/1", "can't use the store"),
    ],
)
async def test_a_store_that_can_not_be_used_is_named(tmp_path: Path, store: str, why: str) -> None:
    with pytest.raises(CannotStart, match=why):
        async with EmbeddedServer(tmp_path, store=store):
            pytest.fail("it started")


async def test_a_redis_that_may_forget_is_refused(tmp_path: Path) -> None:
    with (
        redis_server(tmp_path / "redis", "--appendonly", "no") as redis,
        pytest.raises(CannotStart, match="appendonly is no"),
    ):
        async with EmbeddedServer(tmp_path / "data", store=redis.url):
            pytest.fail("it started")


def test_a_server_that_is_overtaken_says_so_and_ends(tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis") as redis:

        def take_over(address: str) -> None:
            redis.command("HSET", "{matchmaker}:lease", "fence", "7-another")

        with pytest.raises(CannotGoOn, match="another server took over"):
            serve_until_stopped(EmbeddedServer(tmp_path / "data", store=redis.url), take_over)
