"""`opolyx rules`, as people and as programs read it."""

import json

import pytest
from rich.console import Console

from opolyx_rules import RULESETS, Ruleset
from opolyx_rules.rule_book import FIELDS, rule_ids
from opolyx_sdk.cli import rules as rules_command
from opolyx_sdk.cli.app import app
from opolyx_sdk.local.rule_pages import ruleset_differences, ruleset_page

EVERY_RULESET = pytest.mark.parametrize("ruleset", RULESETS.values(), ids=lambda one: one.name)
Output = pytest.CaptureFixture[str]


def run(*arguments: str) -> int:
    code = app(["rules", *arguments], result_action="return_value")
    assert isinstance(code, int)
    return code


@EVERY_RULESET
def test_a_page_has_every_rule_and_every_field(ruleset: Ruleset) -> None:
    page = ruleset_page(ruleset.name)

    assert list(rule_ids()) == [rule.id for chapter in page.chapters for rule in chapter.rules]
    assert list(FIELDS) == [field.name for field in page.fields]
    assert [getattr(ruleset, name) for name in FIELDS] == [field.value for field in page.fields]
    assert all(field.about.endswith(".") and field.shown for field in page.fields)


def test_a_page_tells_its_rulesets_values() -> None:
    bids = {
        rule.id: rule.text
        for chapter in ruleset_page("classic@full").chapters
        for rule in chapter.rules
    }["AUCTION-2"]

    assert "100 more" in bids


@EVERY_RULESET
def test_the_command_prints_every_rule_to_a_pipe(ruleset: Ruleset, capsys: Output) -> None:
    assert 0 == run(ruleset.name)

    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"{ruleset.name}\t")
    assert lines[0].endswith("4 or 6 seats" if ruleset.sides else "2, 3, 4, 5 or 6 seats")
    beginnings = [line.split("\t")[0] for line in lines]
    assert all(beginnings.count(name) == 1 for name in (*rule_ids(), *FIELDS))


def test_the_default_ruleset_is_printed_when_none_is_named(capsys: Output) -> None:
    assert 0 == run()

    assert capsys.readouterr().out.startswith("classic@full\t")


def test_json_is_one_object_with_values_as_they_are(capsys: Output) -> None:
    assert 0 == run("halal@full", "--json")

    page = json.loads(capsys.readouterr().out)
    assert RULESETS["halal@full"].digest() == page["digest"]
    fields = {field["name"]: field["value"] for field in page["fields"]}
    assert (0, False, "halal") == (
        fields["mortgage_interest_bp"],
        fields["salary_until_tax"],
        fields["deck"],
    )


def test_a_difference_has_both_values(capsys: Output) -> None:
    assert 0 == run("--diff", "classic@full", "fortune@full")

    head, *rows = [line.split("\t") for line in capsys.readouterr().out.splitlines()]
    assert ["field", "classic@full", "fortune@full", "meaning"] == head
    assert {
        "third_corner": ["wager", "temple"],
        "deck": ["standard", "fortune"],
        "eight_bonus": ["–", "88"],
        "theme": ["world", "fortune"],
    } == {name: values for name, *values, _ in rows}


def test_a_difference_in_json_has_values_and_words(capsys: Output) -> None:
    assert 0 == run("--diff", "classic@full", "fortune@full", "--json")

    value = json.loads(capsys.readouterr().out)
    assert ["classic@full", "fortune@full"] == value["rulesets"]
    assert [1, 2] == value["fields"]["third_corner"]["values"]
    assert ["wager", "temple"] == value["fields"]["third_corner"]["shown"]


@EVERY_RULESET
def test_a_ruleset_does_not_differ_from_itself(ruleset: Ruleset) -> None:
    assert () == ruleset_differences(ruleset.name, ruleset.name)


@pytest.mark.parametrize(
    "arguments", [("nothing@full",), ("--diff", "classic@full", "nothing@full")]
)
def test_an_unknown_ruleset_is_an_error_that_names_those_there_are(
    arguments: tuple[str, ...], capsys: Output
) -> None:
    assert 2 == run(*arguments)

    printed = capsys.readouterr()
    assert "" == printed.out
    assert "no ruleset 'nothing@full'" in printed.err
    assert "classic@origins" in printed.err


def test_a_terminal_gets_tables(capsys: Output, monkeypatch: pytest.MonkeyPatch) -> None:
    def terminal() -> Console:
        return Console(force_terminal=True, width=100, color_system=None)

    monkeypatch.setattr(rules_command, "Console", terminal)
    assert 0 == run("speed@full")
    page = capsys.readouterr().out
    assert 0 == run("--diff", "classic@full", "speed@full")
    difference = capsys.readouterr().out
    assert 0 == run("--diff", "speed@full", "speed@full")
    nothing = capsys.readouterr().out

    assert "speed@full · 2, 3, 4, 5 or 6 seats" in page
    assert all(rule in page for rule in rule_ids())
    assert "classic@guide" in page
    assert "│ even_build" in difference
    assert "speed@full and speed@full are alike" in nothing
