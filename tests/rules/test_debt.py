"""Debts, the payment pause, bankruptcy and surrender (DEBT)."""

import pytest

from opolyx_rules import RULESETS, actors, result
from opolyx_rules.actions import (
    ACCEPT_TRADE,
    BUILD_BY,
    BUY_BY,
    DECLARE_BANKRUPTCY,
    DECLARE_BANKRUPTCY_BY,
    MORTGAGE,
    MORTGAGE_BY,
    PAY_DEBT,
    PAY_DEBT_BY,
    REDEEM_BY,
    SELL_BUILDING,
    SELL_BUILDING_BY,
    SURRENDER,
    propose_trade,
)
from opolyx_rules.content.boards import BUILD_COST, PRICE
from opolyx_rules.events import (
    BANKRUPTED,
    BUILDING_SOLD,
    DEBT_OPENED,
    DEBT_REDIRECTED,
    DEBT_SETTLED,
    ELIMINATED,
    GAME_ENDED,
    GOD_LEFT,
    PROPERTY_MORTGAGED,
    PROPERTY_MOVED,
    RENT_CHARGED,
    SURRENDERED,
)
from opolyx_rules.ids import (
    BANK,
    CASH_CARD,
    CASH_FORFEIT,
    CASH_LIQUIDATION,
    CASH_RENT,
    CASH_RENT_TAX,
    CASH_TAX,
    END_LAST_STANDING,
    GOD_WEALTH,
    NOBODY,
    PHASE_PAYMENT,
    PHASE_ROLL,
    PROPERTY_INHERITANCE,
    PROPERTY_LIQUIDATION,
    SURRENDER_CHOICE,
)
from opolyx_rules.queries import awaited_phase, step_seconds
from opolyx_rules.reasons import NOT_ENOUGH_CASH, OUT_OF_GAME, RAISING_ONLY, SOLVENT
from opolyx_rules.ruleset import BANKRUPT_LIQUIDATES, BANKRUPT_TO_TEAMMATE
from support_rules import (
    ALL,
    act,
    cash_moves,
    draw,
    found,
    idle_until,
    is_legal,
    kinds,
    names,
    owned,
    paid,
    roll,
    rulesets_with,
    stop_on,
    table,
    time_out,
    why,
)

LIQUIDATES = rulesets_with(team_bankruptcy=BANKRUPT_LIQUIDATES)
TO_TEAMMATE = rulesets_with(team_bankruptcy=BANKRUPT_TO_TEAMMATE)
STANDARD_DECK = [name for name in ALL if RULESETS[name].deck != "fortune"]
FREE_FOR_ALL = rulesets_with(sides=0)
TAXED = [name for name in ALL if RULESETS[name].rent_tax_from <= RULESETS[name].round_cap]


# The pause


@pytest.mark.rule("DEBT-1", "DEBT-2", "RENT-9")
@pytest.mark.statement("R098", "R160", "R163")
@pytest.mark.parametrize("ruleset", ALL)
def test_rent_pauses_and_is_paid_by_hand(ruleset: str) -> None:
    state = table(ruleset, owns={1: (24,)})

    log = stop_on(state, 24)
    assert [(DEBT_OPENED, 0, 200)] == found(log, DEBT_OPENED)
    assert (PHASE_PAYMENT, [0]) == (awaited_phase(state), actors(state))
    assert 15_000 == state.cash[0]
    log = act(state, PAY_DEBT_BY[0])

    assert [(7, 0, 1, 200, CASH_RENT)] == cash_moves(log)
    assert [(DEBT_SETTLED, 0, 200)] == found(log, DEBT_SETTLED)
    assert [1] == actors(state)


@pytest.mark.rule("DEBT-1")
@pytest.mark.statement("R056", "R160", "R163")
@pytest.mark.parametrize(("square", "tax"), [(4, 2_000), (38, 1_000)])
@pytest.mark.parametrize("ruleset", ALL)
def test_tax_pauses_and_goes_to_the_bank(ruleset: str, square: int, tax: int) -> None:
    state = table(ruleset)

    stop_on(state, square)
    assert 15_000 == state.cash[0]
    log = act(state, PAY_DEBT_BY[0])

    assert [(7, 0, BANK, tax, CASH_TAX)] == cash_moves(log)


