"""Hands on the keyboard of the terminal client: which keys lead to an action, and how they are pressed."""

from collections.abc import Callable, Sequence
from typing import Any

from textual.app import App
from textual.pilot import Pilot

from opolyx_sdk.actions import (
    AcceptTrade,
    Action,
    Bid,
    Build,
    Buy,
    ChooseBus,
    ChooseSquare,
    DeclareBankruptcy,
    DeclinePurchase,
    DeclineTrade,
    DeclineWager,
    FinancePurchase,
    Mortgage,
    PassBid,
    PayBail,
    PayDebt,
    PayOffFinancing,
    ProposeTrade,
    Redeem,
    Roll,
    SellBuilding,
    StayInJail,
    Surrender,
    Wager,
    WithdrawTrade,
)
from opolyx_sdk.decisions import Decision, TradeTemplate
from opolyx_sdk.enums import BusMove
from opolyx_sdk.terminal.dialogs.dialog import Act, Dialog, Open
from opolyx_sdk.terminal.menu import Hand
from opolyx_sdk.views import GameView
from support_waiting import until as waited_until

PLAIN: dict[type[Action], str] = {
    Roll: "r",
    Buy: "b",
    DeclinePurchase: "d",
    FinancePurchase: "f",
    Bid: "b",
    PassBid: "p",
    PayDebt: "p",
    PayBail: "i",
    StayInJail: "y",
    DeclineWager: "d",
    PayOffFinancing: "o",
}
PICKED: dict[type[Action], str] = {
    Build: "u",
    SellBuilding: "s",
    Mortgage: "m",
    Redeem: "e",
    ChooseSquare: "g",
}
ROW_KEYS = "123456789abcdefghijklmnoprstuvwxyz"


def keys_to(action: Action, decision: Decision, view: GameView) -> list[str]:
    """What a player types who has read the screen."""
    match action:
        case _ if type(action) in PLAIN:
            return [PLAIN[type(action)]]
        case _ if type(action) in PICKED:
            alike = [one for one in decision.legal_actions if type(one) is type(action)]
            row = alike.index(action)
            choice = [ROW_KEYS[row]] if row < len(ROW_KEYS) else [*["down"] * row, "enter"]
            return [PICKED[type(action)], *choice]
        case ChooseBus(move):
            return [{BusMove.SUM: "1", BusMove.FIRST: "2", BusMove.SECOND: "3"}[move]]
        case Wager(numbers):
            return ["w", *map(str, numbers), "enter"]
        case DeclareBankruptcy():
            return ["k", "y"]
        case Surrender():
            return ["z", "y"]
        case AcceptTrade(offer_id) | DeclineTrade(offer_id) | WithdrawTrade(offer_id):
            answer = {AcceptTrade: "a", DeclineTrade: "d", WithdrawTrade: "w"}[type(action)]
            return ["v", *["n"] * _offer_row(offer_id, decision.seat, view), answer]
        case ProposeTrade():
            assert decision.trade_template is not None
            return ["t", *_trade_keys(action, decision.trade_template), "enter"]
    raise AssertionError(f"no key leads to {action}")


def _offer_row(offer_id: int, seat: int, view: GameView) -> int:
    mine = [one for one in view.offers if seat in (one.recipient, one.proposer)]
    mine.sort(key=lambda one: (one.recipient != seat, one.offer_id))
    return [one.offer_id for one in mine].index(offer_id)


def _trade_keys(trade: ProposeTrade, template: TradeTemplate) -> list[str]:
    partners = [one.seat for one in template.partner_squares]
    keys = ["p"] * partners.index(trade.recipient)
    theirs = template.partner_squares[partners.index(trade.recipient)].squares
    keys += [*str(trade.give_cash), *_chosen(trade.give_squares, template.own_squares)]
    return [*keys, "right", *str(trade.want_cash), *_chosen(trade.want_squares, theirs)]


def _chosen(wanted: Sequence[int], offered: Sequence[int]) -> list[str]:
    """Down the column with a space at each wanted square, and up again."""
    keys = []
    for square in offered:
        keys += ["down", *(["space"] if square in wanted else [])]
    return [*keys, *["up"] * len(offered)]


def typed(hand: Hand, keys: Sequence[str]) -> Act:
    """What comes of keys, typed one after the other at the table."""
    first, *rest = keys
    outcome = hand.press(first)
    for number, key in enumerate(rest, 1):
        assert isinstance(outcome, Open), f"{keys[:number]} opened nothing"
        dialog: Dialog = outcome.dialog
        outcome = dialog.press(key) or outcome
    assert isinstance(outcome, Act), f"{keys} led to {outcome}"
    return outcome


async def until(pilot: Pilot[Any], true: Callable[[], bool]) -> None:
    """Let the program go on until something holds."""
    try:
        await waited_until(true)
    except AssertionError:
        raise AssertionError(f"it did not get so; shown is\n{text_of(pilot.app)}") from None
    await pilot.pause()


def text_of(app: App[Any]) -> str:
    """What is on the screen, as text."""
    lines = app.screen._compositor.render_strips(app.size)
    return "\n".join(strip.text.rstrip() for strip in lines)
