"""The end, net worth and the result (END), and what the result gives for awards (XP)."""

from typing import Any

import pytest

from opolyx_rules import RULESETS, Event, State, actors, result
from opolyx_rules.actions import (
    BID_BY,
    DECLARE_BANKRUPTCY_BY,
    DECLINE_PURCHASE_BY,
    ROLL_BY,
    SURRENDER,
    propose_trade,
)
from opolyx_rules.events import GAME_ENDED, ROUND_STARTED, TURN_STARTED
from opolyx_rules.ids import END_LAST_STANDING, END_ROUND_CAP, NOBODY
from opolyx_rules.mechanics.rent import rent_tax_rate
from opolyx_rules.queries import full_colour_groups, net_worth
from opolyx_rules.reasons import GAME_OVER
from opolyx_rules.ruleset import XP_EVERY_SEAT, XP_NONE, XP_WINNER
from support_rules import (
    ALL,
    act,
    found,
    idle_turn,
    idle_until,
    roll,
    rulesets_with,
    stop_on,
    table,
    why,
)

SINGLE = rulesets_with(sides=0)
TEAM = rulesets_with(sides=2)
CAPS = {"classic": 500, "team": 500, "halal": 500, "fortune": 500, "blitz": 25, "speed": 300}


def at_the_cap(ruleset: str, *, turn: int = 3, **fields: Any) -> State:
    """A table in the last round, `turn` to roll."""
    return table(ruleset, round_number=RULESETS[ruleset].round_cap, turn=turn, **fields)


def finish_turn(state: State) -> list[Event]:
    """The seat on turn goes to jail: its turn is over, nothing else happens."""
    return stop_on(state, 30)


@pytest.mark.rule("END-1")
@pytest.mark.statement("R001", "R190")
@pytest.mark.parametrize("ruleset", SINGLE)
def test_last_player_standing_ends_the_game(ruleset: str) -> None:
    state = table(ruleset, seats=3, cash={0: 0})
    act(state, (SURRENDER, 2))
    assert not state.over
    stop_on(state, 38)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert [(GAME_ENDED, END_LAST_STANDING)] == found(log, GAME_ENDED)
    assert (END_LAST_STANDING, [2, 1, 3]) == (
        result(state).cause,
        [seat.place for seat in result(state).seats],
    )


@pytest.mark.rule("END-1", "END-4")
@pytest.mark.statement("R001", "R023", "R024", "R190", "R194")
@pytest.mark.parametrize("ruleset", TEAM)
def test_last_side_standing_ends_the_game(ruleset: str) -> None:
    """One ally is out all the same: the side wins together."""
    state = table(ruleset)
    act(state, (SURRENDER, 0))
    act(state, (SURRENDER, 3))
    assert not state.over

    log = act(state, (SURRENDER, 1))

    assert [(GAME_ENDED, END_LAST_STANDING)] == found(log, GAME_ENDED)
    assert [1, 2, 1, 2] == [seat.place for seat in result(state).seats]
    assert [False, False, True, False] == [seat.survived for seat in result(state).seats]


@pytest.mark.rule("END-1")
@pytest.mark.statement("R014", "R025", "R191", "R192")
@pytest.mark.parametrize("ruleset", ALL)
def test_round_cap_ends_the_game_when_its_round_is_complete(ruleset: str) -> None:
    assert CAPS[ruleset.split("@", maxsplit=1)[0]] == RULESETS[ruleset].round_cap
    state = at_the_cap(ruleset, turn=2)

    finish_turn(state)
    assert [3] == actors(state)
    log = finish_turn(state)

    assert [(GAME_ENDED, END_ROUND_CAP)] == found(log, GAME_ENDED)
    assert [] == found(log, ROUND_STARTED)
    assert (RULESETS[ruleset].round_cap, END_ROUND_CAP) == (
        result(state).round,
        result(state).cause,
    )


@pytest.mark.rule("END-1", "TURN-6")
@pytest.mark.parametrize("ruleset", ALL)
def test_round_before_the_cap_is_followed_by_another(ruleset: str) -> None:
    state = at_the_cap(ruleset)
    state.round -= 1

    log = finish_turn(state)

    assert [(ROUND_STARTED, RULESETS[ruleset].round_cap)] == found(log, ROUND_STARTED)
    assert not state.over


@pytest.mark.rule("END-1", "TURN-6")
@pytest.mark.statement("R013", "R014")
@pytest.mark.parametrize("capped", [False, True])
@pytest.mark.parametrize("ruleset", ALL)
def test_rounds_are_counted_whoever_goes_out(ruleset: str, capped: bool) -> None:
    """Case A-10: order 2, 3, 0, 1; the first goes out in its own turn."""
    cap = RULESETS[ruleset].round_cap
    number = cap if capped else min(99, cap - 1)
    state = table(ruleset, round_number=number, turn=2, first=2)

    log = act(state, (SURRENDER, 2))

    for seat in (3, 0, 1):
        assert ([seat], number) == (actors(state), state.round)
        log = finish_turn(state)
    if capped:
        assert [(GAME_ENDED, END_ROUND_CAP)] == found(log, GAME_ENDED)
        return
    assert [(ROUND_STARTED, number + 1)] == found(log, ROUND_STARTED)
    assert ([3], number + 1) == (actors(state), state.round)


