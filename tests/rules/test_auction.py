"""Auctions (AUCTION)."""

import pytest

from opolyx_rules import IllegalAction, ScriptedChance, State, actors, apply, legal_actions
from opolyx_rules import events as ev
from opolyx_rules.actions import (
    ACCEPT_TRADE,
    BID_BY,
    BUILD_BY,
    BUY_BY,
    DECLINE_PURCHASE_BY,
    DECLINE_TRADE,
    MORTGAGE_BY,
    PASS_BID_BY,
    REDEEM_BY,
    SELL_BUILDING_BY,
    SURRENDER_BY,
    WITHDRAW_TRADE,
    propose_trade,
)
from opolyx_rules.codec import encode
from opolyx_rules.content.boards import PRICE
from opolyx_rules.ids import (
    BANK,
    CASH_AUCTION,
    NOBODY,
    PASS_CASH,
    PASS_CHOICE,
    PASS_CLOCK,
    PASS_GONE,
    PHASE_AUCTION,
    PHASE_BUY,
    PROPERTY_AUCTION,
)
from opolyx_rules.queries import awaited_phase, current_step, next_bid, step_seconds
from opolyx_rules.reasons import (
    AUCTION_RUNNING,
    INVALID_ACTION,
    NO_TRADE_NOW,
    NOT_AWAITED,
    WRONG_PHASE,
)
from support_rules import (
    ALL,
    act,
    cash_moves,
    found,
    idle_until,
    is_legal,
    roll,
    rulesets_with,
    stop_on,
    table,
    time_out,
    why,
)


def auctioned(state: State, square: int) -> State:
    """The seat on turn stops on the square and declines it, if it is asked."""
    stop_on(state, square)
    if awaited_phase(state) == PHASE_BUY:
        act(state, DECLINE_PURCHASE_BY[actors(state)[0]])
    return state


def asked(state: State) -> int:
    """Who is asked for a bid; NOBODY when no auction runs."""
    return actors(state)[0] if awaited_phase(state) == PHASE_AUCTION else NOBODY


@pytest.mark.rule("AUCTION-1")
@pytest.mark.statement("R083", "R084", "R085")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("decliner", [0, 2])
def test_bidders_are_asked_by_seats_after_the_decliner_who_is_last(
    name: str, decliner: int
) -> None:
    state = auctioned(table(name, turn=decliner), 19)
    order = []
    while asked(state) != NOBODY:
        order.append(asked(state))
        act(state, PASS_BID_BY[asked(state)])

    assert [(decliner + step) % 4 for step in (1, 2, 3, 4)] == order


@pytest.mark.rule("AUCTION-1")
def test_those_who_are_out_are_not_asked() -> None:
    state = auctioned(table(out=[1, 3]), 19)

    assert [2, 0] == state.auction_queue


@pytest.mark.rule("AUCTION-2")
@pytest.mark.statement("R086", "R087", "R088")
@pytest.mark.parametrize("name", ALL)
def test_bids_are_the_list_price_then_100_more_each(name: str) -> None:
    state = auctioned(table(name), 19)
    log = []
    for _ in range(5):
        log += act(state, BID_BY[asked(state)])

    assert [(1, 2000), (2, 2100), (3, 2200), (0, 2300), (1, 2400)] == [
        bid[1:] for bid in found(log, ev.BID_PLACED)
    ]
    assert 2500 == next_bid(state)


@pytest.mark.rule("AUCTION-2")
@pytest.mark.statement("R089")
def test_no_amount_can_be_named() -> None:
    state = auctioned(table(), 19)

    assert (INVALID_ACTION, "TURN-1") == why(state, (*BID_BY[1], 5000))


@pytest.mark.rule("AUCTION-3")
@pytest.mark.statement("R089")
@pytest.mark.parametrize("name", ALL)
def test_the_asked_one_may_bid_or_pass_and_nothing_else(name: str) -> None:
    state = auctioned(table(name, owns={1: (5,)}), 19)

    assert [BID_BY[1], PASS_BID_BY[1]] == legal_actions(state, 1)
    assert (WRONG_PHASE, "AUCTION-3") == why(state, BUY_BY[1])
    assert (NOT_AWAITED, "TURN-1") == why(state, BID_BY[2])


