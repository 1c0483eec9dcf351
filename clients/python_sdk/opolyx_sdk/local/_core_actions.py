"""Actions between the rules' ints and the SDK's classes; names of arguments are the same."""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Final

from opolyx_rules import actions as core
from opolyx_rules import reasons
from opolyx_rules.actions import Action as CoreAction
from opolyx_rules.actions import squares_of
from opolyx_rules.ids import SQUARES
from opolyx_rules.reasons import Refusal as CoreRefusal
from opolyx_sdk._bot_faults import told_value
from opolyx_sdk.actions import ACTION_TYPES, Action
from opolyx_sdk.enums import BusMove, RefusalReason
from opolyx_sdk.refusals import Refusal

LARGEST_CASH: Final = 1_000_000_000
"""Cash in a trade above this is refused as invalid, as the server does."""

_LARGEST_INT: Final = (1 << 31) - 1
_SQUARE_SETS: Final = frozenset({"give_squares", "want_squares"})
_CASH: Final = frozenset({"give_cash", "want_cash"})
_INVALID: Final = CoreRefusal(reasons.INVALID_ACTION, "CLOCK-6")
_KINDS: Final[dict[type[Action], int]] = {cls: kind for kind, cls in enumerate(ACTION_TYPES, 1)}
"""Kinds are numbered as on the wire; a test holds the names against each other."""

_PLAIN: Final = {cls: kind for cls, kind in _KINDS.items() if not core.ARGUMENTS[kind]}


@lru_cache(maxsize=16_384)
def sdk_action(action: CoreAction) -> Action:
    """The SDK's form of an action that a player can ask for."""
    kind = action[core.KIND]
    make: Callable[..., Action] = ACTION_TYPES[kind - 1]
    values = [
        _sdk_argument(name, value)
        for name, value in zip(core.ARGUMENTS[kind], action[core.ARGUMENT :], strict=True)
    ]
    return make(*values)


def core_action(action: Action, seat: int) -> CoreAction | CoreRefusal:
    """The rules' form of what `seat` asks for; a refusal where there is none.

    Raises:
        TypeError: it is no action, or holds something else than numbers.
    """
    plain = _PLAIN.get(type(action))
    if plain is not None:
        return (plain, seat)
    kind = _KINDS.get(type(action))
    if kind is None:
        raise TypeError(f"{told_value(action)} is no action")
    found = [kind, seat]
    for name in core.ARGUMENTS[kind]:
        value = _core_argument(name, getattr(action, name))
        if isinstance(value, CoreRefusal):
            return value
        found.append(value)
    return tuple(found)


def sdk_refusal(refusal: CoreRefusal) -> Refusal:
    """The SDK's form of a refusal."""
    return Refusal(
        reason=RefusalReason(refusal.reason),
        rule_id=refusal.rule,
        message=reasons.NAMES[refusal.reason],
        numbers=dict(refusal.numbers),
    )


def _sdk_argument(name: str, value: int) -> object:
    if name == "numbers" or name in _SQUARE_SETS:
        return tuple(squares_of(value))
    return BusMove(value) if name == "move" else value


def _core_argument(name: str, value: object) -> int | CoreRefusal:
    if name == "numbers":
        return _mask(value, 1, 6, CoreRefusal(reasons.WAGER_NUMBERS, "CORNER-2"))
    if name in _SQUARE_SETS:
        if len(set(_numbers(value))) != len(_numbers(value)):
            return CoreRefusal(reasons.DUPLICATE_LINE, "TRADE-1")
        return _mask(value, 0, SQUARES - 1, _INVALID)
    if not isinstance(value, int):
        raise TypeError(f"{name} is {told_value(value)}, which is no number")
    if name in _CASH and not 0 <= value <= LARGEST_CASH:
        return CoreRefusal(reasons.INVALID_CASH, "TRADE-1", (("amount", int(value)),))
    return int(value) if 0 <= value <= _LARGEST_INT else _INVALID


def _mask(values: object, low: int, high: int, otherwise: CoreRefusal) -> int | CoreRefusal:
    mask = 0
    for value in _numbers(values):
        if not low <= value <= high or mask >> value & 1:
            return otherwise
        mask |= 1 << value
    return mask


def _numbers(values: object) -> Sequence[int]:
    if not isinstance(values, Sequence) or not all(isinstance(one, int) for one in values):
        raise TypeError(f"{told_value(values)} is no list of numbers")
    return values