@pytest.mark.rule("RTAX-1", "TURN-6")
@pytest.mark.statement("R014")
@pytest.mark.parametrize(
    "ruleset", [name for name in ALL if RULESETS[name].rent_tax_from < RULESETS[name].round_cap]
)
def test_rent_tax_starts_with_its_round_whoever_has_gone_out(ruleset: str) -> None:
    """Case A-10: the first seat is out; the tax reads the new round from seat 3's turn on."""
    state = table(ruleset, round_number=RULESETS[ruleset].rent_tax_from - 1, turn=2, first=2)
    act(state, (SURRENDER, 2))

    rates = []
    for _ in range(4):
        rates.append(rent_tax_rate(state))
        finish_turn(state)

    steps = RULESETS[ruleset].rent_tax_full - RULESETS[ruleset].rent_tax_from + 1
    assert [0, 0, 0, 9_900 // steps] == rates


@pytest.mark.rule("END-2", "END-4", "END-5")
@pytest.mark.statement("R191")
@pytest.mark.parametrize("ruleset", SINGLE)
def test_richest_wins_at_the_cap(ruleset: str) -> None:
    state = at_the_cap(ruleset, cash=[1_000, 4_000, 3_000, 2_000], owns={0: (39,)})

    finish_turn(state)

    ended = result(state)
    assert [1, 2, 3, 4] == [seat.place for seat in ended.seats]
    assert [5_000, 4_000, 3_000, 2_000] == [seat.net_worth for seat in ended.seats]
    assert 4 == ended.places


@pytest.mark.rule("END-2")
@pytest.mark.statement("R193")
@pytest.mark.parametrize("ruleset", SINGLE)
def test_tie_goes_to_the_lower_seat(ruleset: str) -> None:
    state = at_the_cap(ruleset, cash=[1_000, 4_000, 4_000, 4_000])

    finish_turn(state)

    assert [4, 1, 2, 3] == [seat.place for seat in result(state).seats]


@pytest.mark.rule("END-2", "END-4")
@pytest.mark.statement("R024", "R194")
@pytest.mark.parametrize(
    ("cash", "places"),
    [
        ([9_000, 5_000, 0, 5_000], [2, 1, 2, 1]),
        ([9_000, 5_000, 1_000, 5_000], [1, 2, 1, 2]),  # a tie goes to the side of the lower seat
        ([1_000, 5_000, 9_001, 5_000], [1, 2, 1, 2]),
    ],
)
@pytest.mark.parametrize("ruleset", TEAM)
def test_greater_sum_wins_in_teams(ruleset: str, cash: list[int], places: list[int]) -> None:
    state = at_the_cap(ruleset, cash=cash)

    finish_turn(state)

    assert places == [seat.place for seat in result(state).seats]
    assert 2 == result(state).places


@pytest.mark.rule("END-3")
@pytest.mark.parametrize("ruleset", ALL)
def test_net_worth_counts_cash_property_and_buildings_at_cost(ruleset: str) -> None:
    """700 in cash, brown 600 and 600 with 3 levels at 500, a mortgaged station at half."""
    state = table(ruleset, cash={0: 700}, owns={0: (1, 3, 5)}, levels={1: 1, 3: 2}, mortgaged=(5,))

    assert 700 + 600 + 600 + 1_500 + 1_000 == net_worth(state, 0)
    assert 15_000 == net_worth(state, 1)


@pytest.mark.rule("END-3")
@pytest.mark.parametrize("ruleset", ALL)
def test_who_is_out_is_worth_nothing(ruleset: str) -> None:
    assert 0 == net_worth(table(ruleset, out=(1,)), 1)


@pytest.mark.rule("END-4")
@pytest.mark.parametrize("ruleset", SINGLE)
def test_places_are_survivors_by_worth_then_the_last_out_first(ruleset: str) -> None:
    state = at_the_cap(ruleset, turn=5, seats=6, cash=[100, 9, 9, 9, 9, 200], out=(3, 1, 4, 2))

    finish_turn(state)

    ended = result(state)
    assert [2, 5, 3, 6, 4, 1] == [seat.place for seat in ended.seats]
    assert [True, False, False, False, False, True] == [seat.survived for seat in ended.seats]


@pytest.mark.rule("END-4", "END-5")
@pytest.mark.parametrize("ruleset", SINGLE)
def test_survivor_with_nothing_comes_before_the_eliminated(ruleset: str) -> None:
    state = at_the_cap(ruleset, cash=[0, 9, 500, 9], turn=2, out=(1, 3))

    finish_turn(state)

    ended = result(state)
    assert [2, 4, 1, 3] == [seat.place for seat in ended.seats]
    assert [0, 0, 500, 0] == [seat.net_worth for seat in ended.seats]


@pytest.mark.rule("END-1")
@pytest.mark.parametrize("ruleset", SINGLE)
def test_end_leaves_nothing_open(ruleset: str) -> None:
    """The last rival leaves during an auction on a double, with an offer open."""
    state = table(ruleset, seats=2, at={0: 4})
    act(state, propose_trade(0, 1, give_cash=100, want_cash=100))
    roll(state, 1, 1)
    act(state, DECLINE_PURCHASE_BY[0])
    act(state, BID_BY[1])
    act(state, BID_BY[0])
    state.jump_due = 1

    act(state, (SURRENDER, 1))

    assert ([], [], [], [], []) == (
        state.stack,
        state.debts,
        state.offers,
        state.auction_queue,
        state.auction_bids,
    )
    assert (NOBODY, NOBODY, 0) == (state.auction_square, state.auction_leader, state.auction_bid)
    assert (0, 0) == (state.rolls_again, state.jump_due)


@pytest.mark.rule("END-4", "TABLE-2")
@pytest.mark.parametrize("ruleset", TEAM)
def test_sides_share_their_places(ruleset: str) -> None:
    state = at_the_cap(ruleset, turn=5, seats=6, cash=[100, 50, 100, 50, 100, 50], out=(0, 4))

    finish_turn(state)

    assert [2, 1, 2, 1, 2, 1] == [seat.place for seat in result(state).seats]


@pytest.mark.rule("END-5", "XP-1")
@pytest.mark.statement("R196", "R197", "R198")
@pytest.mark.parametrize("ruleset", ALL)
def test_result_records_what_awards_are_made_of(ruleset: str) -> None:
    """Place, survival, worth, full groups (mortgaged or not), the round."""
    state = at_the_cap(
        ruleset,
        cash=5_000,
        owns={0: (1, 3, 37, 39, 5, 15, 25, 35), 1: (6, 8)},
        mortgaged=(37,),
        out=(2,),
    )

    finish_turn(state)

    ended = result(state)
    assert RULESETS[ruleset].round_cap == ended.round
    assert [0, 1, 2, 3] == [seat.seat for seat in ended.seats]
    assert [2, 0, 0, 0] == [seat.full_groups for seat in ended.seats]
    assert [True, True, False, True] == [seat.survived for seat in ended.seats]
    assert 5_000 + 1_200 + 1_750 + 4_000 + 8_000 == ended.seats[0].net_worth
    assert 1 == ended.seats[0].place


@pytest.mark.rule("END-5", "XP-1")
@pytest.mark.parametrize("ruleset", ALL)
def test_stations_and_utilities_are_no_colour_groups(ruleset: str) -> None:
    state = table(ruleset, owns={0: (5, 15, 25, 35, 12, 28)})

    assert 0 == full_colour_groups(state, 0)
    for square in (21, 23):
        state.give(square, 0)
    assert 0 == full_colour_groups(state, 0)
    state.give(24, 0)
    assert 1 == full_colour_groups(state, 0)


@pytest.mark.rule("XP-1", "XP-3")
@pytest.mark.statement("R195")
@pytest.mark.parametrize("ruleset", ALL)
def test_scheme_of_awards_is_the_editions(ruleset: str) -> None:
    schemes = {
        "origins": XP_NONE,
        "guide": XP_WINNER,
        "teams": XP_EVERY_SEAT,
        "full": XP_EVERY_SEAT,
    }

    assert schemes[RULESETS[ruleset].edition] == RULESETS[ruleset].xp


@pytest.mark.rule("END-1")
@pytest.mark.parametrize("ruleset", ALL)
def test_nothing_is_legal_after_the_end(ruleset: str) -> None:
    state = at_the_cap(ruleset)

    finish_turn(state)

    assert [] == actors(state)
    assert (GAME_OVER, "END-1") == why(state, ROLL_BY[0])
    assert (GAME_OVER, "END-1") == why(state, (SURRENDER, 0))


@pytest.mark.rule("TURN-6")
@pytest.mark.statement("R013")
@pytest.mark.parametrize("ruleset", ALL)
def test_round_is_complete_after_everybodys_turn(ruleset: str) -> None:
    state = table(ruleset, first=1, turn=1)

    log = idle_until(state, 1, 2) + idle_turn(state)

    started = [event[1] for event in log if event[0] in (TURN_STARTED, ROUND_STARTED)]
    assert [2, 3, 0, 2, 1, 2] == started
