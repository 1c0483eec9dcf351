"""What happened, what may be done and why not, as sentences in every language of the catalogue."""

from collections.abc import Iterator, Sequence
from typing import Any, Final

from opolyx_sdk import actions as a
from opolyx_sdk import events as e
from opolyx_sdk.actions import Action
from opolyx_sdk.amounts import amount_text
from opolyx_sdk.enums import CashCause, MoveManner, OpenEnum, PropertyCause, ReleaseCause
from opolyx_sdk.events import Event
from opolyx_sdk.messages.patterns import Value
from opolyx_sdk.messages.table import Table
from opolyx_sdk.profiles import Award
from opolyx_sdk.refusals import Refusal

__all__ = ["Table", "action_text", "award_text", "describe", "money", "narrate", "refusal_text"]


UNKNOWN: Final = "event.unknown"
"""Key of the text for an event that is newer than the catalogue."""


def describe(event: Event, table: Table) -> str:
    """The event as a sentence without a full stop; never raises, not for a newer event either."""
    if isinstance(event, e.PropertyMoved):
        return _moved_properties([event], table)
    key, values = event_key(event, table), table.values_of(event)
    if key == UNKNOWN:
        values = {"what": _facts(type(event).__name__, values, table)}
    return table.text(key, **values, **_more(event))


def event_key(event: Event, table: Table) -> str:
    """Key of the text that fits an event best; `UNKNOWN` when none does."""
    wanted = _keys(event, f"event.{type(event).__name__}")
    return next((key for key in wanted if table.catalogue.has(key)), UNKNOWN)


def narrate(events: Sequence[Event], table: Table) -> list[str]:
    """The sentences worth reading, in order: what repeats another event is left out or joined."""
    lines: list[str] = []
    charged = {event.seat for event in events if isinstance(event, e.RentCharged)}
    prices = [
        event.amount
        for event in events
        if isinstance(event, e.CashMoved) and event.cause is CashCause.PURCHASE
    ]
    given: list[e.PropertyMoved] = []
    for event in events:
        if given and not _goes_along(event, given[0]):
            lines.append(_moved_properties(given, table))
            given = []
        match event:
            case e.PropertyMoved(cause=PropertyCause.PURCHASE) if prices:
                lines.append(_moved_properties([event], table, price=prices.pop(0)))
            case e.DebtOpened(seat=seat) if seat in charged:
                pass  # the rent says it
            case e.PropertyMoved(cause=cause) if cause is not PropertyCause.AUCTION:
                given.append(event)
            case _ if not _is_quiet(event):
                lines.append(describe(event, table))
    if given:
        lines.append(_moved_properties(given, table))
    return lines


def refusal_text(refusal: Refusal, table: Table) -> str:
    """Why an action was refused, to the player who asked; with the numbers where they help."""
    reason = refusal.reason.name.lower()
    values = _numbers(refusal, table)
    if reason != "unspecified" and table.catalogue.fits(f"refusal_with.{reason}", values):
        return table.text(f"refusal_with.{reason}", **values)
    if table.catalogue.has(f"refusal.{reason}"):
        return table.text(f"refusal.{reason}")
    what = _facts(refusal.rule_id, values, table)
    return table.text("refusal.other_with", what=what) if what else table.text("refusal.other")


def action_text(action: Action, table: Table) -> str:
    """What an action does, as the words on a button."""
    kind = type(action).__name__
    values = table.values_of(action)
    key = f"action.{kind}"
    if isinstance(action, a.ChooseBus):
        key = table.catalogue.first(f"{key}.{values['move']}", f"{key}.other")
    if table.catalogue.has(key):
        return table.text(key, **values)
    return table.text("action.unknown", what=_facts(kind, values, table))


def award_text(award: Award, table: Table) -> str:
    """An award's terms, or the reason for its zero."""
    if award.terms:
        return table.listed(
            f"{table.called('award', term.kind.name.lower())} {term.xp:+}" for term in award.terms
        )
    reason = award.zero_reason.name.lower()
    return table.called("award", reason) if award.zero_reason else ""


def money(amount: int) -> str:
    """An amount of k in English; `Table.money` has it in each language."""
    return amount_text(amount)


# --- Events -------------------------------------------------------------------------------------


