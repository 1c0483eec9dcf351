"""The built-in trader: takes what loses it nothing, and nothing else."""

import pytest

from opolyx_rules import Action, State
from opolyx_rules.actions import ACCEPT_TRADE, DECLINE_TRADE, KIND, propose_trade
from opolyx_rules.chance import SeededChance
from opolyx_rules.policies import POLICIES
from support_rules import ALL, act, table


def answer(state: State, **terms: object) -> int:
    """What the trader in seat 1 answers to this offer of seat 0."""
    act(state, propose_trade(0, 1, **terms))  # type: ignore[arg-type]
    action: Action = POLICIES["trader"](state, 1, SeededChance(b"own"))
    return action[KIND]


@pytest.mark.statement("R131")
@pytest.mark.parametrize("ruleset", ALL)
def test_deal_that_loses_nothing_is_taken(ruleset: str) -> None:
    state = table(ruleset, owns={1: (5,)})

    assert ACCEPT_TRADE == answer(state, give_cash=2_000, want_squares=(5,))


@pytest.mark.statement("R131")
@pytest.mark.parametrize("ruleset", ALL)
def test_deal_that_loses_value_is_declined(ruleset: str) -> None:
    state = table(ruleset, owns={1: (5,)})

    assert DECLINE_TRADE == answer(state, give_cash=1_999, want_squares=(5,))


def test_property_that_makes_the_others_group_is_worth_double() -> None:
    assert DECLINE_TRADE == answer(
        table(owns={0: (1,), 1: (3,)}), give_cash=1_199, want_squares=(3,)
    )
    assert ACCEPT_TRADE == answer(
        table(owns={0: (1,), 1: (3,)}), give_cash=1_200, want_squares=(3,)
    )


def test_own_group_is_not_broken_for_its_list_price() -> None:
    state = table(owns={0: (5,), 1: (6, 8, 9)})

    assert DECLINE_TRADE == answer(state, give_squares=(5,), want_squares=(9,))


def test_swap_that_makes_a_group_on_each_side_is_taken() -> None:
    state = table(owns={0: (1, 6), 1: (3, 8, 9)})

    assert ACCEPT_TRADE == answer(state, give_squares=(6,), want_squares=(3,))


def test_reserve_stays_in_hand() -> None:
    state = table(owns={0: (5,), 2: (39,)}, cash={1: 2_100}, levels={39: 0})

    assert DECLINE_TRADE == answer(state, give_squares=(5,), want_cash=2_000)


def test_without_an_offer_it_plays_like_steady() -> None:
    state = table(owns={0: (1, 3)})
    own = SeededChance(b"own")

    assert POLICIES["steady"](state, 0, own) == POLICIES["trader"](state, 0, own)
