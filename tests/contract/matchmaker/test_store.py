"""What every store promises; the adapters are listed in the fixture."""

import asyncio
from dataclasses import replace

import pytest

from opolyx_matchmaker.accounts import Account, Revocation
from opolyx_matchmaker.grants import NO_GRANT, SeatGrant
from opolyx_matchmaker.peers import Fact, FactKind
from opolyx_matchmaker.room import OPEN_SEAT, Occupant, Room, RoomOptions, RoomState, Seat
from opolyx_matchmaker.room_changes import (
    add_bot,
    begin_start,
    close,
    end,
    finish_start,
    join,
    leave,
    undo_start,
)
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal
from opolyx_matchmaker.store.base import Store


def person(name: str) -> Seat:
    return Seat(Occupant.PERSON, f"p_{name}", name, nonce=name.encode())


def bot(name: str) -> Seat:
    return Seat(Occupant.BOT, f"b_{name}", name)


def room(number: int, *seats: Seat, public: bool = True) -> Room:
    return Room(
        room_id=f"r_{number}",
        code=f"CODE{number:02}",
        ruleset="classic@full",
        seats=seats or (person(f"host{number}"), OPEN_SEAT, OPEN_SEAT),
        creator_id=f"p_host{number}",
        public=public,
        options=RoomOptions(start_cash=20_000, watchable=False),
        state=RoomState.OPEN,
        game_id=f"g_{number}",
        commitment=bytes([number]) * 32,
        created_ms=1000 + number,
        expires_ms=10_000 + number,
    )


async def opened(store: Store, number: int, *seats: Seat) -> Room:
    made = await store.create_room(room(number, *seats), f"request-{number}")
    assert isinstance(made, Room), made
    return made


async def started(store: Store, number: int, *seats: Seat) -> Room:
    made = await opened(store, number, *seats)
    await store.change_room(made.room_id, lambda now: begin_start(now, now.creator_id))
    done = await store.change_room(
        made.room_id, lambda now: finish_start(now, [NO_GRANT] * len(now.seats))
    )
    assert isinstance(done, Room), done
    return done


async def test_room_is_read_as_it_was_written(store: Store) -> None:
    made = await opened(store, 1)

    assert made == await store.get_room("r_1")
    assert made == await store.find_room(code="CODE01")
    assert made == await store.find_room(game_id="g_1")
    assert made == await store.find_request("request-1")
    assert await store.get_room("r_9") is None


async def test_all_that_a_seat_says_is_kept(store: Store) -> None:
    picky = Seat(
        Occupant.BOT,
        "b_robo",
        "Robo",
        offered=True,
        bots_only=True,
        people_only=True,
        min_rating=-5,
        max_rating=7,
    )
    made = await opened(store, 1, person("host1"), picky)

    assert made == await store.get_room("r_1")


async def test_same_request_makes_one_room(store: Store) -> None:
    first = await opened(store, 1)

    again = await store.create_room(room(2, person("host1"), OPEN_SEAT), "request-1")

    assert first == again
    assert await store.get_room("r_2") is None


@pytest.mark.rule("TABLE-6")
@pytest.mark.statement("R009")
async def test_creator_is_placed_and_can_open_no_second_room(store: Store) -> None:
    await opened(store, 1)

    second = await store.create_room(room(2, person("host1"), OPEN_SEAT), "request-2")

    assert RoomRefusal(RefusalKind.ALREADY_PLAYING, room_id="r_1", game_id="g_1") == second
    assert await store.get_room("r_2") is None
    assert [("r_1", 0)] == [(p.room_id, p.seat) for p in await store.placements("p_host1")]


@pytest.mark.rule("TABLE-6")
@pytest.mark.statement("R009")
async def test_parallel_joins_of_one_player_give_one_seat(store: Store) -> None:
    for number in range(1, 11):
        await opened(store, number)

    outcomes = await asyncio.gather(
        *(
            store.change_room(f"r_{number}", lambda now: join(now, person("eve")))
            for number in range(1, 11)
            for _ in range(10)
        )
    )

    won = {outcome.room_id for outcome in outcomes if isinstance(outcome, Room)}
    kinds = {outcome.kind for outcome in outcomes if isinstance(outcome, RoomRefusal)}
    assert len(won) == 1
    assert {RefusalKind.ALREADY_PLAYING} == kinds
    rooms = [await store.get_room(f"r_{number}") for number in range(1, 11)]
    assert 1 == sum(r is not None and r.seat_of("p_eve") is not None for r in rooms)


