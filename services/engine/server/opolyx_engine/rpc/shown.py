"""What was last shown of a game, so that only what changed is worked out again.

Net worth and tradable properties walk over all 28 properties for every seat, and most steps touch
none of them. This is a cache: without it everything comes out the same.
"""

from opolyx_rules.ids import NOBODY, Seat
from opolyx_rules.mechanics.offers import tradable_squares
from opolyx_rules.state import State
from opolyx_rules.views import Ints, player_view


class Shown:
    """Parts of the view of one state."""

    __slots__ = ("_tradable", "players", "state")

    def __init__(self, state: State, last: "Shown | None" = None) -> None:
        """Show `state`.

        Args:
            state: the state; must not be changed.
            last: an earlier state of the same game, whose parts are used as far as they hold.
        """
        self.state = state
        """The state."""
        self._tradable: dict[Seat, list[int]] = {}
        same_board = same_worth = False
        if last is not None and _same_board(last.state, state):
            self._tradable = last._tradable
            same_board = True
            same_worth = last.state.round == state.round
        self.players: tuple[Ints, ...] = tuple(
            [
                last.players[seat]
                if last is not None
                and same_board
                and (same_worth or state.financed[seat] == NOBODY)
                and _same_seat(last.state, state, seat)
                else player_view(state, seat)
                for seat in range(state.seats)
            ]
        )
        """The view of each seat."""

    def tradable(self, seat: Seat) -> list[int]:
        """Properties of the seat that a trade may hold now, ascending."""
        found = self._tradable.get(seat)
        if found is None:
            found = self._tradable[seat] = tradable_squares(self.state, seat)
        return found


def _same_board(before: State, after: State) -> bool:
    """Whether nothing changed that worth and tradability look at beside the seat and the round."""
    return (
        before.owner == after.owner
        and before.level == after.level
        and before.mortgaged == after.mortgaged
        and before.financed == after.financed
        and before.out_order == after.out_order
    )


def _same_seat(before: State, after: State, seat: Seat) -> bool:
    """Whether nothing of the seat's own changed."""
    return (
        before.cash[seat] == after.cash[seat]
        and before.position[seat] == after.position[seat]
        and before.jailed[seat] == after.jailed[seat]
        and before.attempts[seat] == after.attempts[seat]
        and before.missed[seat] == after.missed[seat]
        and before.god[seat] == after.god[seat]
        and before.god_until[seat] == after.god_until[seat]
        and before.financed_round[seat] == after.financed_round[seat]
    )