@pytest.mark.rule("DEBT-2", "TURN-4", "BUILD-4", "MORT-1")
@pytest.mark.statement("R164")
@pytest.mark.parametrize("ruleset", ALL)
def test_debtor_sells_and_mortgages_then_pays_all(ruleset: str) -> None:
    """Tax 2000 with 800 in hand: a level sold (250), a street freed and mortgaged, and so on."""
    state = table(ruleset, cash={0: 800}, owns={0: (1, 3, 11)}, levels={1: 1})
    stop_on(state, 4)

    assert {SELL_BUILDING, MORTGAGE} == kinds(state, 0)
    assert (NOT_ENOUGH_CASH, "DEBT-2") == why(state, PAY_DEBT_BY[0])
    act(state, SELL_BUILDING_BY[0][1])
    act(state, MORTGAGE_BY[0][1])
    act(state, MORTGAGE_BY[0][11])
    assert 800 + 250 + 300 + 700 == state.cash[0]
    act(state, PAY_DEBT_BY[0])

    assert 50 == state.cash[0]


@pytest.mark.rule("DEBT-2", "TURN-4")
@pytest.mark.parametrize("ruleset", ALL)
def test_pause_is_for_raising_only(ruleset: str) -> None:
    state = table(ruleset, owns={0: (1, 3, 5)}, mortgaged=(5,))
    stop_on(state, 4)

    assert (RAISING_ONLY, "TURN-4") == why(state, BUILD_BY[0][1])
    assert (RAISING_ONLY, "TURN-4") == why(state, REDEEM_BY[0][5])


@pytest.mark.rule("DEBT-2", "TRADE-2")
@pytest.mark.statement("R129")
@pytest.mark.parametrize("ruleset", rulesets_with(trade_in_debt=True))
def test_debtor_trades_out_of_debt(ruleset: str) -> None:
    state = table(ruleset, cash={0: 1_000}, owns={0: (11,)})
    stop_on(state, 4)

    act(state, propose_trade(0, 1, give_squares=(11,), want_cash=1_000))
    act(state, (ACCEPT_TRADE, 1, state.last_offer))
    act(state, PAY_DEBT_BY[0])

    assert 0 == state.cash[0]
    assert 1 == state.owner[11]
    assert 0 == state.out_order[0]


@pytest.mark.rule("DEBT-3", "CLOCK-1")
@pytest.mark.statement("R177")
@pytest.mark.parametrize("ruleset", ALL)
def test_pause_has_at_least_75_seconds(ruleset: str) -> None:
    state = table(ruleset)
    stop_on(state, 4)

    assert max(RULESETS[ruleset].turn_seconds, 75) == 75 == step_seconds(state)


@pytest.mark.rule("DEBT-3")
@pytest.mark.statement("R165")
@pytest.mark.parametrize("ruleset", ALL)
def test_clock_mortgages_the_cheapest_first_then_pays(ruleset: str) -> None:
    state = table(ruleset, cash={0: 700}, owns={0: (39, 11, 1, 5)})
    stop_on(state, 4)

    log = time_out(state)

    assert [1, 11, 5] == [event[2] for event in found(log, PROPERTY_MORTGAGED)]
    assert 700 + 300 + 700 + 1_000 - 2_000 == state.cash[0]
    assert 0 == state.mortgaged[39]


@pytest.mark.rule("DEBT-3", "BUILD-2")
@pytest.mark.statement("R165")
@pytest.mark.parametrize("ruleset", rulesets_with(even_build=True))
def test_clock_then_sells_evenly_from_the_cheapest_group(ruleset: str) -> None:
    state = table(ruleset, cash={0: 0}, owns={0: (1, 3, 37, 39)}, levels={1: 2, 3: 2, 37: 1, 39: 1})
    stop_on(state, 38)

    log = time_out(state)

    assert [1, 3, 1, 3] == [event[2] for event in found(log, BUILDING_SOLD)]
    assert 0 == state.cash[0]
    assert [] == found(log, PROPERTY_MORTGAGED)


