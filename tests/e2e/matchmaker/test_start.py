"""The start of a game, also when anything fails in the middle of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import grpc
import pytest

from opolyx.engine.v1 import engine_service_pb2 as engine_pb
from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from opolyx_matchmaker.store.base import Store
from support_matchmaker import (
    LOST_REPLY,
    REFUSED,
    UNAUTHENTICATED,
    UNAVAILABLE,
    Guest,
    Peers,
    Running,
    eventually,
    reason_of,
    running_matchmaker,
)


class CrashingStore:
    """Fails once: at the `nth` call of a method after it was armed, before or after its effect."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._point: tuple[str, int, bool] | None = None

    def arm(self, method: str, nth: int, *, after: bool) -> None:
        self._point = method, nth, after

    def __getattr__(self, name: str) -> Callable[..., Any]:
        inner = getattr(self._store, name)
        if not asyncio.iscoroutinefunction(inner):
            return cast("Callable[..., Any]", inner)

        async def call(*args: Any, **kwargs: Any) -> Any:
            if not self._is_due(name):
                return await inner(*args, **kwargs)
            if self._after:
                await inner(*args, **kwargs)
            raise RuntimeError(f"crashed at {name}")

        return call

    def _is_due(self, name: str) -> bool:
        if self._point is None or self._point[0] != name:
            return False
        method, nth, self._after = self._point
        self._point = (method, nth - 1, self._after) if nth > 1 else None
        return nth == 1


async def full_room(mm: Running) -> tuple[Guest, Guest, pb.Room]:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    room = await mm.create(ada, nonce=b"ada's share")
    await mm.join(bo, room, nonce=b"bo's share")
    return ada, bo, room


async def test_engine_gets_the_seats_nonces_options_and_grants(mm: Running, peers: Peers) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    peers.progression.grants[bo.player_id] = progression_pb.Grant(
        player_id=bo.player_id,
        vip=True,
        card_bonuses=[progression_pb.CardBonus(square=5, bonus_bp=800)],
    )
    options = pb.RoomOptions(start_cash=20_000, watchable=False)
    room = await mm.create(ada, seats=3, nonce=b"ada's share", options=options)
    await mm.join(bo, room, nonce=b"bo's share")
    await mm.add_bot(ada, room, "random")

    game_id = await mm.start(ada, room)

    game = peers.engine.games[game_id]
    assert room.game_id == game_id
    assert "classic@full" == game.ruleset
    assert [b"ada's share", b"bo's share", b""] == [one.nonce for one in game.seats]
    assert [ada.player_id, bo.player_id, ""] == [one.seat.player_id for one in game.seats]
    assert [
        engine_pb.SEAT_KIND_PERSON,
        engine_pb.SEAT_KIND_PERSON,
        engine_pb.SEAT_KIND_BUILT_IN,
    ] == [one.seat.kind for one in game.seats]
    assert [False, True, False] == [one.seat.vip for one in game.seats]
    assert [(5, 800)] == [(card.square, card.bonus_bp) for card in game.seats[1].seat.cards]
    assert 20_000 == game.options.start_cash
    assert not game.options.watchable
    assert game.options.HasField("watchable")
    assert not game.options.HasField("round_cap")
    assert b"share" not in (await mm.get(bo, room)).SerializeToString()


@pytest.mark.rule("TABLE-4")
async def test_only_the_creator_starts_and_only_with_every_seat_filled(mm: Running) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    room = await mm.create(ada, seats=3)
    await mm.join(bo, room)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.start(bo, room)
    assert "NOT_CREATOR" == reason_of(caught.value)
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.start(ada, room)
    assert "SEATS_OPEN" == reason_of(caught.value)


async def test_starting_again_is_the_same_game(mm: Running, peers: Peers) -> None:
    ada, bo, room = await full_room(mm)

    games = await asyncio.gather(*(mm.start(ada, room) for _ in range(20)))
    later = await mm.start(bo, room)

    assert {later} == set(games)
    assert 1 == peers.engine.created


@pytest.mark.rule("TABLE-6")
async def test_players_are_in_the_game_and_nowhere_else(mm: Running) -> None:
    ada, bo, room = await full_room(mm)
    game_id = await mm.start(ada, room)

    current = await mm.current(bo)

    assert (game_id, 1, "") == (current.game_id, current.seat, current.room_id)
    for attempt in (mm.create(bo), mm.leave(bo, room)):
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await attempt
        assert reason_of(caught.value) in ("ALREADY_PLAYING", "ROOM_STARTED")


async def test_lost_reply_makes_one_game_and_a_started_room(mm: Running, peers: Peers) -> None:
    ada, _, room = await full_room(mm)
    peers.engine.faults = [LOST_REPLY, UNAVAILABLE, LOST_REPLY]

    game_id = await mm.start(ada, room)

    assert room.game_id == game_id
    assert 1 == peers.engine.created
    assert pb.ROOM_STATE_STARTED == (await mm.get(ada, room)).state


async def test_progression_that_is_down_does_not_keep_a_game_from_starting(
    mm: Running, peers: Peers
) -> None:
    peers.progression.is_down = True
    ada, _, room = await full_room(mm)

    game_id = await mm.start(ada, room)

    assert all(not one.seat.vip for one in peers.engine.games[game_id].seats)