def _keys(event: Event, key: str) -> Iterator[str]:
    """Keys of the texts that fit an event, the closest first."""
    match event:
        case e.CashMoved(payer=None):
            key += ".gets"
        case e.CashMoved(payee=None):
            key += ".pays"
        case e.CashMoved():
            key += ".hands"
        case e.PropertyMoved(taker=None):
            key += ".loses"
        case e.PropertyMoved(giver=None):
            key += ".gets"
        case e.PropertyMoved():
            key += ".hands"
        case e.AuctionEnded(winner=winner):
            key += ".unsold" if winner is None else ".sold"
        case e.WagerRolled(payout=payout):
            key += ".hit" if payout else ".miss"
    for field in _VARIANT_FIELDS:
        variant = getattr(event, field, None)
        if isinstance(variant, OpenEnum):
            yield f"{key}.{variant.name.lower()}"
            yield f"{key}.other"
    yield key


def _more(event: Event) -> dict[str, Value]:
    """What a text may say besides the event's fields."""
    if isinstance(event, e.DiceRolled):
        return {"double": "yes" if event.die1 == event.die2 else "no"}
    return {}


def _moved_properties(
    events: Sequence[e.PropertyMoved], table: Table, *, price: int | None = None
) -> str:
    """What went from one to the other at once."""
    first = events[0]
    values: dict[str, Value] = {
        "squares": table.listed(table.where(event.square) for event in events),
        "count": len(events),
        "giver": table.who(first.giver),
        "taker": table.who(first.taker),
    }
    if price is not None:
        return table.text("event.PropertyMoved.bought", **values, price=table.money(price))
    return table.text(event_key(first, table), **values)


def _is_quiet(event: Event) -> bool:
    match event:
        case e.TurnStarted() | e.TurnEnded() | e.RoundStarted():
            return True
        case e.CashMoved(cause=cause):
            return cause in _TOLD_ELSEWHERE
        case e.PropertyMoved(cause=PropertyCause.AUCTION):
            return True
        case e.TokenMoved(manner=MoveManner.TO_JAIL) | e.Released(cause=ReleaseCause.BAIL):
            return True
        case e.MortgageCounted(rounds_left=left):
            return left > _LAST_ROUNDS
        case e.DebtSettled() | e.OfferMade() | e.BidPassed() | e.PurchaseDeclined():
            return True
    return False


def _goes_along(event: Event, first: e.PropertyMoved) -> bool:
    """Whether the event moves one more property between the same two, for the same reason."""
    return isinstance(event, e.PropertyMoved) and (event.giver, event.taker, event.cause) == (
        first.giver,
        first.taker,
        first.cause,
    )


_VARIANT_FIELDS: Final = ("cause", "manner", "god")
"""Fields by which an event has several texts."""

_LAST_ROUNDS: Final = 3
"""A mortgage that lapses is told of when so many rounds are left."""

_TOLD_ELSEWHERE: Final = frozenset(
    {
        CashCause.PURCHASE,
        CashCause.AUCTION,
        CashCause.BUILD,
        CashCause.SELL_BUILDING,
        CashCause.MORTGAGE,
        CashCause.REDEEM,
        CashCause.START,
        CashCause.WAGER_STAKE,
        CashCause.WAGER_WIN,
        CashCause.LIQUIDATION,
        CashCause.FORFEIT,
    }
)


# --- Refusals -----------------------------------------------------------------------------------


def _numbers(refusal: Refusal, table: Table) -> dict[str, Value]:
    """A refusal's numbers as texts; what the move would cost is `needed`, whatever it is for."""
    numbers: dict[str, Any] = dict(refusal.numbers)
    if "needed" not in numbers:
        costs = [numbers[name] for name in _COSTS if name in numbers]
        numbers.update({"needed": costs[0]} if costs else {})
    if "retry_after_ms" in numbers:
        numbers["seconds"] = max(1, -(-numbers["retry_after_ms"] // 1000))
    return {name: table.shown(name, value) for name, value in numbers.items()}


def _facts(what: str, values: dict[str, Value], table: Table) -> str:
    """Whatever is known of what this version has no text for."""
    known = [f"{name} {value}" for name, value in values.items()]
    return table.listed([one for one in (what, *known) if one])


_COSTS: Final = ("price", "stake", "owed", "bail", "cost")
"""Names under which refusals have what a move would cost."""
