"""Leaving a game in every phase: by the clock, and by surrender (case A-19); games of bots (A-24).

Losing the connection is neither: it reaches no rule at all (CLOCK-6).
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import pytest

from opolyx_rules import (
    RULESETS,
    Event,
    Ruleset,
    SeededChance,
    State,
    actors,
    apply,
    default_action,
    get_ruleset,
    legal_actions,
    result,
    start,
)
from opolyx_rules.actions import (
    BID_BY,
    DECLINE_PURCHASE_BY,
    LAPSE_OFFER,
    SURRENDER,
    propose_trade,
)
from opolyx_rules.events import (
    AUCTION_ENDED,
    AUCTION_STARTED,
    BID_PASSED,
    ELIMINATED,
    OFFER_CLOSED,
    PURCHASE_DECLINED,
    TURN_SKIPPED,
)
from opolyx_rules.ids import (
    CASH_FORFEIT,
    CASH_RENT,
    NOBODY,
    OFFER_LAPSED,
    OFFER_SEAT_OUT,
    PASS_CLOCK,
    PASS_GONE,
    PHASE_AUCTION,
    PHASE_BUS,
    PHASE_BUY,
    PHASE_JAIL,
    PHASE_JAIL_BAIL,
    PHASE_PAYMENT,
    PHASE_ROLL,
    PHASE_TRIPLE,
    PHASE_WAGER,
)
from opolyx_rules.policies import POLICIES
from opolyx_rules.queries import awaited_phase, step_seconds
from opolyx_rules.ruleset import BAIL_AFTER_ROLL, CORNER_WAGER, NEVER
from support_rules import (
    ALL,
    act,
    assert_sound,
    cash_moves,
    draw,
    found,
    roll,
    stop_on,
    table,
    time_out,
)


def before_rolling(ruleset: str) -> State:
    return table(ruleset, turn=1)


def between_rolls(ruleset: str) -> State:
    state = table(ruleset, turn=1, at={1: 6})
    roll(state, 2, 2)
    return state


def buying(ruleset: str) -> State:
    state = table(ruleset, turn=1)
    stop_on(state, 6)
    return state


def bidding(ruleset: str) -> State:
    state = table(ruleset)
    stop_on(state, 6)
    act(state, DECLINE_PURCHASE_BY[0])
    return state


def paying_on_turn(ruleset: str) -> State:
    state = table(ruleset, turn=1, cash={1: 400}, owns={1: (5,), 2: (24,)}, levels={})
    stop_on(state, 24)
    state.debts = [(1, ((2, 1_200, CASH_RENT),))]
    return state


def paying_for_anothers_card(ruleset: str) -> State:
    state = table(ruleset, cash={1: 50}, owns={1: (1,)})
    draw(state, "birthday")
    return state


def in_jail(ruleset: str) -> State:
    return table(ruleset, turn=1, jailed={1: 1})


def offered_bail(ruleset: str) -> State:
    state = table(ruleset, turn=1, jailed={1: 0})
    roll(state, 1, 2)
    return state


def wagering(ruleset: str) -> State:
    state = table(ruleset, turn=1)
    stop_on(state, 20)
    return state


def taking_the_bus(ruleset: str) -> State:
    state = table(ruleset, turn=1, round_number=7)
    roll(state, 4, 6, third=[3])
    return state


def choosing_a_square(ruleset: str) -> State:
    state = table(ruleset, turn=1, round_number=7, at={1: 10})
    roll(state, 2, 2, third=[1])
    return state


class Place(NamedTuple):
    """A phase that seat 1 can be in.

    Attributes:
        make: Builds the table.
        phase: What is awaited of seat 1.
        after_clock: Seat and phase awaited when its clock has run out.
        after_surrender: The same when it has surrendered.
        has: Whether a ruleset has the phase.
    """

    make: Callable[[str], State]
    phase: int
    after_clock: tuple[int, int]
    after_surrender: tuple[int, int]
    has: Callable[[Ruleset], bool]


def _everywhere(ruleset: Ruleset) -> bool:
    return True


def _with_late_bail(ruleset: Ruleset) -> bool:
    return ruleset.bail_timing == BAIL_AFTER_ROLL


def _with_wager(ruleset: Ruleset) -> bool:
    return ruleset.third_corner == CORNER_WAGER


def _with_third_die(ruleset: Ruleset) -> bool:
    return ruleset.third_die_from < NEVER


PLACES: Final = {
    "before rolling": Place(
        before_rolling, PHASE_ROLL, (2, PHASE_ROLL), (2, PHASE_ROLL), _everywhere
    ),
    "between the rolls of a double": Place(
        between_rolls, PHASE_ROLL, (2, PHASE_ROLL), (2, PHASE_ROLL), _everywhere
    ),
    "buying": Place(buying, PHASE_BUY, (2, PHASE_AUCTION), (2, PHASE_AUCTION), _everywhere),
    "bidding": Place(bidding, PHASE_AUCTION, (2, PHASE_AUCTION), (2, PHASE_AUCTION), _everywhere),
    "paying on its turn": Place(
        paying_on_turn, PHASE_PAYMENT, (2, PHASE_ROLL), (2, PHASE_ROLL), _everywhere
    ),
    "paying for another's card": Place(
        paying_for_anothers_card, PHASE_PAYMENT, (1, PHASE_ROLL), (2, PHASE_ROLL), _everywhere
    ),
    "in jail": Place(in_jail, PHASE_JAIL, (2, PHASE_ROLL), (2, PHASE_ROLL), _everywhere),
    "offered bail": Place(
        offered_bail, PHASE_JAIL_BAIL, (2, PHASE_ROLL), (2, PHASE_ROLL), _with_late_bail
    ),
    "wagering": Place(wagering, PHASE_WAGER, (2, PHASE_ROLL), (2, PHASE_ROLL), _with_wager),
    "taking the bus": Place(
        taking_the_bus, PHASE_BUS, (2, PHASE_ROLL), (2, PHASE_ROLL), _with_third_die
    ),
    "choosing a square": Place(
        choosing_a_square, PHASE_TRIPLE, (1, PHASE_ROLL), (2, PHASE_ROLL), _with_third_die
    ),
}

EVERY_PLACE: Final = [
    pytest.param(ruleset, place, id=f"{name}-{ruleset}")
    for name, place in PLACES.items()
    for ruleset in ALL
    if place.has(RULESETS[ruleset])
]


def awaited(state: State) -> tuple[int, int]:
    return actors(state)[0], awaited_phase(state)


@pytest.mark.rule("CLOCK-3", "CLOCK-4", "DEBT-3")
@pytest.mark.statement("R178", "R179")
@pytest.mark.parametrize(("ruleset", "place"), EVERY_PLACE)
def test_clock_goes_on_without_the_seat(ruleset: str, place: Place) -> None:
    state = place.make(ruleset)
    assert (1, place.phase) == awaited(state)

    time_out(state)

    assert place.after_clock == awaited(state)
    own_turn = place.phase != PHASE_AUCTION and place.make(ruleset).turn_seat == 1
    assert int(own_turn) == state.missed[1]
    assert 0 == state.out_order[1]


@pytest.mark.rule("DEBT-9", "AUCTION-9")
@pytest.mark.statement("R011")
@pytest.mark.parametrize(("ruleset", "place"), EVERY_PLACE)
def test_surrender_goes_on_without_the_seat(ruleset: str, place: Place) -> None:
    state = place.make(ruleset)

    log = act(state, (SURRENDER, 1))

    assert [(ELIMINATED, 1, 1)] == found(log, ELIMINATED)
    assert place.after_surrender == awaited(state)
    assert [] == legal_actions(state, 1)
    assert [] == [frame for frame in state.stack if frame[1] == 1 and frame[0] < PHASE_TRIPLE]


@pytest.mark.rule("DEBT-9")
@pytest.mark.statement("R011")
@pytest.mark.parametrize(("ruleset", "place"), EVERY_PLACE)
def test_surrender_of_another_leaves_the_awaited_seat_its_step(ruleset: str, place: Place) -> None:
    """Whoever goes, the seat that is asked keeps its question and its clock."""
    state = place.make(ruleset)
    step = state.stack[-1]

    act(state, (SURRENDER, 3))

    assert step == state.stack[-1]


@pytest.mark.rule("CLOCK-3")
@pytest.mark.parametrize("ruleset", ALL)
def test_rest_of_the_turn_is_forfeited_once(ruleset: str) -> None:
    state = between_rolls(ruleset)

    log = time_out(state)

    assert [(TURN_SKIPPED, 1)] == found(log, TURN_SKIPPED)
    assert 1 == state.missed[1]


@pytest.mark.rule("CLOCK-3", "AUCTION-1", "AUCTION-6")
@pytest.mark.parametrize("ruleset", ALL)
def test_auction_without_the_buyer_asks_it_ten_seconds_at_most(ruleset: str) -> None:
    state = buying(ruleset)
    log = time_out(state)
    assert [(PURCHASE_DECLINED, 1, 6)] == found(log, PURCHASE_DECLINED)

    for seat in (2, 3, 0, 1):
        assert (seat, PHASE_AUCTION, 10) == (*awaited(state), step_seconds(state))
        log = time_out(state)
        assert (BID_PASSED, seat, PASS_CLOCK) in log

    assert [(AUCTION_ENDED, 6, NOBODY, 0)] == found(log, AUCTION_ENDED)
    assert (2, PHASE_ROLL) == awaited(state)


@pytest.mark.rule("DEBT-9", "AUCTION-1")
@pytest.mark.parametrize("ruleset", ALL)
def test_property_of_a_buyer_who_surrenders_is_auctioned_among_the_others(ruleset: str) -> None:
    state = buying(ruleset)

    log = act(state, (SURRENDER, 1))

    assert 1 == len(found(log, AUCTION_STARTED))
    assert [2, 3, 0] == state.auction_queue


@pytest.mark.rule("AUCTION-9")
@pytest.mark.parametrize("ruleset", ALL)
def test_bidder_who_surrenders_is_out_of_the_sale(ruleset: str) -> None:
    state = bidding(ruleset)

    log = act(state, (SURRENDER, 1))

    assert [(BID_PASSED, 1, PASS_GONE)] == found(log, BID_PASSED)
    assert 1 not in state.auction_queue


@pytest.mark.rule("AUCTION-7", "CLOCK-6")
@pytest.mark.parametrize("ruleset", ALL)
def test_bid_of_an_absent_leader_stands_and_can_win(ruleset: str) -> None:
    state = bidding(ruleset)
    act(state, BID_BY[1])

    for _ in range(3):
        time_out(state)

    assert (1, 14_000) == (state.owner[6], state.cash[1])


@pytest.mark.rule("DEBT-9", "DEBT-5")
@pytest.mark.parametrize("ruleset", ALL)
def test_surrender_cannot_spite_the_creditor(ruleset: str) -> None:
    """Owes 1200, has 400 and a station of 2000: the creditor gets all, the bank the rest."""
    state = paying_on_turn(ruleset)

    log = act(state, (SURRENDER, 1))

    paid = {move[4]: move[3] for move in cash_moves(log)}
    heirs = RULESETS[ruleset].team_bankruptcy
    assert (400 if heirs else 1_200) == paid[CASH_RENT]
    assert (0 if heirs else 200) == paid.get(CASH_FORFEIT, 0)


@pytest.mark.rule("TRADE-6")
@pytest.mark.statement("R130")
@pytest.mark.parametrize("ruleset", ALL)
def test_offer_to_an_absent_seat_lapses_and_to_one_gone_is_closed(ruleset: str) -> None:
    for leave, cause in (((LAPSE_OFFER, 0, 1), OFFER_LAPSED), ((SURRENDER, 1), OFFER_SEAT_OUT)):
        state = table(ruleset)
        act(state, propose_trade(0, 1, give_cash=100, want_cash=100))

        log = act(state, leave)

        assert [(OFFER_CLOSED, 1, cause)] == found(log, OFFER_CLOSED)
        assert [] == state.offers


# Games that are left to bots, or to nobody


@pytest.mark.rule("END-1", "DEBT-9", "TABLE-6")
@pytest.mark.statement("R005", "R010")
@pytest.mark.parametrize("ruleset", ALL)
def test_bots_finish_the_game_that_a_human_left(ruleset: str) -> None:
    """Case A-24: the human surrenders in round 5; three bots go on to a result."""
    chance, choices = SeededChance(b"left"), SeededChance(b"choices")
    state = start(get_ruleset(ruleset), 4, chance)
    steps = 0
    while not state.over:
        if state.round == 5 and not state.out_order[0]:
            apply(state, (SURRENDER, 0), chance)
            assert not state.over
            continue
        seat = actors(state)[0]
        assert seat != 0 or state.round < 5
        apply(state, POLICIES["steady"](state, seat, choices), chance)
        steps += 1
        assert steps < 100_000

    assert state.round <= RULESETS[ruleset].round_cap
    if not RULESETS[ruleset].sides:
        assert 4 == result(state).seats[0].place
    assert 1 in [seat.place for seat in result(state).seats[1:]]


@pytest.mark.rule("END-1", "END-2", "TURN-6")
@pytest.mark.statement("R191", "R193")
@pytest.mark.parametrize("ruleset", ALL)
def test_rich_seats_that_only_roll_reach_the_cap(ruleset: str) -> None:
    """Case A-24: four of 50,000 each who buy nothing; the last rounds, each counted once."""
    chance = SeededChance(b"rich")
    state = start(get_ruleset(ruleset), 4, chance)
    state.cash = [50_000] * 4
    state.round = RULESETS[ruleset].round_cap - 3
    rounds = []
    while not state.over:
        rounds.append(state.round)
        seat = actors(state)[0]
        default = default_action(state, seat)
        chosen = default if default in legal_actions(state, seat) else legal_actions(state, seat)[0]
        apply(state, chosen, chance)
        assert_sound(state)

    assert sorted(rounds) == rounds
    assert list(range(state.round - 3, state.round + 1)) == sorted(set(rounds))
    assert RULESETS[ruleset].round_cap == state.round
    worths = [seat.net_worth for seat in result(state).seats]
    winner = min(result(state).seats, key=lambda seat: (seat.place, seat.seat))
    if not RULESETS[ruleset].sides:
        assert worths.index(max(worths)) == winner.seat


@pytest.mark.rule("CLOCK-3", "CLOCK-4", "END-1")
@pytest.mark.parametrize("ruleset", ALL)
def test_table_that_nobody_sits_at_ends_by_its_clocks(ruleset: str) -> None:
    """Everybody's clock runs out: missed turns surrender all but the last."""
    state = start(get_ruleset(ruleset), 4, SeededChance(b"nobody"))
    log: list[Event] = []
    steps = 0
    while not state.over:
        log += time_out(state)
        steps += 1

    assert steps <= 4 * RULESETS[ruleset].missed_turns
    assert 1 == [seat.place for seat in result(state).seats].count(1) or RULESETS[ruleset].sides
