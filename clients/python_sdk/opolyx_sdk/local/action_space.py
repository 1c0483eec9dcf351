"""Every action as a number, for learners: 196 of them, the same in every ruleset and state.

Left out are trades, of which there are far too many to number, with the answers to them, since
nobody can propose one here; and surrender, which is always possible and never of use to who learns
to win.

| numbers | action |
|---|---|
| 0-11 | roll, buy, decline the purchase, finance it, bid, pass, pay the debt, declare bankruptcy, pay bail, stay in jail, decline the wager, pay off financing |
| 12-33 | build on each of the 22 streets by ascending square |
| 34-55 | sell a building of each street |
| 56-83 | mortgage each of the 28 properties by ascending square |
| 84-111 | redeem each property |
| 112-152 | wager on each set of one to three numbers, in the order of `opolyx_rules.actions.WAGER_MASKS` |
| 153-155 | after the bus: move by the sum, the first die, the second die |
| 156-195 | after a triple: go to each of the 40 squares |
"""

from typing import Final

from opolyx_rules import actions as core
from opolyx_rules.actions import Action as CoreAction
from opolyx_rules.content.boards import BUILD_COST, PROPERTIES
from opolyx_rules.ids import BUS_FIRST, BUS_SECOND, BUS_SUM, SQUARES

STREETS: Final = tuple(square for square in PROPERTIES if BUILD_COST[square])
"""Squares of the 22 streets, ascending."""

_PLAIN: Final = (
    core.ROLL,
    core.BUY,
    core.DECLINE_PURCHASE,
    core.FINANCE_PURCHASE,
    core.BID,
    core.PASS_BID,
    core.PAY_DEBT,
    core.DECLARE_BANKRUPTCY,
    core.PAY_BAIL,
    core.STAY_IN_JAIL,
    core.DECLINE_WAGER,
    core.PAY_OFF_FINANCING,
)
_FORMS: Final[tuple[tuple[int, ...], ...]] = (
    *((kind,) for kind in _PLAIN),
    *((core.BUILD, square) for square in STREETS),
    *((core.SELL_BUILDING, square) for square in STREETS),
    *((core.MORTGAGE, square) for square in PROPERTIES),
    *((core.REDEEM, square) for square in PROPERTIES),
    *((core.WAGER, mask) for mask in core.WAGER_MASKS),
    *((core.CHOOSE_BUS, move) for move in (BUS_SUM, BUS_FIRST, BUS_SECOND)),
    *((core.CHOOSE_SQUARE, square) for square in range(SQUARES)),
)
_NUMBERS: Final = {form: number for number, form in enumerate(_FORMS)}

SIZE: Final = len(_FORMS)
"""How many actions there are."""


def action_of(number: int, seat: int) -> CoreAction:
    """The action of a number, 0 to `SIZE` - 1, done by a seat."""
    kind, *arguments = _FORMS[number]
    return (kind, seat, *arguments)


def number_of(action: CoreAction) -> int | None:
    """The number of an action; None for what has none."""
    return _NUMBERS.get((action[core.KIND], *action[core.ARGUMENT :]))