async def test_refused_join_leaves_the_room_as_it_was(store: Store) -> None:
    await opened(store, 1)
    await opened(store, 2)
    await store.change_room("r_1", lambda now: join(now, person("eve")))
    before = await store.get_room("r_2")

    await store.change_room("r_2", lambda now: join(now, person("eve")))

    assert before == await store.get_room("r_2")


async def test_last_seat_has_one_winner(store: Store) -> None:
    await opened(store, 1, person("host1"), OPEN_SEAT)

    outcomes = await asyncio.gather(
        *(
            store.change_room("r_1", lambda now, n=n: join(now, person(f"guest{n}")))  # type: ignore[misc]
            for n in range(20)
        )
    )

    assert 1 == sum(isinstance(outcome, Room) for outcome in outcomes)
    assert 19 == sum(
        isinstance(outcome, RoomRefusal) and outcome.kind is RefusalKind.ROOM_FULL
        for outcome in outcomes
    )


async def test_leaving_and_closing_free(store: Store) -> None:
    await opened(store, 1)
    await store.change_room("r_1", lambda now: join(now, person("eve")))

    await store.change_room("r_1", lambda now: leave(now, "p_eve"))
    assert [] == await store.placements("p_eve")

    await store.change_room("r_1", close)
    assert [] == await store.placements("p_host1")
    assert await store.find_room(code="CODE01") is None


async def test_bot_is_placed_up_to_its_capacity_and_again_when_freed(store: Store) -> None:
    for number in (1, 2, 3):
        await opened(store, number)

    def seat(now: Room) -> Room | RoomRefusal:
        return add_bot(now, now.creator_id, bot("robo"), None)

    outcomes = [await store.change_room(f"r_{n}", seat, capacity=2) for n in (1, 2, 3)]
    assert [Room, Room, RoomRefusal] == [type(outcome) for outcome in outcomes]
    assert outcomes[2].kind is RefusalKind.BOT_UNAVAILABLE  # type: ignore[union-attr]

    await store.change_room("r_1", close)
    assert isinstance(await store.change_room("r_3", seat, capacity=2), Room)
    assert 2 == len(await store.placements("b_robo"))


async def test_bot_that_offers_less_than_before_is_not_seated_in_the_slots_that_are_free(
    store: Store,
) -> None:
    """Its games count, not the number of the first slot that is free."""
    for number in (1, 2, 3, 4):
        await opened(store, number)

    def seat(now: Room) -> Room | RoomRefusal:
        return add_bot(now, now.creator_id, bot("robo"), None)

    for number in (1, 2, 3):
        await store.change_room(f"r_{number}", seat, capacity=3)
    await store.change_room("r_1", close)

    outcome = await store.change_room("r_4", seat, capacity=1)

    assert RefusalKind.BOT_UNAVAILABLE == getattr(outcome, "kind", None)
    assert 2 == len(await store.placements("b_robo"))


async def test_code_that_is_taken_is_replaced(store: Store) -> None:
    first = await opened(store, 1)
    await store.change_room("r_1", lambda now: replace(now, state=RoomState.STARTING, revision=2))

    other = await store.create_room(replace(room(2), code=first.code), "request-2")
    again = await store.change_room("r_1", lambda now: undo_start(now, 99_000))

    assert isinstance(other, Room)
    assert isinstance(again, Room)
    assert other.code not in ("", first.code)
    for one in (again, other):
        found = await store.find_room(code=one.code)
        assert found is not None
        assert one.room_id == found.room_id


async def test_code_of_a_closed_room_is_free(store: Store) -> None:
    first = await opened(store, 1)
    await store.change_room("r_1", close)

    other = await store.create_room(replace(room(2), code=first.code), "request-2")

    assert isinstance(other, Room)
    assert other.code == first.code
    assert other == await store.find_room(code=first.code)


async def test_unknown_room_is_not_found(store: Store) -> None:
    outcome = await store.change_room("r_9", close)

    assert RoomRefusal(RefusalKind.ROOM_NOT_FOUND) == outcome


