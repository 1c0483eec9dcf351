"""What can happen to a room, as a value."""

from dataclasses import replace
from typing import Any

import pytest

from opolyx_matchmaker.grants import NO_GRANT, SeatGrant
from opolyx_matchmaker.room import OPEN_SEAT, Occupant, Room, RoomOptions, RoomState, Seat
from opolyx_matchmaker.room_changes import (
    add_bot,
    begin_start,
    close,
    end,
    expire,
    finish_start,
    join,
    kick,
    leave,
    remove_bot,
    show_grant,
    undo_start,
    withdraw,
)
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal

ADA = Seat(Occupant.PERSON, "p_ada", "Ada")
BO = Seat(Occupant.PERSON, "p_bo", "Bo")
CY = Seat(Occupant.PERSON, "p_cy", "Cy")
STEADY = Seat(Occupant.BUILT_IN, name="Steady 1", policy="steady")
VIP = SeatGrant(vip=True, cards=((1, 500),))
ROBO = Seat(Occupant.BOT, "b_robo", "Robo", offered=True)


def room_of(*seats: Seat, **fields: Any) -> Room:
    room = Room(
        room_id="r_1",
        code="ABC123",
        ruleset="classic@full",
        seats=seats,
        creator_id="p_ada",
        public=True,
        options=RoomOptions(),
        state=RoomState.OPEN,
        game_id="g_1",
        commitment=b"c",
        created_ms=0,
        expires_ms=1000,
    )
    return replace(room, **fields)


def done(outcome: Room | RoomRefusal) -> Room:
    assert isinstance(outcome, Room), outcome
    return outcome


def refused(outcome: Room | RoomRefusal) -> RefusalKind:
    assert isinstance(outcome, RoomRefusal), outcome
    return outcome.kind


@pytest.mark.statement("R006")
def test_join_takes_the_first_open_seat() -> None:
    joined = done(join(room_of(ADA, OPEN_SEAT, OPEN_SEAT), BO))

    assert (ADA, BO, OPEN_SEAT) == joined.seats
    assert joined.revision == 2


def test_join_again_keeps_the_seat_and_changes_nothing() -> None:
    room = room_of(ADA, BO, OPEN_SEAT)

    assert room == join(room, replace(BO, nonce=b"other"))


def test_join_again_is_no_error_after_the_start() -> None:
    room = room_of(ADA, BO, state=RoomState.STARTED)

    assert room == join(room, BO)


@pytest.mark.parametrize(
    ("room", "kind"),
    [
        (room_of(ADA, BO), RefusalKind.ROOM_FULL),
        (room_of(ADA, OPEN_SEAT, state=RoomState.STARTED), RefusalKind.ROOM_STARTED),
        (room_of(ADA, OPEN_SEAT, state=RoomState.STARTING), RefusalKind.ROOM_STARTED),
        (room_of(ADA, OPEN_SEAT, state=RoomState.CLOSED), RefusalKind.ROOM_NOT_FOUND),
    ],
)
def test_join_is_refused(room: Room, kind: RefusalKind) -> None:
    assert kind == refused(join(room, CY))


def test_creators_role_passes_to_the_next_person_not_to_a_bot() -> None:
    left = done(leave(room_of(ADA, STEADY, BO), "p_ada"))

    assert left.creator_id == "p_bo"
    assert (OPEN_SEAT, STEADY, BO) == left.seats
    assert left.state is RoomState.OPEN


def test_last_person_to_leave_closes_the_room() -> None:
    left = done(leave(room_of(ADA, STEADY, ROBO), "p_ada"))

    assert left.state is RoomState.CLOSED
    assert left.holds == {}


def test_guest_who_leaves_changes_no_role() -> None:
    left = done(leave(room_of(ADA, BO), "p_bo"))

    assert left.creator_id == "p_ada"


def test_nobody_leaves_a_started_game() -> None:
    assert RefusalKind.ROOM_STARTED == refused(
        leave(room_of(ADA, BO, state=RoomState.STARTED), "p_bo")
    )


def test_kick_is_the_creators_and_about_persons() -> None:
    room = room_of(ADA, BO, STEADY)

    assert (ADA, OPEN_SEAT, STEADY) == done(kick(room, "p_ada", "p_bo")).seats
    assert RefusalKind.NOT_CREATOR == refused(kick(room, "p_bo", "p_ada"))
    assert RefusalKind.NOT_IN_ROOM == refused(kick(room, "p_ada", "p_nobody"))


@pytest.mark.rule("TABLE-1")
@pytest.mark.statement("R004")
def test_bots_are_seated_where_the_creator_says() -> None:
    room = room_of(ADA, OPEN_SEAT, OPEN_SEAT)

    assert (ADA, OPEN_SEAT, STEADY) == done(add_bot(room, "p_ada", STEADY, 2)).seats
    assert (ADA, STEADY, OPEN_SEAT) == done(add_bot(room, "p_ada", STEADY, None)).seats
    assert RefusalKind.INVALID_FIELD == refused(add_bot(room, "p_ada", STEADY, 0))
    assert RefusalKind.INVALID_FIELD == refused(add_bot(room, "p_ada", STEADY, 9))
    assert RefusalKind.NOT_CREATOR == refused(add_bot(room, "p_bo", STEADY, None))


