"""What players earn."""

from dataclasses import dataclass

from opolyx_sdk.enums import Rank, Rarity, TermKind, ZeroReason


@dataclass(frozen=True, slots=True)
class Rating:
    """A rating in one mode."""

    mode: str
    """The mode."""

    mu: float
    """The mean of the estimate."""

    sigma: float
    """Its standard deviation."""

    ordinal: int
    """The number shown and ranked by."""

    games: int
    """Rated games."""


@dataclass(frozen=True, slots=True)
class Profile:
    """What a player has earned."""

    player_id: str
    """The player."""

    xp: int
    """All XP."""

    level: int
    """Level, 1 to 60."""

    rank: Rank
    """Rank."""

    level_xp: int
    """XP within the level."""

    next_level_xp: int
    """XP from this level to the next; 0 at the top."""

    games: int
    """Finished games."""

    wins: int
    """Games won."""

    cards: int
    """Collection cards owned."""

    ratings: tuple[Rating, ...]
    """Ratings by mode."""

    vip: bool
    """Whether the player is a VIP."""


@dataclass(frozen=True, slots=True)
class AwardTerm:
    """One term of an award."""

    kind: TermKind
    """What for."""

    xp: int
    """How much XP; may be below 0 for a halving."""


@dataclass(frozen=True, slots=True)
class Card:
    """A collection card (XP-6, RENT-5)."""

    card_id: str
    """Its id."""

    square: int
    """The property it is for."""

    rarity: Rarity
    """How rare it is."""

    game_id: str
    """The game that brought it."""

    level: int
    """The level that dropped it; 0 for a winner's card."""


@dataclass(frozen=True, slots=True)
class Award:
    """What one seat of one game was awarded. Made once (XP-7)."""

    game_id: str
    """The game."""

    seat: int
    """The seat."""

    player_id: str
    """The player."""

    xp: int
    """XP in all."""

    terms: tuple[AwardTerm, ...]
    """The terms it is the sum of."""

    zero_reason: ZeroReason
    """Why the award is zero, if it is."""

    ruleset: str
    """The ruleset of the game."""

    table_version: int
    """Version of the award table it was made by."""

    at_unix_ms: int
    """When the game ended, Unix milliseconds."""

    place: int
    """Place in the game."""

    cards: tuple[Card, ...]
    """Cards dropped with it."""


@dataclass(frozen=True, slots=True)
class Level:
    """One level."""

    level: int
    """The level, 1 to 60."""

    from_xp: int
    """XP at which it begins."""

    rank: Rank
    """Its rank."""

    drops_card: bool
    """Whether reaching it drops a card (XP-6)."""


@dataclass(frozen=True, slots=True)
class LeaderboardRow:
    """One row of a leaderboard."""

    rank: int
    """The rank; equal scores share it."""

    player_id: str
    """The player."""

    name: str
    """The name shown."""

    score: int
    """The score."""
