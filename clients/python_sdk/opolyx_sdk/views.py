"""The public state of a game: frozen, typed, the same for everybody."""

from dataclasses import dataclass
from typing import Final

from opolyx_sdk.board import SQUARES, SquareKind
from opolyx_sdk.enums import CashCause, EndCause, God, Phase

_OWNED: Final = (SquareKind.STREET, SquareKind.STATION, SquareKind.UTILITY)
_PLACES: Final = {
    square.number: place
    for place, square in enumerate([one for one in SQUARES if one.kind in _OWNED])
}
"""Where each property stands among all, which are ascending."""


@dataclass(frozen=True, slots=True)
class PlayerView:
    """One seat."""

    seat: int
    """0-based place at the table."""

    cash: int
    """Cash in k."""

    position: int
    """Square the token stands on, 0..39."""

    in_game: bool
    """Whether the seat is still in the game."""

    in_jail: bool
    """Whether the token is in jail."""

    jail_attempts: int
    """Failed attempts to leave jail so far, 0..3."""

    missed_turns: int
    """Missed turns in a row (CLOCK-4)."""

    god: God
    """The god that is with the seat."""

    god_until_round: int
    """Round in which the god leaves; 0 without one."""

    financed_square: int | None
    """The financed property; absent when there is none."""

    financed_price: int
    """What must be paid for it by the due round if nothing is paid before, in k."""

    financed_due_round: int
    """Round in which the financing falls due; 0 without one."""

    net_worth: int
    """Net worth in k (END-3)."""

    out_order: int
    """Order of elimination, 1 for the first to go; 0 while in the game."""


@dataclass(frozen=True, slots=True)
class PropertyView:
    """One property."""

    square: int
    """Its square, 0..39."""

    owner: int | None
    """Its owner; absent when it belongs to nobody."""

    level: int
    """Building levels, 0..5."""

    mortgaged: bool
    """Whether it is mortgaged."""

    mortgaged_round: int
    """Round in which it was mortgaged; 0 when it is not."""

    built_this_turn: int
    """Levels built on it in this turn (BUILD-3)."""


@dataclass(frozen=True, slots=True)
class TurnView:
    """The turn."""

    round: int
    """Round, from 1 (TURN-6)."""

    seat: int
    """Seat whose turn it is."""

    first_seat: int
    """Seat that had the first turn (TABLE-5)."""

    turn_number: int
    """Turns since the start, from 1."""

    phase: Phase
    """What the table waits for; unspecified when the game is over."""

    awaited_seat: int | None
    """Seat awaited; absent when the game is over."""

    dice: tuple[int, ...]
    """The last roll: two white dice and, where one was rolled, the third die (1..3, 4 bus, 5 X);
    empty before the first.
    """

    doubles: int
    """Doubles in a row in this turn."""

    rolls_again: bool
    """Whether the seat rolls again when the square is resolved."""

    jump_due: bool
    """Whether an X jump is due at the turn's end (DIE-4)."""


@dataclass(frozen=True, slots=True)
class AuctionView:
    """The auction that runs."""

    square: int
    """The property."""

    bid: int
    """The standing bid in k; 0 when nobody has bid."""

    leader: int | None
    """The leader; absent when nobody has bid."""

    next_bid: int
    """The next bid in k."""

    bidders: tuple[int, ...]
    """Seats that can still bid, in the order in which they are asked."""


@dataclass(frozen=True, slots=True)
class ClaimView:
    """One creditor's share of a debt."""

    creditor: int | None
    """The creditor; absent for the bank."""

    amount: int
    """What is owed, in k."""

    cause: CashCause
    """Why."""


@dataclass(frozen=True, slots=True)
class DebtView:
    """The open debt of one seat."""

    debtor: int
    """Who owes."""

    claims: tuple[ClaimView, ...]
    """What is owed to whom."""


@dataclass(frozen=True, slots=True)
class OfferView:
    """An open trade offer."""

    offer_id: int
    """Its id, never used twice in a game."""

    proposer: int
    """Who made it."""

    recipient: int
    """Who may accept it."""

    give_cash: int
    """Cash the proposer gives, in k."""

    give_squares: tuple[int, ...]
    """Properties the proposer gives, ascending."""

    want_cash: int
    """Cash the proposer wants, in k."""

    want_squares: tuple[int, ...]
    """Properties the proposer wants, ascending."""

    deadline_unix_ms: int
    """When it lapses, Unix milliseconds (TRADE-6). Not part of the state's digest."""


@dataclass(frozen=True, slots=True)
class SeatResult:
    """One seat's part of the result."""

    seat: int
    """The seat."""

    place: int
    """Place from 1; a side shares its place."""

    survived: bool
    """Whether the seat was in the game at its end."""

    net_worth: int
    """Net worth at the end, in k; 0 when out."""

    full_groups: int
    """Full colour groups held at the end."""


@dataclass(frozen=True, slots=True)
class ResultView:
    """The result of a game (END-5)."""

    cause: EndCause
    """How it ended."""

    round: int
    """Round of the end."""

    seats: tuple[SeatResult, ...]
    """The seats in seat order."""


@dataclass(frozen=True, slots=True)
class GameView:
    """The whole public state. Its canonical digest is described in docs/digests.md."""

    players: tuple[PlayerView, ...]
    """The seats in seat order."""

    properties: tuple[PropertyView, ...]
    """The 28 properties by ascending square."""

    turn: TurnView
    """Whose turn it is and what the table waits for."""

    auction: AuctionView | None
    """The auction that runs, if one does."""

    debts: tuple[DebtView, ...]
    """Open debts, in the order in which they are awaited."""

    offers: tuple[OfferView, ...]
    """Open trade offers by ascending id."""

    result: ResultView | None
    """The result, once the game is over."""

    def player(self, seat: int) -> PlayerView:
        """The player on `seat`."""
        return self.players[seat]

    def property_at(self, square: int) -> PropertyView | None:
        """The property on `square`, or None if the square is none."""
        place = _PLACES.get(square)
        if place is None or place >= len(self.properties):
            return None
        return self.properties[place]

    def properties_of(self, seat: int) -> tuple[PropertyView, ...]:
        """What `seat` owns, by ascending square."""
        return tuple(one for one in self.properties if one.owner == seat)

    def offer(self, offer_id: int) -> OfferView | None:
        """The open offer of that id, if there is one."""
        return next((one for one in self.offers if one.offer_id == offer_id), None)

    @property
    def over(self) -> bool:
        """Whether the game has ended by the rules."""
        return self.result is not None
