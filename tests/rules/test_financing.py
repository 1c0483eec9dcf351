"""Financing for VIPs: murabaha and loans (FIN)."""

import pytest

from opolyx_rules import RULESETS, State, actors
from opolyx_rules.actions import (
    BUY,
    BUY_BY,
    DECLARE_BANKRUPTCY_BY,
    DECLINE_PURCHASE,
    FINANCE_PURCHASE,
    FINANCE_PURCHASE_BY,
    MORTGAGE_BY,
    PAY_DEBT_BY,
    PAY_OFF_FINANCING,
    PAY_OFF_FINANCING_BY,
    SURRENDER,
    propose_trade,
)
from opolyx_rules.content.boards import PRICE
from opolyx_rules.events import (
    BUILDING_SOLD,
    FINANCING_SETTLED,
    PROPERTY_FINANCED,
    PROPERTY_MOVED,
)
from opolyx_rules.ids import (
    BANK,
    CASH_FINANCING,
    NOBODY,
    PHASE_AUCTION,
    PHASE_BUY,
    PHASE_PAYMENT,
    PHASE_ROLL,
    PROPERTY_FINANCING,
)
from opolyx_rules.queries import awaited_phase, financing_owed, liquidation_value, net_worth
from opolyx_rules.reasons import FINANCED, NO_FINANCING, NOT_ENOUGH_CASH
from opolyx_rules.ruleset import (
    BANKRUPT_LIQUIDATES,
    FINANCING_LOAN,
    FINANCING_MURABAHA,
    FINANCING_NONE,
)
from support_rules import (
    act,
    found,
    is_legal,
    kinds,
    owned,
    paid,
    rulesets_with,
    stop_on,
    table,
    time_out,
    why,
)

NONE = rulesets_with(financing=FINANCING_NONE)
MURABAHA = rulesets_with(financing=FINANCING_MURABAHA)
LOAN = rulesets_with(financing=FINANCING_LOAN)
FINANCING = MURABAHA + LOAN


def financed(ruleset: str) -> State:
    """Seat 0, a VIP, has just financed square 11 in round 1; seat 1 is to roll."""
    state = table(ruleset, vip=(0,))
    stop_on(state, 11)
    act(state, FINANCE_PURCHASE_BY[0])
    return state


def to_round(state: State, round_number: int) -> None:
    """Let the rounds pass up to seat 0's turn in this one; the table stays as it is."""
    state.round = round_number - 1 if state.turn_seat else round_number
    if state.turn_seat:
        idle_to_seat_0(state)


def idle_to_seat_0(state: State) -> None:
    """The others' turns pass by the clock, without counting."""
    while actors(state) != [0]:
        seat = actors(state)[0]
        time_out(state)
        state.missed[seat] = 0


@pytest.mark.rule("FIN-1", "BUY-2")
@pytest.mark.statement("R031")
@pytest.mark.parametrize("ruleset", MURABAHA)
def test_murabaha_buys_at_list_price_and_a_fifth_with_nothing_down(ruleset: str) -> None:
    state = table(ruleset, vip=(0,), round_number=3)
    stop_on(state, 11)

    log = act(state, FINANCE_PURCHASE_BY[0])

    assert [(PROPERTY_FINANCED, 0, 11, 1_680, 18)] == found(log, PROPERTY_FINANCED)
    assert [(PROPERTY_MOVED, 11, BANK, 0, PROPERTY_FINANCING)] == found(log, PROPERTY_MOVED)
    assert (0, 15_000) == (state.owner[11], state.cash[0])


@pytest.mark.rule("FIN-1")
@pytest.mark.statement("R031")
@pytest.mark.parametrize("elapsed", [0, 1, 7, 14])
@pytest.mark.parametrize("ruleset", MURABAHA)
def test_murabahas_price_is_fixed_at_the_purchase(ruleset: str, elapsed: int) -> None:
    state = financed(ruleset)
    to_round(state, 1 + max(elapsed, 1))

    log = act(state, PAY_OFF_FINANCING_BY[0])

    assert 1_680 == paid(log, CASH_FINANCING)
    assert [(FINANCING_SETTLED, 0, 11, 1_680)] == found(log, FINANCING_SETTLED)
    assert (0, NOBODY, 0) == (state.owner[11], state.financed[0], state.financed_round[0])
    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("FIN-2")
