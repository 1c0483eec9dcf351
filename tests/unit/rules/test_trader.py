"""The built-in trader: what it takes, proposes, bids, builds and gives up."""

from dataclasses import replace

import pytest

from opolyx_rules import Action, State, check
from opolyx_rules.actions import (
    ACCEPT_TRADE,
    BID,
    BUILD,
    BUY,
    CHOOSE_BUS,
    CHOOSE_SQUARE,
    DECLINE_PURCHASE,
    DECLINE_TRADE,
    KIND,
    MORTGAGE,
    PASS_BID,
    PAY_BAIL,
    PROPOSE_TRADE,
    REDEEM,
    ROLL,
    SELL_BUILDING,
    WITHDRAW_TRADE,
    propose_trade,
)
from opolyx_rules.chance import SeededChance
from opolyx_rules.codec import encode
from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.ids import BUS_FIRST, NOBODY, PHASE_BUS, PHASE_TRIPLE
from opolyx_rules.mechanics.auctions import start_auction
from opolyx_rules.mechanics.payments import open_debt
from opolyx_rules.policies import POLICIES
from opolyx_rules.policies.valuation import CUSHION, standing, strength, worth_of
from opolyx_rules.queries import full_colour_groups
from support_rules import ALL, act, roll, rules, table


def choice(state: State, seat: int = 0) -> Action:
    """What a trader in the seat does; the state stays as it is."""
    before = encode(state)
    action: Action = POLICIES["trader"](state, seat, SeededChance(b"own"))

    assert before == encode(state)
    assert check(state, action) is None
    return action


def answer(state: State, **terms: object) -> int:
    """What the trader in seat 1 answers to this offer of seat 0."""
    act(state, propose_trade(0, 1, **terms))  # type: ignore[arg-type]
    return choice(state, 1)[KIND]


@pytest.mark.statement("R131")
@pytest.mark.parametrize("ruleset", ALL)
def test_deal_that_loses_nothing_is_taken(ruleset: str) -> None:
    state = table(ruleset, owns={1: (5,)})

    assert ACCEPT_TRADE == answer(state, give_cash=4_000, want_squares=(5,))


@pytest.mark.statement("R131")
@pytest.mark.parametrize("ruleset", ALL)
def test_deal_that_loses_value_is_declined(ruleset: str) -> None:
    state = table(ruleset, owns={1: (5,)})

    assert DECLINE_TRADE == answer(state, give_cash=2_000, want_squares=(5,))


def test_least_price_is_what_leaves_the_standing_as_it_is() -> None:
    """The k at which the answer turns is the one at which the standing no longer falls."""
    for paid in range(2_000, 3_000, 20):
        state = table(owns={1: (5,)})
        before = standing(state, 1)
        after = table(owns={0: (5,)}, cash={0: 15_000 - paid, 1: 15_000 + paid})

        rises = standing(after, 1) >= before
        assert rises == (answer(state, give_cash=paid, want_squares=(5,)) == ACCEPT_TRADE)


def test_group_of_the_partner_counts_against_a_deal() -> None:
    """The same street for the same cash, from a partner who completes a group and one who doesn't."""
    assert ACCEPT_TRADE == answer(table(owns={1: (16,)}), give_cash=3_500, want_squares=(16,))
    assert DECLINE_TRADE == answer(
        table(owns={0: (18, 19), 1: (16,)}), give_cash=3_500, want_squares=(16,)
    )


def test_own_group_is_not_broken_for_its_list_price() -> None:
    state = table(owns={0: (5,), 1: (6, 8, 9)})

    assert DECLINE_TRADE == answer(state, give_squares=(5,), want_squares=(9,))


def test_swap_that_makes_a_group_on_each_side_is_taken() -> None:
    state = table(owns={0: (8, 9, 11), 1: (6, 13, 14)})

    assert ACCEPT_TRADE == answer(state, give_squares=(11,), want_squares=(6,))


def test_between_two_players_what_one_wins_the_other_loses() -> None:
    state = table(seats=2, owns={0: (16, 37), 1: (18, 19, 39)})

    assert standing(state, 0) == -standing(state, 1)
    assert choice(state)[KIND] != PROPOSE_TRADE


def test_allies_stand_alike() -> None:
    state = table("team@full", owns={0: (16, 37), 2: (18, 19), 1: (5,)})

    assert standing(state, 0) == standing(state, 2) == -standing(state, 1)


def test_first_cash_in_hand_is_worth_more() -> None:
    poor, rich = table(cash={0: 100}), table(cash={0: 10_000})
    gained = [strength(state, 0) for state in (poor, rich)]
    for state in (poor, rich):
        state.cash[0] += 100

    assert [150, 100] == [
        strength(state, 0) - had for state, had in zip((poor, rich), gained, strict=True)
    ]
    assert CUSHION > 200


