"""The statements of the rule texts: all there, of known editions and modes, and their proof counted."""

from types import SimpleNamespace
from typing import Any

import pytest

import statements
from opolyx_rules import RULESETS, get_ruleset
from statements import Statement, StatementCollector

ONE = Statement(id="R901", chapter="Cards", text="Sixteen.", editions=("guide", "origins"))
TWO = Statement(
    id="R902",
    chapter="Sides",
    text="Two.",
    editions=("teams", "full"),
    modes=("team",),
    exceptions=("team@full",),
)


def test_all_203_are_there_once_with_words() -> None:
    known = statements.read()

    assert [f"R{number:03}" for number in range(1, 204)] == [each.id for each in known]
    assert 203 == len({each.text for each in known})


def test_editions_modes_and_exceptions_exist() -> None:
    editions = {ruleset.edition for ruleset in RULESETS.values()}
    modes = {ruleset.mode for ruleset in RULESETS.values()}

    for each in statements.read():
        assert set(each.editions) <= editions, each.id
        assert set(each.modes) <= modes, each.id
        assert set(each.exceptions) <= RULESETS.keys(), each.id
        assert each.rulesets(), each.id


def test_statement_is_of_the_rulesets_of_its_editions_and_modes() -> None:
    assert ["classic@origins", "classic@guide", "speed@guide"] == ONE.rulesets()
    assert ["team@teams"] == TWO.rulesets()


def test_problems_are_statements_unproven_somewhere_and_tests_of_unknown_ones() -> None:
    tests = {
        "R901": {"test_a": {"classic@origins"}, "test_b": {"speed@guide"}},
        "R999": {"test_c": set(RULESETS)},
    }

    assert [
        "R901 has no test in classic@guide",
        "R902 has no test",
        "test_c names R999, which is no statement",
    ] == statements.problems([ONE, TWO], tests)
    assert 0 == statements.proven([ONE, TWO], tests)
    assert 1 == statements.proven([ONE, TWO], {"R902": {"test_d": set(RULESETS)}})


def test_collector_sees_which_rulesets_a_test_is_run_with() -> None:
    collector = StatementCollector()
    collector.pytest_collection_modifyitems(
        [
            _item("test_a[1]", {"name": "classic@full"}),
            _item("test_a[2]", {"ruleset": get_ruleset("speed@full"), "other": ["unhashable"]}),
            _item("test_b[3]", {"square": 5}),
            _item("test_c", None),
        ]
    )

    assert {
        "R901": {
            "test_a": {"classic@full", "speed@full"},
            "test_b": set(RULESETS),
            "test_c": set(RULESETS),
        }
    } == collector.tests


def test_page_has_a_table_a_chapter_and_names_each_file_once() -> None:
    names = ["tests/rules/test_x.py::test_b", "tests/rules/test_x.py::test_a"]
    tests: statements.Proof = {"R902": {name: set() for name in names}}

    lines = statements.page([ONE, TWO], tests).splitlines()

    assert ["## Cards", "## Sides"] == [line for line in lines if line.startswith("##")]
    assert "| R901 | Sixteen. | go |  |" in lines
    assert "| R902 | Two. | tf team | rules/test_x.py: a, b |" in lines


def _item(nodeid: str, parameters: dict[str, Any] | None) -> Any:
    """What the collector asks of a test that proves R901."""
    item = SimpleNamespace(
        nodeid=nodeid, iter_markers=lambda _: [pytest.mark.statement("R901").mark]
    )
    if parameters is not None:
        item.callspec = SimpleNamespace(params=parameters)
    return item