@pytest.mark.rule("TABLE-6")
async def test_release_frees_one_player_exactly_once(store: Store) -> None:
    await started(store, 1, person("host1"), person("eve"))
    fact = Fact(1, "g_1", FactKind.SEAT_RELEASED, "p_eve")

    first = await store.apply_facts([fact])
    await opened(store, 2, person("eve"), OPEN_SEAT)
    again = await store.apply_facts([fact])

    assert ["p_eve"] == [placement.player_id for placement in first.released]
    assert () == again.released
    assert ["r_2"] == [placement.room_id for placement in await store.placements("p_eve")]
    assert ["r_1"] == [placement.room_id for placement in await store.placements("p_host1")]
    assert 1 == await store.cursor()


async def test_end_of_a_game_frees_everybody_left(store: Store) -> None:
    await started(store, 1, person("host1"), person("eve"), bot("robo"))

    applied = await store.apply_facts(
        [Fact(4, "g_1", FactKind.SEAT_RELEASED, "p_eve"), Fact(7, "g_1", FactKind.GAME_OVER)]
    )

    assert ["p_eve", "p_host1", "b_robo"] == [one.player_id for one in applied.released]
    assert (7, 7) == (applied.cursor, await store.cursor())
    over = await store.get_room("r_1")
    assert over is not None
    assert over.over


async def test_facts_of_unknown_games_only_move_the_cursor(store: Store) -> None:
    applied = await store.apply_facts([Fact(3, "g_other", FactKind.GAME_OVER)])

    assert (3, ()) == (applied.cursor, applied.released)


async def test_first_grants_stay_until_the_room_is_open_again(store: Store) -> None:
    await opened(store, 1, person("host1"), person("eve"))
    await store.change_room("r_1", lambda now: begin_start(now, "p_host1"))
    first = [SeatGrant(vip=True, cards=((1, 300),)), SeatGrant()]

    assert first == await store.keep_grants("r_1", first)
    assert first == await store.keep_grants("r_1", [SeatGrant(), SeatGrant()])

    await store.change_room("r_1", lambda now: undo_start(now, 99_000))
    await store.change_room("r_1", lambda now: begin_start(now, "p_host1"))
    assert [SeatGrant(), SeatGrant()] == await store.keep_grants("r_1", [SeatGrant()] * 2)


@pytest.mark.statement("R006")
async def test_public_open_rooms_are_listed_oldest_first(store: Store) -> None:
    for number in (3, 1, 2):
        await opened(store, number)
    await store.create_room(room(4, public=False), "request-4")
    await opened(store, 5, person("host5"), person("full"))

    everything = await store.list_rooms("", (0, ""), 10, 5000)
    rest = await store.list_rooms("classic@full", (1001, "r_1"), 1, 5000)

    assert ["r_1", "r_2", "r_3"] == [one.room_id for one in everything]
    assert ["r_2"] == [one.room_id for one in rest]
    assert [] == await store.list_rooms("speed@full", (0, ""), 10, 5000)
    assert [] == await store.list_rooms("", (0, ""), 10, 50_000)


async def test_sweeps_find_what_is_due(store: Store) -> None:
    await opened(store, 1)
    await opened(store, 2, person("host2"), person("eve"))
    await store.change_room("r_2", lambda now: begin_start(now, "p_host2"))
    await started(store, 3, person("host3"), person("bo"))

    assert ["r_1"] == await store.rooms_to_expire(10_001, 10)
    assert [] == await store.rooms_to_expire(10_000, 10)
    assert ["r_2"] == await store.rooms_starting(10)
    assert ["r_3"] == [one.room_id for one in await store.rooms_to_check(5000, 6000, 10)]
    assert [] == await store.rooms_to_check(5000, 6000, 10)


async def test_what_ended_long_ago_is_forgotten_with_its_request(store: Store) -> None:
    await started(store, 1, person("host1"), person("eve"))
    await opened(store, 2)
    await store.change_room("r_1", end)
    await store.change_room("r_2", close)

    assert 0 == await store.forget(10_001, 0)
    assert 2 == await store.forget(20_000, 0)
    assert await store.find_request("request-1") is None


