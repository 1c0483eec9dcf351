"""Buying from the bank (BUY)."""

import pytest

from opolyx_rules import actors, get_ruleset
from opolyx_rules import events as ev
from opolyx_rules.actions import (
    BUY_BY,
    DECLINE_PURCHASE_BY,
    FINANCE_PURCHASE_BY,
    MORTGAGE_BY,
    SURRENDER_BY,
)
from opolyx_rules.content.boards import PRICE, PROPERTIES
from opolyx_rules.ids import (
    BANK,
    CASH_PURCHASE,
    NOBODY,
    PHASE_AUCTION,
    PHASE_BUY,
    PROPERTY_PURCHASE,
)
from opolyx_rules.queries import awaited_phase
from opolyx_rules.reasons import NOT_ENOUGH_CASH
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

FINANCED = [name for name in ALL if get_ruleset(name).financing]


@pytest.mark.rule("BUY-1", "BUY-3")
@pytest.mark.statement("R080", "R081")
@pytest.mark.parametrize("square", PROPERTIES)
def test_unowned_property_is_bought_at_list_price_unmortgaged_and_unbuilt(square: int) -> None:
    state = table()
    stop_on(state, square)
    log = act(state, BUY_BY[0])

    assert [(ev.CASH_MOVED, 0, BANK, PRICE[square], CASH_PURCHASE)] == cash_moves(log)
    assert [(ev.PROPERTY_MOVED, square, BANK, 0, PROPERTY_PURCHASE)] == found(
        log, ev.PROPERTY_MOVED
    )
    assert (0, 0, 0) == (state.owner[square], state.level[square], state.mortgaged[square])
    assert 15_000 - PRICE[square] == state.cash[0]


@pytest.mark.rule("BUY-1")
@pytest.mark.statement("R082")
@pytest.mark.parametrize("name", ALL)
def test_declined_property_is_auctioned(name: str) -> None:
    state = table(name)
    roll(state, 2, 3)
    log = act(state, DECLINE_PURCHASE_BY[0])

    assert [(ev.PURCHASE_DECLINED, 0, 5)] == found(log, ev.PURCHASE_DECLINED)
    assert [(ev.AUCTION_STARTED, 5, 2000)] == found(log, ev.AUCTION_STARTED)
    assert (PHASE_AUCTION, NOBODY, 15_000) == (awaited_phase(state), state.owner[5], state.cash[0])


@pytest.mark.rule("BUY-1")
@pytest.mark.parametrize("name", ALL)
def test_silence_declines(name: str) -> None:
    state = table(name)
    roll(state, 2, 3)
    log = time_out(state)

    assert [(ev.PURCHASE_DECLINED, 0, 5)] == found(log, ev.PURCHASE_DECLINED)
    assert PHASE_AUCTION == awaited_phase(state)


@pytest.mark.rule("BUY-1")
@pytest.mark.statement("R058")
@pytest.mark.parametrize("name", ALL)
def test_own_property_asks_nothing(name: str) -> None:
    state = table(name, owns={0: (5,)})
    roll(state, 2, 3)

    assert ([1], 15_000) == (actors(state), state.cash[0])


@pytest.mark.rule("BUY-2")
@pytest.mark.parametrize("name", ALL)
def test_exactly_the_price_is_enough_and_one_less_is_not(name: str) -> None:
    enough, short = table(name, cash={0: 2000}), table(name, cash={0: 1999})
    roll(enough, 2, 3)
    log = roll(short, 2, 3)

    assert PHASE_BUY == awaited_phase(enough)
    act(enough, BUY_BY[0])
    assert (0, 0) == (enough.cash[0], enough.owner[5])
    assert PHASE_AUCTION == awaited_phase(short)
    assert [] == found(log, ev.PURCHASE_DECLINED)
    assert [1, 2, 3, 0] == short.auction_queue


@pytest.mark.rule("BUY-2")
@pytest.mark.parametrize("name", rulesets_with(manage_after_roll=True))
def test_who_can_raise_the_price_is_asked_and_raises_it_there(name: str) -> None:
    state = table(name, cash={0: 1000}, owns={0: (25,)})
    roll(state, 2, 3)
    assert (NOT_ENOUGH_CASH, "BUY-1") == why(state, BUY_BY[0])

    act(state, MORTGAGE_BY[0][25])
    act(state, BUY_BY[0])
    assert (0, 0) == (state.cash[0], state.owner[5])


@pytest.mark.rule("BUY-2")
@pytest.mark.parametrize("name", rulesets_with(manage_after_roll=True))
def test_who_could_not_even_raise_the_price_is_not_asked(name: str) -> None:
    state = table(name, cash={0: 999}, owns={0: (25,)})
    roll(state, 2, 3)

    assert PHASE_AUCTION == awaited_phase(state)


@pytest.mark.rule("BUY-2")
@pytest.mark.parametrize("name", rulesets_with(manage_after_roll=False))
def test_what_could_be_raised_counts_only_where_it_can_be_raised(name: str) -> None:
    state = table(name, cash={0: 1999}, owns={0: (25, 35, 39)})
    roll(state, 2, 3)

    assert PHASE_AUCTION == awaited_phase(state)


@pytest.mark.rule("BUY-2")
@pytest.mark.parametrize("name", FINANCED)
def test_a_vip_who_may_finance_is_asked_without_cash(name: str) -> None:
    state = table(name, cash={0: 100}, vip=(0,))
    roll(state, 2, 3)

    assert PHASE_BUY == awaited_phase(state)
    assert (NOT_ENOUGH_CASH, "BUY-1") == why(state, BUY_BY[0])
    assert is_legal(state, FINANCE_PURCHASE_BY[0])
    act(state, FINANCE_PURCHASE_BY[0])
    assert (100, 0) == (state.cash[0], state.owner[5])


@pytest.mark.rule("BUY-2")
@pytest.mark.parametrize("name", FINANCED)
def test_a_vip_with_a_financed_property_is_like_others(name: str) -> None:
    state = table(name, cash={0: 100}, owns={0: (1,)}, vip=(0,))
    state.financed[0], state.financed_round[0] = 1, 1
    roll(state, 2, 3)

    assert PHASE_AUCTION == awaited_phase(state)


@pytest.mark.rule("BUY-2")
@pytest.mark.parametrize("name", rulesets_with(financing=0))
def test_where_nothing_is_financed_a_vip_is_like_others(name: str) -> None:
    state = table(name, cash={0: 100}, vip=(0,))
    roll(state, 2, 3)

    assert PHASE_AUCTION == awaited_phase(state)


@pytest.mark.rule("BUY-3")
@pytest.mark.parametrize("name", ALL)
def test_property_that_somebody_left_is_sold_clean(name: str) -> None:
    state = table(name, seats=4, owns={1: (5, 6, 8, 9)}, levels={6: 1, 8: 1, 9: 1}, mortgaged=[5])
    act(state, SURRENDER_BY[1])
    heirs = state.owner[5] != NOBODY
    if heirs:  # in full's Team the ally has them as they are
        act(state, SURRENDER_BY[3])
        assert state.over
        return
    stop_on(state, 5)
    act(state, BUY_BY[0])
    idle_until(state, 0)
    stop_on(state, 6)
    act(state, BUY_BY[0])

    assert [(0, 0, 0)] * 2 == [
        (state.owner[square], state.level[square], state.mortgaged[square]) for square in (5, 6)
    ]
