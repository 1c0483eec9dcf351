"""What operators see and have done."""

from dataclasses import dataclass

from opolyx_sdk.enums import GamePlace, GameState, Phase, SignalKind
from opolyx_sdk.seats import Seat


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


@dataclass(frozen=True, slots=True)
class OperatedGame:
    """A game as those who run its engine see it: nothing of its secrets."""

    game_id: str
    """The game."""

    place: GamePlace
    """Where it is; not set for an ended game."""

    ruleset: str
    """The ruleset, `mode@edition`."""

    seats: tuple[Seat, ...]
    """Who sits where; empty if that can't be read."""

    round: int
    """Its round; 0 if that isn't known without taking it up."""

    seq: int
    """Its last update."""

    next_deadline_unix_ms: int
    """When its clock acts next, Unix milliseconds; 0 if no clock runs, or that isn't known."""

    receivers: int
    """How many streams receive it."""

    stuck: bool
    """Whether its clock or the answer to a command is later than `stuck_after_ms`."""

    started_unix_ms: int
    """When it started, Unix milliseconds."""

    quiet_since_unix_ms: int
    """Since when nobody has asked for it; 0 if it isn't in memory or resting."""


@dataclass(frozen=True, slots=True)
class RunningGames:
    """Running games of one engine, and whether it takes more."""

    games: tuple[OperatedGame, ...]
    """The games, by id."""

    takes_new_games: bool
    """Whether new games are taken."""

    draining: bool
    """Whether the engine is draining."""


@dataclass(frozen=True, slots=True)
class StoreFailure:
    """The store failed in a game."""

    at_unix_ms: int
    """When, Unix milliseconds."""

    message: str
    """How."""


@dataclass(frozen=True, slots=True)
class InspectedGame:
    """One game, closely."""

    game: OperatedGame
    """The game, as in the list."""

    state: GameState
    """Whether it is running, finished or void."""

    end_reason: str
    """Why it is void; empty if it isn't."""

    awaited_seat: int | None
    """The awaited seat; None when none is, or the game is held."""

    phase: Phase
    """What is awaited from it."""

    decision_id: str
    """The decision awaited."""

    deadline_unix_ms: int
    """When the clock of that decision ends, Unix milliseconds."""

    open_offers: int
    """How many trade offers are open."""

    connected_seats: tuple[int, ...]
    """Which seats are connected."""

    commands_waiting: int
    """How many commands wait for the game."""

    first_command_unix_ms: int
    """When the command that is next came in, Unix milliseconds; 0 if none waits."""

    last_store_failure: StoreFailure | None
    """The last failure of the store in this game since it was taken up."""

    log_digest: bytes
    """Running digest of the log, to compare with a replay."""
