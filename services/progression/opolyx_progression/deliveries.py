"""Deliveries: the engine's facts as they arrive here, at least once each."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Final, TypeAlias

from opolyx_progression.games import FinishedGame

_LONGEST_PROBLEM: Final = 500


@dataclass(frozen=True, slots=True)
class VoidedGame:
    """A game was ended without a result: nobody is awarded anything."""

    reason: str
    """Why."""


@dataclass(frozen=True, slots=True)
class Unreadable:
    """The fact makes no sense to this program."""

    problem: str
    """What is wrong with it."""


Effect: TypeAlias = FinishedGame | VoidedGame | Unreadable | None
"""What a fact means for progression; None if nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivery:
    """One fact, delivered."""

    number: int
    """The fact's number, rising."""

    game_id: str
    """The game it is about."""

    at_unix_ms: int
    """When it became one."""

    effect: Effect
    """What it means here."""

    raw: bytes
    """The fact as it came, kept if it can't be processed."""


class Outcome(StrEnum):
    """What became of a delivery; also a metric's label."""

    SETTLED = "settled"
    """Its game was awarded now."""

    KNOWN = "known"
    """Its game was awarded or voided before: no effect."""

    VOIDED = "voided"
    """Its game was noted as void."""

    PASSED = "passed"
    """It means nothing here."""

    BURIED = "buried"
    """It couldn't be processed and is among the dead letters."""


class Unprocessable(Exception):
    """A delivery that can never be applied as it is."""


def problem_of(error: Exception) -> str:
    """Why a delivery couldn't be applied, in words for operators."""
    text = str(error) if isinstance(error, Unprocessable) else repr(error)
    return text[:_LONGEST_PROBLEM]