@pytest.mark.statement("R032")
@pytest.mark.parametrize(("elapsed", "owed"), [(0, 1_400), (1, 1_418), (7, 1_530), (15, 1_680)])
@pytest.mark.parametrize("ruleset", LOAN)
def test_loans_interest_grows_evenly_by_the_round(ruleset: str, elapsed: int, owed: int) -> None:
    """1400 and 280 x elapsed / 15, rounded down; no more after round 15."""
    state = financed(ruleset)
    state.round = 1 + elapsed

    assert owed == financing_owed(state, 0)
    state.round = 1 + 20
    assert 1_680 == financing_owed(state, 0)


@pytest.mark.rule("FIN-2")
@pytest.mark.statement("R032")
@pytest.mark.parametrize("ruleset", LOAN)
def test_loan_is_paid_off_before_the_roll(ruleset: str) -> None:
    state = financed(ruleset)
    to_round(state, 4)
    assert PAY_OFF_FINANCING in kinds(state, 0)

    log = act(state, PAY_OFF_FINANCING_BY[0])

    assert 1_456 == paid(log, CASH_FINANCING)
    assert not is_legal(state, PAY_OFF_FINANCING_BY[0])


@pytest.mark.rule("FIN-1", "FIN-2")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_paying_off_takes_the_whole_in_hand(ruleset: str) -> None:
    state = financed(ruleset)
    to_round(state, 2)
    owed = financing_owed(state, 0)
    state.cash[0] = owed - 1

    assert (NOT_ENOUGH_CASH, "FIN-1") == why(state, PAY_OFF_FINANCING_BY[0])
    state.cash[0] = owed
    act(state, PAY_OFF_FINANCING_BY[0])
    assert 0 == state.cash[0]


@pytest.mark.rule("FIN-1")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_prisoner_pays_off_before_the_roll(ruleset: str) -> None:
    state = financed(ruleset)
    state.position[0], state.jailed[0] = 10, 1
    to_round(state, 2)

    act(state, PAY_OFF_FINANCING_BY[0])

    assert NOBODY == state.financed[0]


@pytest.mark.rule("FIN-1", "FIN-2", "DEBT-1")
@pytest.mark.statement("R031", "R032")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_financing_is_a_debt_at_the_start_of_the_turn_fifteen_rounds_on(ruleset: str) -> None:
    state = financed(ruleset)
    to_round(state, 15)
    assert PHASE_ROLL == awaited_phase(state)
    time_out(state)
    state.missed[0] = 0
    idle_to_seat_0(state)

    assert (16, PHASE_PAYMENT) == (state.round, awaited_phase(state))
    log = act(state, PAY_DEBT_BY[0])

    assert 1_680 == paid(log, CASH_FINANCING)
    assert [(FINANCING_SETTLED, 0, 11, 1_680)] == found(log, FINANCING_SETTLED)
    assert NOBODY == state.financed[0]
    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("FIN-1", "FIN-3", "DEBT-4", "DEBT-7")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_who_cannot_pay_financing_is_bankrupt_and_the_property_goes_back(ruleset: str) -> None:
    """The financed property counts nothing towards raising cash."""
    state = financed(ruleset)
    to_round(state, 15)
    state.cash[0] = 1_679
    time_out(state)
    state.missed[0] = 0
    idle_to_seat_0(state)
    assert PHASE_PAYMENT == awaited_phase(state)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert 1_679 == paid(log, CASH_FINANCING)
    assert NOBODY == state.owner[11]


@pytest.mark.rule("FIN-1", "FIN-2")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_only_vips_may_finance(ruleset: str) -> None:
    state = table(ruleset, vip=(1,))
    stop_on(state, 11)

    assert (NO_FINANCING, "FIN-1") == why(state, FINANCE_PURCHASE_BY[0])
    assert {BUY, DECLINE_PURCHASE} <= kinds(state, 0)
    assert FINANCE_PURCHASE not in kinds(state, 0)


@pytest.mark.rule("FIN-1", "FIN-2")
@pytest.mark.parametrize("ruleset", NONE)
def test_nobody_finances_in_other_editions(ruleset: str) -> None:
    state = table(ruleset, vip=(0,))
    stop_on(state, 11)

    assert (NO_FINANCING, "FIN-1") == why(state, FINANCE_PURCHASE_BY[0])
    assert (NO_FINANCING, "FIN-1") == why(table(ruleset, vip=(0,)), PAY_OFF_FINANCING_BY[0])


