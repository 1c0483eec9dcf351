"""The rule book in each language."""

import json
import re
from pathlib import Path
from typing import Final

import pytest

from opolyx_rules import RULESETS, Ruleset
from opolyx_rules.rule_book import CHAPTERS, FIELDS, rules, shown, text_of
from opolyx_sdk.cli.app import app
from opolyx_sdk.local.rule_pages import ruleset_differences, ruleset_page
from opolyx_sdk.local.rule_words import RuleWords, read_rule_texts, rule_words
from opolyx_sdk.messages import LANGUAGES
from opolyx_sdk.messages.patterns import parse, slots, words

OTHERS: Final = [language for language in LANGUAGES if language != "en"]
EVERY_OTHER: Final = pytest.mark.parametrize("language", OTHERS)
EVERY_RULESET: Final = pytest.mark.parametrize(
    "ruleset", RULESETS.values(), ids=lambda one: one.name
)
CODE: Final = re.compile(r"`\w+`")
Output = pytest.CaptureFixture[str]


def wanted() -> set[str]:
    """Return the keys that a rule book in another language has."""
    words = {
        value
        for ruleset in RULESETS.values()
        for field in FIELDS
        if (value := shown(ruleset, field))[0].isalpha()
    }
    return {
        *(f"chapter.{chapter.id}" for chapter in CHAPTERS),
        *(f"rule.{rule.id}" for rule in rules()),
        *(f"field.{field}" for field in FIELDS),
        *(f"value.{word}" for word in words),
        "value.seconds",
    }


@EVERY_OTHER
def test_the_book_is_whole(language: str) -> None:
    assert wanted() == set(read_rule_texts(language))


@EVERY_OTHER
def test_a_rule_has_the_values_and_fields_of_the_english_one(language: str) -> None:
    texts = read_rule_texts(language)
    wrong = [
        rule.id
        for rule in rules()
        if slots(parse(texts[f"rule.{rule.id}"])) != slots(parse(rule.text))
        or set(CODE.findall(texts[f"rule.{rule.id}"])) != set(CODE.findall(rule.text))
    ]

    assert wrong == []


@EVERY_OTHER
def test_a_rule_has_the_numbers_of_the_english_one(language: str) -> None:
    """A translation that says 100 rounds where 50 are meant would be believed."""
    texts = read_rule_texts(language)
    wrong = {}
    for rule in rules():
        here = re.findall(r"\d+", texts[f"rule.{rule.id}"])
        if sorted(here) != sorted(re.findall(r"\d+", rule.text)):
            wrong[rule.id] = here

    assert wrong == {}


@EVERY_OTHER
@EVERY_RULESET
def test_pages_are_told_with_the_rulesets_values(ruleset: Ruleset, language: str) -> None:
    page = ruleset_page(ruleset.name, language)
    told = [rule.text for chapter in page.chapters for rule in chapter.rules]
    english = [text_of(rule, [ruleset]) for rule in rules()]

    assert not [text for text in told if "{" in text]
    assert not set(told) & set(english)
    assert [field.value for field in page.fields] == [getattr(ruleset, one) for one in FIELDS]


def test_money_in_the_rules_is_as_each_language_counts_it() -> None:
    start = {language: ruleset_page("fortune@full", language).fields[0] for language in LANGUAGES}

    assert {"en": "15000", "id": "15.000k", "zh-Hant": "1,500萬", "hi": "15,000k"} == {
        language: field.shown for language, field in start.items()
    }


@pytest.mark.parametrize(
    ("field", "language", "expected"),
    [
        ("turn_seconds", "id", "75 detik"),
        ("trade_fairness_bp", "hi", "50%"),
        ("third_die_from", "zh-Hant", "–"),
        ("builds_per_street", "id", "1"),
        ("third_corner", "zh-Hant", "財神廟"),
        ("even_build", "hi", "हाँ"),
        ("round_cap", "id", "500"),
    ],
)
def test_values_are_in_words(field: str, language: str, expected: str) -> None:
    assert expected == rule_words(language).shown(RULESETS["fortune@full"], field)


def test_a_rule_that_is_missing_is_english() -> None:
    words = RuleWords("hi", {"rule.RENT-8": "मालिक जेल में भी"})
    ruleset = RULESETS["classic@full"]
    by_id = {rule.id: rule for rule in rules()}

    assert "मालिक जेल में भी" == words.rule(by_id["RENT-8"], ruleset)
    assert "Bail is 500." in words.rule(by_id["JAIL-2"], ruleset)
    assert "Bail (JAIL-2)." == words.about("bail")
    assert "Jail" == words.title("JAIL", "Jail")
    assert "wager" == words.shown(ruleset, "third_corner")


def test_differences_are_told_in_the_language() -> None:
    found = {one.name: one for one in ruleset_differences("classic@full", "fortune@full", "id")}

    assert ("taruhan", "kelenteng") == (
        found["third_corner"].first.shown,
        found["third_corner"].second.shown,
    )
    assert "Apa yang dilakukan petak 20 (CORNER)." == found["third_corner"].first.about


def test_there_is_no_book_in_an_unknown_language() -> None:
    with pytest.raises(ValueError, match="there are en, id, zh-Hant, hi"):
        rule_words("fr")


@EVERY_OTHER
def test_no_english_is_left(language: str) -> None:
    """Names of fields, ids of rules, and the letters of seats and formulas are alike everywhere."""
    alike = re.compile(r"`\w+`|[A-Z]+-\d|\b(XP|VIP|CORNER|[A-Zr])\b")
    common = (Path(__file__).parent / "english_words.txt").read_text(encoding="utf-8").split()
    left = {}
    for key, text in read_rule_texts(language).items():
        latin = re.findall(r"[a-z]+", alike.sub(" ", " ".join(words(parse(text)))).lower())
        if set(latin) & set(common) if language == "id" else latin:
            left[key] = latin

    assert left == {}


# --- The command ----------------------------------------------------------------------------------


def run(*arguments: str) -> int:
    code = app(["rules", *arguments], result_action="return_value")
    assert isinstance(code, int)
    return code


def test_the_command_takes_a_language(capsys: Output) -> None:
    assert 0 == run("fortune@full", "--lang", "zh-Hant")

    lines = capsys.readouterr().out.splitlines()
    assert "fortune@full\t2、3、4、5 或 6 人" == lines[0]
    assert "TABLE-7\t每人從起點出發，持有 1,500萬，沒有地產。" in lines
    assert "欄位\t數值\t說明" in lines


def test_the_command_takes_the_systems_language(
    capsys: Output, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LC_ALL", "hi_IN.UTF-8")
    assert 0 == run("classic@full")
    hindi = capsys.readouterr().out
    assert 0 == run("classic@full", "--lang", "id")
    indonesian = capsys.readouterr().out

    assert "टेबल" in hindi.splitlines()
    assert "Meja" in indonesian.splitlines()


def test_json_tells_in_the_language_with_the_same_values(capsys: Output) -> None:
    assert 0 == run("halal@full", "--json", "--lang", "hi")

    page = json.loads(capsys.readouterr().out)
    assert "टेबल" == page["chapters"][0]["title"]
    assert RULESETS["halal@full"].digest() == page["digest"]


def test_differences_have_a_head_in_the_language(capsys: Output) -> None:
    assert 0 == run("--diff", "classic@full", "fortune@full", "--lang", "id")

    assert "setelan\tclassic@full\tfortune@full\tarti" == capsys.readouterr().out.splitlines()[0]
