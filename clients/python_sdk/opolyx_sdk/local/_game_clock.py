"""The clock of a simulated game: it goes on by a fixed time with every action, whatever the machine.

So deadlines, offers that lapse and steps that run out follow from the actions alone, and a bot that
never comes to an end in one step loses its turn as it would in a live game.
"""

from typing import Final

from opolyx_rules.actions import LAPSE_OFFER, TIME_OUT_BY
from opolyx_rules.actions import Action as CoreAction
from opolyx_rules.queries import awaited_seat, current_step, step_seconds
from opolyx_rules.state import State

ACTION_MS: Final = 100
"""What an action takes by this clock, milliseconds."""


class GameClock:
    """The deadlines that run in one game (CLOCK-1, CLOCK-2, TRADE-6)."""

    __slots__ = ("_offers", "_step", "deadline_ms", "now_ms")

    def __init__(self, state: State, start_ms: int = 0) -> None:
        """Begin at `start_ms` with the clocks of `state`."""
        self.now_ms = start_ms
        """Now, milliseconds."""
        self.deadline_ms = 0
        """When the awaited seat's time ends; 0 when the game is over."""
        self._step = -1
        self._offers: dict[int, int] = {}
        self.settle(state)

    def tick(self) -> None:
        """The time that an action takes goes by."""
        self.now_ms += ACTION_MS

    def settle(self, state: State) -> None:
        """Set the clocks once `state` is reached."""
        if state.over:
            self.deadline_ms = 0
        elif (step := current_step(state)) != self._step:
            self._step = step
            self.deadline_ms = self.now_ms + step_seconds(state) * 1000
        if state.offers or self._offers:
            lapse_ms = self.now_ms + state.ruleset.offer_seconds * 1000
            self._offers = {one[0]: self._offers.get(one[0], lapse_ms) for one in state.offers}

    def offer_deadline_ms(self, offer_id: int) -> int:
        """When an offer lapses; 0 if it isn't open."""
        return self._offers.get(offer_id, 0)

    def due(self, state: State) -> CoreAction | None:
        """What the clock does now, the earliest deadline first; None if nothing is due."""
        for offer in state.offers:
            lapse_ms = self._offers[offer[0]]
            if lapse_ms <= self.now_ms and lapse_ms < self.deadline_ms:
                return (LAPSE_OFFER, offer[1], offer[0])
        if self.now_ms >= self.deadline_ms and not state.over:
            return TIME_OUT_BY[awaited_seat(state)]
        return None
