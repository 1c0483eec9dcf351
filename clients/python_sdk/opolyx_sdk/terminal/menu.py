"""What a seat may do now, and which key does it.

Each key stands for the same everywhere, in every language. What takes one step is done at once; what
must be chosen from many, or can't be undone, opens a dialog.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, TypeAlias

from opolyx_sdk.actions import (
    Action,
    Bid,
    Build,
    Buy,
    ChooseBus,
    ChooseSquare,
    DeclareBankruptcy,
    DeclinePurchase,
    DeclineWager,
    FinancePurchase,
    Mortgage,
    PassBid,
    PayBail,
    PayDebt,
    PayOffFinancing,
    Redeem,
    Roll,
    SellBuilding,
    StayInJail,
    Surrender,
    Wager,
)
from opolyx_sdk.board import SQUARES
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import BusMove, Phase
from opolyx_sdk.terminal.dialogs.confirm import ConfirmDialog
from opolyx_sdk.terminal.dialogs.dialog import Act, Dialog, Open, Outcome
from opolyx_sdk.terminal.dialogs.offers import OffersDialog, offers_of
from opolyx_sdk.terminal.dialogs.pick import OnSquare, PickDialog
from opolyx_sdk.terminal.dialogs.trade import TradeDialog
from opolyx_sdk.terminal.dialogs.wager import WagerDialog
from opolyx_sdk.text import Table
from opolyx_sdk.views import GameView

LEAVING: Final = "z"
"""The key of surrender, which Enter never takes by itself."""

Label: TypeAlias = Callable[[Table], str]

_BUS_KEYS: Final = {BusMove.SUM: "1", BusMove.FIRST: "2", BusMove.SECOND: "3"}
_PLAIN: Final[dict[type[Action], tuple[str, str]]] = {
    PassBid: ("p", "screen.do.pass"),
    DeclareBankruptcy: ("k", "screen.do.bankrupt"),
    PayBail: ("i", "screen.do.bail"),
    StayInJail: ("y", "screen.do.stay"),
    DeclineWager: ("d", "screen.do.no_wager"),
}
"""What has one key and one text: both."""

_UNDERFOOT: Final[dict[type[Action], tuple[str, str]]] = {
    Buy: ("b", "screen.do.buy"),
    DeclinePurchase: ("d", "screen.do.decline"),
    FinancePurchase: ("f", "screen.do.finance"),
}
"""The same, of the property underfoot."""

_PICKED: Final[dict[type[OnSquare], tuple[str, str, str]]] = {
    Build: ("u", "screen.do.build", "screen.pick.build"),
    SellBuilding: ("s", "screen.do.sell", "screen.pick.sell"),
    Mortgage: ("m", "screen.do.mortgage", "screen.pick.mortgage"),
    Redeem: ("e", "screen.do.redeem", "screen.pick.redeem"),
    ChooseSquare: ("g", "screen.do.triple", "screen.pick.triple"),
}
"""What is chosen from a list: its key, its text, the list's title."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of the menu."""

    key: str
    """The key that takes it."""

    label: Label
    """What it does, in a table's words."""

    outcome: Callable[[], Outcome]
    """What comes of it: an action, or a dialog."""


