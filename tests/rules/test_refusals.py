"""Every reason for a refusal: reached, with the rule that refuses and the numbers behind it.

A row a reason; a reason without a row fails, so that a new one is shown here at once.
"""

from collections.abc import Callable
from typing import Final, NamedTuple

import pytest

from opolyx_rules import Action, IllegalAction, Refusal, ScriptedChance, State, apply
from opolyx_rules import reasons as why
from opolyx_rules.actions import (
    ACCEPT_TRADE,
    BUILD_BY,
    BUY_BY,
    CHOOSE_BUS,
    DECLARE_BANKRUPTCY_BY,
    DECLINE_PURCHASE_BY,
    FINANCE_PURCHASE_BY,
    LAPSE_OFFER,
    MORTGAGE_BY,
    PAY_BAIL_BY,
    PAY_DEBT_BY,
    PROPOSE_TRADE,
    REDEEM_BY,
    ROLL_BY,
    SELL_BUILDING_BY,
    SURRENDER,
    WAGER,
    WITHDRAW_TRADE,
    mask_of,
    propose_trade,
)
from opolyx_rules.codec import encode
from support_rules import act, refused, roll, rules, stop_on, table

Made = tuple[State, Action]


class Row(NamedTuple):
    """One way to a reason.

    Attributes:
        reason: The reason.
        rule: The rule that refuses.
        numbers: Names of the numbers that must come with it.
        make: Builds the table and the action.
    """

    reason: int
    rule: str
    numbers: tuple[str, ...]
    make: Callable[[], Made]


def game_over() -> Made:
    state = table(seats=2)
    act(state, (SURRENDER, 1))
    return state, ROLL_BY[0]


def in_debt(owns: tuple[int, ...] = (), **fields: int) -> State:
    state = table(cash={0: fields.get("cash", 500)}, owns={0: owns})
    stop_on(state, 38)
    return state


def buying(**fields: int) -> State:
    state = table(
        rules(manage_after_roll=True), cash={0: fields.get("cash", 15_000)}, owns={0: (39,)}
    )
    stop_on(state, 6)
    return state


def auction() -> State:
    state = table(owns={0: (5,), 1: (15,)})
    act(state, propose_trade(0, 1, give_squares=(5,), want_squares=(15,)))
    stop_on(state, 6)
    act(state, DECLINE_PURCHASE_BY[0])
    return state


def wager() -> State:
    state = table()
    stop_on(state, 20)
    return state


def bus() -> State:
    state = table("speed@full", round_number=7)
    roll(state, 4, 6, third=[3])
    return state


def brown(level: int = 0, **fields: object) -> State:
    return table(owns={0: (1, 3)}, levels={1: level}, **fields)  # type: ignore[arg-type]


def built_this_turn() -> State:
    state = table("speed@full", owns={0: (1, 3)})
    act(state, BUILD_BY[0][1])
    return state


def financed() -> State:
    state = table(vip=(0,), owns={0: (6,)})
    state.give(11, 0)
    state.financed[0], state.financed_round[0] = 11, 1
    return state


def offered(count: int = 1) -> State:
    state = table(owns={0: (5,), 1: (15,)})
    for _ in range(count):
        act(state, propose_trade(0, 1, give_cash=100, want_cash=100))
    return state


def swap(state: State, **terms: object) -> Made:
    return state, propose_trade(0, 1, **terms)  # type: ignore[arg-type]


