"""A bot that offers itself for seats: what it offers, and what it is told."""

from dataclasses import dataclass
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class BotOffer:
    """What a bot offers."""

    rulesets: tuple[str, ...] = ()
    """Rulesets it plays, "mode@edition"; empty for all."""

    max_games: int = 1
    """Most games at once, 1 to 1000."""

    plays_people: bool = True
    """Whether it plays with people; else among bots only."""

    min_rating: int | None = None
    """Lowest rating of an opponent; absent for no bound."""

    max_rating: int | None = None
    """Highest rating of an opponent; absent for no bound. Who was never rated is a newcomer."""

    plays_bots: bool = True
    """Whether it plays with other bots, built-in ones included."""


@dataclass(frozen=True, slots=True)
class OfferTaken:
    """The offer stands."""

    games: int
    """Games the bot is in."""


@dataclass(frozen=True, slots=True)
class BotSeated:
    """A game with the bot has started, or goes on after an outage."""

    game_id: str
    """The game."""

    seat: int
    """The bot's seat."""

    ruleset: str
    """The ruleset."""


@dataclass(frozen=True, slots=True)
class BotReleased:
    """The bot is free of a game."""

    game_id: str
    """The game."""


OfferNews: TypeAlias = OfferTaken | BotSeated | BotReleased
"""What an offered bot is told."""
