"""The trader is the better player: some of the games of `make policies`, always the same ones."""

import pytest

from compare_policies import SEATINGS, interval, next_decision, play, report
from opolyx_rules.actions import propose_trade
from support_rules import act, table

SEATING_ROUNDS = 4
"""How often each seating is played: 24 games, of which the trader wins about three in four."""


@pytest.mark.timeout(300)
def test_trader_beats_steady() -> None:
    outcomes = [
        play(number, "classic@full", "trader", "steady")
        for number in range(SEATING_ROUNDS * len(SEATINGS))
    ]
    won = sum(outcome.won for outcome in outcomes)

    assert won >= 0.6 * len(outcomes), report(outcomes)
    assert all(outcome.agreed <= outcome.proposed for outcome in outcomes)
    assert any(outcome.agreed for outcome in outcomes)


def test_equal_numbers_give_equal_games() -> None:
    one, again = (play(4, "blitz@full", "trader", "random") for _ in range(2))

    assert (one.won, one.rounds, one.proposed) == (again.won, again.rounds, again.proposed)


def test_sides_are_not_split() -> None:
    """In Team mode a side is one policy's: one of the two policies wins, not half of each."""
    outcomes = [play(number, "team@full", "trader", "random") for number in range(2)]

    assert [True, True] == [outcome.won for outcome in outcomes]


def test_offers_are_asked_before_the_table_goes_on() -> None:
    state = table(owns={1: (5,), 2: (15,)})
    assert 0 == next_decision(state)[1]
    for partner, square in ((1, 5), (2, 15)):
        act(state, propose_trade(0, partner, give_cash=2_000, want_squares=(square,)))

    seen, seat = next_decision(state)
    assert (1, state.offers[:1]) == (seat, seen.offers)
    assert 2 == len(state.offers)


def test_interval_is_that_of_wilson() -> None:
    low, high = interval(300, 400)

    assert (0.7053, 0.7899) == (round(low, 4), round(high, 4))
