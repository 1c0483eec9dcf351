"""What commands print in each language."""

import dataclasses
from pathlib import Path

import pytest

from opolyx_sdk.cli.app import app
from opolyx_sdk.cli.demo_screen import DemoScreen
from opolyx_sdk.cli.language import chosen_language
from opolyx_sdk.enums import TermKind, ZeroReason
from opolyx_sdk.errors import OpolyxError
from opolyx_sdk.events import BidPlaced, DiceRolled, RoundStarted
from opolyx_sdk.local import simulate
from opolyx_sdk.messages import LANGUAGES
from opolyx_sdk.profiles import Award, AwardTerm
from opolyx_sdk.replays import Verification
from opolyx_sdk.testing.tables import opening_view
from opolyx_sdk.text import Table, award_text

Output = pytest.CaptureFixture[str]
EVERY_LANGUAGE = pytest.mark.parametrize("language", LANGUAGES)
FOUND = Verification(
    ok=True,
    complete=True,
    updates=1_234,
    problem="",
    update=None,
    game_id="g",
    ruleset="classic@full",
    seats=("Ada", "Bruno"),
    places=(1, 2),
    rounds=9,
    log_digest="",
)


def award(*terms: AwardTerm, zero: ZeroReason = ZeroReason.UNSPECIFIED) -> Award:
    xp = sum(term.xp for term in terms)
    return Award("g", 0, "p", xp, terms, zero, "classic@full", 1, 0, 1, ())


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "verified: 1,234 updates, every die, card and digest, and the result"),
        ("id", "terverifikasi: 1.234 langkah, setiap dadu, kartu, dan digest, serta hasilnya"),
        ("zh-Hant", "驗證通過：1,234 步，每顆骰子、每張卡、每個摘要和結果都正確"),
        ("hi", "जाँच पूरी: 1,234 क़दम, हर पासा, कार्ड और डाइजेस्ट, और नतीजा, सब सही"),
    ],
)
def test_a_verdict_is_told_in_each_language(language: str, expected: str) -> None:
    assert expected == FOUND.sentence(language)


@EVERY_LANGUAGE
def test_every_verdict_has_a_sentence_of_its_own(language: str) -> None:
    wrong = dataclasses.replace(FOUND, ok=False, problem="die 3", updates=0)
    verdicts = [
        FOUND,
        dataclasses.replace(FOUND, complete=False),
        wrong,
        dataclasses.replace(wrong, update=7),
        dataclasses.replace(wrong, update=7, updates=6),
    ]

    said = [one.sentence(language) for one in verdicts]
    assert len(said) == len(set(said))
    assert all("die 3" in one for one in said[2:])
    assert all("7" in one for one in said[3:])
    assert "{" not in "".join(said)


@pytest.mark.parametrize(
    ("language", "expected"),
    [
        ("en", "place +200, few people -100"),
        ("id", "peringkat +200, kurang orang -100"),
        ("zh-Hant", "名次 +200、真人太少 -100"),
        ("hi", "स्थान +200, इंसान खिलाड़ी कम -100"),
    ],
)
def test_an_award_is_told_in_each_language(language: str, expected: str) -> None:
    terms = AwardTerm(TermKind.PLACE, 200), AwardTerm(TermKind.FEW_PEOPLE, -100)

    assert expected == award_text(award(*terms), Table((), language=language))


@EVERY_LANGUAGE
def test_a_zero_award_says_why_and_an_award_of_nothing_says_nothing(language: str) -> None:
    table = Table((), language=language)

    assert table.text("award.bot") == award_text(award(zero=ZeroReason.BOT), table)
    assert "" == award_text(award(), table)


def test_the_demo_speaks_the_language(capsys: Output) -> None:
    record = simulate("blitz@full", ["steady", "random"], seed=3)
    screen = DemoScreen(quiet=False, language="zh-Hant")
    view = dataclasses.replace(opening_view(2), result=record.result)

    screen.room("ABC", ["Ada", "Bruno"])
    screen.begin("blitz@full", ["Ada", "Bruno"])
    screen.show([DiceRolled(0, 2, 5, 0), BidPlaced(1, 1_200), RoundStarted(10)], view)
    screen.standings(view, {0: award(AwardTerm(TermKind.PLACE, 200))})
    screen.end(Path("game.jsonl"), FOUND, 1_234, 5.25)

    said = capsys.readouterr().out
    for line in (
        "房間 ABC：Ada、Bruno",
        "  Ada 擲出 2 + 5",
        "  Bruno 出價 1,200k",
        "第 10 回合",
        "1,234 步，5.2 秒",
        "重播檔：game.jsonl",
    ):
        assert line in said.splitlines()
    assert f"第 {record.result.round} 回合後的名次" in said
    assert "名次 +200" in said


def test_a_quiet_demo_says_nothing(capsys: Output) -> None:
    screen = DemoScreen(quiet=True, language="hi")
    screen.begin("blitz@full", ["Ada", "Bruno"])
    screen.tell("room", code="ABC", names="Ada")

    assert "" == capsys.readouterr().out


def test_what_is_asked_for_wins_over_the_system(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LC_ALL", "hi_IN.UTF-8")

    assert "hi" == chosen_language(None)
    assert "zh-Hant" == chosen_language("zh_TW")
    assert "en" == chosen_language("en")


@pytest.mark.parametrize("command", [("rules",), ("demo",), ("verify", "none.jsonl")])
def test_a_language_without_texts_is_refused(command: tuple[str, ...]) -> None:
    with pytest.raises(OpolyxError, match="no texts in 'klingon'; there are en, id, zh-Hant, hi"):
        app([*command, "--lang", "klingon"], result_action="return_value")
