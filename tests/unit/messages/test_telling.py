"""Events, refusals and actions as each language tells them."""

import dataclasses
from dataclasses import dataclass
from typing import cast

import pytest

from opolyx_sdk import actions as a
from opolyx_sdk import events as e
from opolyx_sdk.enums import BusMove, CashCause, God, JailCause, PropertyCause, RefusalReason
from opolyx_sdk.messages import LANGUAGES
from opolyx_sdk.refusals import Refusal
from opolyx_sdk.text import Table, action_text, describe, narrate, refusal_text

EVERY_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)


def table(language: str, ruleset: str = "classic@full") -> Table:
    return Table(["Ada", "Bruno"], ruleset, language)


def refused(reason: RefusalReason, **numbers: int) -> Refusal:
    return Refusal(reason, "BUILD-2", "for developers", numbers)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "Ada builds level 3 on Seashell Quay"),
        ("id", "Ada membangun Dermaga Kerang sampai tingkat 3"),
        ("zh-Hant", "Ada 把貝殼碼頭蓋到 3 級"),
        ("hi", "Ada ने सीपी घाट पर निर्माण किया, अब स्तर 3"),
    ],
)
def test_an_event_is_told_in_each_language(language: str, expected: str) -> None:
    assert expected == describe(e.BuildingBuilt(0, 6, 3), table(language))


@pytest.mark.statement("R042")
@pytest.mark.parametrize(
    ("language", "amount"),
    [("en", "15,000k"), ("id", "15.000k"), ("zh-Hant", "1,500萬"), ("hi", "15,000k")],
)
def test_fortunes_money_is_told_as_each_language_counts_it(language: str, amount: str) -> None:
    paid = e.CashMoved(payer=0, payee=1, amount=15_000, cause=CashCause.TRADE)

    assert amount in describe(paid, table(language, "fortune@full"))


@pytest.mark.parametrize(
    ("payer", "payee", "expected"),
    [
        (None, 0, "Ada gets 500k by a card"),
        (0, None, "Ada pays 500k by a card"),
        (0, 1, "Ada pays Bruno 500k by a card"),
    ],
)
def test_cash_is_told_by_where_it_goes(payer: int | None, payee: int | None, expected: str) -> None:
    assert expected == describe(e.CashMoved(payer, payee, 500, CashCause.CARD), table("en"))


@pytest.mark.parametrize(
    ("third", "expected"),
    [
        (0, "Ada rolls 3 + 3, a double"),
        (2, "Ada rolls 3 + 3 and 2, a double"),
        (4, "Ada rolls 3 + 3 and the bus, a double"),
        (5, "Ada rolls 3 + 3 and an X, a double"),
    ],
)
def test_dice_are_told_with_the_third(third: int, expected: str) -> None:
    assert expected == describe(e.DiceRolled(0, 3, 3, third), table("en"))


def test_what_goes_to_somebody_else_is_told_once_with_all_of_it() -> None:
    moved: list[e.Event] = [e.PropertyMoved(one, 0, 1, PropertyCause.TRADE) for one in (6, 8)]

    assert ["Bruno gets Seashell Quay, Saltpan Walk from Ada"] == narrate(moved, table("en"))
    assert ["Ada 的貝殼碼頭、鹽田步道轉給 Bruno"] == narrate(moved, table("zh-Hant"))


@EVERY_LANGUAGE
def test_the_banks_side_names_the_bank_or_nobody(language: str) -> None:
    free = [e.PropertyMoved(6, None, 0, PropertyCause.FINANCING)]

    assert "None" not in describe(free[0], table(language))
    assert table(language).who(None) == table(language).text("seat.bank")


@EVERY_LANGUAGE
def test_an_event_of_a_newer_server_has_a_neutral_text_with_its_facts(language: str) -> None:
    @dataclass(frozen=True, slots=True)
    class DiceStolen:
        seat: int
        amount: int
        weight: int

    told = describe(cast(e.Event, DiceStolen(1, 2_500, 7)), table(language))

    assert all(one in told for one in ("DiceStolen", "Bruno", "7"))
    assert table(language).money(2_500) in told


@EVERY_LANGUAGE
@pytest.mark.parametrize(
    "event",
    [
        e.Jailed(0, JailCause.UNSPECIFIED),
        e.GodArrived(0, God.UNSPECIFIED, 9),
        e.CashMoved(0, None, 5, CashCause.UNSPECIFIED),
        e.CashMoved(None, None, 5, CashCause.UNSPECIFIED),
        e.PropertyMoved(1, None, None, PropertyCause.UNSPECIFIED),
    ],
)
def test_a_cause_that_is_newer_reads_without_it(language: str, event: e.Event) -> None:
    told = describe(event, table(language))

    assert "unspecified" not in told.lower()
    assert "{" not in told


