"""How a game reads."""

from opolyx_sdk import events as e
from opolyx_sdk.enums import CashCause, JailCause, MoveManner, PropertyCause
from opolyx_sdk.text import Table, narrate

TABLE = Table(["Ada", "Bruno"], "classic@full")


def moved(
    cause: PropertyCause, *squares: int, giver: int | None, taker: int | None
) -> list[e.Event]:
    return [e.PropertyMoved(square, giver, taker, cause) for square in squares]


def test_a_purchase_names_what_was_bought_and_for_how_much() -> None:
    paid = e.CashMoved(payer=0, payee=None, amount=1000, cause=CashCause.PURCHASE)
    bought = moved(PropertyCause.PURCHASE, 6, giver=None, taker=0)

    assert ["Ada buys Seashell Quay for 1,000k"] == narrate([paid, *bought], TABLE)


def test_a_debt_that_a_rent_explains_is_told_once() -> None:
    rent = e.RentCharged(seat=1, owner=0, square=6, amount=60, card_bp=0, tax_bp=0)
    debt = e.DebtOpened(seat=1, amount=60)

    assert ["Bruno owes Ada 60k rent for Seashell Quay"] == narrate([rent, debt], TABLE)
    assert ["Bruno owes 60k"] == narrate([debt], TABLE)


def test_what_goes_to_the_bank_together_is_one_line() -> None:
    lost = moved(PropertyCause.LIQUIDATION, 6, 8, giver=1, taker=None)
    out = e.Eliminated(seat=1, out_order=1)

    assert [
        "Seashell Quay, Saltpan Walk go from Bruno back to the bank",
        "Bruno is out of the game",
    ] == narrate([*lost, out], TABLE)


def test_the_way_to_jail_is_one_line() -> None:
    walked = e.TokenMoved(0, 30, 10, MoveManner.TO_JAIL)
    jailed = e.Jailed(0, JailCause.DOUBLES)

    assert ["Ada goes to jail for a third double"] == narrate([walked, jailed], TABLE)


def test_a_mortgage_is_counted_aloud_only_near_its_end() -> None:
    counted = [e.MortgageCounted(seat=0, square=6, rounds_left=left) for left in (9, 4, 3)]

    assert ["Ada has 3 rounds left to redeem Seashell Quay"] == narrate(counted, TABLE)
