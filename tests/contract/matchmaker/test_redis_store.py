"""Changes on Redis that something else overtakes between their reading and their writing."""

from collections.abc import AsyncIterator
from typing import cast

import pytest

from opolyx_matchmaker.grants import NO_GRANT
from opolyx_matchmaker.peers import Fact, FactKind
from opolyx_matchmaker.room import Room, RoomState
from opolyx_matchmaker.room_changes import begin_start, finish_start
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.opening import open_store
from opolyx_matchmaker.store.redis import RedisStore
from opolyx_servicekit.redis_link import RedisLink
from support_link import OvertakenLink
from support_lobby import DictEngine, Grants, Process, player, wish
from support_redis import RedisServer


@pytest.fixture
async def link(server: RedisServer) -> AsyncIterator[RedisLink]:
    async with await RedisLink.open(server.url) as opened:
        yield opened


async def starting(store: RedisStore) -> Room:
    """A room of Ada's and Bo's whose start began."""
    assert await store.hold_lease()
    process = Process(store, DictEngine(), Grants())
    room = await process.lobby.create(player("ada"), wish())
    room, _ = await process.lobby.join(player("bo"), room.room_id, "", b"")
    await process.die()
    begun = await store.change_room(room.room_id, lambda now: begin_start(now, "p_ada"))
    assert isinstance(begun, Room)
    return begun


async def test_a_url_of_no_store_is_refused_and_not_shown() -> None:
    settings = MatchmakerSettings(store_url="postgres://user:hidden@127.0.0.1/0")
    with pytest.raises(ValueError, match="neither sqlite") as caught:
        async with open_store(settings):
            pytest.fail("it opened")
    assert "hidden" not in str(caught.value)


async def test_a_change_that_was_overtaken_is_made_to_what_is_there_then(link: RedisLink) -> None:
    """The game is over before its start is noted: nobody is kept busy by it again."""
    overtaken = OvertakenLink(link, "change_room")
    store = RedisStore(cast("RedisLink", overtaken), lease_seconds=6.0)
    room = await starting(store)
    fact = Fact(1, room.game_id, FactKind.GAME_OVER)
    overtaken.meanwhile = lambda: store.apply_facts([fact])

    changed = await store.change_room(
        room.room_id, lambda now: finish_start(now, [NO_GRANT] * len(now.seats))
    )

    assert changed == await store.get_room(room.room_id)
    assert isinstance(changed, Room)
    assert changed.over
    for name in ("p_ada", "p_bo"):
        assert [] == await store.placements(name)


async def test_facts_that_were_overtaken_are_taken_as_things_are_then(link: RedisLink) -> None:
    """Somebody's start is noted while the end of the game is: both are."""
    overtaken = OvertakenLink(link, "take_facts")
    store = RedisStore(cast("RedisLink", overtaken), lease_seconds=6.0)
    room = await starting(store)
    overtaken.meanwhile = lambda: store.change_room(
        room.room_id, lambda now: finish_start(now, [NO_GRANT] * len(now.seats))
    )

    applied = await store.apply_facts([Fact(1, room.game_id, FactKind.GAME_OVER)])

    assert {"p_ada", "p_bo"} == {one.player_id for one in applied.released}
    kept = await store.get_room(room.room_id)
    assert kept is not None
    assert (RoomState.STARTED, True) == (kept.state, kept.over)
    assert kept.revision == room.revision + 2


async def test_a_fact_taken_by_somebody_else_meanwhile_is_not_taken_again(link: RedisLink) -> None:
    overtaken = OvertakenLink(link, "take_facts")
    store = RedisStore(cast("RedisLink", overtaken), lease_seconds=6.0)
    room = await starting(store)
    fact = Fact(1, room.game_id, FactKind.SEAT_RELEASED, "p_bo")
    overtaken.meanwhile = lambda: store.apply_facts([fact])

    again = await store.apply_facts([fact])

    assert (1, ()) == (again.cursor, again.released)
    assert [] == await store.placements("p_bo")
    assert 1 == len(await store.placements("p_ada"))
