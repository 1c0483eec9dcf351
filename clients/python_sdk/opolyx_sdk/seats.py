"""Who sits at the table. Fixed when the game starts."""

from dataclasses import dataclass

from opolyx_sdk.enums import SeatKind


@dataclass(frozen=True, slots=True)
class SeatCard:
    """A collection card's effect in the game."""

    square: int
    """The property it is for."""

    bonus_bp: int
    """How much more rent it brings, in basis points."""


@dataclass(frozen=True, slots=True)
class Seat:
    """Who sits on a seat. Fixed when the game starts."""

    seat: int
    """The seat."""

    player_id: str
    """The account; empty for a built-in bot."""

    name: str
    """The name shown."""

    kind: SeatKind
    """What kind of player it is."""

    side: int
    """Side; seats of one side win together. Outside Team mode equal to the seat."""

    policy: str
    """The built-in bot's policy; empty for others."""

    cards: tuple[SeatCard, ...]
    """Collection cards frozen into the game (RENT-5)."""

    vip: bool
    """Whether the seat may finance (FIN-1)."""