@pytest.mark.rule("AUCTION-3")
@pytest.mark.statement("R090")
@pytest.mark.parametrize("name", ALL)
def test_a_pass_is_final(name: str) -> None:
    state = auctioned(table(name), 19)
    log = act(state, PASS_BID_BY[1])
    for _ in range(6):
        act(state, BID_BY[asked(state)])

    assert [(ev.BID_PASSED, 1, PASS_CHOICE)] == found(log, ev.BID_PASSED)
    assert 1 not in state.auction_queue
    assert [2, 3, 0, 2, 3, 0] == [seat for seat, _ in state.auction_bids]


@pytest.mark.rule("AUCTION-4")
@pytest.mark.statement("R091")
@pytest.mark.parametrize("name", ALL)
def test_the_leader_is_asked_again_only_when_topped(name: str) -> None:
    state = auctioned(table(name), 19)
    act(state, BID_BY[1])
    act(state, PASS_BID_BY[2])
    act(state, BID_BY[3])
    act(state, PASS_BID_BY[0])

    assert 1 == asked(state)
    act(state, PASS_BID_BY[1])
    assert (NOBODY, 3) == (asked(state), state.owner[19])


@pytest.mark.rule("AUCTION-5")
@pytest.mark.statement("R092", "R096", "R097")
@pytest.mark.parametrize("name", ALL)
def test_who_cannot_pay_passes_unasked_and_exactly_enough_is_asked(name: str) -> None:
    """Case A-02, list 3500: 3400 and 3499 are passed by, 3500 is asked, the decliner last."""
    state = table(name, cash=[15_000, 3400, 3499, 3500])
    stop_on(state, 37)
    log = act(state, DECLINE_PURCHASE_BY[0])

    assert [(1, PASS_CASH), (2, PASS_CASH)] == [event[1:] for event in found(log, ev.BID_PASSED)]
    assert 3 == asked(state)
    act(state, PASS_BID_BY[3])
    assert 0 == asked(state)
    log = act(state, PASS_BID_BY[0])

    assert [(ev.AUCTION_ENDED, 37, NOBODY, 0)] == found(log, ev.AUCTION_ENDED)
    assert [] == cash_moves(log)
    assert (NOBODY, [1]) == (state.owner[37], actors(state))
    idle_until(state, 3)
    stop_on(state, 37)
    act(state, BUY_BY[3])
    assert (3, 0) == (state.owner[37], state.cash[3])


@pytest.mark.rule("AUCTION-5", "AUCTION-7")
@pytest.mark.parametrize("name", ALL)
def test_the_last_coin_buys_and_what_cannot_be_topped_ends_at_once(name: str) -> None:
    """Case A-03: a bid of all one has is good; the others' cash was never held back."""
    state = auctioned(table(name, cash=[900, 1150, 1250, 1200]), 6)
    act(state, BID_BY[1])
    act(state, BID_BY[2])
    log = act(state, BID_BY[3])

    assert [(0, PASS_CASH), (1, PASS_CASH), (2, PASS_CASH)] == [
        event[1:] for event in found(log, ev.BID_PASSED)
    ]
    assert [(ev.AUCTION_ENDED, 6, 3, 1200)] == found(log, ev.AUCTION_ENDED)
    assert ([900, 1150, 1250, 0], 3) == (state.cash, state.owner[6])
    assert 0 == state.out_order[3]
    before = encode(state)
    for late in (BID_BY[2], (*BID_BY[1], 5000)):
        with pytest.raises(IllegalAction):
            apply(state, late, ScriptedChance())
    assert before == encode(state)


