"""`opolyx rules`: the rules of a ruleset, or what differs between two.

A terminal gets tables; a pipe gets one line a rule or field, its columns parted by tabs.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from opolyx_sdk.local.rule_pages import (
    FieldDifference,
    RulesetPage,
    ruleset_differences,
    ruleset_names,
    ruleset_page,
)
from opolyx_sdk.messages import Table as Words

_FIELD_COLUMNS: Final = ("field", "value", "meaning")


def show_rules(name: str, *, as_json: bool, language: str = "en") -> None:
    """Print a ruleset in a language.

    Raises:
        ValueError: no ruleset has this name.
    """
    page, words = ruleset_page(name, language), Words((), name, language)
    if as_json:
        print(json.dumps(asdict(page), ensure_ascii=False))
        return
    console = Console()
    if console.is_terminal:
        _draw_page(console, page, words)
    else:
        print("\n".join(_plain_page(page, words)))


def show_differences(first: str, second: str, *, as_json: bool, language: str = "en") -> None:
    """Print the fields in which two rulesets differ.

    Raises:
        ValueError: no ruleset has one of these names.
    """
    differences = ruleset_differences(first, second, language)
    if as_json:
        print(json.dumps(_differences_value(first, second, differences), ensure_ascii=False))
        return
    words = Words((), first, language)
    head = (words.text("rules.field"), first, second, words.text("rules.meaning"))
    rows = [(one.name, one.first.shown, one.second.shown, one.first.about) for one in differences]
    console = Console()
    if console.is_terminal:
        alike = words.text("rules.alike", first=first, second=second)
        console.print(_table(head, rows) if rows else alike)
    else:
        print("\n".join("\t".join(row) for row in (head, *rows)))


def _draw_page(console: Console, page: RulesetPage, words: Words) -> None:
    console.print(Text(page.ruleset, style="bold"), _seats(page, words), sep=" · ", highlight=False)
    for chapter in page.chapters:
        console.print()
        console.print(Text(chapter.title, style="bold"))
        grid = Table.grid(padding=(0, 2))
        grid.add_column(no_wrap=True, style="cyan")
        grid.add_column()
        for rule in chapter.rules:
            grid.add_row(Text(rule.id), Text(rule.text))
        console.print(grid)
    console.print()
    rows = [(field.name, field.shown, field.about) for field in page.fields]
    console.print(_table(_columns(words), rows))
    names = words.listed(ruleset_names())
    console.print(words.text("rules.rulesets", names=names), highlight=False)


def _plain_page(page: RulesetPage, words: Words) -> list[str]:
    lines = [f"{page.ruleset}\t{_seats(page, words)}"]
    for chapter in page.chapters:
        lines += ["", chapter.title]
        lines += [f"{rule.id}\t{rule.text}" for rule in chapter.rules]
    lines += ["", "\t".join(_columns(words))]
    return lines + [f"{field.name}\t{field.shown}\t{field.about}" for field in page.fields]


def _seats(page: RulesetPage, words: Words) -> str:
    return words.text("rules.seats", seats=words.any_of(list(map(str, page.seats))))


def _columns(words: Words) -> list[str]:
    return [words.text(f"rules.{column}") for column in _FIELD_COLUMNS]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Table:
    table = Table(*head, header_style="bold")
    for row in rows:
        table.add_row(*[Text(cell) for cell in row])
    return table


def _differences_value(
    first: str, second: str, differences: Sequence[FieldDifference]
) -> dict[str, object]:
    return {
        "rulesets": [first, second],
        "fields": {
            one.name: {
                "values": [one.first.value, one.second.value],
                "shown": [one.first.shown, one.second.shown],
                "about": one.first.about,
            }
            for one in differences
        },
    }