async def test_grants_that_change_meanwhile_make_no_second_game(mm: Running, peers: Peers) -> None:
    ada, bo, room = await full_room(mm)
    peers.engine.faults = [LOST_REPLY] * 4
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.start(ada, room)
    assert "ENGINE_UNAVAILABLE" == reason_of(caught.value)
    peers.progression.grants[bo.player_id] = progression_pb.Grant(player_id=bo.player_id, vip=True)

    await mm.start(ada, room)

    assert 1 == peers.engine.created
    assert pb.ROOM_STATE_STARTED == (await mm.get(ada, room)).state


async def test_refusal_of_the_engine_opens_the_room_again(mm: Running, peers: Peers) -> None:
    ada, bo, room = await full_room(mm)
    peers.engine.faults = [REFUSED]

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.start(ada, room)

    assert "ENGINE_UNAVAILABLE" == reason_of(caught.value)
    assert pb.ROOM_STATE_OPEN == (await mm.get(ada, room)).state
    await mm.leave(bo, room)
    await mm.add_bot(ada, room)
    await mm.start(ada, room)
    assert 1 == peers.engine.created


async def test_refusal_after_a_lost_reply_does_not_orphan_the_game(
    mm: Running, peers: Peers
) -> None:
    ada, _, room = await full_room(mm)
    peers.engine.faults = [LOST_REPLY, REFUSED]

    await mm.start(ada, room)

    assert pb.ROOM_STATE_STARTED == (await mm.get(ada, room)).state


async def test_reservation_that_is_gone_closes_the_room_and_frees(
    mm: Running, peers: Peers
) -> None:
    ada, bo, room = await full_room(mm)
    peers.engine.reservations.clear()

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.start(ada, room)

    assert "ROOM_NOT_FOUND" == reason_of(caught.value)
    assert "" == (await mm.current(bo)).room_id


async def test_bad_token_of_ours_is_no_fault_of_the_player(mm: Running, peers: Peers) -> None:
    ada, _, room = await full_room(mm)
    peers.engine.faults = [UNAUTHENTICATED] * 4

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.start(ada, room)

    assert grpc.StatusCode.UNAVAILABLE is caught.value.code()
    assert "ENGINE_UNAVAILABLE" == reason_of(caught.value)
    assert pb.ROOM_STATE_STARTING == (await mm.get(ada, room)).state
    await mm.service.sweeper.sweep()
    assert pb.ROOM_STATE_STARTED == (await mm.get(ada, room)).state


async def test_engine_that_is_away_does_not_hold_up_a_sweep(mm: Running, peers: Peers) -> None:
    """Each start that is tried waits for the engine; the second would find it away as well."""
    rooms = [(await full_room(mm))[::2] for _ in range(3)]
    peers.engine.faults = [UNAVAILABLE] * 100
    for ada, room in rooms:
        with pytest.raises(grpc.aio.AioRpcError):
            await mm.start(ada, room)
    asked = 100 - len(peers.engine.faults)

    await mm.service.sweeper.sweep()

    assert asked // 3 == 100 - len(peers.engine.faults) - asked


async def test_sweeper_finishes_a_start_that_nobody_asks_for_again(
    mm: Running, peers: Peers
) -> None:
    ada, _, room = await full_room(mm)
    peers.engine.faults = [UNAVAILABLE] * 4
    with pytest.raises(grpc.aio.AioRpcError):
        await mm.start(ada, room)
    assert pb.ROOM_STATE_STARTING == (await mm.get(ada, room)).state

    await mm.service.sweeper.sweep()

    assert pb.ROOM_STATE_STARTED == (await mm.get(ada, room)).state
    assert 1 == peers.engine.created


CRASHES = [
    ("change_room", 1, False),
    ("change_room", 1, True),
    ("keep_grants", 1, False),
    ("keep_grants", 1, True),
    ("change_room", 2, False),
    ("change_room", 2, True),
]


@pytest.mark.parametrize(("method", "nth", "after"), CRASHES)
@pytest.mark.parametrize("fault", ["", LOST_REPLY])
async def test_crash_at_any_step_leaves_no_orphan_and_nobody_locked(
    tmp_path: Path, peers: Peers, method: str, nth: int, after: bool, fault: str
) -> None:
    stores: list[CrashingStore] = []

    def crashing(store: Store) -> Store:
        stores.append(CrashingStore(store))
        return cast("Store", stores[-1])

    async with running_matchmaker(tmp_path, peers, wrap=crashing) as mm:
        ada, bo, room = await full_room(mm)
        peers.engine.faults = [fault] if fault else []
        stores[0].arm(method, nth, after=after)
        with pytest.raises(grpc.aio.AioRpcError):
            await mm.start(ada, room)

    async with running_matchmaker(tmp_path, peers) as mm:

        async def is_settled() -> bool:
            state = (await mm.get(ada, room)).state
            return state in (pb.ROOM_STATE_OPEN, pb.ROOM_STATE_STARTED)

        await eventually(is_settled)
        game_id = await mm.start(ada, room)

        assert room.game_id == game_id
        assert [game_id] == list(peers.engine.games)
        assert 1 == peers.engine.created
        peers.engine.finish(game_id)
        await eventually(lambda: _is_free(mm, ada))
        assert await _is_free(mm, bo)
        await mm.create(bo)


async def _is_free(mm: Running, guest: Guest) -> bool:
    current = await mm.current(guest)
    return not (current.game_id or current.room_id)
