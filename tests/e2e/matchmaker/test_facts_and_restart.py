"""Players are set free by the engine's facts, by sweeps, and nothing is lost in a restart."""

from pathlib import Path

import grpc
import pytest

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from support_matchmaker import (
    Guest,
    Peers,
    Running,
    eventually,
    reason_of,
    running_matchmaker,
)


async def is_free(mm: Running, guest: Guest) -> bool:
    current = await mm.current(guest)
    return not (current.game_id or current.room_id)


async def two_in_a_game(mm: Running) -> tuple[Guest, Guest, str]:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    room = await mm.create(ada)
    await mm.join(bo, room)
    return ada, bo, await mm.start(ada, room)


@pytest.mark.rule("TABLE-6")
@pytest.mark.statement("R010")
async def test_eliminated_player_may_join_elsewhere_while_the_game_goes_on(
    mm: Running, peers: Peers
) -> None:
    """A-20, A-28."""
    ada, bo, game_id = await two_in_a_game(mm)

    peers.engine.release(game_id, bo.player_id, seat=1)
    await eventually(lambda: is_free(mm, bo))

    await mm.create(bo)
    assert game_id == (await mm.current(ada)).game_id


@pytest.mark.rule("TABLE-6")
@pytest.mark.parametrize("ending", ["finish", "void"])
async def test_end_of_the_game_frees_all(mm: Running, peers: Peers, ending: str) -> None:
    ada, bo, game_id = await two_in_a_game(mm)

    getattr(peers.engine, ending)(game_id)

    await eventually(lambda: is_free(mm, ada))
    assert await is_free(mm, bo)


async def test_fact_that_comes_again_frees_nobody_from_the_next_game(
    tmp_path: Path, peers: Peers
) -> None:
    async with running_matchmaker(tmp_path, peers) as mm:
        _, bo, game_id = await two_in_a_game(mm)
        peers.engine.release(game_id, bo.player_id, seat=1)
        await eventually(lambda: is_free(mm, bo))
        room = await mm.create(bo)

    async with running_matchmaker(tmp_path, peers) as mm:
        await eventually(lambda: peers.engine.watches >= 2)
        assert room.room_id == (await mm.current(bo)).room_id


async def test_facts_told_while_the_matchmaker_was_down_are_caught_up(
    tmp_path: Path, peers: Peers
) -> None:
    async with running_matchmaker(tmp_path, peers) as mm:
        ada, _, game_id = await two_in_a_game(mm)

    peers.engine.finish(game_id)

    async with running_matchmaker(tmp_path, peers) as mm:
        await eventually(lambda: is_free(mm, ada))


async def test_quiet_stream_of_facts_is_opened_anew(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, facts_quiet_seconds=0.05) as mm:
        ada, _, game_id = await two_in_a_game(mm)
        await eventually(lambda: peers.engine.watches >= 3)
        peers.engine.finish(game_id)
        await eventually(lambda: is_free(mm, ada))


async def test_restart_keeps_rooms_seats_codes_and_accounts(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers) as mm:
        ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
        room = await mm.create(ada, seats=3, public=False, nonce=b"share")
        joined = (await mm.join(bo, room, code=room.code)).room

    async with running_matchmaker(tmp_path, peers) as mm:
        assert joined == await mm.get(ada, room)
        assert 1 == (await mm.current(bo)).seat
        await mm.add_bot(ada, room)
        game_id = await mm.start(ada, room)

    assert [b"share", b"", b""] == [seat.nonce for seat in peers.engine.games[game_id].seats]


async def test_games_that_are_gone_set_their_players_free(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, gone_check_seconds=0.001) as mm:
        ada, _, lost = await two_in_a_game(mm)
        cy, _, kept = await two_in_a_game(mm)
        peers.engine.lose(lost)

        await mm.service.sweeper.sweep()

        assert await is_free(mm, ada)
        assert kept == (await mm.current(cy)).game_id


async def test_engine_that_is_away_sets_nobody_free(tmp_path: Path, peers: Peers) -> None:
    async with running_matchmaker(tmp_path, peers, gone_check_seconds=0.001) as mm:
        ada, _, game_id = await two_in_a_game(mm)
        peers.engine.is_down = True

        await mm.service.sweeper.sweep()

        assert game_id == (await mm.current(ada)).game_id


async def test_rematch_is_one_room_for_all_who_ask(mm: Running, peers: Peers) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    room = await mm.create(ada, seats=3)
    await mm.join(bo, room)
    await mm.add_bot(ada, room, "trader")
    request = pb.RematchRequest(game_id=await mm.start(ada, room))
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.rooms.Rematch(request, metadata=ada.auth)
    assert "GAME_RUNNING" == reason_of(caught.value)
    peers.engine.finish(request.game_id)
    await eventually(lambda: is_free(mm, ada))

    first = (await mm.rooms.Rematch(request, metadata=bo.auth)).room
    second = (await mm.rooms.Rematch(request, metadata=ada.auth)).room

    assert first.room_id == second.room_id != room.room_id
    assert [ada.player_id, bo.player_id, ""] == [seat.player_id for seat in second.seats]
    assert "trader" == second.seats[2].policy
    assert bo.player_id == second.creator_id
    await mm.start(bo, second)


async def test_strangers_get_no_rematch(mm: Running, peers: Peers) -> None:
    ada, _, game_id = await two_in_a_game(mm)
    peers.engine.finish(game_id)
    await eventually(lambda: is_free(mm, ada))

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.rooms.Rematch(
            pb.RematchRequest(game_id=game_id), metadata=(await mm.guest("Eve")).auth
        )

    assert "ROOM_NOT_FOUND" == reason_of(caught.value)


async def test_engine_is_called_with_the_services_own_token(mm: Running, peers: Peers) -> None:
    guest = await mm.guest()
    await mm.create(guest)

    assert peers.engine.tokens
    assert not any(guest.token in token for token in peers.engine.tokens)
