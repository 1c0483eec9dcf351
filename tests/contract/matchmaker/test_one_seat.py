"""One player, many rooms, all at once: one seat, each time.

`OPOLYX_JOIN_RUNS=1000 pytest tests/contract/matchmaker/test_one_seat.py` joins a thousand times over.
"""

import asyncio
import os
import random
from collections.abc import Mapping
from typing import Final

import pytest

from opolyx_matchmaker.room import OPEN_SEAT, Occupant, Room, RoomOptions, RoomState, Seat
from opolyx_matchmaker.room_changes import join, leave
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal
from opolyx_matchmaker.store.base import Store
from opolyx_servicekit.errors import FailedPrecondition, ServiceError
from support_lobby import DictEngine, Grants, Process, open_store, player, wish

RUNS: Final = int(os.environ.get("OPOLYX_JOIN_RUNS", "40"))
ROOMS: Final = 10
JOINS: Final = 100
EVE: Final = Seat(Occupant.PERSON, "p_eve", "Eve")


async def opened(store: Store, number: int) -> None:
    host = Seat(Occupant.PERSON, f"p_host{number}", "Host")
    room = Room(
        room_id=f"r_{number}",
        code=f"CODE{number:02}",
        ruleset="classic@full",
        seats=(host, OPEN_SEAT),
        creator_id=host.player_id,
        public=True,
        options=RoomOptions(),
        state=RoomState.OPEN,
        game_id=f"g_{number}",
        commitment=b"",
        created_ms=0,
        expires_ms=1 << 50,
    )
    assert isinstance(await store.create_room(room, f"request-{number}"), Room)


@pytest.mark.rule("TABLE-6")
@pytest.mark.timeout(900)
async def test_hundred_parallel_joins_give_one_seat_in_every_run(kind: str, store: Store) -> None:
    """Case A-28: ten joins of each of ten rooms, in any order."""
    chance = random.Random(28)
    for number in range(ROOMS):
        await opened(store, number)
    for run in range(RUNS if kind == "sqlite" else RUNS // 4):
        targets = [f"r_{number % ROOMS}" for number in range(JOINS)]
        chance.shuffle(targets)

        outcomes = await asyncio.gather(
            *(store.change_room(room_id, lambda room: join(room, EVE)) for room_id in targets)
        )

        won = {one.room_id for one in outcomes if isinstance(one, Room)}
        (mine,) = won
        refused = [one for one in outcomes if isinstance(one, RoomRefusal)]
        assert JOINS // ROOMS == JOINS - len(refused), run
        assert {(RefusalKind.ALREADY_PLAYING, mine)} == {(one.kind, one.room_id) for one in refused}
        assert [mine] == [one.room_id for one in await store.placements("p_eve")]
        await store.change_room(mine, lambda room: leave(room, "p_eve"))
        assert [] == await store.placements("p_eve")


@pytest.mark.rule("TABLE-6")
async def test_whatever_one_does_at_once_one_is_at_one_table() -> None:
    """Opening, joining by id and by code, searching, and leaving, all mixed, in 60 runs."""
    chance = random.Random(1)
    async with open_store() as store:
        engine = DictEngine()
        process = Process(store, engine, Grants())
        hosts = [player(f"host{number}") for number in range(4)]
        rooms = [
            await process.lobby.create(host, wish(f"host-{number}", seats=3))
            for number, host in enumerate(hosts)
        ]
        eve = player("eve")
        for run in range(60):
            room = rooms[run % 4]
            work = [
                process.lobby.create(eve, wish(f"a-{run}")),
                process.lobby.create(eve, wish(f"b-{run}")),
                *(process.lobby.join(eve, one.room_id, "", b"") for one in rooms),
                process.lobby.join(eve, "", room.code, b""),
                process.queue.ticket(eve, "classic@full", 2, False),
            ]
            chance.shuffle(work)

            outcomes = await asyncio.gather(*work, return_exceptions=True)

            errors = [one for one in outcomes if isinstance(one, BaseException)]
            assert {"ALREADY_PLAYING"} >= {
                error.reason if isinstance(error, ServiceError) else repr(error) for error in errors
            }
            (placement,) = await store.placements("p_eve")
            held = [
                one.room_id
                for reserved in engine.reserved.values()
                if (one := await store.find_room(game_id=reserved)) is not None
                and one.state is RoomState.OPEN
                and one.seat_of("p_eve") is not None
            ]
            assert [placement.room_id] == held
            await process.lobby.leave(eve, placement.room_id)
        await process.die()


async def test_game_that_starts_while_its_player_is_queued_is_the_only_one() -> None:
    """Case A-28: the search goes on to others, or ends; the player is not taken twice."""
    async with open_store() as store:
        engine = DictEngine()
        process = Process(store, engine, Grants())
        ada, bo, cy = player("ada"), player("bo"), player("cy")
        queue = process.queue
        with (
            queue.searching(ada, await queue.ticket(ada, "classic@full", 2, False), b"") as waiting,
            queue.searching(bo, await queue.ticket(bo, "classic@full", 2, False), b"") as other,
        ):
            room = await process.lobby.create(ada, wish())
            await process.lobby.join(cy, room.room_id, "", b"")
            game_id = await process.lobby.start(ada, room.room_id)
            queue.look()
            for _ in range(50):
                await asyncio.sleep(0)

            with pytest.raises(FailedPrecondition) as caught:
                await waiting.next(1)
            assert ("ALREADY_PLAYING", game_id) == (
                caught.value.reason,
                caught.value.metadata["game_id"],
            )
            assert not other.is_over
        assert {game_id} == set(engine.games)
        assert [] == await store.placements("p_bo")
        await process.die()


async def test_race_for_the_last_seat_has_one_winner_each_time() -> None:
    async with open_store() as store:
        process = Process(store, DictEngine(), Grants())
        for run in range(50):
            host = player(f"host{run}")
            room = await process.lobby.create(host, wish())
            guests = [player(f"{run}_{number}") for number in range(20)]

            outcomes = await asyncio.gather(
                *(process.lobby.join(guest, room.room_id, "", b"") for guest in guests),
                return_exceptions=True,
            )

            reasons = [one.reason for one in outcomes if isinstance(one, ServiceError)]
            assert ["ROOM_FULL"] * 19 == reasons
            seated = (await process.lobby.get(room.room_id)).seats[1].player_id
            placed = [guest.subject for guest in guests if await store.placements(guest.subject)]
            assert [seated] == placed
        await process.die()


async def test_one_joins_a_room_as_often_as_one_likes() -> None:
    async with open_store() as store:
        process = Process(store, DictEngine(), Grants())
        room = await process.lobby.create(player("ada"), wish(seats=6))
        eve = player("eve")

        outcomes = await asyncio.gather(
            *(process.lobby.join(eve, room.room_id, "", bytes([n])) for n in range(50))
        )

        assert {1} == {seat for _, seat in outcomes}
        assert 1 == len({joined.seats[1].nonce for joined, _ in outcomes})
        ratings: Mapping[str, int] = {}
        now = await process.lobby.get(room.room_id)
        assert now == join(now, now.seats[1], ratings)
        await process.die()
