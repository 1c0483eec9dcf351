"""Actions between the wire and the core, driven by the core's table of arguments.

Names of kinds and arguments are the same on both sides, so that a new action needs no line here.
What the core can't express, such as a square listed twice, is refused here.
"""

from functools import lru_cache
from typing import Any, Final

from opolyx.engine.v1 import action_pb2
from opolyx_rules import actions as core
from opolyx_rules import reasons
from opolyx_rules.actions import Action, squares_of
from opolyx_rules.ids import SQUARES
from opolyx_rules.reasons import Refusal

LARGEST_CASH: Final = 1_000_000_000
"""Cash in a trade above this is refused as invalid."""

_SQUARE_SETS: Final = frozenset({"give_squares", "want_squares"})
_CASH: Final = frozenset({"give_cash", "want_cash"})
_LARGEST_INT: Final = (1 << 31) - 1
_KINDS: Final = {name: kind for kind, name in core.NAMES.items()}
_INVALID: Final = Refusal(reasons.INVALID_ACTION, "CLOCK-6")


@lru_cache(maxsize=8192)
def action_to_proto(action: Action) -> action_pb2.Action:
    """The message of an action; shared, so it must not be changed."""
    kind = action[core.KIND]
    name = core.NAMES[kind]
    message = action_pb2.Action()
    part = getattr(message, name)
    part.SetInParent()
    for argument, value in zip(core.ARGUMENTS[kind], action[core.ARGUMENT :], strict=True):
        if argument == "numbers" or argument in _SQUARE_SETS:
            getattr(part, argument).extend(squares_of(value))
        else:
            setattr(part, argument, value)
    return message


def action_from_proto(message: action_pb2.Action, seat: int) -> Action | Refusal:
    """The action that `message` asks for on behalf of `seat`, or why there is none."""
    name = message.WhichOneof("kind")
    if name is None:
        return _INVALID
    kind = _KINDS[name]
    part = getattr(message, name)
    action = [kind, seat]
    for argument in core.ARGUMENTS[kind]:
        value = _argument(part, argument)
        if isinstance(value, Refusal):
            return value
        action.append(value)
    return tuple(action)


def trade_from_proto(message: action_pb2.ProposeTrade, seat: int) -> Action | Refusal:
    """The trade that `seat` would propose."""
    return action_from_proto(action_pb2.Action(propose_trade=message), seat)


def _argument(part: Any, name: str) -> int | Refusal:
    value = getattr(part, name)
    if name == "numbers":
        return _mask(value, 1, 6, Refusal(reasons.WAGER_NUMBERS, "CORNER-2"))
    if name in _SQUARE_SETS:
        if len(set(value)) != len(value):
            return Refusal(reasons.DUPLICATE_LINE, "TRADE-1")
        return _mask(value, 0, SQUARES - 1, _INVALID)
    if name in _CASH and not 0 <= value <= LARGEST_CASH:
        return Refusal(reasons.INVALID_CASH, "TRADE-1", (("amount", value),))
    if not 0 <= value <= _LARGEST_INT:
        return _INVALID
    return int(value)


def _mask(values: Any, low: int, high: int, otherwise: Refusal) -> int | Refusal:
    mask = 0
    for value in values:
        if not low <= value <= high or mask >> value & 1:
            return otherwise
        mask |= 1 << value
    return mask
