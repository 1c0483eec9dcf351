"""Take the wager of the third corner, or decline it (CORNER-2)."""

from opolyx_rules.actions import (
    ARGUMENT,
    DECLINE_WAGER,
    DECLINE_WAGER_BY,
    KIND,
    SEAT,
    WAGER,
    WAGER_MASKS,
    Action,
)
from opolyx_rules.chance import Chance
from opolyx_rules.events import WAGER_DECLINED, Log
from opolyx_rules.ids import Seat
from opolyx_rules.mechanics.corner import place_wager
from opolyx_rules.mechanics.managing import is_managing, list_managing, manage, refuse_managing
from opolyx_rules.phases.phase import Phase
from opolyx_rules.reasons import NOT_ENOUGH_CASH, WAGER_NUMBERS, Refusal
from opolyx_rules.state import State

_VALID = frozenset(WAGER_MASKS)


class WagerPhase(Phase):
    """A fixed stake on one to three numbers; running out declines (CLOCK-3)."""

    __slots__ = ()
    rule = "CORNER-2"

    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """See `Phase`."""
        if state.cash[seat] >= state.ruleset.wager_stake:
            for mask in WAGER_MASKS:
                out.append((WAGER, seat, mask))
        out.append(DECLINE_WAGER_BY[seat])
        if state.ruleset.manage_after_roll:
            list_managing(state, seat, out)

    def refuse(self, state: State, action: Action) -> Refusal | None:
        """See `Phase`."""
        kind, seat = action[KIND], action[SEAT]
        if kind == WAGER:
            if action[ARGUMENT] not in _VALID:
                return Refusal(WAGER_NUMBERS, "CORNER-2", (("numbers", action[ARGUMENT]),))
            stake = state.ruleset.wager_stake
            if state.cash[seat] < stake:
                numbers = (("stake", stake), ("cash", state.cash[seat]))
                return Refusal(NOT_ENOUGH_CASH, "CORNER-2", numbers)
            return None
        if kind == DECLINE_WAGER:
            return None
        if is_managing(kind) and state.ruleset.manage_after_roll:
            return refuse_managing(state, action)
        return self.wrong(action)

    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        kind, seat = action[KIND], action[SEAT]
        if is_managing(kind):
            manage(state, action, log)
            return
        state.stack.pop()
        if kind == WAGER:
            place_wager(state, seat, action[ARGUMENT], chance, log)
        else:
            log.append((WAGER_DECLINED, seat))

    def default(self, state: State, seat: Seat) -> Action:
        """See `Phase`."""
        return DECLINE_WAGER_BY[seat]
