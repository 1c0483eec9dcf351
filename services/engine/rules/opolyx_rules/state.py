"""The whole state of a game: ints and lists of ints, mutated in place, cloned by hand.

Every mode's state is always there with its neutral value, so that no rule has to ask for the mode.
The seed is never in it. Lists of seats are indexed by seat, lists of squares by square (0..39).

`held` and `whole` say nothing that `owner` doesn't: they are there because every list of legal
actions asks for a seat's properties. `give` alone changes all three.
"""

from typing import Final, TypeAlias

from opolyx_rules.content.boards import COLOUR_GROUPS, GROUP, GROUPS, PROPERTIES
from opolyx_rules.content.decks import DECKS
from opolyx_rules.ids import NOBODY, SQUARES, Seat, Square
from opolyx_rules.ruleset import Ruleset

Frame: TypeAlias = tuple[int, int, int, int]
"""(phase or frame kind, seat, argument, serial). The serial of the frame on top names the step."""

Claim: TypeAlias = tuple[int, int, int]
"""(creditor or BANK, amount, cause)."""

Debt: TypeAlias = tuple[int, tuple[Claim, ...]]
"""(debtor, claims)."""

Offer: TypeAlias = tuple[int, int, int, int, int, int, int, int]
"""(id, proposer, recipient, give cash, give mask, want cash, want mask, mask of the mortgaged)."""


DERIVED: Final = ("held", "whole")
"""Attributes of `State` that follow from others: not stored, but found again."""