@pytest.mark.rule("AUCTION-6")
@pytest.mark.statement("R093", "R094")
@pytest.mark.parametrize("name", ALL)
def test_ten_seconds_of_silence_are_a_pass_and_no_missed_turn(name: str) -> None:
    state = auctioned(table(name), 19)
    assert 10 == step_seconds(state)
    act(state, PASS_BID_BY[1])
    log = time_out(state)

    assert [(ev.BID_PASSED, 2, PASS_CLOCK)] == found(log, ev.BID_PASSED)
    assert 3 == asked(state)
    act(state, PASS_BID_BY[3])
    assert 0 == asked(state)
    time_out(state)
    assert [0] * 4 == state.missed


@pytest.mark.rule("AUCTION-6")
def test_every_question_has_a_fresh_clock() -> None:
    state = auctioned(table(), 19)
    steps = []
    for _ in range(4):
        steps.append(current_step(state))
        act(state, BID_BY[asked(state)])

    assert 4 == len(set(steps))


@pytest.mark.rule("AUCTION-7")
@pytest.mark.statement("R095")
@pytest.mark.parametrize("name", ALL)
def test_the_leader_pays_the_bid_and_owns_the_property(name: str) -> None:
    state = auctioned(table(name), 19)
    act(state, BID_BY[1])
    act(state, BID_BY[2])
    act(state, PASS_BID_BY[3])
    act(state, PASS_BID_BY[0])
    log = act(state, PASS_BID_BY[1])

    assert [(ev.CASH_MOVED, 2, BANK, 2100, CASH_AUCTION)] == cash_moves(log)
    assert [(ev.PROPERTY_MOVED, 19, BANK, 2, PROPERTY_AUCTION)] == found(log, ev.PROPERTY_MOVED)
    assert (2, 0, 0) == (state.owner[19], state.level[19], state.mortgaged[19])
    assert [1] == actors(state)
    assert (NOBODY, NOBODY, 0, [], []) == (
        state.auction_square,
        state.auction_leader,
        state.auction_bid,
        state.auction_queue,
        state.auction_bids,
    )


@pytest.mark.rule("AUCTION-7")
def test_the_decliner_may_win_above_the_list_price() -> None:
    state = auctioned(table(), 19)
    act(state, BID_BY[1])
    act(state, PASS_BID_BY[2])
    act(state, PASS_BID_BY[3])
    act(state, BID_BY[0])
    act(state, PASS_BID_BY[1])

    assert (0, 15_000 - 2100) == (state.owner[19], state.cash[0])


@pytest.mark.rule("AUCTION-7")
@pytest.mark.parametrize("name", ALL)
def test_after_an_auction_on_a_double_the_decliner_rolls_again(name: str) -> None:
    state = table(name)
    roll(state, 3, 3)
    act(state, DECLINE_PURCHASE_BY[0])
    for seat in (1, 2, 3, 0):
        act(state, PASS_BID_BY[seat])

    assert [0] == actors(state)
    roll(state, 1, 3)
    assert 10 == state.position[0]


@pytest.mark.rule("AUCTION-8")
@pytest.mark.parametrize("name", ALL)
def test_nothing_else_moves_while_it_runs(name: str) -> None:
    state = table(name, owns={0: (5, 15), 1: (6, 8, 9, 25, 12)}, levels={6: 1}, mortgaged=[12])
    for _ in range(3):
        act(state, propose_trade(0, 1, give_squares=(5,), want_cash=2000))
    auctioned(state, 19)

    assert (AUCTION_RUNNING, "AUCTION-8") == why(state, (ACCEPT_TRADE, 1, 1))
    for action in (BUILD_BY[1][8], SELL_BUILDING_BY[1][6], MORTGAGE_BY[1][25], REDEEM_BY[1][12]):
        assert (WRONG_PHASE, "TURN-4") == why(state, action)
    trade = propose_trade(1, 2, give_squares=(25,), want_cash=2000)
    assert (NO_TRADE_NOW, "TRADE-2") == why(state, trade)
    act(state, (DECLINE_TRADE, 1, 2))
    act(state, (WITHDRAW_TRADE, 0, 3))
    assert ([15_000] * 4, 1) == (state.cash, asked(state))

    for seat in (1, 2, 3, 0):
        act(state, PASS_BID_BY[seat])
    act(state, (ACCEPT_TRADE, 1, 1))
    assert (1, 17_000) == (state.owner[5], state.cash[0])