def test_one_bot_account_has_one_seat_of_a_room() -> None:
    room = room_of(ADA, ROBO, OPEN_SEAT)

    assert RefusalKind.BOT_UNAVAILABLE == refused(add_bot(room, "p_ada", ROBO, None))


def test_bot_that_plays_bots_only_and_people_never_meet() -> None:
    shy = replace(ROBO, bots_only=True)

    assert RefusalKind.BOT_UNAVAILABLE == refused(
        add_bot(room_of(ADA, OPEN_SEAT), "p_ada", shy, None)
    )
    among_bots = room_of(replace(ROBO, player_id="b_host"), shy, OPEN_SEAT)
    assert RefusalKind.BOT_UNAVAILABLE == refused(join(among_bots, BO))


def test_remove_bot_does_not_remove_people() -> None:
    room = room_of(ADA, BO, STEADY)

    assert (ADA, BO, OPEN_SEAT) == done(remove_bot(room, "p_ada", 2)).seats
    assert RefusalKind.INVALID_FIELD == refused(remove_bot(room, "p_ada", 1))
    assert RefusalKind.INVALID_FIELD == refused(remove_bot(room, "p_ada", 7))


def test_withdrawn_bot_leaves_an_open_room_but_no_game() -> None:
    assert (ADA, OPEN_SEAT) == done(withdraw(room_of(ADA, ROBO), "b_robo")).seats
    started = room_of(ADA, ROBO, state=RoomState.STARTED)
    assert started == withdraw(started, "b_robo")


def test_bot_that_joined_by_itself_has_no_offer_to_lose() -> None:
    room = room_of(ADA, replace(ROBO, offered=False))

    assert room == withdraw(room, "b_robo")


def test_bot_that_plays_people_only_and_other_bots_never_meet() -> None:
    proud = replace(ROBO, people_only=True)

    assert (
        ROBO.player_id
        == done(add_bot(room_of(ADA, OPEN_SEAT), "p_ada", proud, 1)).seats[1].player_id
    )
    for other in (STEADY, replace(ROBO, player_id="b_other")):
        with_other, with_proud = room_of(ADA, other, OPEN_SEAT), room_of(ADA, proud, OPEN_SEAT)
        assert RefusalKind.BOT_UNAVAILABLE == refused(add_bot(with_other, "p_ada", proud, None))
        assert RefusalKind.BOT_UNAVAILABLE == refused(add_bot(with_proud, "p_ada", other, None))
    assert isinstance(join(room_of(ADA, proud, OPEN_SEAT), BO), Room)


def test_rating_that_is_needed_and_not_known_is_asked_for() -> None:
    picky = replace(ROBO, min_rating=1000, max_rating=1200)

    seating = add_bot(room_of(ADA, BO, OPEN_SEAT), "p_ada", picky, None)
    joining = join(room_of(ADA, picky, OPEN_SEAT), BO)

    assert isinstance(seating, RoomRefusal)
    assert isinstance(joining, RoomRefusal)
    assert {"p_ada", "p_bo"} == seating.unrated
    assert {"p_bo"} == joining.unrated, "Ada's was looked at when the bot was seated"


@pytest.mark.parametrize(
    ("rating", "welcome"), [(999, False), (1000, True), (1200, True), (1201, False)]
)
def test_rating_out_of_a_bots_range_keeps_both_apart(rating: int, welcome: bool) -> None:
    picky = replace(ROBO, min_rating=1000, max_rating=1200)
    ratings = {"p_ada": rating, "p_bo": rating}

    seating = add_bot(room_of(ADA, OPEN_SEAT), "p_ada", picky, None, ratings)
    joining = join(room_of(ADA, picky, OPEN_SEAT), BO, ratings)

    assert welcome == isinstance(seating, Room) == isinstance(joining, Room)
    assert isinstance(add_bot(room_of(picky, OPEN_SEAT), "p_ada", STEADY, None), Room)


@pytest.mark.rule("TABLE-3")
@pytest.mark.statement("R008")
def test_no_change_touches_the_ruleset_or_the_number_of_seats() -> None:
    room = room_of(ADA, BO, OPEN_SEAT)
    with_bot = done(add_bot(room, "p_ada", STEADY, 2))
    starting = done(begin_start(with_bot, "p_ada"))
    changed = [
        done(join(room, CY)),
        done(leave(room, "p_bo")),
        done(kick(room, "p_ada", "p_bo")),
        with_bot,
        done(remove_bot(with_bot, "p_ada", 2)),
        starting,
        done(undo_start(starting, 5000)),
        done(finish_start(starting, [NO_GRANT] * 3)),
    ]

    assert {(room.ruleset, 3)} == {(each.ruleset, len(each.seats)) for each in changed}


