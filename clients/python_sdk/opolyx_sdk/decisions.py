"""One awaited answer, with everything needed to give it."""

import time
from dataclasses import dataclass, field

from opolyx_sdk.actions import Action
from opolyx_sdk.enums import Phase
from opolyx_sdk.refusals import Refusal


@dataclass(frozen=True, slots=True)
class PartnerSquares:
    """What one partner could give."""

    seat: int
    """The partner."""

    squares: tuple[int, ...]
    """Their properties that may be asked for."""

    max_cash: int
    """The most cash the partner can give now, in k."""

    ally: bool
    """Whether the two are allies, whose trades need not be fair (TRADE-5)."""


@dataclass(frozen=True, slots=True)
class TradeTemplate:
    """Within what a trade may be proposed. CheckTrade gives the verdict on one trade."""

    partners: tuple[int, ...]
    """Whom the seat may trade with."""

    own_squares: tuple[int, ...]
    """The seat's own properties that may be given."""

    partner_squares: tuple[PartnerSquares, ...]
    """Properties of each partner that may be asked for."""

    max_give_cash: int
    """The most cash the seat can give, in k."""

    fairness_bp: int
    """The smaller side is worth at least this share of the larger, in basis points (TRADE-5)."""

    offers_left: int
    """How many more offers the seat may have open (TRADE-3)."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One awaited answer of one seat."""

    decision_id: str
    """Names this decision; a command that answers it carries the id. Never used twice in a game.
    """

    seat: int
    """Who is awaited."""

    phase: Phase
    """What is awaited."""

    deadline_unix_ms: int
    """When the clock of this decision ends, Unix milliseconds; a command that arrives at or after
    it is refused (CLOCK-5).
    """

    legal_actions: tuple[Action, ...]
    """Every action that would be accepted now, trades and surrender apart (see trade_template)."""

    trade_template: TradeTemplate | None
    """Bounds of the trades that this seat may propose now; absent when it may propose none."""

    offer_id: int
    """The offer to answer, in PHASE_OFFER."""

    amount_owed: int
    """What is owed, in PHASE_PAYMENT, in k."""

    server_ahead_ms: int = field(default=0, compare=False)
    """By how much the server's clock is ahead of this machine's, as well as the client can tell."""

    def time_left(self, now: float | None = None) -> float:
        """Seconds until the deadline by the server's clock; below 0 once it has passed.

        Args:
            now: this machine's Unix time in seconds; the current time when absent.
        """
        local_ms = (time.time() if now is None else now) * 1000
        return (self.deadline_unix_ms - local_ms - self.server_ahead_ms) / 1000

    def allows(self, action: Action) -> bool:
        """Whether `action` is among the legal ones; trades are judged by `trade_template`."""
        return action in self.legal_actions


@dataclass(frozen=True, slots=True)
class TradeVerdict:
    """Whether a trade could be proposed now."""

    allowed: bool
    """Whether it could."""

    give_value: int
    """What the proposer gives, in k (TRADE-5)."""

    want_value: int
    """What the proposer wants, in k (TRADE-5)."""

    refusal: Refusal | None
    """Why it could not, if it could not."""
