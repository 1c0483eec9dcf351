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

_FIELD_COLUMNS: Final = ("field", "value", "meaning")


def show_rules(name: str, *, as_json: bool) -> None:
    """Print a ruleset.

    Raises:
        ValueError: no ruleset has this name.
    """
    page = ruleset_page(name)
    if as_json:
        print(json.dumps(asdict(page), ensure_ascii=False))
        return
    console = Console()
    if console.is_terminal:
        _draw_page(console, page)
    else:
        print("\n".join(_plain_page(page)))


def show_differences(first: str, second: str, *, as_json: bool) -> None:
    """Print the fields in which two rulesets differ.

    Raises:
        ValueError: no ruleset has one of these names.
    """
    differences = ruleset_differences(first, second)
    if as_json:
        print(json.dumps(_differences_value(first, second, differences), ensure_ascii=False))
        return
    head = ("field", first, second, "meaning")
    rows = [(one.name, one.first.shown, one.second.shown, one.first.about) for one in differences]
    console = Console()
    if console.is_terminal:
        console.print(_table(head, rows) if rows else f"{first} and {second} are alike")
    else:
        print("\n".join("\t".join(row) for row in (head, *rows)))


def _draw_page(console: Console, page: RulesetPage) -> None:
    console.print(Text(page.ruleset, style="bold"), _seats(page), sep=" · ", highlight=False)
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
    console.print(_table(_FIELD_COLUMNS, rows))
    console.print(f"Rulesets: {', '.join(ruleset_names())}", highlight=False)


def _plain_page(page: RulesetPage) -> list[str]:
    lines = [f"{page.ruleset}\t{_seats(page)}"]
    for chapter in page.chapters:
        lines += ["", chapter.title]
        lines += [f"{rule.id}\t{rule.text}" for rule in chapter.rules]
    lines += ["", "\t".join(_FIELD_COLUMNS)]
    return lines + [f"{field.name}\t{field.shown}\t{field.about}" for field in page.fields]


def _seats(page: RulesetPage) -> str:
    return f"{', '.join(map(str, page.seats[:-1]))} or {page.seats[-1]} seats"


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
