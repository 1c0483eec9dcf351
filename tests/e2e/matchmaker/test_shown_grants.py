"""What players bring is seen in the room by the others, and never in a joiner's way."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from support_matchmaker import Guest, Peers, Running, eventually, running_matchmaker


def give(peers: Peers, guest: Guest, *cards: tuple[int, int], vip: bool = False) -> None:
    peers.progression.grants[guest.player_id] = progression_pb.Grant(
        player_id=guest.player_id,
        vip=vip,
        card_bonuses=[progression_pb.CardBonus(square=one, bonus_bp=bonus) for one, bonus in cards],
    )


def brought(seats: Any) -> list[tuple[list[tuple[int, int]], bool]]:
    return [([(card.square, card.bonus_bp) for card in seat.cards], seat.vip) for seat in seats]


async def watched(mm: Running, guest: Guest, room: pb.Room) -> AsyncIterator[pb.Room]:
    request = pb.WatchRoomRequest(room_id=room.room_id)
    async with asyncio.timeout(5):
        async for response in mm.rooms.WatchRoom(request, metadata=guest.auth):
            yield response.room


@pytest.mark.rule("RENT-5", "FIN-1")
async def test_cards_are_seen_in_the_room_by_the_others_and_then_in_the_game(
    mm: Running, peers: Peers
) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    give(peers, bo, (1, 300), (39, 1000), vip=True)
    room = await mm.create(ada)
    expected = [([], False), ([(1, 300), (39, 1000)], True)]

    joined = await mm.join(bo, room)
    async for shown in watched(mm, ada, room):
        if expected == brought(shown.seats):
            break

    assert joined.room.revision < shown.revision
    game_id = await mm.start(ada, room)
    assert expected == brought((await mm.get(ada, room)).seats)
    assert expected == brought(one.seat for one in peers.engine.games[game_id].seats)


@pytest.mark.rule("RENT-5")
async def test_after_the_start_the_room_shows_what_counts(mm: Running, peers: Peers) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    give(peers, ada, (1, 300))
    room = await mm.create(ada)
    await mm.join(bo, room)

    async def is_shown() -> bool:
        return brought((await mm.get(bo, room)).seats)[0] == ([(1, 300)], False)

    await eventually(is_shown)
    give(peers, ada, (1, 600))
    game_id = await mm.start(ada, room)
    give(peers, ada, (1, 900))
    await mm.join(ada, room)

    expected = [([(1, 600)], False), ([], False)]
    assert expected == brought((await mm.get(bo, room)).seats)
    assert expected == brought(one.seat for one in peers.engine.games[game_id].seats)


async def test_progression_that_is_away_is_in_nobodys_way(mm: Running, peers: Peers) -> None:
    peers.progression.is_down = True
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    give(peers, bo, (1, 300))
    room = await mm.create(ada)

    joined = await mm.join(bo, room)
    await eventually(lambda: peers.progression.calls == 2)

    assert [([], False)] * 2 == brought(joined.room.seats)
    assert await mm.start(ada, room)
    assert [([], False)] * 2 == brought((await mm.get(ada, room)).seats)


async def test_progression_that_does_not_answer_is_not_waited_for(
    tmp_path: Path, peers: Peers
) -> None:
    peers.progression.answers.clear()
    async with running_matchmaker(tmp_path, peers, grants_timeout_seconds=60.0) as mm:
        ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
        give(peers, bo, (1, 300))
        room = await mm.create(ada)

        joined = await asyncio.wait_for(mm.join(bo, room), 5)

        assert [([], False)] * 2 == brought(joined.room.seats)
        peers.progression.answers.set()
        async for shown in watched(mm, ada, room):
            if brought(shown.seats)[1] == ([(1, 300)], False):
                return
    raise AssertionError("it was never shown")


async def test_who_left_meanwhile_is_not_shown(mm: Running, peers: Peers) -> None:
    ada, bo, cy = [await mm.guest(name) for name in ("Ada", "Bo", "Cy")]
    give(peers, bo, (1, 300))
    room = await mm.create(ada)
    await mm.join(bo, room)
    await mm.leave(bo, room)
    await mm.join(cy, room)
    await eventually(lambda: peers.progression.calls == 3)

    assert [([], False)] * 2 == brought((await mm.get(ada, room)).seats)
