"""Open offers of trades: those to answer, and one's own to take back."""

from collections.abc import Sequence

from rich.text import Text

from opolyx_sdk.actions import AcceptTrade, DeclineTrade, ProposeTrade, WithdrawTrade
from opolyx_sdk.decisions import Decision, TradeVerdict
from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Act, Dialog, Outcome, Row, Shut
from opolyx_sdk.terminal.painting import wrapped
from opolyx_sdk.terminal.squares import square_title
from opolyx_sdk.text import Table
from opolyx_sdk.views import GameView, OfferView


def offers_of(view: GameView, seat: int) -> tuple[OfferView, ...]:
    """The open offers that a seat can answer or take back: first those made to it."""
    mine = [one for one in view.offers if seat in (one.recipient, one.proposer)]
    return tuple(sorted(mine, key=lambda one: (one.recipient != seat, one.offer_id)))


class OffersDialog(Dialog):
    """One offer at a time: accept or decline it, or withdraw one's own."""

    def __init__(self, view: GameView, seat: int, decisions: Sequence[Decision]) -> None:
        """Show the open offers of a seat, at least one.

        Args:
            view: the state.
            seat: the seat.
            decisions: those of the seat; answers to offers are among them.
        """
        self._offers = offers_of(view, seat)
        self._seat = seat
        self._decisions = {one.offer_id: one for one in decisions if one.offer_id}
        self._at = 0
        self._verdicts: dict[ProposeTrade, TradeVerdict] = {}

    @property
    def question(self) -> ProposeTrade | None:
        """The offer as if this seat made it, so that the server tells what its sides are worth."""
        mirrored = self._mirrored()
        return None if mirrored in self._verdicts else mirrored

    def judge(self, trade: ProposeTrade, verdict: TradeVerdict) -> None:
        """Take the server's word on what an offer's sides are worth."""
        self._verdicts[trade] = verdict

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        offer = self._offer
        if offer.recipient == self._seat:
            told = table.text("screen.offers.to_you", who=table.who(offer.proposer))
        else:
            told = table.text("screen.offers.from_you", who=table.who(offer.recipient))
        count = len(self._offers)
        return f"{told} ({self._at + 1}/{count})" if count > 1 else told

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        trade = self._mirrored()
        lines: list[Text] = []
        for key, cash, squares in (
            ("screen.offers.you_get", trade.want_cash, trade.want_squares),
            ("screen.offers.you_give", trade.give_cash, trade.give_squares),
        ):
            parts = [square_title(square, table) for square in squares]
            parts += [table.money(cash)] if cash else []
            what = table.listed(parts) or table.text("screen.trade.nothing")
            lines += wrapped(table.text(key, what=what), width)
        verdict = self._verdicts.get(trade)
        if verdict is not None and (verdict.give_value or verdict.want_value):
            give, want = table.money(verdict.give_value), table.money(verdict.want_value)
            lines += wrapped(table.text("screen.trade.values", give=give, want=want), width)
        return [*[Row(line) for line in lines], Row(""), *self._answers(table)]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if key in SHUT_KEYS:
            return Shut()
        offer, decision = self._offer, self._decision()
        if key in ("down", "right", "tab", "up", "left", "n"):
            step = -1 if key in ("up", "left") else 1
            self._at = (self._at + step) % len(self._offers)
        elif key == "w" and offer.proposer == self._seat:
            return Act(WithdrawTrade(offer.offer_id))
        elif decision is not None and key in ("a", "d"):
            kind = AcceptTrade if key == "a" else DeclineTrade
            action = kind(offer.offer_id)
            return Act(action, decision) if decision.allows(action) else None
        return None

    def _answers(self, table: Table) -> list[Row]:
        rows = []
        decision = self._decision()
        if self._offer.proposer == self._seat:
            rows.append(Row(table.text("screen.offers.withdraw"), "w"))
        elif decision is not None:
            for action in decision.legal_actions:
                if isinstance(action, AcceptTrade):
                    rows.append(Row(table.text("screen.offers.accept"), "a"))
                elif isinstance(action, DeclineTrade):
                    rows.append(Row(table.text("screen.offers.decline"), "d"))
        if len(self._offers) > 1:
            rows.append(Row(table.text("screen.offers.next"), "n"))
        return rows

    @property
    def _offer(self) -> OfferView:
        return self._offers[self._at]

    def _decision(self) -> Decision | None:
        return self._decisions.get(self._offer.offer_id)

    def _mirrored(self) -> ProposeTrade:
        """The offer from this seat's side."""
        offer = self._offer
        if offer.proposer == self._seat:
            sides = (offer.give_cash, offer.give_squares, offer.want_cash, offer.want_squares)
            return ProposeTrade(offer.recipient, *sides)
        sides = (offer.want_cash, offer.want_squares, offer.give_cash, offer.give_squares)
        return ProposeTrade(offer.proposer, *sides)