@dataclass(frozen=True, slots=True)
class Hand:
    """A seat at the table as it is now."""

    view: GameView
    """The state."""

    seat: int | None
    """The seat; None for a spectator, who has nothing to do."""

    decisions: tuple[Decision, ...]
    """What is awaited from the seat."""

    @property
    def decision(self) -> Decision | None:
        """The table's decision, if it is the seat's."""
        return next((one for one in self.decisions if one.phase is not Phase.OFFER), None)

    def entries(self) -> tuple[Entry, ...]:
        """All that may be done, the usual first."""
        if self.seat is None or self.view.over or not self.view.player(self.seat).in_game:
            return ()
        found: list[Entry] = []
        if (decision := self.decision) is not None:
            for action in decision.legal_actions:
                entry = self._direct(action, decision)
                if entry is not None:
                    found.append(entry)
            found += self._picks(decision)
            if decision.trade_template is not None:
                found.append(self._trade(decision))
        if offers_of(self.view, self.seat):
            found.append(self._offers())
        found.append(
            Entry(
                LEAVING, _text("screen.do.surrender"), partial(_confirm, "surrender", Surrender())
            )
        )
        return tuple(found)

    def press(self, key: str) -> Outcome | None:
        """What a key does; None for nothing."""
        return next((one.outcome() for one in self.entries() if one.key == key), None)

    def _direct(self, action: Action, decision: Decision) -> Entry | None:
        """The entry of an action that is taken at once, or after a question."""
        known = self._key_and_label(action, decision)
        if known is None:
            return None
        key, label = known
        if isinstance(action, DeclareBankruptcy):
            return Entry(key, label, partial(_confirm, "bankrupt", action, decision))
        return Entry(key, label, partial(Act, action, decision))

    def _key_and_label(self, action: Action, decision: Decision) -> tuple[str, Label] | None:
        if (plain := _PLAIN.get(type(action))) is not None:
            return plain[0], _text(plain[1])
        match action:
            case Roll():
                in_jail = decision.phase is Phase.JAIL
                return "r", _text("screen.do.roll_in_jail" if in_jail else "screen.do.roll")
            case Buy() | DeclinePurchase() | FinancePurchase():
                key, text = _UNDERFOOT[type(action)]
                return key, self._here(text)
            case Bid():
                bid = self.view.auction.next_bid if self.view.auction else 0
                return "b", lambda table: table.text("screen.do.bid", amount=table.money(bid))
            case PayDebt():
                owed = decision.amount_owed
                return "p", lambda table: table.text("screen.do.pay", amount=table.money(owed))
            case ChooseBus(move) if move in _BUS_KEYS:
                return _BUS_KEYS[move], self._bus(move)
            case PayOffFinancing():
                return "o", self._financed()
        return None

    def _picks(self, decision: Decision) -> list[Entry]:
        """What is chosen in a dialog."""
        entries = []
        for kind, (key, text, title) in _PICKED.items():
            actions = [one for one in decision.legal_actions if isinstance(one, kind)]
            if actions:
                dialog = partial(PickDialog, title, actions, decision, self.view)
                entries.append(Entry(key, _text(text), _opener(dialog)))
        wagers = [one for one in decision.legal_actions if isinstance(one, Wager)]
        if wagers:
            opener = _opener(partial(WagerDialog, wagers, decision))
            entries.insert(0, Entry("w", _text("screen.do.wager"), opener))
        return entries

    def _trade(self, decision: Decision) -> Entry:
        return Entry("t", _text("screen.do.trade"), _opener(partial(TradeDialog, decision)))

    def _offers(self) -> Entry:
        seat = self.seat or 0
        count = len(offers_of(self.view, seat))
        return Entry(
            "v",
            lambda table: table.text("screen.do.offers", offers=count),
            _opener(partial(OffersDialog, self.view, seat, self.decisions)),
        )

    def _here(self, key: str) -> Label:
        """A text about the property underfoot."""
        square = self.view.player(self.seat or 0).position
        price = SQUARES[square].price
        return lambda table: table.text(key, where=table.where(square), price=table.money(price))

    def _bus(self, move: BusMove) -> Label:
        first, second = (*self.view.turn.dice, 0, 0)[:2]
        steps = {BusMove.SUM: first + second, BusMove.FIRST: first, BusMove.SECOND: second}[move]
        target = (self.view.player(self.seat or 0).position + steps) % len(SQUARES)
        key = "screen.do.bus_sum" if move is BusMove.SUM else "screen.do.bus_one"
        return lambda table: table.text(key, steps=steps, where=table.where(target))

    def _financed(self) -> Label:
        square = self.view.player(self.seat or 0).financed_square or 0
        return lambda table: table.text("screen.do.pay_off", where=table.where(square))


def _text(key: str) -> Label:
    return lambda table: table.text(key)


def _opener(make: Callable[[], Dialog]) -> Callable[[], Outcome]:
    return lambda: Open(make())


def _confirm(question: str, action: Action, decision: Decision | None = None) -> Outcome:
    return Open(ConfirmDialog(f"screen.confirm.{question}", Act(action, decision)))