def test_reserve_stays_in_hand() -> None:
    state = table(owns={0: (5,), 2: (39,)}, cash={1: 2_600})

    assert DECLINE_TRADE == answer(state, give_squares=(5,), want_cash=2_200)
    state = table(owns={0: (5,), 2: (39,)}, cash={1: 9_000})
    assert ACCEPT_TRADE == answer(state, give_squares=(5,), want_cash=2_200)


def ready(state: State, seat: int = 0) -> State:
    """The state in a round in which the seat's turn to propose has come."""
    state.last_offer += -(state.last_offer + state.round + seat) % 4
    return state


def test_swap_for_two_groups_is_proposed_and_taken() -> None:
    state = ready(table(owns={0: (6, 8, 14), 1: (9, 11, 13)}))

    proposal = choice(state)
    act(state, proposal)

    assert (PROPOSE_TRADE, 0, 1) == proposal[:3]
    assert ACCEPT_TRADE == choice(state, 1)[KIND]
    act(state, choice(state, 1))
    assert [1, 1] == [full_colour_groups(state, seat) for seat in (0, 1)]


def test_allies_bring_a_group_together() -> None:
    state = ready(table("team@full", owns={0: (16, 18), 2: (19,), 1: (5,)}))

    assert (PROPOSE_TRADE, 0, 2) == choice(state)[:3]


def test_one_trade_a_turn_is_proposed() -> None:
    state = ready(table(owns={0: (6, 8, 14), 1: (9, 11, 13)}))
    act(state, choice(state))
    state.offers.clear()

    assert PROPOSE_TRADE != choice(state)[KIND]


def test_proposing_has_its_turn_again() -> None:
    state = ready(table(owns={0: (6, 8, 14), 1: (9, 11, 13)}))
    act(state, choice(state))
    state.offers.clear()
    rounds = []
    for number in range(1, 9):
        state.round = number
        if choice(state)[KIND] == PROPOSE_TRADE:
            rounds.append(number)

    assert [4, 8] == rounds


def test_nothing_is_proposed_after_a_double() -> None:
    state = ready(table(owns={0: (6, 8, 14), 1: (9, 11, 13)}))
    state.doubles = 1

    assert PROPOSE_TRADE != choice(state)[KIND]


def test_own_offer_is_taken_back_once_it_would_lose() -> None:
    state = table(owns={1: (5,)})
    act(state, propose_trade(0, 1, give_cash=2_300, want_squares=(5,)))
    assert WITHDRAW_TRADE != choice(state)[KIND]

    state.cash[0] = 2_300  # by now it would take the last cash
    assert (WITHDRAW_TRADE, 0, 1) == choice(state)


def test_own_offer_that_cannot_be_paid_is_taken_back() -> None:
    state = table(owns={0: (16, 18), 1: (19,)})
    act(state, propose_trade(0, 1, give_cash=3_000, want_squares=(19,)))
    assert WITHDRAW_TRADE != choice(state)[KIND]

    state.cash[0] = 2_999
    assert (WITHDRAW_TRADE, 0, 1) == choice(state)


def test_cash_promised_in_an_offer_is_not_built_with() -> None:
    owns, levels = {0: (6, 8, 9, 16, 18), 1: (19,)}, {6: 5, 8: 5, 9: 4}
    state = table(owns=owns, levels=levels, cash={0: 3_000})
    assert (BUILD, 0, 9) == choice(state)

    act(state, propose_trade(0, 1, give_cash=2_300, want_squares=(19,)))
    assert ROLL == choice(state)[KIND]


@pytest.mark.parametrize("ruleset", ALL)
def test_property_underfoot_is_bought(ruleset: str) -> None:
    state = table(ruleset)
    roll(state, 2, 4)

    assert (BUY, 0) == choice(state)


def test_last_cash_is_kept_but_for_a_group() -> None:
    state = table(cash={0: 1_100})
    roll(state, 2, 4)
    assert DECLINE_PURCHASE == choice(state)[KIND]

    state = table(cash={0: 1_100}, owns={0: (8, 9)})
    roll(state, 2, 4)
    assert BUY == choice(state)[KIND]


def test_bids_go_up_to_the_worth() -> None:
    worth = worth_of(table(), 0, 5)
    bid = worth - worth % 100
    for amount, expected in ((bid - 100, BID), (bid, PASS_BID)):
        state = table()
        start_auction(state, 5, 3, [])
        state.auction_leader, state.auction_bid = 1, amount

        assert expected == choice(state)[KIND]


def test_property_is_worth_more_that_completes_or_denies_a_group() -> None:
    plain = worth_of(table(), 0, 19)
    completing = worth_of(table(owns={0: (16, 18)}), 0, 19)
    denying = worth_of(table(owns={1: (16, 18)}), 0, 19)

    assert 2_000 < plain < denying < completing