@pytest.mark.rule("DEBT-3")
@pytest.mark.statement("R165")
@pytest.mark.parametrize("ruleset", ALL)
def test_clock_sells_every_building_before_it_mortgages_what_that_freed(ruleset: str) -> None:
    """Tax 2000: station 1000, brown levels 2 x 250, then pink before the freed brown streets."""
    state = table(ruleset, cash={0: 0}, owns={0: (1, 3, 5, 11, 13, 14)}, levels={1: 1, 3: 1, 11: 1})
    stop_on(state, 4)

    log = time_out(state)

    raised = [event[2] for event in log if event[0] in (BUILDING_SOLD, PROPERTY_MORTGAGED)]
    assert [5, 1, 3, 11] == raised
    assert 0 == state.cash[0]


@pytest.mark.rule("DEBT-3")
@pytest.mark.statement("R165")
@pytest.mark.parametrize("ruleset", ALL)
def test_clock_at_last_mortgages_what_the_sale_freed(ruleset: str) -> None:
    state = table(ruleset, cash={0: 150}, owns={0: (1, 3)}, levels={1: 1, 3: 1})
    stop_on(state, 38)

    log = time_out(state)

    assert [1, 3] == [event[2] for event in found(log, PROPERTY_MORTGAGED)]
    assert 150 + 500 + 600 - 1_000 == state.cash[0]


@pytest.mark.rule("DEBT-3", "DEBT-7")
@pytest.mark.statement("R165")
@pytest.mark.parametrize("ruleset", ALL)
def test_clock_bankrupts_who_cannot_raise_enough(ruleset: str) -> None:
    state = table(ruleset, cash={0: 100}, owns={0: (1,)})
    stop_on(state, 38)

    log = time_out(state)

    assert [(BANKRUPTED, 0, 1_000, 400)] == found(log, BANKRUPTED)
    assert 1 == state.out_order[0]


# Where the line is


@pytest.mark.rule("DEBT-4")
@pytest.mark.statement("R166")
@pytest.mark.parametrize(("cash", "bankrupt"), [(900, False), (899, True)])
@pytest.mark.parametrize("ruleset", ALL)
def test_equal_is_solvent_and_one_less_is_not(ruleset: str, cash: int, bankrupt: bool) -> None:
    """Case A-05: owed 1500, a street of 1200 raises 600."""
    state = table(ruleset, seats=4, cash={0: cash}, owns={0: (9,), 1: (12, 28)})
    log = stop_on(state, 12, dice=(9, 6, 0))
    assert [(DEBT_OPENED, 0, 1_500)] == found(log, DEBT_OPENED)

    assert bankrupt == is_legal(state, DECLARE_BANKRUPTCY_BY[0])
    assert bankrupt == (DECLARE_BANKRUPTCY in kinds(state, 0))
    assert not is_legal(state, (99, 0))
    if not bankrupt:
        assert (SOLVENT, "DEBT-4") == why(state, DECLARE_BANKRUPTCY_BY[0])
        act(state, MORTGAGE_BY[0][9])
        assert {PAY_DEBT} == kinds(state, 0)
        act(state, PAY_DEBT_BY[0])
        assert (0, 0) == (state.cash[0], state.out_order[0])
        return
    act(state, MORTGAGE_BY[0][9])
    assert {DECLARE_BANKRUPTCY} == kinds(state, 0)
    act(state, DECLARE_BANKRUPTCY_BY[0])
    assert 1 == state.out_order[0]


@pytest.mark.rule("DEBT-3", "DEBT-4")
@pytest.mark.parametrize("ruleset", ALL)
def test_clock_pays_for_who_is_just_solvent(ruleset: str) -> None:
    """Case A-05, third run."""
    state = table(ruleset, cash={0: 400}, owns={0: (9,)})
    stop_on(state, 38)

    time_out(state)

    assert (0, 0) == (state.cash[0], state.out_order[0])
    assert state.mortgaged[9]


@pytest.mark.rule("DEBT-4", "BUILD-4", "MORT-1")
@pytest.mark.statement("R166")
@pytest.mark.parametrize(("cash", "legal"), [(149, True), (150, False)])
@pytest.mark.parametrize("ruleset", ALL)
def test_line_counts_half_of_buildings_and_of_unmortgaged_property(
    ruleset: str, cash: int, legal: bool
) -> None:
    """A level 250, two streets of 600, nothing for the mortgaged station: 850 and the cash."""
    state = table(ruleset, cash={0: cash}, owns={0: (1, 3, 5)}, levels={3: 1}, mortgaged=(5,))

    stop_on(state, 38)

    assert legal == is_legal(state, DECLARE_BANKRUPTCY_BY[0])


