"""A game that was given to another replica."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from opolyx_engine.absent import Rest
from opolyx_engine.replica import Replica
from opolyx_engine.store.base import StoredGame

Give = Callable[[StoredGame], Awaitable[Replica | None]]
"""Gives a game to another replica, which is returned; None if it stays here."""


@dataclass(frozen=True, slots=True)
class GivenGame:
    """A game that another replica owns from now on."""

    game_id: str
    """The game."""

    replica: Replica
    """Its new owner."""

    rest: Rest | None
    """How it rested here; None if it was in memory."""
