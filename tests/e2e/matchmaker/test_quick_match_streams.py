"""Quick match over loopback."""

import asyncio
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from support_matchmaker import (
    LOST_REPLY,
    REFUSED,
    UNAVAILABLE,
    Guest,
    Peers,
    Running,
    reason_of,
    running_matchmaker,
)


def search(mm: Running, guest: Guest, **fields: Any) -> Any:
    request = pb.QuickMatchRequest(**{"ruleset": "classic@full", "seats": 2, **fields})
    return mm.rooms.QuickMatch(request, metadata=guest.auth)


async def found(call: Any) -> pb.Found:
    async with asyncio.timeout(5):
        while (response := await call.read()) is not grpc.aio.EOF:
            if response.HasField("found"):
                game: pb.Found = response.found
                return game
    raise AssertionError("the search ended without a game")


async def test_two_who_search_play_each_other(mm: Running, peers: Peers) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")

    one, other = await asyncio.gather(
        found(search(mm, ada, nonce=b"a")), found(search(mm, bo, nonce=b"b"))
    )

    assert one.game_id == other.game_id
    assert {0, 1} == {one.seat, other.seat}
    assert one.game_id == (await mm.current(ada)).game_id
    seats = peers.engine.games[one.game_id].seats
    assert {(ada.player_id, b"a"), (bo.player_id, b"b")} == {
        (seat.seat.player_id, seat.nonce) for seat in seats
    }


async def test_searching_twice_never_meets_oneself(mm: Running) -> None:
    """A-28: a double tap ends the older search."""
    ada = await mm.guest()
    first = search(mm, ada)
    await first.read()
    second = search(mm, ada)
    await second.read()

    assert grpc.StatusCode.FAILED_PRECONDITION is await asyncio.wait_for(_end(first), 5)
    bo = await mm.guest()
    one, other = await asyncio.gather(found(second), found(search(mm, bo)))
    assert one.game_id == other.game_id


async def test_who_plays_cannot_search(mm: Running) -> None:
    ada = await mm.guest()
    await mm.create(ada)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await search(mm, ada).read()

    assert "ALREADY_PLAYING" == reason_of(caught.value)


async def test_searcher_who_took_a_seat_meanwhile_is_left_out(mm: Running) -> None:
    ada, bo, cy = [await mm.guest(name) for name in ("Ada", "Bo", "Cy")]
    waiting = search(mm, ada)
    await waiting.read()
    await mm.create(ada)

    one, other = await asyncio.gather(found(search(mm, bo)), found(search(mm, cy)))

    assert one.game_id == other.game_id
    assert (await mm.current(ada)).room_id
    waiting.cancel()


async def test_cancelled_search_is_gone(mm: Running, peers: Peers) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    gone = search(mm, ada)
    await gone.read()
    gone.cancel()
    waiting = search(mm, bo)
    for _ in range(6):
        await waiting.read()

    assert not peers.engine.games
    assert "" == (await mm.current(ada)).game_id
    waiting.cancel()


async def test_bots_fill_the_table_of_who_allows_them(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, match_bots_after_seconds=0.1) as mm:
        ada = await mm.guest()

        game = await found(search(mm, ada, seats=4, allow_bots=True))

    policies = [seat.seat.policy for seat in peers.engine.games[game.game_id].seats]
    assert ["", "steady", "steady", "steady"] == policies


async def test_far_ratings_meet_when_the_window_has_widened(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, match_widen_per_second=1000.0) as mm:
        ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
        rating = progression_pb.Rating(mode="classic", ordinal=500)
        peers.progression.grants[bo.player_id] = progression_pb.Grant(
            player_id=bo.player_id, ratings=[rating]
        )
        waiting = search(mm, ada)
        other = asyncio.create_task(found(search(mm, bo)))
        kinds = [response.WhichOneof("kind") async for response in waiting]
        await other

    assert "waiting" == kinds[0]
    assert "found" == kinds[-1]
    assert kinds.count("widened") >= 2


async def test_refusing_engine_leaves_nobody_behind_in_a_room(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, match_engine_seconds=0) as mm:
        ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
        peers.engine.faults = [REFUSED]

        ends = await asyncio.gather(_end(search(mm, ada)), _end(search(mm, bo)))

        assert {grpc.StatusCode.UNAVAILABLE} == set(ends)
        assert "" == (await mm.current(ada)).room_id
        await mm.create(bo)


@pytest.mark.parametrize("away", ["reserve", "create", "paused"])
async def test_searchers_keep_their_place_while_the_engine_is_away(
    mm: Running, peers: Peers, away: str
) -> None:
    """Told that they wait, they are at the game that it makes once it is back."""
    peers.engine.reserves = away != "reserve"
    peers.engine.faults = [UNAVAILABLE if away == "create" else REFUSED] * 1000
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    calls = [search(mm, ada), search(mm, bo)]
    waits = [await _waits(call, 6) for call in calls]
    assert all(wait == sorted(wait) for wait in waits)

    peers.engine.reserves, peers.engine.faults = True, []
    one, other = await asyncio.gather(*(found(call) for call in calls))

    assert one.game_id == other.game_id
    assert 1 == peers.engine.created
    assert one.game_id == (await mm.current(ada)).game_id


async def test_lost_reply_in_quick_match_makes_one_game(mm: Running, peers: Peers) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    peers.engine.faults = [LOST_REPLY]

    one, other = await asyncio.gather(found(search(mm, ada)), found(search(mm, bo)))

    assert one.game_id == other.game_id
    assert 1 == peers.engine.created


async def test_bug_in_matching_does_not_end_all_matching(
    mm: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("bug")

    with monkeypatch.context() as patched:
        patched.setattr("opolyx_matchmaker.queue.find_tables", fail)
        await asyncio.sleep(0.1)
    calls = [search(mm, await mm.guest(name)) for name in ("Ada", "Bo")]

    games = await asyncio.gather(*(found(call) for call in calls))

    assert games[0].game_id == games[1].game_id


async def test_unknown_ruleset_is_refused(mm: Running) -> None:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await search(mm, await mm.guest(), ruleset="chess@full").read()

    assert "UNKNOWN_RULESET" == reason_of(caught.value)


async def _waits(call: Any, table_waits: int) -> list[int]:
    """How long the searcher waited, each time that both were told to be at a table."""
    waited: list[int] = []
    async with asyncio.timeout(5):
        while len(waited) < table_waits:
            response = await call.read()
            assert isinstance(response, pb.QuickMatchResponse), response
            if response.waiting.players == 2:
                waited.append(response.waiting.waited_ms)
    return waited


async def _end(call: Any) -> grpc.StatusCode:
    try:
        while await call.read() is not grpc.aio.EOF:
            pass
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK
