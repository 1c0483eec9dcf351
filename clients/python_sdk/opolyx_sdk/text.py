"""Events as sentences, for terminals and logs, in every language that there are texts in."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opolyx_sdk import events as e
from opolyx_sdk.amounts import amount_text
from opolyx_sdk.enums import (
    CashCause,
    EndCause,
    God,
    JailCause,
    MoveManner,
    PropertyCause,
    ReleaseCause,
)
from opolyx_sdk.events import Event
from opolyx_sdk.messages import Catalogue, catalogue
from opolyx_sdk.names import card_name, square_name


@dataclass(frozen=True, slots=True)
class Table:
    """Who sits at it, and what is printed on its board."""

    names: Sequence[str]
    """Names of the seats, in seat order."""

    ruleset: str = ""
    """The ruleset, "mode@edition"; names of squares and cards depend on it."""

    language: str = "en"
    """Of all texts: en, id, zh-Hant or hi."""

    @property
    def catalogue(self) -> Catalogue:
        """The texts themselves.

        Raises:
            ValueError: there are none in this language.
        """
        return catalogue(self.language)

    def text(self, key: str, /, **values: str | int) -> str:
        """A text by its key with these values, see `opolyx_sdk.messages`."""
        return self.catalogue.text(key, **values)

    def money(self, amount: int) -> str:
        """An amount of k; Fortune's in Chinese is in 萬."""
        return amount_text(amount, self.ruleset, self.language)

    def who(self, seat: int | None) -> str:
        """The name of a seat; None is the bank."""
        if seat is None:
            return "the bank"
        known = seat < len(self.names) and self.names[seat]
        return self.names[seat] if known else f"seat {seat}"

    def where(self, square: int) -> str:
        """The name of a square."""
        return square_name(square, self.ruleset, self.language)

    def card(self, card: int) -> str:
        """The name of a card."""
        return card_name(card, self.ruleset, self.language)


def describe(event: Event, table: Table) -> str:
    """The event as a sentence without a full stop."""
    return _SENTENCES[type(event)](event, table)


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
                what = table.where(event.square)
                lines.append(f"{table.who(event.taker)} buys {what} for {money(prices.pop(0))}")
            case e.DebtOpened(seat=seat) if seat in charged:
                pass  # the rent says it
            case e.PropertyMoved(cause=cause) if cause is not PropertyCause.AUCTION:
                given.append(event)
            case _ if not _is_quiet(event):
                lines.append(describe(event, table))
    if given:
        lines.append(_moved_properties(given, table))
    return lines


def money(amount: int) -> str:
    """An amount of k."""
    return f"{amount:,}k"


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
_CAUSES: Final[dict[CashCause, str]] = {
    CashCause.UNSPECIFIED: "for some reason",
    CashCause.SALARY: "for passing Start",
    CashCause.LANDING_BONUS: "for stopping on Start",
    CashCause.PURCHASE: "for a property",
    CashCause.AUCTION: "for a property won in an auction",
    CashCause.RENT: "in rent",
    CashCause.RENT_TAX: "in rent tax",
    CashCause.TAX: "in tax",
    CashCause.CARD: "by a card",
    CashCause.BAIL: "in bail",
    CashCause.BUILD: "for a building",
    CashCause.SELL_BUILDING: "for a building sold",
    CashCause.MORTGAGE: "for a mortgage",
    CashCause.REDEEM: "to redeem a mortgage",
    CashCause.TRADE: "in a trade",
    CashCause.WAGER_STAKE: "as the stake of a wager",
    CashCause.WAGER_WIN: "for a wager won",
    CashCause.EIGHT_BONUS: "for a roll of eight",
    CashCause.FINANCING: "for a financed property",
    CashCause.LIQUIDATION: "for property sold to the bank",
    CashCause.FORFEIT: "that was left",
    CashCause.START: "to start with",
}
_MANNERS: Final[dict[MoveManner, str]] = {
    MoveManner.UNSPECIFIED: "moves",
    MoveManner.WALK: "walks",
    MoveManner.CARD_FORWARD: "is sent forward",
    MoveManner.CARD_BACK: "is sent back",
    MoveManner.JUMP: "jumps",
    MoveManner.TELEPORT: "flies",
    MoveManner.TO_JAIL: "is taken",
}
_JAILED: Final[dict[JailCause, str]] = {
    JailCause.CARD: " by a card",
    JailCause.DOUBLES: " for a third double",
}
_RELEASED: Final[dict[ReleaseCause, str]] = {
    ReleaseCause.DOUBLE: " with a double",
    ReleaseCause.BAIL: " on bail",
    ReleaseCause.FORCED_BAIL: " on bail",
    ReleaseCause.FREE: " for free",
}
_GODS: Final = {God.WEALTH: "the wealth god", God.MISFORTUNE: "the misfortune god"}


def _god(god: God) -> str:
    return _GODS.get(god, "a god")


def _dice(event: e.DiceRolled, t: Table) -> str:
    third = {0: "", 4: " and the bus", 5: " and an X"}.get(event.third, f" and {event.third}")
    double = ", a double" if event.die1 == event.die2 else ""
    return f"{t.who(event.seat)} rolls {event.die1} + {event.die2}{third}{double}"


def _cash(event: e.CashMoved, t: Table) -> str:
    cause = _CAUSES[event.cause]
    amount = money(event.amount)
    if event.payer is None:
        return f"{t.who(event.payee)} gets {amount} {cause}"
    if event.payee is None:
        return f"{t.who(event.payer)} pays {amount} {cause}"
    return f"{t.who(event.payer)} pays {t.who(event.payee)} {amount} {cause}"


def _moved_properties(events: Sequence[e.PropertyMoved], t: Table) -> str:
    """What went from one to the other at once."""
    what = ", ".join(t.where(event.square) for event in events)
    giver, taker = events[0].giver, events[0].taker
    if taker is None:
        return f"{what} {'goes' if len(events) == 1 else 'go'} from {t.who(giver)} back to the bank"
    return f"{t.who(taker)} gets {what} from {t.who(giver)}"


def _auction_end(event: e.AuctionEnded, t: Table) -> str:
    what = t.where(event.square)
    if event.winner is None:
        return f"nobody wants {what}"
    return f"{t.who(event.winner)} wins {what} for {money(event.price)}"


def _wager(event: e.WagerRolled, t: Table) -> str:
    if event.payout:
        return f"the die shows {event.die}: {t.who(event.seat)} wins {money(event.payout)}"
    return f"the die shows {event.die}: {t.who(event.seat)} loses the stake"


def _rent(event: e.RentCharged, t: Table) -> str:
    who, owner = t.who(event.seat), t.who(event.owner)
    return f"{who} owes {owner} {money(event.amount)} rent for {t.where(event.square)}"


def _end(event: e.GameEnded, t: Table) -> str:
    if event.cause is EndCause.ROUND_CAP:
        return "the last round is over"
    return "only one is left: the game is over"


def _sentence(form: str) -> Callable[[Any, Table], str]:
    """A sentence of a form that may name `who` (the seat), `where` (the square) and fields."""

    def tell(event: Any, t: Table) -> str:  # noqa: ANN401 - one of the events, by its class
        values: dict[str, object] = {
            field: getattr(event, field) for field in event.__dataclass_fields__
        }
        if "seat" in values:
            values["who"] = t.who(event.seat)
        if "square" in values:
            values["where"] = t.where(event.square)
        for field in ("amount", "price", "owed", "paid", "opening_bid"):
            if field in values:
                values[field] = money(getattr(event, field))
        for field in ("creditor", "recipient", "proposer"):
            if field in values:
                values[field] = t.who(getattr(event, field))
        if "cause" in values:
            values["cause"] = event.cause.name.lower().replace("_", " ")
        return form.format_map(values)

    return tell


_SENTENCES: Final[dict[type[Event], Callable[[Any, Table], str]]] = {
    e.GameStarted: lambda event, t: f"{t.who(event.first_seat)} has the first turn",
    e.RoundStarted: _sentence("round {round} begins"),
    e.TurnStarted: _sentence("{who} is on turn"),
    e.TurnEnded: _sentence("{who} is done"),
    e.DiceRolled: _dice,
    e.TokenMoved: lambda event, t: (
        f"{t.who(event.seat)} {_MANNERS[event.manner]} to {t.where(event.target)}"
    ),
    e.CashMoved: _cash,
    e.PropertyMoved: lambda event, t: _moved_properties([event], t),
    e.BuildingBuilt: _sentence("{who} builds level {level} on {where}"),
    e.BuildingSold: _sentence("{who} sells a level of {where}, {level} left"),
    e.PropertyMortgaged: _sentence("{who} mortgages {where}"),
    e.PropertyRedeemed: _sentence("{who} redeems {where}"),
    e.MortgageCounted: _sentence("{who} has {rounds_left} rounds left to redeem {where}"),
    e.MortgageLapsed: _sentence("{who} loses {where}: its mortgage ran out"),
    e.CardDrawn: lambda event, t: f"{t.who(event.seat)} draws a card: {t.card(event.card)}",
    e.RentCharged: _rent,
    e.Jailed: lambda event, t: f"{t.who(event.seat)} goes to jail{_JAILED.get(event.cause, '')}",
    e.JailRollFailed: _sentence("{who} stays in jail after attempt {attempts}"),
    e.Released: lambda event, t: f"{t.who(event.seat)} leaves jail{_RELEASED.get(event.cause, '')}",
    e.PurchaseDeclined: _sentence("{who} declines {where}"),
    e.AuctionStarted: _sentence("{where} is auctioned from {opening_bid}"),
    e.BidPlaced: _sentence("{who} bids {amount}"),
    e.BidPassed: _sentence("{who} passes ({cause})"),
    e.BidVoided: _sentence("{who}'s bid of {amount} is void"),
    e.AuctionEnded: _auction_end,
    e.DebtOpened: _sentence("{who} owes {amount}"),
    e.DebtRedirected: _sentence("{creditor} is out: {amount} of {who}'s debt go to the bank"),
    e.DebtSettled: _sentence("{who} has settled a debt of {amount}"),
    e.WagerPlaced: lambda event, t: (
        f"{t.who(event.seat)} wagers on {', '.join(map(str, event.numbers))}"
    ),
    e.WagerRolled: _wager,
    e.WagerDeclined: _sentence("{who} declines the wager"),
    e.BusMoved: _sentence("{who} takes the bus for {steps} squares"),
    e.SquareChosen: _sentence("{who} chooses {where}"),
    e.GodArrived: lambda event, t: (
        f"{_god(event.god)} comes to {t.who(event.seat)} until round {event.until_round}"
    ),
    e.GodLeft: lambda event, t: f"{_god(event.god)} leaves {t.who(event.seat)}",
    e.PacketOpened: _sentence("{recipient} finds {amount} in {who}'s red packet"),
    e.PropertyFinanced: _sentence("{who} finances {where} at {price}, due in round {due_round}"),
    e.FinancingSettled: _sentence("{who} pays off {where} with {amount}"),
    e.OfferMade: _sentence("{proposer} offers {recipient} a trade"),
    e.OfferClosed: _sentence("offer {offer_id} is closed ({cause})"),
    e.ClockRanOut: _sentence("{who}'s clock ran out"),
    e.TurnSkipped: _sentence("{who}'s turn is skipped"),
    e.Surrendered: _sentence("{who} surrenders ({cause})"),
    e.Bankrupted: _sentence("{who} is bankrupt: owed {owed}, paid {paid}"),
    e.Eliminated: _sentence("{who} is out of the game"),
    e.GameEnded: _end,
}
