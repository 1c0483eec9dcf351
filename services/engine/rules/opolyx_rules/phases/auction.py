"""Bid the minimum, or pass (AUCTION-3)."""

from opolyx_rules.actions import BID, BID_BY, KIND, PASS_BID, PASS_BID_BY, SEAT, Action
from opolyx_rules.chance import Chance
from opolyx_rules.events import Log
from opolyx_rules.ids import PASS_CHOICE, PASS_CLOCK, Seat
from opolyx_rules.mechanics.auctions import pass_bid, place_bid
from opolyx_rules.phases.phase import Phase
from opolyx_rules.reasons import Refusal
from opolyx_rules.state import State


class AuctionPhase(Phase):
    """The bidder who is asked can afford the minimum; running out passes (AUCTION-6)."""

    __slots__ = ()
    rule = "AUCTION-3"

    def list_actions(self, state: State, seat: Seat, out: list[Action]) -> None:
        """See `Phase`."""
        out.append(BID_BY[seat])
        out.append(PASS_BID_BY[seat])

    def refuse(self, state: State, action: Action) -> Refusal | None:
        """See `Phase`."""
        return None if action[KIND] in (BID, PASS_BID) else self.wrong(action)

    def take(self, state: State, action: Action, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        if action[KIND] == BID:
            place_bid(state, action[SEAT], log)
        else:
            pass_bid(state, action[SEAT], PASS_CHOICE, log)

    def default(self, state: State, seat: Seat) -> Action:
        """See `Phase`."""
        return PASS_BID_BY[seat]

    def take_default(self, state: State, seat: Seat, chance: Chance, log: Log) -> None:
        """See `Phase`."""
        pass_bid(state, seat, PASS_CLOCK, log)
