"""`opolyx replay FILE`: the game itself, on the screen, as text or for programs."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from opolyx_sdk.errors import OpolyxError

if TYPE_CHECKING:
    from opolyx_sdk.terminal.tape import Tape


def show_replay(
    file: Path, *, form: str | None, out: Path | None, lang: str | None, as_json: bool
) -> int:
    """Show a game, or write it down.

    Args:
        file: the replay.
        form: text, json, chart or board; None shows it on the terminal, or tells it where there is
            none.
        out: the file to write into; None is standard output.
        lang: of all texts; None is what the system is set to.
        as_json: the same as the form json.

    Raises:
        OpolyxError: the replay can't be read or isn't right, or `out` can't be written.
    """
    from opolyx_sdk.cli.language import chosen_language
    from opolyx_sdk.cli.play import needs_terminal
    from opolyx_sdk.terminal.exports.write import form_of
    from opolyx_sdk.terminal.moment import table_of

    words = chosen_language(lang)
    tape = read_tape(file)
    form = "json" if as_json else form
    if form is None and out is None and sys.stdin.isatty() and sys.stdout.isatty():
        from opolyx_sdk.terminal.replays.screen import ReplayApp

        needs_terminal("replay")
        ReplayApp(tape, language=words).run()
        return 0
    table = table_of(tape.info, words)
    written = form_of(form or "text", tape, tape.last, table)
    if out is None:
        print(written)
        return 0
    try:
        out.write_text(f"{written}\n", encoding="utf-8")
    except OSError as error:
        raise OpolyxError(f"can't write {out}: {error.strerror}") from error
    return 0


def read_tape(file: Path) -> "Tape":
    """The game of a replay.

    Raises:
        OpolyxError: it can't be read, or isn't right.
    """
    from opolyx_sdk.local.replay_run import ReplayRun
    from opolyx_sdk.local.verify import read_replay
    from opolyx_sdk.terminal.tape import Tape

    try:
        data = read_replay(file)
    except OSError as error:
        raise OpolyxError(f"can't read {file}: {error.strerror}") from error
    run = ReplayRun(data)
    return Tape(run.info, run.updates())
