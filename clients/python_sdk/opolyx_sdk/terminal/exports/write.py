"""Writes a game into files, each form under a name of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from opolyx_sdk.terminal.exports.board_svg import board_svg
from opolyx_sdk.terminal.exports.chart_svg import chart_svg
from opolyx_sdk.terminal.exports.report import as_json, text_lines
from opolyx_sdk.terminal.tape import Tape
from opolyx_sdk.text import Table

_NAMES: Final = {
    "text": "{game}.txt",
    "json": "{game}.json",
    "chart": "{game}-worth.svg",
    "board": "{game}-board-{step}.svg",
}
"""Names of the files by form."""

_CONTENTS: Final[dict[str, Callable[[Tape, int, Table], str]]] = {
    "text": lambda tape, step, table: "\n".join(text_lines(tape, table)),
    "json": lambda tape, step, table: as_json(tape, table),
    "chart": lambda tape, step, table: chart_svg(tape.worths, table),
    "board": lambda tape, step, table: board_svg(tape.moment(step), table),
}


def form_of(form: str, tape: Tape, step: int, table: Table) -> str:
    """A game in one of the forms text, json, chart and board; a board is that after `step`."""
    return _CONTENTS[form](tape, step, table)


def write_form(form: str, tape: Tape, step: int, table: Table, folder: Path) -> Path:
    """Write a game in one of the forms; the file. A file of that name is written over.

    Raises:
        OSError: it can't be written.
    """
    safe = "".join(one if one.isalnum() or one in "_-" else "_" for one in tape.info.game_id)
    file = folder / _NAMES[form].format(game=safe, step=step)
    file.write_text(f"{form_of(form, tape, step, table)}\n", encoding="utf-8")
    return file
