"""What operators see and have done."""

from dataclasses import dataclass

from opolyx_sdk.enums import SignalKind


@dataclass(frozen=True, slots=True)
class Drift:
    """One stored value that isn't what the results say."""

    kind: str
    """What kind of value: result, award, cards, standing, rating, score, counts or entitlement."""

    subject: str
    """Whose it is."""

    stored: str
    """What is stored, as text."""

    computed: str
    """What the results say, as text."""


@dataclass(frozen=True, slots=True)
class AuditReport:
    """What an audit of all awards found."""

    games: int
    """Games recomputed."""

    awards: int
    """Awards compared."""

    players: int
    """Players whose totals were compared."""

    drift: int
    """Values that differ; must be 0."""

    drifts: tuple[Drift, ...]
    """The first hundred of them."""

    at_unix_ms: int
    """When it ended, Unix milliseconds."""


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A fact of the engine that progression couldn't process. It holds up no other."""

    fact_number: int
    """The fact's number."""

    game_id: str
    """The game it is about."""

    at_unix_ms: int
    """When it was given up first, Unix milliseconds."""

    problem: str
    """Why it couldn't be processed when it was tried last."""


@dataclass(frozen=True, slots=True)
class RetriedDeadLetters:
    """What became of dead letters that were tried again."""

    tried: int
    """How many were tried."""

    processed: int
    """How many of them are processed now."""

    left: int
    """How many dead letters are left."""


@dataclass(frozen=True, slots=True)
class EntitlementChange:
    """An operator set a player's entitlements."""

    number: int
    """Its number, rising."""

    player_id: str
    """The player."""

    vip: bool
    """Whether the player is a VIP since then."""

    reason: str
    """Why."""

    operator_id: str
    """The operator's account."""

    at_unix_ms: int
    """When, Unix milliseconds."""


@dataclass(frozen=True, slots=True)
class Signal:
    """Something in the results that honest players hardly do; no proof."""

    kind: SignalKind
    """What it is."""

    player_ids: tuple[str, ...]
    """The accounts; of a pair, who gains by it first."""

    games: int
    """In how many games."""

    value: int
    """Its measure: games, or for gifts their value in k."""

    game_ids: tuple[str, ...]
    """Some of the games, newest first, at most 5."""
