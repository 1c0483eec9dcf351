"""Deadlines of a game: absolute, kept with each record, and due in one order (CLOCK-1 .. CLOCK-6)."""

from dataclasses import dataclass, replace
from typing import Final

from opolyx_rules.actions import LAPSE_OFFER, TIME_OUT_BY, Action
from opolyx_rules.queries import awaited_seat, current_step, step_seconds
from opolyx_rules.state import State

_ID: Final = 0  # of an offer


@dataclass(frozen=True, slots=True)
class Clocks:
    """The deadlines that run in a game, Unix milliseconds."""

    step: int = 0
    """The step whose clock runs; a new one starts it afresh (CLOCK-2)."""

    deadline_ms: int = 0
    """When the awaited seat's clock ends; 0 when nobody is awaited."""

    offers: tuple[tuple[int, int], ...] = ()
    """Open offers by ascending id, each with the time it lapses (TRADE-6)."""

    def after(self, state: State, at_ms: int) -> "Clocks":
        """The clocks once `state` was reached at `at_ms`."""
        step, deadline_ms = self.step, self.deadline_ms
        if state.over:
            step, deadline_ms = current_step(state), 0
        elif current_step(state) != step or not deadline_ms:
            step, deadline_ms = current_step(state), at_ms + step_seconds(state) * 1000
        known = dict(self.offers)
        lapse_ms = at_ms + state.ruleset.offer_seconds * 1000
        offers = tuple((offer[_ID], known.get(offer[_ID], lapse_ms)) for offer in state.offers)
        return Clocks(step, deadline_ms, () if state.over else offers)

    def offer_deadline_ms(self, offer_id: int) -> int:
        """When an offer lapses; 0 if it isn't open."""
        return dict(self.offers).get(offer_id, 0)

    @property
    def next_due_ms(self) -> int | None:
        """The earliest deadline; None if none runs."""
        times = [lapse_ms for _, lapse_ms in self.offers]
        if self.deadline_ms:
            times.append(self.deadline_ms)
        return min(times, default=None)

    def due_action(self, state: State, now_ms: int) -> Action | None:
        """What the clock does now, the earliest deadline first; None if nothing is due."""
        due_ms = self.next_due_ms
        if due_ms is None or due_ms > now_ms:
            return None
        if due_ms == self.deadline_ms:
            return TIME_OUT_BY[awaited_seat(state)]
        offer_id = next(offer for offer, lapse_ms in self.offers if lapse_ms == due_ms)
        proposer = next(offer[1] for offer in state.offers if offer[_ID] == offer_id)
        return (LAPSE_OFFER, proposer, offer_id)

    def with_grace(self, now_ms: int, grace_ms: int) -> "Clocks":
        """The clocks of a game that is taken up again: whoever is waited for gets a little time."""
        earliest = now_ms + grace_ms
        return replace(
            self,
            deadline_ms=max(self.deadline_ms, earliest) if self.deadline_ms else 0,
            offers=tuple((offer, max(lapse_ms, earliest)) for offer, lapse_ms in self.offers),
        )