@pytest.mark.rule("TABLE-4")
@pytest.mark.statement("R007")
def test_start_needs_the_creator_and_every_seat() -> None:
    assert RefusalKind.NOT_CREATOR == refused(begin_start(room_of(ADA, BO), "p_bo"))
    assert RefusalKind.SEATS_OPEN == refused(begin_start(room_of(ADA, OPEN_SEAT), "p_ada"))
    assert RoomState.STARTING == done(begin_start(room_of(ADA, BO), "p_ada")).state


def test_start_again_changes_nothing() -> None:
    starting = room_of(ADA, BO, state=RoomState.STARTING)
    started = done(finish_start(starting, [NO_GRANT] * 2))

    assert starting == begin_start(starting, "p_ada")
    assert started == begin_start(started, "p_ada")
    assert started == finish_start(started, [VIP] * 2)
    assert started == undo_start(started, 5)
    assert started == close(started)


def test_undone_start_takes_changes_again() -> None:
    undone = done(undo_start(room_of(ADA, BO, state=RoomState.STARTING), 5000))

    assert undone.state is RoomState.OPEN
    assert undone.expires_ms == 5000
    assert isinstance(leave(undone, "p_bo"), Room)


def test_only_an_open_room_expires_and_only_in_time() -> None:
    room = room_of(ADA, OPEN_SEAT)

    assert room == expire(room, 999)
    assert RoomState.CLOSED == done(expire(room, 1000)).state
    started = room_of(ADA, BO, state=RoomState.STARTED)
    assert started == expire(started, 1000)


def test_room_whose_game_ended_keeps_nobody_busy() -> None:
    over = done(end(room_of(ADA, BO, state=RoomState.STARTED)))

    assert over.over
    assert over.holds == {}
    assert over == end(over)


def test_change_puts_off_the_expiry_of_open_rooms_only() -> None:
    assert room_of(ADA).lasting(5000).expires_ms == 5000
    assert room_of(ADA).lasting(10).expires_ms == 1000
    assert room_of(ADA, state=RoomState.STARTED).lasting(5000).expires_ms == 1000


def test_neither_code_nor_nonce_is_in_a_repr() -> None:
    text = repr(room_of(replace(ADA, nonce=b"secret-share")))

    assert "ABC123" not in text
    assert "secret-share" not in text


def test_what_a_player_brings_is_shown_until_the_start_and_then_what_counts() -> None:
    room = room_of(ADA, BO)
    shown = done(show_grant(room, "p_bo", VIP))
    starting = done(begin_start(shown, "p_ada"))
    started = done(finish_start(starting, [VIP, NO_GRANT]))

    assert [NO_GRANT, VIP] == [seat.grant for seat in shown.seats]
    assert (room.revision + 1, room.expires_ms) == (shown.revision, shown.expires_ms)
    assert shown == show_grant(shown, "p_bo", VIP)
    assert room == show_grant(room, "p_cy", VIP), "who has left shows nothing"
    assert starting == show_grant(starting, "p_ada", VIP)
    assert [VIP, NO_GRANT] == [seat.grant for seat in started.seats]
    assert started == show_grant(started, "p_bo", VIP)
    assert NO_GRANT == done(join(done(leave(shown, "p_bo")), BO)).seats[1].grant


def test_same_request_seats_one_bot_whatever_became_of_it() -> None:
    seated = done(add_bot(room_of(ADA, OPEN_SEAT, OPEN_SEAT), "p_ada", STEADY, None, request="r1"))
    removed = done(remove_bot(seated, "p_ada", 1))
    full = done(add_bot(seated, "p_ada", STEADY, None, request="r2"))
    started = done(finish_start(done(begin_start(full, "p_ada")), [NO_GRANT] * 3))

    for room in (seated, removed, full, started):
        assert room == add_bot(room, "p_ada", STEADY, None, request="r1")
    assert removed.revision < done(add_bot(removed, "p_ada", STEADY, None, request="r3")).revision
    assert RefusalKind.ROOM_FULL == refused(add_bot(full, "p_ada", STEADY, None, request="r4"))


def test_requests_that_a_room_remembers_are_bounded() -> None:
    room = room_of(ADA, OPEN_SEAT)
    for number in range(100):
        room = done(add_bot(room, "p_ada", STEADY, None, request=f"r{number}"))
        room = done(remove_bot(room, "p_ada", 1))

    assert tuple(f"r{number}" for number in range(84, 100)) == room.requests


def test_two_who_look_alike_are_told_apart_at_the_table() -> None:
    joined = done(join(room_of(ADA, OPEN_SEAT), Seat(Occupant.PERSON, "p_2", "ada")))

    assert ["Ada", "ada 2"] == [seat.name for seat in joined.seats]
    again = done(join(joined, Seat(Occupant.PERSON, "p_2", "ada")))
    assert joined == again