@pytest.mark.rule("DEBT-1", "DEBT-4")
@pytest.mark.parametrize("ruleset", ALL)
def test_debtor_always_has_a_way(ruleset: str) -> None:
    """Pay or declare, never both, and never neither when there is nothing to raise."""
    for cash in (0, 999, 1_000, 1_001):
        state = table(ruleset, cash={0: cash})
        stop_on(state, 38)
        assert ({PAY_DEBT} if cash >= 1_000 else {DECLARE_BANKRUPTCY}) == kinds(state, 0)


# Bankruptcy


@pytest.mark.rule("DEBT-5", "CHANCE-5", "RTAX-2")
@pytest.mark.statement("R168")
@pytest.mark.parametrize("cash", [900, 1_000])
@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize("ruleset", STANDARD_DECK)
def test_several_creditors_share_in_proportion(ruleset: str, late: bool, cash: int) -> None:
    """Case A-04: what rounding leaves goes to the bank; card money is never rent-taxed."""
    others = [1, 3] if RULESETS[ruleset].sides else [1, 2, 3]
    state = table(
        ruleset,
        cash={0: cash},
        round_number=min(250, RULESETS[ruleset].round_cap) if late else 1,
    )
    draw(state, "charity_dinner")
    if cash >= 500 * len(others):
        assert not is_legal(state, DECLARE_BANKRUPTCY_BY[0])
        return

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    share = cash // len(others)
    assert [(7, 0, other, share, CASH_CARD) for other in others] == cash_moves(log)[: len(others)]
    assert cash - share * len(others) == paid(log, CASH_FORFEIT)
    assert 0 == paid(log, CASH_RENT_TAX)
    assert cash == sum(move[3] for move in cash_moves(log))
    assert 1 == state.out_order[0]


@pytest.mark.rule("DEBT-5", "RTAX-1", "RENT-9")
@pytest.mark.parametrize("ruleset", TAXED)
def test_rent_tax_is_a_creditor_like_the_others(ruleset: str) -> None:
    """Owed 1000 at 4900 bp or so: each claim gets its share of 400, rounded down."""
    fields = RULESETS[ruleset]
    middle = (fields.rent_tax_from + fields.rent_tax_full) // 2
    state = table(ruleset, cash={0: 400}, owns={1: (5, 15, 25)}, round_number=middle, mortgaged=())
    log = stop_on(state, 5)
    (charged,) = found(log, RENT_CHARGED)
    withheld = 1_000 * charged[6] // 10_000
    assert 0 < withheld < 1_000

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert 400 * (1_000 - withheld) // 1_000 == paid(log, CASH_RENT)
    assert 400 * withheld // 1_000 == paid(log, CASH_RENT_TAX)
    assert 400 == sum(move[3] for move in cash_moves(log))


@pytest.mark.rule("DEBT-6")
@pytest.mark.statement("R172")
@pytest.mark.parametrize("ruleset", ALL)
def test_share_of_a_creditor_who_is_out_goes_to_the_bank(ruleset: str) -> None:
    """Case A-06: the creditor surrenders during the pause."""
    state = table(
        ruleset, cash={0: 400}, owns={0: (5,), 1: (11, 13, 14)}, levels={11: 2, 13: 1, 14: 1}
    )
    log = stop_on(state, 11)
    assert [(DEBT_OPENED, 0, 1_500)] == found(log, DEBT_OPENED)
    state.cash[0] = 700

    log = act(state, (SURRENDER, 1))
    assert [(DEBT_REDIRECTED, 0, 1, 1_500)] == found(log, DEBT_REDIRECTED)
    assert (PHASE_PAYMENT, [0]) == (awaited_phase(state), actors(state))
    act(state, MORTGAGE_BY[0][5])
    log = act(state, PAY_DEBT_BY[0])

    assert [(7, 0, BANK, 1_500, CASH_RENT)] == cash_moves(log)
    assert (200, 0) == (state.cash[0], state.cash[1])
    assert (PHASE_ROLL, [2]) == (awaited_phase(state), actors(state))  # not offered the square
    heir = 3 if RULESETS[ruleset].team_bankruptcy == BANKRUPT_TO_TEAMMATE else NOBODY
    assert heir == state.owner[13]


