"""Whether a command may take effect: everything that is asked before the rules are, and they.

Nothing here changes anything. The order of the questions is the order in which a client learns
what is wrong: who it is, whether the game goes on, whether it answers what is open, in time, and
then whether the rules allow it.
"""

from typing import Final

from opolyx_engine.command import (
    DEADLINE_PASSED,
    GAME_VOID,
    SPECTATOR,
    STALE_DECISION,
    Command,
)
from opolyx_engine.store.base import VOID
from opolyx_engine.table import Table
from opolyx_rules import actions, reasons
from opolyx_rules.actions import ARGUMENT, KIND
from opolyx_rules.engine import check
from opolyx_rules.reasons import Refusal

_FREE: Final = frozenset({actions.SURRENDER, actions.WITHDRAW_TRADE})
_OFFERS: Final = frozenset({actions.ACCEPT_TRADE, actions.DECLINE_TRADE})


def excluded(table: Table, seat: int | None) -> Refusal | None:
    """Why nothing that `seat` asks can take effect, None being a spectator; None if it may."""
    if seat is None:
        return Refusal(SPECTATOR, "")
    if table.life == VOID:
        return Refusal(GAME_VOID, "")
    if table.state.over:
        return Refusal(reasons.GAME_OVER, "END-1")
    if table.state.out_order[seat]:
        return Refusal(reasons.OUT_OF_GAME, "DEBT-7")
    return None


def admit(table: Table, command: Command) -> actions.Action | Refusal:
    """The action of `command` if it can take effect now, else why it can't."""
    if refusal := excluded(table, command.seat):
        return refusal
    if isinstance(command.action, Refusal):
        return command.action
    refusal = _timing(table, command, command.action) or check(table.state, command.action)
    return refusal or command.action


def _timing(table: Table, command: Command, action: actions.Action) -> Refusal | None:
    """Whether the command answers what is open, before its clock ends (CLOCK-5)."""
    kind = action[KIND]
    if kind in _FREE:
        return None
    if kind in _OFFERS:
        if command.decision_id != f"o{action[ARGUMENT]}":
            return Refusal(STALE_DECISION, "TRADE-6")
        deadline_ms = table.clocks.offer_deadline_ms(action[ARGUMENT])
    else:
        if command.decision_id != f"d{table.state.decision}":
            return Refusal(STALE_DECISION, "CLOCK-2")
        deadline_ms = table.clocks.deadline_ms
    if deadline_ms and command.arrived_ms >= deadline_ms:
        late_ms = command.arrived_ms - deadline_ms
        return Refusal(DEADLINE_PASSED, "CLOCK-5", (("late_ms", late_ms),))
    return None