def led_by_seat_2(name: str = "classic@full") -> State:
    """Seat 1 has bid 2000, seat 2 2100, seat 3 has passed, seat 0 is asked at 2200."""
    state = auctioned(table(name, cash={1: 9000, 2: 9000}, round_number=12), 5)
    act(state, BID_BY[1])
    act(state, BID_BY[2])
    act(state, PASS_BID_BY[3])
    assert (0, 2200) == (asked(state), next_bid(state))
    return state


@pytest.mark.rule("AUCTION-9")
@pytest.mark.parametrize("name", ALL)
def test_a_leader_who_surrenders_gives_way_to_the_bid_before(name: str) -> None:
    """Case A-01 (i): 2000 stands again, and the one not asked yet is asked at 2100."""
    state = led_by_seat_2(name)
    log = act(state, SURRENDER_BY[2])

    assert [(ev.BID_PASSED, 2, PASS_GONE)] == found(log, ev.BID_PASSED)
    assert [(ev.BID_VOIDED, 2, 2100)] == found(log, ev.BID_VOIDED)
    assert (1, 2000, 0, 2100) == (
        state.auction_leader,
        state.auction_bid,
        asked(state),
        next_bid(state),
    )
    act(state, PASS_BID_BY[0])
    assert (1, 7000, [1]) == (state.owner[5], state.cash[1], actors(state))


@pytest.mark.rule("AUCTION-9")
@pytest.mark.parametrize("name", ALL)
def test_a_leader_who_is_only_away_is_bound(name: str) -> None:
    """Case A-01 (ii): losing the connection is no action; the others' passes end the sale."""
    state = led_by_seat_2(name)
    act(state, PASS_BID_BY[0])
    act(state, PASS_BID_BY[1])

    assert (2, 9000 - 2100) == (state.owner[5], state.cash[2])


@pytest.mark.rule("AUCTION-9")
@pytest.mark.parametrize("name", ALL)
def test_a_sole_leader_who_surrenders_reopens_at_the_list_price(name: str) -> None:
    """Case A-01 (iii), before the sale closes."""
    state = auctioned(table(name), 5)
    act(state, PASS_BID_BY[1])
    act(state, BID_BY[2])
    act(state, PASS_BID_BY[3])
    assert 2100 == next_bid(state)
    act(state, SURRENDER_BY[2])

    assert (0, NOBODY, 2000) == (asked(state), state.auction_leader, next_bid(state))
    log = act(state, PASS_BID_BY[0])
    assert [(ev.AUCTION_ENDED, 5, NOBODY, 0)] == found(log, ev.AUCTION_ENDED)
    assert (NOBODY, [1]) == (state.owner[5], actors(state))


@pytest.mark.rule("AUCTION-9")
@pytest.mark.parametrize("name", ALL)
def test_a_winner_who_surrenders_after_the_sale_leaves_it_to_nobody_who_is_out(name: str) -> None:
    """Case A-01 (iii), after it has closed."""
    state = auctioned(table(name), 5)
    act(state, PASS_BID_BY[1])
    act(state, BID_BY[2])
    act(state, PASS_BID_BY[3])
    act(state, PASS_BID_BY[0])
    assert 2 == state.owner[5]
    act(state, SURRENDER_BY[2])

    heir = 0 if name == "team@full" else NOBODY
    assert (heir, [1]) == (state.owner[5], actors(state))