@pytest.mark.rule("DEBT-6", "END-1")
@pytest.mark.statement("R190")
@pytest.mark.parametrize("ruleset", FREE_FOR_ALL)
def test_creditor_of_two_who_leaves_ends_the_game(ruleset: str) -> None:
    """Case A-06, second run."""
    state = table(ruleset, seats=2, cash={0: 100}, owns={0: (5,), 1: (24,)})
    stop_on(state, 24)

    log = act(state, (SURRENDER, 1))

    assert [(GAME_ENDED, END_LAST_STANDING)] == found(log, GAME_ENDED)
    assert ([], []) == (state.debts, actors(state))
    assert [1, 2] == [seat.place for seat in result(state).seats]


@pytest.mark.rule("DEBT-7")
@pytest.mark.statement("R167", "R169", "R170")
@pytest.mark.parametrize("ruleset", LIQUIDATES)
def test_estate_is_liquidated_for_the_creditor(ruleset: str) -> None:
    """Case A-09: 300 and 1100 for an unmortgaged street of 2200, nothing for the mortgaged one."""
    owns = {0: (21, 6), 1: (37, 39)}
    state = table(
        ruleset, cash={0: 300, 3: 5_000}, owns=owns, mortgaged=(6,), levels={37: 2, 39: 1}
    )
    log = stop_on(state, 37)
    assert [(DEBT_OPENED, 0, 5_000)] == found(log, DEBT_OPENED)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert 1_100 == paid(log, CASH_LIQUIDATION)
    assert 16_400 == state.cash[1]
    assert [(BANKRUPTED, 0, 5_000, 1_400)] == found(log, BANKRUPTED)
    assert [(ELIMINATED, 0, 1)] == found(log, ELIMINATED)
    assert {
        (PROPERTY_MOVED, 6, 0, BANK, PROPERTY_LIQUIDATION),
        (PROPERTY_MOVED, 21, 0, BANK, PROPERTY_LIQUIDATION),
    } == set(found(log, PROPERTY_MOVED))
    assert [(NOBODY, 0, 0)] * 2 == [
        (state.owner[square], state.mortgaged[square], state.level[square]) for square in (6, 21)
    ]
    idle_until(state, 3)
    stop_on(state, 6)
    act(state, BUY_BY[3])
    assert 4_000 == state.cash[3]


@pytest.mark.rule("DEBT-7", "BUILD-4")
@pytest.mark.statement("R167")
@pytest.mark.parametrize("ruleset", LIQUIDATES)
def test_buildings_are_liquidated_at_half_their_cost(ruleset: str) -> None:
    state = table(
        ruleset, cash={0: 10}, owns={0: (1, 3), 1: (37, 39)}, levels={1: 1, 3: 2, 37: 5, 39: 4}
    )
    stop_on(state, 37)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert 10 + 3 * BUILD_COST[1] // 2 + PRICE[1] == paid(log, CASH_RENT)
    assert 0 == state.level[1] == state.level[3]


@pytest.mark.rule("DEBT-5", "DEBT-7")
@pytest.mark.parametrize("ruleset", TAXED)
def test_late_estate_is_split_between_the_owner_and_the_tax(ruleset: str) -> None:
    """Case A-09 when the tax is full: 99 % of all there is, 1,400 or only the cash, is the tax's."""
    fields = RULESETS[ruleset]
    state = table(
        ruleset,
        cash={0: 300},
        owns={0: (21,), 1: (37, 39)},
        levels={37: 2, 39: 1},
        round_number=fields.rent_tax_full,
    )
    stop_on(state, 37)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    expected = (14, 1_386) if ruleset in LIQUIDATES else (3, 297)
    assert expected == (paid(log, CASH_RENT), paid(log, CASH_RENT_TAX))
    assert [] == owned(state, 0)


