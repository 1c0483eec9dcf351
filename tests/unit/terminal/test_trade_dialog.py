"""The trade dialog: both sides, cash typed, and the server's word on what is chosen now."""

from dataclasses import replace

from opolyx_sdk import Refusal
from opolyx_sdk.actions import ProposeTrade, Roll
from opolyx_sdk.decisions import Decision, PartnerSquares, TradeTemplate, TradeVerdict
from opolyx_sdk.enums import Phase, RefusalReason
from opolyx_sdk.terminal.dialogs.dialog import Act, Shut
from opolyx_sdk.terminal.dialogs.offers import OffersDialog
from opolyx_sdk.terminal.dialogs.trade import TradeDialog
from opolyx_sdk.testing import opening_view
from opolyx_sdk.text import Table
from opolyx_sdk.views import OfferView

TABLE = Table(("Ada", "Bruno", "Chandra"), "classic@full")
TEMPLATE = TradeTemplate(
    partners=(1, 2),
    own_squares=(1, 3),
    partner_squares=(
        PartnerSquares(1, (5, 39), 900, ally=False),
        PartnerSquares(2, (), 50, ally=True),
    ),
    max_give_cash=1_500,
    fairness_bp=4_000,
    offers_left=2,
)
DECISION = Decision("d1", 0, Phase.ROLL, 0, (Roll(),), TEMPLATE, 0, 0)


def pressed(*keys: str) -> TradeDialog:
    dialog = TradeDialog(DECISION)
    for key in keys:
        assert dialog.press(key) is None
    return dialog


def page(dialog: TradeDialog | OffersDialog) -> str:
    return dialog.paint(TABLE, 70, 18).plain()


def test_what_is_chosen_is_offered() -> None:
    dialog = pressed("down", "space", "right", *"40", "backspace", *"00")

    assert Act(ProposeTrade(1, 0, (1,), 400, ()), DECISION) == dialog.press("enter")


def test_nothing_is_offered_while_a_side_is_empty() -> None:
    dialog = pressed("down", "space")

    assert dialog.question is None
    assert dialog.press("enter") is None
    assert "Choose what to give" in page(dialog)


def test_cash_stays_within_what_there_is() -> None:
    dialog = pressed(*"99999", "right", *"901", "minus", "plus", "plus")

    assert "Cash: 1,500k" in page(dialog)
    assert "Cash: 900k" in page(dialog)


def test_the_verdict_is_that_of_the_trade_as_it_is_now() -> None:
    dialog = pressed(*"600", "right", "down", "space")
    first = dialog.question
    assert first == ProposeTrade(1, 600, (), 0, (5,))
    assert "Asking the server" in page(dialog)
    dialog.judge(first, TradeVerdict(allowed=True, give_value=600, want_value=700, refusal=None))
    assert dialog.question is None
    assert "Worth 600k against 700k: Fair enough" in page(dialog)

    dialog.press("space")
    dialog.press("down")
    dialog.press("space")
    assert dialog.question == ProposeTrade(1, 600, (), 0, (39,))
    assert "Fair enough" not in page(dialog)


def test_an_unfair_trade_is_told_with_the_rule() -> None:
    dialog = pressed(*"10", "right", "down", "space")
    trade = dialog.question
    assert trade is not None
    refusal = Refusal(RefusalReason.UNFAIR, "TRADE-5", "", {})
    dialog.judge(trade, TradeVerdict(allowed=False, give_value=10, want_value=700, refusal=refusal))

    assert "40 % of the larger" in page(dialog)


def test_another_partner_begins_anew() -> None:
    dialog = pressed(*"600", "p", *"7", "right", *"60")

    assert dialog.question == ProposeTrade(2, 7, (), 50, ())
    assert "Chandra" in page(dialog)
    dialog.press("p")
    assert "Bruno" in page(dialog)


def test_a_click_chooses_in_the_column_of_the_mark() -> None:
    dialog = pressed("right")
    painting = dialog.paint(TABLE, 70, 18)
    y = next(y for y, line in enumerate(painting.lines) if "Harbour Station" in line.plain)

    dialog.press(painting.hit(50, y))

    assert "■ S 5" in page(dialog)


def test_escape_closes_without_an_offer() -> None:
    assert isinstance(pressed(*"600").press("escape"), Shut)


def test_an_offer_is_valued_from_the_side_of_who_answers() -> None:
    offer = OfferView(7, 1, 0, 100, (5,), 0, (1,), 0)
    view = replace(opening_view(3), offers=(offer,))
    answer = Decision("o7", 0, Phase.OFFER, 0, (), None, 7, 0)
    dialog = OffersDialog(view, 0, (answer,))
    question = dialog.question

    assert question == ProposeTrade(1, 0, (1,), 100, (5,))
    dialog.judge(question, TradeVerdict(False, 600, 2_100, None))
    shown = page(dialog)
    assert "Bruno offers you" in shown
    assert "You get: S5 Harbour Station, 100k" in shown
    assert "You give: A1" in shown
    assert "Worth 600k against 2,100k" in shown