def test_who_is_broke_need_not_be_denied() -> None:
    owns = {1: (16, 18)}

    assert worth_of(table(owns=owns, cash={1: 1_999}), 0, 19) == worth_of(
        table(owns=owns, cash={1: 0}), 0, 19
    )


def test_building_goes_where_it_brings_most_for_its_cost() -> None:
    state = table(owns={0: (16, 18, 19, 37, 39)}, levels={16: 1, 18: 1, 19: 1})

    assert (BUILD, 0) == choice(state)[:2]
    assert choice(state)[2] in (16, 18, 19)


def test_rents_ahead_keep_cash_from_being_built_with() -> None:
    ahead = {1: (37, 39)}
    levels = {37: 5, 39: 5}
    near = table(owns={0: (16, 18, 19), **ahead}, levels=levels, cash={0: 5_000}, at={0: 30})
    far = table(owns={0: (16, 18, 19), **ahead}, levels=levels, cash={0: 5_000}, at={0: 0})

    assert ROLL == choice(near)[KIND]
    assert BUILD == choice(far)[KIND]


def test_what_stands_alone_is_mortgaged_for_a_building() -> None:
    owns = {0: (5, 16, 18, 19)}

    assert (MORTGAGE, 0, 5) == choice(table(owns=owns, cash={0: 700}))
    assert ROLL == choice(table(owns=owns, cash={0: 100}))[KIND]
    assert ROLL == choice(table("speed@full", owns=owns, cash={0: 700}))[KIND]


def test_mortgage_of_a_whole_group_is_redeemed_first() -> None:
    state = table(owns={0: (5, 16, 18, 19)}, mortgaged=(5, 18))

    assert (REDEEM, 0, 18) == choice(state)


def test_rich_trader_redeems() -> None:
    assert (REDEEM, 0, 5) == choice(table(owns={0: (5,)}, mortgaged=(5,)))


def test_cash_is_raised_where_least_rent_is_lost() -> None:
    state = table(
        owns={0: (5, 15, 25, 35, 1, 16, 18, 19)}, levels={16: 3, 18: 3, 19: 3}, cash={0: 0}
    )
    open_debt(state, 0, [(NOBODY, 6_000, 7)], [])
    raised = []
    while state.debts:
        action = choice(state)
        raised.append(action[:3])
        act(state, action)

    assert (MORTGAGE, 0, 1) == raised[0]
    assert SELL_BUILDING == raised[-2][KIND]


@pytest.mark.parametrize("ruleset", ALL)
def test_jail_is_left_while_there_is_property_to_be_bought(ruleset: str) -> None:
    early, late = table(ruleset, jailed={0: 0}), table(ruleset, jailed={0: 0})
    for square in PROPERTIES:
        late.give(square, 1)
    expected = PAY_BAIL if rules(ruleset).bail_timing == 0 else ROLL

    assert expected == choice(early)[KIND]
    assert ROLL == choice(late)[KIND]


def test_bus_takes_the_best_of_three_squares() -> None:
    state = table("speed@full", owns={1: (5, 8)}, at={0: 3}, round_number=7)
    state.dice = [3, 2, 4]
    state.stack.append((PHASE_BUS, 0, 0, state.serial + 1))

    assert (CHOOSE_BUS, 0, BUS_FIRST) == choice(state)


def test_triple_takes_what_completes_a_group() -> None:
    state = table("speed@full", owns={0: (16, 18)}, round_number=7)
    state.stack.append((PHASE_TRIPLE, 0, 0, state.serial + 1))

    assert (CHOOSE_SQUARE, 0, 19) == choice(state)


def test_deck_is_not_looked_at() -> None:
    """The order of the cards is nobody's to know."""
    state = ready(table(owns={0: (6, 8, 14), 1: (9, 11, 13)}))
    shuffled = state.clone()
    shuffled.deck.reverse()

    assert choice(state) == choice(shuffled)


def test_rivals_cards_are_not_looked_at() -> None:
    """A collection card shows only in the rents it raises."""
    owns = {0: (16, 18, 19), 1: (37, 39)}
    for cash in range(500, 15_000, 250):
        plain = table(owns=owns, cash={0: cash}, at={0: 30})
        raised = table(owns=owns, cash={0: cash}, at={0: 30}, cards={1: {37: 3_300, 39: 3_300}})

        assert choice(plain) == choice(raised)


def test_without_a_partner_who_may_trade_it_just_rolls() -> None:
    state = ready(table(replace(rules(), max_offers=0), owns={0: (6, 8, 14), 1: (9, 11, 13)}))

    assert ROLL == choice(state)[KIND]