@pytest.mark.rule("DEBT-8")
@pytest.mark.statement("R171")
@pytest.mark.parametrize("ruleset", TO_TEAMMATE)
def test_properties_go_to_the_next_ally_as_they_are(ruleset: str) -> None:
    """Case A-09 in the team: the creditor gets the 300 in cash only."""
    state = table(
        ruleset,
        seats=6,
        cash={0: 300},
        owns={0: (21, 6), 1: (37, 39)},
        mortgaged={6: 7},
        levels={37: 2, 39: 1},
        round_number=9,
    )
    stop_on(state, 37)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert 300 == paid(log, CASH_RENT)
    assert 0 == paid(log, CASH_LIQUIDATION)
    assert [6, 21] == owned(state, 2)
    assert (7, 0) == (state.mortgaged[6], state.mortgaged[21])
    assert (PROPERTY_MOVED, 6, 0, 2, PROPERTY_INHERITANCE) in log


@pytest.mark.rule("DEBT-8")
@pytest.mark.statement("R171")
@pytest.mark.parametrize("ruleset", TO_TEAMMATE)
def test_heir_is_the_next_ally_still_in(ruleset: str) -> None:
    state = table(
        ruleset, seats=6, cash={2: 0}, owns={2: (1, 3)}, levels={1: 1, 3: 2}, out=(4,), turn=2
    )
    stop_on(state, 4)
    state.cash[2] = 0

    act(state, (SURRENDER, 2))

    assert [1, 3] == owned(state, 0)
    assert (1, 2) == (state.level[1], state.level[3])


@pytest.mark.rule("DEBT-7", "DEBT-8")
@pytest.mark.statement("R167", "R171")
@pytest.mark.parametrize("ruleset", TO_TEAMMATE)
def test_without_an_ally_the_estate_is_liquidated(ruleset: str) -> None:
    """The last of a side: the game ends with the other side, whose creditor got the proceeds."""
    state = table(
        ruleset, cash={0: 300}, owns={0: (21,), 1: (37, 39)}, levels={37: 2, 39: 1}, out=(2,)
    )
    stop_on(state, 37)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert (1_100, 1_400) == (paid(log, CASH_LIQUIDATION), paid(log, CASH_RENT))
    assert [(GAME_ENDED, END_LAST_STANDING)] == found(log, GAME_ENDED)


@pytest.mark.rule("DEBT-7")
@pytest.mark.statement("R169", "R171")
@pytest.mark.parametrize("ruleset", [n for n in LIQUIDATES if RULESETS[n].sides])
def test_team_without_inheritance_liquidates(ruleset: str) -> None:
    state = table(ruleset, cash={0: 300}, owns={0: (21,), 1: (37, 39)}, levels={37: 2, 39: 1})
    stop_on(state, 37)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert 1_400 == paid(log, CASH_RENT)
    assert NOBODY == state.owner[21]
    assert [] == owned(state, 2)


