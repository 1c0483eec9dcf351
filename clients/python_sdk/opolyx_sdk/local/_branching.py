"""All that chance can make of one action, with its odds: every die, every card that may come.

A branch is played with the draws and cards that name it. Where it asks for more, it is split: by
each value of the draw, or by each card whose place in the deck is unknown, whichever comes first.
"""

from collections.abc import Iterator
from dataclasses import dataclass

from opolyx_rules.actions import Action as CoreAction
from opolyx_rules.chance import PACKET, Chance
from opolyx_rules.engine import apply_checked
from opolyx_rules.events import CARD_DRAWN, Log
from opolyx_rules.queries import opponents_after
from opolyx_rules.state import State


@dataclass(slots=True)
class Branch:
    """One way that it can go."""

    odds: float
    """How likely it is, 0..1."""

    state: State
    """The state after it."""

    draws: tuple[int, ...]
    """What chance gave in order, as the rules draw it: a die's face less one."""

    cards: tuple[int, ...]
    """Numbers of the cards drawn, in order."""

    exact: bool
    """False where a red packet was cut into even parts: it can be in too many ways."""


def branches(state: State, action: CoreAction, *, deck_unknown: bool) -> Iterator[Branch]:
    """Every branch of an action that the rules accept, in a fixed order; the odds sum to 1.

    Args:
        state: left as it is.
        action: what is done.
        deck_unknown: whether the cards from the next one to the deck's end are in unknown order.
    """
    return _split(_Start(state, action, deck_unknown), 1.0, (), ())


@dataclass(slots=True)
class _Start:
    """What all branches have in common."""

    state: State
    action: CoreAction
    deck_unknown: bool

    def card_at(self, count: int) -> int:
        """Place in the deck of the card number `count` from now; -1 where its card is known."""
        place = self.state.deck_at + count
        return place if self.deck_unknown and place < len(self.state.deck) else -1


def _split(
    start: _Start, odds: float, draws: tuple[int, ...], cards: tuple[int, ...]
) -> Iterator[Branch]:
    state = start.state.clone()
    for count, card in enumerate(cards):
        _put(state.deck, start.card_at(count), card)
    chance = _Forced(state, draws)
    log: Log = []
    apply_checked(state, start.action, chance, log)
    seen = chance.cards_before if chance.open_sides else chance.cards_drawn()
    place = start.card_at(len(cards))
    if seen > len(cards) and place >= 0:
        rest = sorted(state.deck[place:])
        for card in rest:
            yield from _split(start, odds / len(rest), draws, (*cards, card))
    elif chance.open_sides:
        for value in range(chance.open_sides):
            yield from _split(start, odds / chance.open_sides, (*draws, value), cards)
    else:
        shown = tuple([event[2] for event in log if event[0] == CARD_DRAWN])
        yield Branch(odds, state, draws, shown, exact=not chance.evened)


def _put(deck: list[int], place: int, card: int) -> None:
    """Bring a card to a place, in exchange for what is there."""
    other = deck.index(card, place)
    deck[place], deck[other] = deck[other], deck[place]


class _Forced(Chance):
    """Gives what it was told, and notes the first draw beyond that."""

    __slots__ = (
        "_draws",
        "_first",
        "_packets",
        "_state",
        "_used",
        "cards_before",
        "evened",
        "open_sides",
    )

    def __init__(self, state: State, draws: tuple[int, ...]) -> None:
        self._state = state
        self._first = state.deck_at
        self._draws = draws
        self._used = 0
        self._packets = 0
        self.open_sides = 0
        self.cards_before = 0
        self.evened = False

    def cards_drawn(self) -> int:
        """How many cards were drawn by now."""
        return (self._state.deck_at - self._first) % len(self._state.deck)

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`."""
        if label == PACKET:
            self.evened = True
            self._packets += 1
            parts = len(opponents_after(self._state, self._state.turn_seat))
            return (sides - 1) * self._packets // parts
        if self._used < len(self._draws):
            self._used += 1
            return self._draws[self._used - 1]
        if not self.open_sides:
            self.open_sides = sides
            self.cards_before = self.cards_drawn()
        return 0