@pytest.mark.rule("BUY-2", "FIN-1")
@pytest.mark.parametrize(("vip", "phase"), [((0,), PHASE_BUY), ((), PHASE_AUCTION)])
@pytest.mark.parametrize("ruleset", FINANCING)
def test_vip_without_cash_has_a_buy_decision(
    ruleset: str, vip: tuple[int, ...], phase: int
) -> None:
    state = table(ruleset, cash={0: 0}, vip=vip)

    stop_on(state, 11)

    assert phase == awaited_phase(state)
    if vip:
        assert {FINANCE_PURCHASE, DECLINE_PURCHASE} == kinds(state, 0)


@pytest.mark.rule("FIN-3")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_one_financed_property_a_player_at_a_time(ruleset: str) -> None:
    state = financed(ruleset)
    to_round(state, 2)

    stop_on(state, 13)
    assert (NO_FINANCING, "FIN-1") == why(state, FINANCE_PURCHASE_BY[0])
    act(state, BUY_BY[0])
    idle_to_seat_0(state)
    act(state, PAY_OFF_FINANCING_BY[0])
    stop_on(state, 14)

    assert FINANCE_PURCHASE in kinds(state, 0)


@pytest.mark.rule("FIN-3")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_financed_property_is_neither_mortgaged_nor_traded(ruleset: str) -> None:
    state = financed(ruleset)
    to_round(state, 2)

    assert (FINANCED, "FIN-3") == why(state, MORTGAGE_BY[0][11])
    offer = propose_trade(0, 1, give_squares=(11,), want_cash=1_400)
    assert (FINANCED, "FIN-3") == why(state, offer)
    assert 0 == liquidation_value(state, 0)
    act(state, PAY_OFF_FINANCING_BY[0])
    assert is_legal(state, offer)
    act(state, MORTGAGE_BY[0][11])


@pytest.mark.rule("FIN-3", "DEBT-9")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_surrender_returns_the_financed_property_to_the_bank(ruleset: str) -> None:
    """In Team mode too: the ally inherits the others, not what was never paid."""
    state = financed(ruleset)
    state.give(13, 0)

    act(state, (SURRENDER, 0))

    assert NOBODY == state.owner[11]
    assert (NOBODY if RULESETS[ruleset].team_bankruptcy == BANKRUPT_LIQUIDATES else 2) == (
        state.owner[13]
    )
    assert (NOBODY, 0) == (state.financed[0], state.financed_round[0])


@pytest.mark.rule("FIN-3", "BUILD-4")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_buildings_in_the_financed_group_are_sold_before_it_goes_back(ruleset: str) -> None:
    state = financed(ruleset)
    for square, level in ((11, 1), (13, 1), (14, 0)):
        state.give(square, 0)
        state.level[square] = level
    before = state.cash[0]

    log = act(state, (SURRENDER, 0))

    assert 2 == len(found(log, BUILDING_SOLD))
    assert [0, 0, 0] == [state.level[square] for square in (11, 13, 14)]
    assert before + 2 * 500 <= sum(move[3] for move in log if move[0] == 7 and move[1] == 0)


@pytest.mark.rule("FIN-3", "END-3")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_net_worth_takes_off_what_is_owed(ruleset: str) -> None:
    state = financed(ruleset)

    assert 15_000 + PRICE[11] - financing_owed(state, 0) == net_worth(state, 0)


@pytest.mark.rule("FIN-1", "CLOCK-3")
@pytest.mark.parametrize("ruleset", FINANCING)
def test_clock_pays_financing_that_is_due(ruleset: str) -> None:
    state = financed(ruleset)
    state.give(5, 0)
    state.cash[0] = 700
    to_round(state, 15)
    time_out(state)
    state.missed[0] = 0
    idle_to_seat_0(state)
    assert PHASE_PAYMENT == awaited_phase(state)

    log = time_out(state)

    assert 1_680 == paid(log, CASH_FINANCING)
    assert [5, 11] == owned(state, 0)
    assert (NOBODY, 20) == (state.financed[0], state.cash[0])