@pytest.mark.rule("DEBT-7", "TURN-2", "END-4")
@pytest.mark.statement("R170")
@pytest.mark.parametrize(
    ("ruleset", "seats"), [*((name, 4) for name in ALL), *((name, 2) for name in FREE_FOR_ALL)]
)
def test_bankrupt_after_a_double_does_not_roll_again(ruleset: str, seats: int) -> None:
    """Case A-08: 100 in hand, 5-5 onto the fourth station of one owner."""
    state = table(ruleset, seats=seats, cash={0: 100}, owns={1: (5, 15, 25, 35)}, at={0: 25})
    log = roll(state, 5, 5)
    assert [(RENT_CHARGED, 0, 1, 35, 2_000, 0, 0)] == found(log, RENT_CHARGED)

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert 100 == paid(log, CASH_RENT)
    assert 1 == state.out_order[0]
    assert "bankrupted" in names(log)
    if seats == 2:
        assert [(GAME_ENDED, END_LAST_STANDING)] == found(log, GAME_ENDED)
        assert [] == actors(state)
        assert [2, 1] == [seat.place for seat in result(state).seats]
    else:
        assert (PHASE_ROLL, [1]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("DEBT-7")
@pytest.mark.statement("R170")
@pytest.mark.parametrize("ruleset", ALL)
def test_who_is_out_can_do_nothing(ruleset: str) -> None:
    state = table(ruleset, cash={0: 0})
    stop_on(state, 38)
    act(state, DECLARE_BANKRUPTCY_BY[0])

    assert (OUT_OF_GAME, "DEBT-7") == why(state, (SURRENDER, 0))
    assert (OUT_OF_GAME, "DEBT-7") == why(state, propose_trade(0, 1, give_cash=0))
    assert set() == kinds(state, 0)


@pytest.mark.rule("DEBT-7", "DEBT-9")
@pytest.mark.statement("R170")
@pytest.mark.parametrize("ruleset", ALL)
def test_who_goes_leaves_no_mark_behind(ruleset: str) -> None:
    state = table(ruleset, owns={0: (1, 3)})
    act(state, BUILD_BY[0][1])
    state.jailed[0], state.attempts[0], state.missed[0] = 1, 2, 1
    state.god[0], state.god_until[0] = GOD_WEALTH, 9

    log = act(state, (SURRENDER, 0))

    assert (0, 0, 0) == (state.jailed[0], state.attempts[0], state.missed[0])
    assert (0, 0) == (state.god[0], state.god_until[0])
    assert [(GOD_LEFT, 0, GOD_WEALTH)] == found(log, GOD_LEFT)
    assert 0 == state.built[1]


# Surrender


@pytest.mark.rule("DEBT-9")
@pytest.mark.statement("R011")
@pytest.mark.parametrize("seat", [0, 2])
@pytest.mark.parametrize("ruleset", LIQUIDATES)
def test_surrender_gives_cash_and_properties_to_the_bank(ruleset: str, seat: int) -> None:
    state = table(ruleset, owns={seat: (1, 3)}, levels={1: 1})

    log = act(state, (SURRENDER, seat))

    assert [(SURRENDERED, seat, SURRENDER_CHOICE)] == found(log, SURRENDERED)
    assert (0, [], 1) == (state.cash[seat], owned(state, seat), state.out_order[seat])
    assert 15_000 + 250 + 600 == paid(log, CASH_FORFEIT)
    assert 45_000 == sum(state.cash)
    assert [1 if seat == 0 else 0] == actors(state)


@pytest.mark.rule("DEBT-9", "DEBT-8")
@pytest.mark.statement("R171")
@pytest.mark.parametrize("ruleset", TO_TEAMMATE)
def test_surrender_gives_properties_to_the_ally(ruleset: str) -> None:
    state = table(ruleset, owns={0: (1, 3)}, levels={1: 1})

    log = act(state, (SURRENDER, 0))

    assert [1, 3] == owned(state, 2)
    assert 1 == state.level[1]
    assert 15_000 == paid(log, CASH_FORFEIT)


@pytest.mark.rule("DEBT-9", "DEBT-5")
@pytest.mark.parametrize("ruleset", LIQUIDATES)
def test_surrender_in_the_pause_meets_the_debt_first(ruleset: str) -> None:
    """Case A-19: owes 1200, has 400 and a street of 2000: 1200 are paid, 200 go to the bank."""
    state = table(
        ruleset, cash={0: 400}, owns={0: (19,), 1: (11, 13, 14)}, levels={14: 1, 13: 1, 11: 1}
    )
    stop_on(state, 14)
    state.debts = [(0, ((1, 1_200, CASH_RENT),))]

    log = act(state, (SURRENDER, 0))

    assert (1_200, 200) == (paid(log, CASH_RENT), paid(log, CASH_FORFEIT))
    assert 16_200 == state.cash[1]
    assert [1] == actors(state)


@pytest.mark.rule("DEBT-9", "TURN-6")
@pytest.mark.parametrize("double", [False, True])
@pytest.mark.parametrize("ruleset", ALL)
def test_next_in_turn_goes_out_within_anothers_turn(ruleset: str, double: bool) -> None:
    """Case A-11: nobody is skipped, seats and owners don't shift."""
    state = table(ruleset, cash={1: 50}, owns={2: (1,), 3: (3,)}, deck=["birthday"], at={0: 3})
    roll(state, 2, 2) if double else roll(state, 1, 3)
    assert [1] == actors(state)

    act(state, DECLARE_BANKRUPTCY_BY[1])

    if double:
        assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))
        state.position[0] = 7
        roll(state, 1, 2)
    assert (PHASE_ROLL, [2]) == (awaited_phase(state), actors(state))
    assert (1, 2, 3) == (state.round, state.owner[1], state.owner[3])
    others = 1 if RULESETS[ruleset].sides else 2
    assert 50 == state.cash[0] - 15_000 - 200 * others
    idle_until(state, 0)
    assert 2 == state.round
