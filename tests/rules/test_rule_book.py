"""The rule book says what the code does: pages, values, ids, and the proof behind each rule."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import rule_book
import rules_coverage
from opolyx_rules import RULESETS, get_ruleset, reasons
from opolyx_rules.rule_book import (
    CHAPTERS,
    FIELDS,
    differing_fields,
    rule_ids,
    rules,
    shown,
    text_of,
)

PRESETS = list(RULESETS.values())
CORE = Path(reasons.__file__).parent


def test_pages_are_what_the_code_makes() -> None:
    assert [] == rule_book.stale(), "make rule-book"


def test_ids_are_numbered_in_each_chapter_without_gaps() -> None:
    for chapter in CHAPTERS:
        expected = [f"{chapter.id}-{number}" for number in range(1, len(chapter.rules) + 1)]
        assert expected == [rule.id for rule in chapter.rules]


def test_every_field_of_a_ruleset_is_read_by_a_rule_and_no_other() -> None:
    named = {field for rule in rules() for field in rule.fields}

    assert set(FIELDS) == named


@pytest.mark.parametrize("name", sorted(RULESETS))
def test_text_of_one_ruleset_has_its_values(name: str) -> None:
    texts = [text_of(rule, [RULESETS[name]]) for rule in rules()]

    assert [] == [text for text in texts if "{" in text]


def test_text_names_the_field_where_values_differ() -> None:
    (start_cash,) = (rule for rule in rules("TABLE") if rule.id == "TABLE-7")
    rich = replace(get_ruleset("classic@full"), start_cash=20_000)

    assert "Start with 20000 and" in text_of(start_cash, [rich])
    assert "Start with `start_cash` and" in text_of(start_cash, [*PRESETS, rich])


def test_difference_of_two_rulesets_is_their_differing_fields() -> None:
    classic, blitz = get_ruleset("classic@full"), get_ruleset("blitz@full")

    assert [] == differing_fields([classic, classic])
    assert ["rent_tax_from", "rent_tax_full", "round_cap", "turn_seconds"] == differing_fields(
        [classic, blitz]
    )


@pytest.mark.parametrize(
    ("name", "field", "expected"),
    [
        ("classic@full", "mortgage_interest_bp", "10 %"),
        ("classic@full", "mortgage_rounds", "–"),
        ("speed@full", "mortgage_rounds", "10"),
        ("speed@full", "turn_seconds", "45 s"),
        ("speed@guide", "builds_per_street", "any"),
        ("classic@full", "builds_per_street", "1"),
        ("classic@full", "even_build", "yes"),
        ("classic@full", "team_bankruptcy", "–"),
        ("team@full", "team_bankruptcy", "to_teammate"),
        ("classic@origins", "last_attempt", "free_release"),
    ],
)
def test_value_is_shown_in_words(name: str, field: str, expected: str) -> None:
    assert expected == shown(get_ruleset(name), field)


def test_share_with_a_fraction_is_shown_whole() -> None:
    odd = replace(get_ruleset("classic@full"), mortgage_interest_bp=1_025)

    assert "10.25 %" == shown(odd, "mortgage_interest_bp")


def test_unknown_chapter_is_named() -> None:
    with pytest.raises(KeyError, match="no chapter 'POKER'; there are TABLE, BOARD"):
        rules("POKER")


def test_every_rule_that_the_core_cites_is_in_the_book() -> None:
    """Refusals and docstrings name rules by id; none of them leads nowhere."""
    known, cited = set(rule_ids()), set()
    for path in CORE.rglob("*.py"):
        for word in path.read_text("utf-8").replace('"', " ").replace("(", " ").split():
            stem, _, number = word.rstrip(".,;:)").partition("-")
            if stem in {chapter.id for chapter in CHAPTERS} and number.isdigit():
                cited.add(f"{stem}-{number}")

    assert cited <= known
    assert len(cited) > 50


def test_coverage_tells_rules_without_a_test_and_tests_without_a_rule() -> None:
    tests = {rule_id: {"a_test"} for rule_id in rule_ids() if rule_id != "TURN-2"}
    tests["TURN-99"] = {"tests/rules/test_x.py::test_y"}

    assert [
        "TURN-2 has no test",
        "tests/rules/test_x.py::test_y names TURN-99, which is no rule",
    ] == rules_coverage.problems(tests)


def test_collector_counts_a_parametrised_test_once() -> None:
    collector = rules_coverage.Collector()
    collector.pytest_collection_modifyitems(
        [_item("test_a.py::test_it[1]"), _item("test_a.py::test_it[2]")]
    )

    name = "test_a.py::test_it"
    assert {"TURN-1": {name}, "TURN-2": {name}} == collector.tests


def _item(nodeid: str) -> Any:
    """What the collector asks of a test that proves TURN-1 and TURN-2."""
    marks = [pytest.mark.rule("TURN-1", "TURN-2").mark]
    return SimpleNamespace(nodeid=nodeid, iter_markers=lambda _: marks)
