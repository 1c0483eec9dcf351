"""The SDK's names are those of the rules, and amounts are written as each language does."""

from pathlib import Path

import pytest

import generate_themes
from opolyx_rules import RULESETS, Ruleset
from opolyx_rules.content import themes
from opolyx_sdk import names
from opolyx_sdk.amounts import amount_text

EVERY_RULESET = pytest.mark.parametrize("ruleset", RULESETS.values(), ids=lambda one: one.name)


def test_the_copy_is_what_the_tool_makes() -> None:
    assert generate_themes.module() == generate_themes.TARGET.read_text(encoding="utf-8")


def test_the_check_finds_a_difference(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(generate_themes, "TARGET", tmp_path / "copy.py")
    monkeypatch.setattr("sys.argv", ["generate_themes.py", "--check"])
    assert 1 == generate_themes.main()

    monkeypatch.setattr("sys.argv", ["generate_themes.py"])
    assert 0 == generate_themes.main()
    monkeypatch.setattr("sys.argv", ["generate_themes.py", "--check"])
    assert 0 == generate_themes.main()


@EVERY_RULESET
@pytest.mark.parametrize("language", names.LANGUAGES)
def test_the_sdk_names_what_the_rules_name(ruleset: Ruleset, language: str) -> None:
    for square in range(40):
        expected = themes.square_name(ruleset.theme, language, square, ruleset.third_corner)
        assert expected == names.square_name(square, ruleset.name, language)
    for card in range(16):
        expected = themes.card_name(ruleset.theme, ruleset.deck, language, card)
        assert expected == names.card_name(card, ruleset.name, language)


def test_an_unknown_ruleset_has_the_common_names() -> None:
    assert "Potter's Row" == names.square_name(1, "new@later")
    assert "Third Corner" == names.square_name(20, "new@later")
    assert "Dividend" in names.card_name(12, "new@later").title()


def test_unknown_squares_and_cards_have_a_number() -> None:
    assert "#40" == names.square_name(40)
    assert "#-1" == names.square_name(-1)
    assert "#16" == names.card_name(16)


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="there are en, id, zh-Hant, hi"):
        names.square_name(1, language="fr")
    with pytest.raises(ValueError, match="there are en, id, zh-Hant, hi"):
        names.card_name(1, language="fr")
    with pytest.raises(ValueError, match="there are en, id, zh-Hant, hi"):
        amount_text(1, language="fr")


@pytest.mark.parametrize(
    ("amount", "expected"),
    [
        (15_000, "1,500萬"),
        (88, "8.8萬"),
        (-88, "-8.8萬"),
        (0, "0萬"),
        (123_456, "12,345.6萬"),
    ],
)
def test_fortune_in_chinese_counts_in_ten_thousands(amount: int, expected: str) -> None:
    assert expected == amount_text(amount, "fortune@full", "zh-Hant")


@pytest.mark.statement("R042")
@EVERY_RULESET
def test_only_fortune_in_chinese_does(ruleset: Ruleset) -> None:
    texts = {language: amount_text(88, ruleset.name, language) for language in names.LANGUAGES}

    expected = "8.8萬" if ruleset.theme == "fortune" else "88k"
    assert {"en": "88k", "id": "88k", "zh-Hant": expected, "hi": "88k"} == texts


@pytest.mark.parametrize(
    ("amount", "language", "expected"),
    [
        (0, "en", "0k"),
        (1_234_567, "en", "1,234,567k"),
        (-1_234, "en", "-1,234k"),
        (1_234_567, "id", "1.234.567k"),
        (1_234_567, "zh-Hant", "1,234,567k"),
        (999, "hi", "999k"),
        (1_005, "hi", "1,005k"),
        (99_999, "hi", "99,999k"),
        (100_000, "hi", "1,00,000k"),
        (12_034_567, "hi", "1,20,34,567k"),
    ],
)
def test_digits_are_grouped_as_the_language_does(amount: int, language: str, expected: str) -> None:
    assert expected == amount_text(amount, language=language)