@EVERY_LANGUAGE
def test_numbers_outside_the_board_are_shown_as_numbers(language: str) -> None:
    told = describe(e.PropertyMortgaged(9, 77), table(language))

    assert "9" in told
    assert "#77" in told


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "You need 1,500k and have 20k"),
        ("id", "Butuh 1.500k, uangmu 20k"),
        ("zh-Hant", "需要 1,500k，你只有 20k"),
        ("hi", "चाहिए 1,500k, आपके पास 20k"),
    ],
)
@pytest.mark.parametrize("cost", ["price", "stake", "owed", "bail", "cost", "needed"])
def test_too_little_cash_says_how_much_is_needed(language: str, expected: str, cost: str) -> None:
    refusal = refused(RefusalReason.NOT_ENOUGH_CASH, **{cost: 1_500, "cash": 20})

    assert expected == refusal_text(refusal, table(language))


@EVERY_LANGUAGE
def test_a_refusal_without_its_numbers_says_so_without_them(language: str) -> None:
    plain = refusal_text(refused(RefusalReason.NOT_ENOUGH_CASH), table(language))

    assert table(language).text("refusal.not_enough_cash") == plain
    assert "{" not in plain


def test_a_refusal_for_haste_says_when_to_go_on() -> None:
    soon = refused(RefusalReason.TOO_FAST, retry_after_ms=1, commands_per_second=5)
    later = refused(RefusalReason.TOO_FAST, retry_after_ms=1_001, commands_per_second=5)

    assert "Slow down a little: again in 1 second" == refusal_text(soon, table("en"))
    assert "Slow down a little: again in 2 seconds" == refusal_text(later, table("en"))


@EVERY_LANGUAGE
def test_a_reason_of_a_newer_server_has_a_neutral_text_with_its_numbers(language: str) -> None:
    refusal = Refusal(RefusalReason(999), "NEW-1", "", {"price": 40, "moons": 3})

    told = refusal_text(refusal, table(language))

    assert all(one in told for one in ("NEW-1", "40k", "moons 3"))
    nothing = refusal_text(Refusal(RefusalReason(999), "", "", {}), table(language))
    assert table(language).text("refusal.other") == nothing


def test_a_group_is_named_in_a_refusal() -> None:
    refusal = refused(RefusalReason.GROUP_INCOMPLETE, square=1, group=0)

    assert "You need every brown street first" == refusal_text(refusal, table("en"))
    assert "要先集齊棕色的全部街道" == refusal_text(refusal, table("zh-Hant"))


@EVERY_LANGUAGE
def test_every_action_has_words_for_its_button(language: str) -> None:
    samples: list[a.Action] = [
        *(a.ChooseBus(move) for move in BusMove),
        *(sample(kind) for kind in a.ACTION_TYPES if kind is not a.ChooseBus),
    ]

    texts = [action_text(action, table(language)) for action in samples]

    assert not [text for text in texts if "{" in text or not text]
    assert len(texts) == len(set(texts))


def sample(kind: type[a.Action]) -> a.Action:
    """Return an action of this kind."""
    values = {"numbers": (1, 6), "give_squares": (), "want_squares": ()}
    fields = dataclasses.fields(kind)
    return kind(**{one.name: values.get(one.name, 1) for one in fields})  # type: ignore[arg-type]


def test_an_action_that_is_newer_has_a_neutral_text() -> None:
    @dataclass(frozen=True, slots=True)
    class Steal:
        square: int

    told = action_text(cast(a.Action, Steal(6)), table("en"))

    assert "Something that this version can't tell (Steal, square Seashell Quay)" == told


def test_names_command_no_terminal_and_turn_no_line_around() -> None:
    names = Table(["\x1b[2JAda\n\u202e", "\u200bBruno", "\x07", "क\u200dष"])

    assert "[2JAda" == names.who(0)
    assert "seat 2" == names.who(2)
    assert "क\u200dष" == names.who(3)  # joiners are part of Hindi's spelling


def test_no_name_of_a_player_chooses_a_text() -> None:
    names = Table(["other", "bank"], "classic@full")

    assert "bank pays other 5k" == describe(e.CashMoved(1, 0, 5, CashCause.UNSPECIFIED), names)


@pytest.mark.parametrize(
    ("language", "expected"),
    [("en", "2, 3 or 4"), ("id", "2, 3 atau 4"), ("zh-Hant", "2、3 或 4"), ("hi", "2, 3 या 4")],
)
def test_several_things_are_listed(language: str, expected: str) -> None:
    assert expected == table(language).any_of(["2", "3", "4"])
    assert "4" == table(language).any_of(["4"])
    assert "" == table(language).any_of([])


def test_words_that_have_no_name_are_shown_as_they_are() -> None:
    assert "Fortune" == table("en", "fortune@full").mode()
    assert "財神" == table("zh-Hant").mode("fortune@full")
    assert "new" == table("hi").mode("new@later")
    assert "77" == table("hi").group(77)
    assert "आसमानी" == table("hi").group("sky")


@pytest.mark.parametrize(
    ("basis_points", "language", "expected"),
    [
        (5_000, "en", "50%"),
        (250, "en", "2.5%"),
        (250, "id", "2,5%"),
        (-305, "id", "-3,05%"),
        (0, "hi", "0%"),
        (1_234_500, "hi", "12,345%"),
    ],
)
def test_shares_are_in_percent(basis_points: int, language: str, expected: str) -> None:
    assert expected == table(language).percent(basis_points)