ROWS: Final = [
    Row(why.GAME_OVER, "END-1", (), game_over),
    Row(why.OUT_OF_GAME, "DEBT-7", ("seat",), lambda: (table(out=(0,), turn=1), ROLL_BY[0])),
    Row(why.NOT_AWAITED, "TURN-1", ("awaited", "seat"), lambda: (table(), ROLL_BY[1])),
    Row(why.WRONG_PHASE, "TURN-1", ("action",), lambda: (table(), BUY_BY[0])),
    Row(why.WRONG_PHASE, "DEBT-2", ("action",), lambda: (in_debt(), ROLL_BY[0])),
    Row(why.WRONG_PHASE, "TURN-4", ("action",), lambda: (bus(), BUILD_BY[0][1])),
    Row(why.INVALID_ACTION, "TURN-1", (), lambda: (table(), (99, 0))),
    Row(why.INVALID_ACTION, "TURN-1", (), lambda: (table(), (5, 0, 5_000))),
    Row(why.INVALID_ACTION, "TURN-1", (), lambda: (table(), (1, 7))),
    Row(why.INVALID_ACTION, "TURN-1", (), lambda: (table(), ())),
    Row(why.INVALID_ACTION, "BOARD-1", ("square",), lambda: (table(), (9, 0, 40))),
    Row(why.INVALID_ACTION, "DIE-3", ("move",), lambda: (bus(), (CHOOSE_BUS, 0, 9))),
    Row(
        why.INVALID_ACTION,
        "TRADE-1",
        ("recipient",),
        lambda: (table(), (PROPOSE_TRADE, 0, 9, 1, 0, 1, 0)),
    ),
    Row(
        why.NOT_ENOUGH_CASH,
        "BUILD-1",
        ("square", "cost", "cash"),
        lambda: (brown(cash={0: 499}), BUILD_BY[0][1]),
    ),
    Row(
        why.NOT_ENOUGH_CASH,
        "MORT-2",
        ("square", "cost", "cash"),
        lambda: (brown(cash={0: 329}, mortgaged=(1,)), REDEEM_BY[0][1]),
    ),
    Row(why.NOT_ENOUGH_CASH, "BUY-1", ("price", "cash"), lambda: (buying(cash=999), BUY_BY[0])),
    Row(why.NOT_ENOUGH_CASH, "DEBT-2", ("owed", "cash"), lambda: (in_debt(), PAY_DEBT_BY[0])),
    Row(
        why.NOT_ENOUGH_CASH,
        "JAIL-2",
        ("bail", "cash"),
        lambda: (table(jailed={0: 0}, cash={0: 499}), PAY_BAIL_BY[0]),
    ),
    Row(
        why.NOT_ENOUGH_CASH,
        "TRADE-7",
        ("seat", "needed", "cash"),
        lambda: swap(table(), give_cash=15_001, want_cash=15_000),
    ),
    Row(why.NOT_A_PROPERTY, "MORT-1", ("square",), lambda: (table(), MORTGAGE_BY[0][0])),
    Row(why.NOT_A_PROPERTY, "MORT-2", ("square",), lambda: (table(), REDEEM_BY[0][2])),
    Row(why.NOT_A_PROPERTY, "TRADE-1", (), lambda: swap(table(), give_squares=(0,), want_cash=100)),
    Row(why.NOT_A_STREET, "BUILD-1", ("square",), lambda: (table(), BUILD_BY[0][5])),
    Row(why.NOT_A_STREET, "BUILD-4", ("square",), lambda: (table(), SELL_BUILDING_BY[0][12])),
    Row(why.NOT_OWNER, "BUILD-1", ("square",), lambda: (table(), BUILD_BY[0][1])),
    Row(why.NOT_OWNER, "BUILD-4", ("square",), lambda: (table(), SELL_BUILDING_BY[0][1])),
    Row(why.NOT_OWNER, "MORT-1", ("square",), lambda: (table(), MORTGAGE_BY[0][1])),
    Row(why.NOT_OWNER, "MORT-2", ("square",), lambda: (table(), REDEEM_BY[0][1])),
    Row(
        why.NOT_OWNER,
        "TRADE-1",
        ("square", "seat"),
        lambda: swap(table(), give_squares=(5,), want_cash=2_000),
    ),
    Row(
        why.GROUP_INCOMPLETE,
        "BUILD-1",
        ("square", "group"),
        lambda: (table(owns={0: (1,)}), BUILD_BY[0][1]),
    ),
    Row(
        why.GROUP_MORTGAGED,
        "BUILD-1",
        ("square", "group"),
        lambda: (brown(mortgaged=(3,)), BUILD_BY[0][1]),
    ),
    Row(why.UNEVEN, "BUILD-2", ("square", "level"), lambda: (brown(1), BUILD_BY[0][1])),
    Row(
        why.UNEVEN,
        "BUILD-2",
        ("square", "level"),
        lambda: (
            table(owns={0: (1, 3)}, levels={1: 1, 3: 2}),
            SELL_BUILDING_BY[0][1],
        ),
    ),
    Row(
        why.BUILD_LIMIT, "BUILD-3", ("square", "limit"), lambda: (built_this_turn(), BUILD_BY[0][1])
    ),
    Row(
        why.FULLY_BUILT,
        "BUILD-1",
        ("square", "level"),
        lambda: (table(owns={0: (1, 3)}, levels={1: 5, 3: 5}), BUILD_BY[0][1]),
    ),
    Row(why.NO_BUILDING, "BUILD-4", ("square",), lambda: (brown(), SELL_BUILDING_BY[0][1])),
    Row(why.GROUP_HAS_BUILDINGS, "MORT-3", ("square",), lambda: (brown(1), MORTGAGE_BY[0][3])),
    Row(
        why.GROUP_HAS_BUILDINGS,
        "TRADE-4",
        ("square",),
        lambda: swap(brown(1), give_squares=(3,), want_cash=600),
    ),
    Row(why.MORTGAGED, "MORT-1", ("square",), lambda: (brown(mortgaged=(1,)), MORTGAGE_BY[0][1])),
    Row(
        why.MORTGAGED,
        "TRADE-4",
        ("square",),
        lambda: swap(
            table("classic@teams", owns={0: (5,)}, mortgaged=(5,)),
            give_squares=(5,),
            want_cash=1_000,
        ),
    ),
    Row(why.NOT_MORTGAGED, "MORT-2", ("square",), lambda: (brown(), REDEEM_BY[0][1])),
    Row(why.FINANCED, "FIN-3", ("square",), lambda: (financed(), MORTGAGE_BY[0][11])),
    Row(
        why.FINANCED,
        "FIN-3",
        ("square",),
        lambda: swap(financed(), give_squares=(11,), want_cash=1_400),
    ),
    Row(why.RAISING_ONLY, "TURN-4", ("square",), lambda: (in_debt((1, 3)), BUILD_BY[0][1])),
    Row(
        why.SOLVENT,
        "DEBT-4",
        ("owed", "raisable"),
        lambda: (in_debt((5,)), DECLARE_BANKRUPTCY_BY[0]),
    ),
    Row(
        why.NO_BAIL_NOW,
        "JAIL-2",
        (),
        lambda: (table("classic@teams", jailed={0: 0}), PAY_BAIL_BY[0]),
    ),
    Row(
        why.WAGER_NUMBERS,
        "CORNER-2",
        ("numbers",),
        lambda: (wager(), (WAGER, 0, mask_of((1, 2, 3, 4)))),
    ),
    Row(why.NO_FINANCING, "FIN-1", (), lambda: (buying(), FINANCE_PURCHASE_BY[0])),
    Row(why.NO_TRADE_NOW, "TRADE-2", (), lambda: swap(buying(), give_cash=100, want_cash=100)),
    Row(
        why.TRADE_WITH_SELF,
        "TRADE-1",
        (),
        lambda: (table(), propose_trade(0, 0, give_cash=100, want_cash=100)),
    ),
    Row(
        why.PARTNER_OUT,
        "TRADE-1",
        ("recipient",),
        lambda: swap(table(out=(1,)), give_cash=100, want_cash=100),
    ),
    Row(
        why.TOO_MANY_OFFERS,
        "TRADE-3",
        ("limit",),
        lambda: swap(offered(3), give_cash=100, want_cash=100),
    ),
    Row(why.EMPTY_OFFER, "TRADE-1", (), lambda: swap(table())),
    Row(
        why.DUPLICATE_LINE,
        "TRADE-1",
        (),
        lambda: swap(table(owns={0: (5,)}), give_squares=(5,), want_squares=(5,)),
    ),
    Row(why.INVALID_CASH, "TRADE-1", (), lambda: swap(table(), give_cash=-500, want_cash=500)),
    Row(
        why.UNFAIR,
        "TRADE-5",
        ("given", "wanted"),
        lambda: swap(table(owns={0: (5,)}), give_squares=(5,), want_cash=999),
    ),
    Row(why.OFFER_CLOSED, "TRADE-6", ("offer_id",), lambda: (offered(), (ACCEPT_TRADE, 1, 9))),
    Row(why.OFFER_CLOSED, "TRADE-6", (), lambda: (offered(), (LAPSE_OFFER, 0, 9))),
    Row(why.NOT_RECIPIENT, "TRADE-1", ("offer_id",), lambda: (offered(), (ACCEPT_TRADE, 2, 1))),
    Row(why.NOT_PROPOSER, "TRADE-1", ("offer_id",), lambda: (offered(), (WITHDRAW_TRADE, 1, 1))),
    Row(why.AUCTION_RUNNING, "AUCTION-8", (), lambda: (auction(), (ACCEPT_TRADE, 1, 1))),
]


