"""Collection cards: which one a level drops, or a win brings. Pure; rules XP-3, XP-6, RENT-5.

The draw is the SHA-256 of game, player and level, so that a recomputation gives the same card.
"""

import hashlib
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from opolyx_progression.levels import drops_card

PROPERTY_SQUARES: Final = (
    *(1, 3, 5, 6, 8, 9, 11, 12, 13, 14, 15, 16, 18, 19),
    *(21, 23, 24, 25, 26, 27, 28, 29, 31, 32, 34, 35, 37, 39),
)
"""The 28 properties (BOARD-1). Stored in what was drawn: never reorder."""

WINNERS_LEVEL: Final = 0
"""Stands for the level of a card that a win brought."""

_EPIC_LEVELS: Final = (30, 60)
_DOMAIN: Final = "opolyx collection card 1"
_CHANCES: Final = 10_000


class Rarity(IntEnum):
    """How rare a card is. Stored, and as on the wire: never renumber."""

    COMMON = 1
    RARE = 2
    EPIC = 3
    LEGENDARY = 4


BONUS_BP: Final = {
    Rarity.COMMON: 300,
    Rarity.RARE: 800,
    Rarity.EPIC: 1800,
    Rarity.LEGENDARY: 3300,
}
"""How much more rent a card brings, in basis points (RENT-5)."""

_BELOW: Final = (
    (7000, Rarity.COMMON),
    (9000, Rarity.RARE),
    (9800, Rarity.EPIC),
    (_CHANCES, Rarity.LEGENDARY),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One collection card of one player."""

    card_id: str
    """Made from the draw: the same again if recomputed."""

    player_id: str
    """Its owner."""

    square: int
    """The property it is for."""

    rarity: Rarity
    """How rare it is."""

    game_id: str
    """The game that brought it."""

    level: int
    """The level that dropped it; 0 for a winner's card."""


def draw_card(game_id: str, player_id: str, level: int) -> Card:
    """The card that reaching `level` in this game drops; level 0 for a win's."""
    text = "\n".join((_DOMAIN, game_id, player_id, str(level)))
    drawn = hashlib.sha256(text.encode()).digest()
    rarity = _rarity(int.from_bytes(drawn[8:16], "big") % _CHANCES)
    if level in _EPIC_LEVELS:
        rarity = max(rarity, Rarity.EPIC)
    return Card(
        card_id="c_" + drawn[16:].hex(),
        player_id=player_id,
        square=PROPERTY_SQUARES[int.from_bytes(drawn[:8], "big") % len(PROPERTY_SQUARES)],
        rarity=rarity,
        game_id=game_id,
        level=level,
    )


def dropping_levels(before: int, after: int) -> list[int]:
    """The levels above `before`, up to `after`, that drop a card."""
    return [level for level in range(before + 1, after + 1) if drops_card(level)]


def best_bonuses(cards: list[Card]) -> dict[int, int]:
    """The best bonus in basis points by square, ascending: only the best card counts (RENT-5)."""
    best: dict[int, int] = {}
    for card in sorted(cards, key=lambda card: card.square):
        best[card.square] = max(best.get(card.square, 0), BONUS_BP[card.rarity])
    return best


def _rarity(chance: int) -> Rarity:
    return next(rarity for below, rarity in _BELOW if chance < below)
