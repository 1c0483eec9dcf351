"""Copy the themes' names from the rules into the SDK; `--check` only tells whether they differ.

The SDK does without the rules, so it has the names as a module of its own, which this writes.
"""

import argparse
import sys
from pathlib import Path
from typing import Final

from opolyx_rules import RULESETS
from opolyx_rules.content.themes import LANGUAGES, THEMES, Names, Theme

TARGET: Final = (
    Path(__file__).resolve().parents[1] / "clients/python_sdk/opolyx_sdk/_themes_data.py"
)
HEAD: Final = '''"""Names of squares and cards. Made by tools/generate_themes.py (`make themes`); don't edit."""

from typing import Final

'''


def main() -> int:
    """Write the module, or compare; return 0 if all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether it differs")
    check: bool = parser.parse_args().check
    same = TARGET.exists() and TARGET.read_text(encoding="utf-8") == module()
    if check and not same:
        print(f"{TARGET.name} differs from the themes (run `make themes`)", file=sys.stderr)
        return 1
    if not same:
        TARGET.write_text(module(), encoding="utf-8")
        print(f"{TARGET.name} changed")
    return 0


def module() -> str:
    """The text of the SDK's module."""
    lines = [
        "LANGUAGES: Final[tuple[str, ...]] = (",
        *[f"    {quoted(language)}," for language in LANGUAGES],
        ")",
        '"""Languages of all names, BCP 47 tags."""',
        "",
        "RULESETS: Final[dict[str, tuple[str, str, int]]] = {",
        *[
            f"    {quoted(name)}: ({quoted(one.theme)}, {quoted(one.deck)}, {one.third_corner}),"
            for name, one in RULESETS.items()
        ],
        "}",
        '"""Theme, deck and third corner of each ruleset."""',
        "",
        "MYRIADS: Final[dict[str, bool]] = {",
        *[f"    {quoted(one.name)}: {one.myriads}," for one in THEMES.values()],
        "}",
        '"""Whether a theme has amounts in Chinese in units of ten thousand."""',
        "",
        "SQUARES: Final[dict[tuple[str, str], tuple[str, ...]]] = {",
        *[line for one in THEMES.values() for line in columns((one.name,), one.squares)],
        "}",
        '"""Names of the 40 squares by theme and language."""',
        "",
        "THIRD_CORNERS: Final[dict[tuple[str, str], tuple[str, ...]]] = {",
        *[line for one in THEMES.values() for line in columns((one.name,), one.third_corners)],
        "}",
        '"""Names of square 20 by theme and language, then by what it does."""',
        "",
        "CARDS: Final[dict[tuple[str, str, str], tuple[str, ...]]] = {",
        *[line for one in THEMES.values() for line in cards(one)],
        "}",
        '"""Names of the 16 cards by theme, deck and language."""',
        "",
    ]
    return HEAD + "\n".join(lines)


def cards(theme: Theme) -> list[str]:
    """Lines of a theme's cards."""
    return [
        line for deck, names in theme.cards.items() for line in columns((theme.name, deck), names)
    ]


def columns(key: tuple[str, ...], rows: tuple[Names, ...]) -> list[str]:
    """An entry for each language: that column of `rows` under `key` and the language."""
    lines = []
    for column, language in enumerate(LANGUAGES):
        parts = [quoted(part) for part in (*key, language)]
        lines += [f"    ({', '.join(parts)}): ("]
        lines += [f"        {quoted(row[column])}," for row in rows]
        lines += ["    ),"]
    return lines


def quoted(text: str) -> str:
    """A string literal as the formatter writes it."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


if __name__ == "__main__":
    raise SystemExit(main())