@pytest.mark.rule("AUCTION-9")
def test_a_bid_of_somebody_who_has_passed_since_does_not_stand_again() -> None:
    """1 bids 2000, 2 bids 2100, 3 bids 2200; 1 has passed when 3 goes: 2's bid is the next best."""
    state = auctioned(table(seats=5), 5)
    act(state, BID_BY[1])
    act(state, BID_BY[2])
    act(state, BID_BY[3])
    act(state, PASS_BID_BY[4])
    act(state, PASS_BID_BY[0])
    act(state, PASS_BID_BY[1])
    assert (2, 2300) == (asked(state), next_bid(state))
    act(state, SURRENDER_BY[3])

    assert (2, 15_000 - 2100, [1]) == (state.owner[5], state.cash[2], actors(state))


@pytest.mark.rule("AUCTION-9")
def test_the_asked_one_who_surrenders_passes_to_the_next() -> None:
    state = led_by_seat_2()
    log = act(state, SURRENDER_BY[0])

    assert [] == found(log, ev.BID_VOIDED)
    assert (1, 2, 2200) == (asked(state), state.auction_leader, next_bid(state))
    act(state, PASS_BID_BY[1])
    assert (2, [1]) == (state.owner[5], actors(state))


@pytest.mark.rule("AUCTION-9")
def test_a_waiting_bidder_who_surrenders_disturbs_nobody() -> None:
    state = led_by_seat_2()
    step = current_step(state)
    act(state, SURRENDER_BY[1])

    assert (0, 2, 2200, step) == (
        asked(state),
        state.auction_leader,
        next_bid(state),
        current_step(state),
    )
    act(state, PASS_BID_BY[0])
    assert 2 == state.owner[5]


@pytest.mark.rule("AUCTION-9")
def test_a_restored_leader_is_not_asked_to_top_itself() -> None:
    """2 leads, 1 is asked and would have to top 2; when 2 goes, 1's bid stands and wins."""
    state = led_by_seat_2()
    act(state, PASS_BID_BY[0])
    assert 1 == asked(state)
    log = act(state, SURRENDER_BY[2])

    assert [(ev.AUCTION_ENDED, 5, 1, 2000)] == found(log, ev.AUCTION_ENDED)
    assert (1, 7000) == (state.owner[5], state.cash[1])


@pytest.mark.rule("AUCTION-9")
@pytest.mark.parametrize("name", rulesets_with(sides=0))
def test_the_last_opponent_s_surrender_ends_game_and_auction(name: str) -> None:
    state = auctioned(table(name, seats=2), 5)
    act(state, SURRENDER_BY[1])

    assert state.over
    assert (NOBODY, [], NOBODY) == (state.auction_square, state.auction_queue, state.owner[5])


@pytest.mark.rule("AUCTION-10")
@pytest.mark.parametrize("name", ALL)
def test_prisoners_bid(name: str) -> None:
    state = auctioned(table(name, jailed={1: 1}), 19)
    act(state, BID_BY[1])
    for seat in (2, 3, 0):
        act(state, PASS_BID_BY[seat])

    assert (1, 1, 1) == (state.owner[19], state.jailed[1], state.attempts[1])


@pytest.mark.rule("AUCTION-10")
@pytest.mark.parametrize("name", rulesets_with(sides=2))
def test_allies_bid_against_each_other(name: str) -> None:
    state = auctioned(table(name), 19)
    act(state, PASS_BID_BY[1])
    assert is_legal(state, BID_BY[2])
    act(state, BID_BY[2])
    act(state, PASS_BID_BY[3])
    act(state, BID_BY[0])
    act(state, PASS_BID_BY[2])

    assert (0, 15_000 - PRICE[19] - 100) == (state.owner[19], state.cash[0])


@pytest.mark.rule("AUCTION-9")
def test_somebody_who_has_passed_leaves_the_sale_as_it_is() -> None:
    state = led_by_seat_2()
    step = current_step(state)
    log = act(state, SURRENDER_BY[3])

    assert [] == found(log, ev.BID_PASSED)
    assert ([0, 1, 2], 2, 2200, step) == (
        state.auction_queue,
        state.auction_leader,
        next_bid(state),
        current_step(state),
    )