@pytest.mark.rule("CLOCK-6")
@pytest.mark.parametrize("row", ROWS, ids=[f"{row.rule}-{row.reason}" for row in ROWS])
def test_refusal_names_its_reason_its_rule_and_its_numbers(row: Row) -> None:
    state, action = row.make()

    refusal = refused(state, action)

    assert (row.reason, row.rule) == (refusal.reason, refusal.rule)
    assert row.numbers == tuple(name for name, _ in refusal.numbers)
    assert str(refusal).startswith(f"{row.rule}: {why.NAMES[row.reason]}")


@pytest.mark.rule("CLOCK-6")
@pytest.mark.parametrize("row", ROWS, ids=[f"{row.rule}-{row.reason}" for row in ROWS])
def test_refused_action_raises_and_changes_nothing(row: Row) -> None:
    state, action = row.make()
    before = encode(state)

    with pytest.raises(IllegalAction) as raised:
        apply(state, action, ScriptedChance())

    assert row.reason == raised.value.refusal.reason
    assert before == encode(state)


def test_every_reason_is_reached() -> None:
    numbered = {
        value for name, value in vars(why).items() if name.isupper() and isinstance(value, int)
    }

    assert numbered == set(why.NAMES) == {row.reason for row in ROWS}


def test_numbers_are_those_behind_the_refusal() -> None:
    refusal = refused(in_debt((5,)), DECLARE_BANKRUPTCY_BY[0])

    assert (("owed", 1_000), ("raisable", 1_500)) == refusal.numbers
    assert "DEBT-4: what is owed can still be raised (owed=1000, raisable=1500)" == str(refusal)
    assert f"Refusal({refusal})" == repr(refusal)


def test_refusal_without_numbers_prints_none() -> None:
    assert "TRADE-1: the offer holds nothing" == str(Refusal(why.EMPTY_OFFER, "TRADE-1"))