async def test_a_room_that_was_checked_late_is_kept_from_then_on(store: Store) -> None:
    await started(store, 1, person("host1"), person("eve"))
    await store.rooms_to_check(20_000, 50_000, 10)
    await store.change_room("r_1", end)

    assert 0 == await store.forget(50_000, 0)
    assert 1 == await store.forget(50_001, 0)


async def test_accounts_and_owned_bots(store: Store) -> None:
    ada = Account("p_ada", "Ada", "player")
    await store.add_account(ada, 1)
    robo = await store.take_bot(Account("b_1", "Robo", "bot", "p_ada"), 2, most=1)

    assert ada == await store.find_account("p_ada")
    assert robo == await store.take_bot(Account("b_2", "Robo", "bot", "p_ada"), 3, most=1)
    assert await store.take_bot(Account("b_3", "Other", "bot", "p_ada"), 3, most=1) is None
    assert await store.find_account("b_3") is None


async def test_tokens_and_revocations(store: Store) -> None:
    await store.add_account(Account("p_ada", "Ada", "player"), 1)
    await store.add_token("t_1", "p_ada", 500)
    one = await store.add_revocation(Revocation("t_1", until_ms=500))
    two = await store.add_revocation(Revocation(player_id="p_ada", before_ms=9, until_ms=900))

    assert (Account("p_ada", "Ada", "player"), 500) == await store.token_holder("t_1")
    assert [one, two] == await store.revocations(0, 100, 10)
    assert [two] == await store.revocations(one.number, 100, 10)
    assert [two] == await store.revocations(0, 600, 10)
    assert replace(two, number=0) == Revocation(player_id="p_ada", before_ms=9, until_ms=900)
    await store.forget(0, 600)
    assert await store.token_holder("t_1") is None
    assert two.number < (await store.add_revocation(Revocation("t_2", until_ms=999))).number


async def test_revocations_come_in_batches(store: Store) -> None:
    for number in range(5):
        await store.add_revocation(Revocation(f"t_{number}", until_ms=900))

    first = await store.revocations(0, 100, 2)
    rest = await store.revocations(first[-1].number, 100, 10)

    assert ["t_0", "t_1"] == [one.token_id for one in first]
    assert ["t_2", "t_3", "t_4"] == [one.token_id for one in rest]


async def test_an_accounts_revocation_replaces_its_last(store: Store) -> None:
    for before_ms in range(1, 50):
        await store.add_revocation(Revocation(player_id="p_ada", before_ms=before_ms, until_ms=900))
    await store.add_revocation(Revocation(player_id="p_bob", before_ms=1, until_ms=900))

    kept = await store.revocations(0, 100, 100)
    assert [("p_ada", 49), ("p_bob", 1)] == [(one.player_id, one.before_ms) for one in kept]


async def removed(store: Store, before_ms: int = 1_000, limit: int = 2) -> int:
    """How many accounts all rounds remove."""
    after, count = "", 0
    while True:
        after, some = await store.forget_accounts(after, before_ms, limit)
        count += some
        if not after:
            return count


async def test_accounts_that_nobody_can_come_back_to_are_removed(store: Store) -> None:
    for name in ("p_1dead", "p_2token", "p_3seated", "p_4owner", "p_6young"):
        made_ms = 2_000 if name == "p_6young" else 1
        await store.add_account(Account(name, "Ada", "player"), made_ms)
    await store.add_token("t_1", "p_2token", 10_000)
    await store.create_room(replace(room(1), seats=(Seat(Occupant.PERSON, "p_3seated", "A"),)), "")
    await store.take_bot(Account("b_1", "Robo", "bot", "p_4owner"), 1, 9)
    await store.take_bot(Account("b_2", "Robo", "bot", "p_gone"), 1, 9)

    assert 2 == await removed(store)

    left = ["p_2token", "p_3seated", "p_4owner", "p_6young", "b_1"]
    for player_id in ("p_1dead", "b_2", *left):
        found = await store.find_account(player_id)
        assert (found is not None) == (player_id in left), player_id


async def test_an_account_goes_once_its_token_has_expired(store: Store) -> None:
    await store.add_account(Account("p_ada", "Ada", "player"), 1)
    await store.add_token("t_1", "p_ada", 500)
    assert 0 == await removed(store)
    await store.forget(0, 501)

    assert 1 == await removed(store)
    assert 0 == await removed(store)
