"""What an owner may do with property: build, sell buildings, mortgage, redeem (TURN-4)."""

from opolyx_rules.actions import (
    ARGUMENT,
    BUILD,
    BUILD_BY,
    KIND,
    MORTGAGE,
    REDEEM,
    SEAT,
    SELL_BUILDING,
    SELL_BUILDING_BY,
    Action,
)
from opolyx_rules.events import Log
from opolyx_rules.ids import Seat
from opolyx_rules.mechanics.building import (
    build,
    buildable,
    refuse_build,
    refuse_sale,
    sell_building,
    sellable,
)
from opolyx_rules.mechanics.mortgage import (
    list_mortgages,
    list_redemptions,
    mortgage,
    redeem,
    refuse_mortgage,
    refuse_redeem,
)
from opolyx_rules.reasons import RAISING_ONLY, Refusal
from opolyx_rules.state import State


def is_managing(kind: int) -> bool:
    """Whether an action of this kind manages property."""
    return BUILD <= kind <= REDEEM


def list_managing(state: State, seat: Seat, out: list[Action]) -> None:
    """Append every managing action of the seat. Must agree with `refuse_managing`."""
    if not state.held[seat]:
        return
    if state.whole[seat]:
        by_square = BUILD_BY[seat]
        out += [by_square[square] for square in buildable(state, seat)]
    list_raising(state, seat, out)
    list_redemptions(state, seat, out)


def list_raising(state: State, seat: Seat, out: list[Action]) -> None:
    """Append the managing actions that raise cash: selling and mortgaging."""
    if state.whole[seat]:
        by_square = SELL_BUILDING_BY[seat]
        out += [by_square[square] for square in sellable(state, seat)]
    list_mortgages(state, seat, out)


def refuse_managing(state: State, action: Action) -> Refusal | None:
    """Why a managing action is not allowed now."""
    kind, seat, square = action[KIND], action[SEAT], action[ARGUMENT]
    if kind == BUILD:
        return refuse_build(state, seat, square)
    if kind == SELL_BUILDING:
        return refuse_sale(state, seat, square)
    if kind == MORTGAGE:
        return refuse_mortgage(state, seat, square)
    return refuse_redeem(state, seat, square)


def refuse_raising(state: State, action: Action) -> Refusal | None:
    """Why a managing action is not allowed in a payment pause (TURN-4)."""
    if action[KIND] in (BUILD, REDEEM):
        return Refusal(RAISING_ONLY, "TURN-4", (("square", action[ARGUMENT]),))
    return refuse_managing(state, action)


def manage(state: State, action: Action, log: Log) -> None:
    """Carry out a managing action that was checked."""
    kind, seat, square = action[KIND], action[SEAT], action[ARGUMENT]
    if kind == BUILD:
        build(state, seat, square, log)
    elif kind == SELL_BUILDING:
        sell_building(state, seat, square, log)
    elif kind == MORTGAGE:
        mortgage(state, seat, square, log)
    else:
        redeem(state, seat, square, log)
