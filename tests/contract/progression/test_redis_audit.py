"""The audit over Redis finds what was changed behind progression's back."""

import json
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from opolyx_progression.audit import audit
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.redis import RedisStore
from opolyx_progression.store.redis_forms import (
    ROSTER,
    STATE,
    VIPS,
    board_key,
    cards_key,
    game_key,
    player_key,
    settled_key,
)
from opolyx_servicekit.redis_link import RedisLink
from support_progression import duel, finished_fact
from support_redis import RedisServer

Tampering = Callable[[RedisServer], object]


def line(number: int, change: Callable[[Any], Any]) -> Tampering:
    """Change one line of a stored game."""

    def tamper(redis: RedisServer) -> object:
        with redis.client() as client:
            lines = bytes(client.get(game_key("g3")) or b"").decode().split("\n")
            content = json.loads(lines[number])
            lines[number] = json.dumps(change(content))
            assert content != json.loads(lines[number])
            return client.set(game_key("g3"), "\n".join(lines))

    return tamper


def player(**changes: object) -> Tampering:
    """Change the totals of a player."""

    def tamper(redis: RedisServer) -> object:
        with redis.client() as client:
            content = json.loads(client.get(player_key("p_a")) or b"")
            return client.set(player_key("p_a"), json.dumps(content | changes))

    return tamper


def command(*words: str | int) -> Tampering:
    """One command of Redis, which must change something."""

    def tamper(redis: RedisServer) -> object:
        done = redis.command(*words)
        assert done, "the command changed nothing"
        return done

    return tamper


def first_xp(content: list[Any]) -> list[Any]:
    return [[*content[0][:2], content[0][2] + 1, *content[0][3:]], *content[1:]]


TAMPERINGS: dict[str, tuple[Tampering, str]] = {
    "other xp": (line(2, first_xp), "award"),
    "an award less": (line(2, lambda content: content[:1]), "award"),
    "an award more": (line(2, lambda content: [*content, [5, *content[0][1:]]]), "award"),
    "no awards": (line(2, lambda content: None), "award"),
    "awards of nobody": (line(2, lambda content: [[0]]), "award"),
    "another table": (line(0, lambda content: content | {"table": 99}), "award"),
    "no table": (line(0, lambda content: {"sequence": 3}), "result"),
    "an impossible result": (line(1, lambda content: content | {"places": 1}), "result"),
    "no result": (line(1, lambda content: []), "result"),
    "another result": (line(1, lambda content: content | {"round": 5}), "award"),
    "a game less": (command("DEL", game_key("g3")), "result"),
    "a game nobody knows": (command("HDEL", settled_key(3), 3), "result"),
    "more xp": (player(xp=1_251), "standing"),
    "another rating": (player(ratings={"classic": [25.5, 8.0, 5, 5]}), "rating"),
    "no rating": (player(ratings={}), "rating"),
    "senseless totals": (command("SET", player_key("p_a"), "{"), "standing"),
    "no totals": (command("DEL", player_key("p_a")), "standing"),
    "a player less": (command("LREM", ROSTER, 1, "p_a"), "standing"),
    "cards less": (command("DEL", cards_key("p_a")), "cards"),
    "another score": (command("ZINCRBY", board_key("xp"), -1, "p_a"), "score"),
    "a score less": (command("ZREM", board_key("xp"), "p_b"), "score"),
    "a score more": (command("ZADD", board_key("xp"), -1, "p_x"), "score"),
    "a vip more": (command("HSET", VIPS, "p_x", 1), "entitlement"),
    "a vip less": (command("HDEL", VIPS, "p_a"), "entitlement"),
}


@pytest.fixture
async def store(redis: RedisServer) -> AsyncIterator[RedisStore]:
    """Five games of two players, of whom one is a VIP."""
    async with await RedisLink.open(redis.url) as link:
        store = RedisStore(link)
        for number in range(1, 6):
            fact = finished_fact(number, duel(f"g{number}", "p_a", "p_b"))
            await store.apply([delivery_of(fact)], now_ms=1)
        await store.set_vip("p_a", vip=True, reason="paid", operator="o_1", now_ms=1)
        yield store


async def test_untouched_store_has_no_drift(store: RedisStore) -> None:
    report = await audit(store, count_boards=True)
    assert (5, 10, 2, []) == (report.games, report.awards, report.players, report.drifts)


@pytest.mark.parametrize("name", TAMPERINGS)
async def test_tampering_is_drift(redis: RedisServer, store: RedisStore, name: str) -> None:
    tamper, kind = TAMPERINGS[name]
    tamper(redis)

    report = await audit(store, count_boards=True)

    assert kind in {drift.kind for drift in report.drifts}, report.drifts


async def test_games_settled_since_are_no_drift(redis: RedisServer, store: RedisStore) -> None:
    """What a later game changed is as of that game, not of those recomputed."""

    class Earlier(RedisStore):
        async def last_sequence(self) -> int:
            return 4

    async with await RedisLink.open(redis.url) as link:
        report = await audit(Earlier(link))
    assert (4, 0) == (report.games, report.drift), report.drifts
    assert b"5" == redis.command("HGET", STATE, "sequence")