class State:
    """A game in progress.

    Attributes:
        ruleset: The frozen rules of this game.
        seats: Number of seats.
        cards: For each seat the rent bonus of its collection card for each square, in bp (RENT-5);
            frozen, shared by clones.
        vip: For each seat whether it may finance; frozen, shared by clones.
        cash: Cash in k.
        position: Square of the token.
        jailed: 1 in jail, else 0.
        attempts: Failed attempts to leave jail.
        missed: Missed turns in a row (CLOCK-4).
        out_order: 0 while in the game, else 1 for the first to go, and so on.
        outs: How many have gone.
        god: The god that is with the seat.
        god_until: Round in which it leaves; 0 without one.
        financed: The financed property; NOBODY without one.
        financed_round: Round of the financing; 0 without one.
        owner: Owner of each property; NOBODY for none. Changed by `give`.
        held: Properties of each seat, ascending.
        whole: Colour groups of which the seat has every street, ascending.
        level: Building levels.
        mortgaged: Round in which it was mortgaged; 0 when it is not.
        built: Levels built in this turn.
        round: Round, from 1.
        first_seat: Seat that had the first turn.
        turn_seat: Seat whose turn it is.
        turn_number: Turns begun since the start.
        doubles: Doubles in a row in this turn.
        rolls_again: 1 when the seat rolls again once all is resolved.
        jump_due: 1 when an X jump is due at the turn's end.
        jumped: 1 when this turn has had its X jump.
        turn_missed: 1 when this turn was counted as missed.
        dice: The last roll: two white dice and the third die's face (0 not rolled); zeros at first.
        deck: Card numbers in the order drawn.
        deck_at: Place of the next card in `deck`.
        stack: What is to be resolved, the last first.
        serial: Serial of the newest frame.
        auction_square: The property in the auction; NOBODY when none runs.
        auction_bid: Standing bid; 0 for none.
        auction_leader: Who made it; NOBODY for none.
        auction_queue: Seats that have not passed, in the order in which they are asked.
        auction_bids: All bids so far as (seat, bid), for AUCTION-9.
        debts: Open debts, at most one a debtor.
        offers: Open trade offers by ascending id.
        last_offer: Id of the newest offer.
        decision: Number of the awaited decision; rises whenever it is answered or replaced.
        over: Whether the game is over.
        end_cause: How it ended; 0 before.
    """

    __slots__: Final = (
        "attempts",
        "auction_bid",
        "auction_bids",
        "auction_leader",
        "auction_queue",
        "auction_square",
        "built",
        "cards",
        "cash",
        "debts",
        "decision",
        "deck",
        "deck_at",
        "dice",
        "doubles",
        "end_cause",
        "financed",
        "financed_round",
        "first_seat",
        "god",
        "god_until",
        "held",
        "jailed",
        "jump_due",
        "jumped",
        "last_offer",
        "level",
        "missed",
        "mortgaged",
        "offers",
        "out_order",
        "outs",
        "over",
        "owner",
        "position",
        "rolls_again",
        "round",
        "ruleset",
        "seats",
        "serial",
        "stack",
        "turn_missed",
        "turn_number",
        "turn_seat",
        "vip",
        "whole",
    )

    def __init__(
        self,
        ruleset: Ruleset,
        seats: int,
        cards: tuple[tuple[int, ...], ...],
        vip: tuple[bool, ...],
    ) -> None:
        """A state of which only what never changes is set: `clone` and `decode` fill in the rest."""
        self.ruleset = ruleset
        self.seats = seats
        self.cards = cards
        self.vip = vip

    def reset(self) -> None:
        """Set everything that a game changes to its neutral value."""
        seats = self.seats
        self.cash: list[int] = [0] * seats
        self.position: list[int] = [0] * seats
        self.jailed: list[int] = [0] * seats
        self.attempts: list[int] = [0] * seats
        self.missed: list[int] = [0] * seats
        self.out_order: list[int] = [0] * seats
        self.outs = 0
        self.god: list[int] = [0] * seats
        self.god_until: list[int] = [0] * seats
        self.financed: list[int] = [NOBODY] * seats
        self.financed_round: list[int] = [0] * seats
        self.owner: list[int] = [NOBODY] * SQUARES
        self.held: list[tuple[int, ...]] = [()] * seats
        self.whole: list[tuple[int, ...]] = [()] * seats
        self.level: list[int] = [0] * SQUARES
        self.mortgaged: list[int] = [0] * SQUARES
        self.built: list[int] = [0] * SQUARES
        self.round = 1
        self.first_seat: Seat = 0
        self.turn_seat: Seat = 0
        self.turn_number = 0
        self.doubles = 0
        self.rolls_again = 0
        self.jump_due = 0
        self.jumped = 0
        self.turn_missed = 0
        self.dice: list[int] = [0, 0, 0]
        self.deck: list[int] = list(range(len(DECKS[self.ruleset.deck])))
        self.deck_at = 0
        self.stack: list[Frame] = []
        self.serial = 0
        self.auction_square = NOBODY
        self.auction_bid = 0
        self.auction_leader: Seat = NOBODY
        self.auction_queue: list[int] = []
        self.auction_bids: list[tuple[int, int]] = []
        self.debts: list[Debt] = []
        self.offers: list[Offer] = []
        self.last_offer = 0
        self.decision = 0
        self.over = False
        self.end_cause = 0

    def push(self, phase: int, seat: Seat, argument: int = 0) -> None:
        """Put a frame on the stack, with a serial of its own."""
        self.serial += 1
        self.stack.append((phase, seat, argument, self.serial))

    def give(self, square: Square, taker: Seat) -> None:
        """Make a property `taker`'s, or nobody's (NOBODY): the only way in which owners change."""
        giver = self.owner[square]
        self.owner[square] = taker
        group = GROUP[square]
        if giver != NOBODY:
            self.held[giver] = tuple([one for one in self.held[giver] if one != square])
            self.whole[giver] = tuple([one for one in self.whole[giver] if one != group])
        if taker != NOBODY:
            self.held[taker] = tuple(sorted([*self.held[taker], square]))
            if group < COLOUR_GROUPS and self._has_whole(taker, group):
                self.whole[taker] = tuple(sorted([*self.whole[taker], group]))

    def find_holdings(self) -> None:
        """Make `held` and `whole` anew out of `owner`."""
        owner, seats = self.owner, range(self.seats)
        self.held = [
            tuple([square for square in PROPERTIES if owner[square] == seat]) for seat in seats
        ]
        self.whole = [
            tuple([group for group in range(COLOUR_GROUPS) if self._has_whole(seat, group)])
            for seat in seats
        ]

    def _has_whole(self, seat: Seat, group: int) -> bool:
        for square in GROUPS[group]:
            if self.owner[square] != seat:
                return False
        return True

    def clone(self) -> "State":
        """An independent copy; only the ruleset, cards and VIPs are shared, which never change."""
        copy = State(self.ruleset, self.seats, self.cards, self.vip)
        copy.cash = self.cash[:]
        copy.position = self.position[:]
        copy.jailed = self.jailed[:]
        copy.attempts = self.attempts[:]
        copy.missed = self.missed[:]
        copy.out_order = self.out_order[:]
        copy.outs = self.outs
        copy.god = self.god[:]
        copy.god_until = self.god_until[:]
        copy.financed = self.financed[:]
        copy.financed_round = self.financed_round[:]
        copy.owner = self.owner[:]
        copy.held = self.held[:]
        copy.whole = self.whole[:]
        copy.level = self.level[:]
        copy.mortgaged = self.mortgaged[:]
        copy.built = self.built[:]
        copy.round = self.round
        copy.first_seat = self.first_seat
        copy.turn_seat = self.turn_seat
        copy.turn_number = self.turn_number
        copy.doubles = self.doubles
        copy.rolls_again = self.rolls_again
        copy.jump_due = self.jump_due
        copy.jumped = self.jumped
        copy.turn_missed = self.turn_missed
        copy.dice = self.dice[:]
        copy.deck = self.deck[:]
        copy.deck_at = self.deck_at
        copy.stack = self.stack[:]
        copy.serial = self.serial
        copy.auction_square = self.auction_square
        copy.auction_bid = self.auction_bid
        copy.auction_leader = self.auction_leader
        copy.auction_queue = self.auction_queue[:]
        copy.auction_bids = self.auction_bids[:]
        copy.debts = self.debts[:]
        copy.offers = self.offers[:]
        copy.last_offer = self.last_offer
        copy.decision = self.decision
        copy.over = self.over
        copy.end_cause = self.end_cause
        return copy


def new_state(
    ruleset: Ruleset,
    seats: int,
    cards: dict[int, dict[int, int]] | None = None,
    vip: tuple[int, ...] = (),
) -> State:
    """A state with nothing on the table yet; `engine.start` sets the game up.

    Args:
        ruleset: The rules.
        seats: Number of seats.
        cards: By seat, by square, the bonus of the collection card in bp.
        vip: The seats that may finance.
    """
    bonuses = []
    for seat in range(seats):
        by_square = (cards or {}).get(seat, {})
        bonuses.append(tuple([by_square.get(square, 0) for square in range(SQUARES)]))
    state = State(ruleset, seats, tuple(bonuses), tuple([seat in vip for seat in range(seats)]))
    state.reset()
    return state
