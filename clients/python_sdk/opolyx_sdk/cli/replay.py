"""`opolyx replay`: a game that was played, and what a bot would have done in it."""

import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter

from opolyx_sdk.cli.language import Lang, chosen_language
from opolyx_sdk.errors import OpolyxError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from opolyx_sdk.actions import Action
    from opolyx_sdk.local.ghost import GhostMove, GhostRun
    from opolyx_sdk.messages import Table

_SHOWN_CHOICES: Final = 12


def replay(
    file: Path,
    /,
    *,
    as_: Annotated[int | None, Parameter(name="--as")] = None,
    bot: str | None = None,
    all_: Annotated[bool, Parameter(name="--all", negative="")] = False,
    form: Literal["text", "json", "chart", "board"] | None = None,
    out: Path | None = None,
    lang: Lang = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Show a game that was played, step by step; or what your bot would have done in it.

    Without a terminal, or with a form, the game is written down: as text, as JSON, as a chart of
    net worth or as the board at its end, both SVG. With a bot, the first decision is shown in which
    it would have acted otherwise; the game goes on as it was played, the bot is only asked.

    Parameters
    ----------
    file
        The replay.
    as_
        The seat that the bot looks over the shoulder of, from 0.
    bot
        The bot: MODULE:CLASS or FILE.py:CLASS.
    all_
        Show every decision in which the bot would have acted otherwise.
    form
        Write the game down in this form.
    out
        File to write it into; standard output when absent.
    as_json
        Print one JSON object.
    """
    if as_ is None and bot is None and not all_:
        from opolyx_sdk.cli.replay_view import show_replay

        return show_replay(file, form=form, out=out, lang=lang, as_json=as_json)
    if as_ is None or bot is None:
        raise OpolyxError("say whose place which bot takes: --as SEAT --bot MODULE:CLASS")
    from opolyx_sdk.bot_loading import load_bot
    from opolyx_sdk.local.ghost import GhostRun

    asked, found = 0, []
    with redirect_stdout(sys.stderr):  # what the bot prints is no part of the result
        run = GhostRun(_read(file), as_, load_bot(bot)())
        for move in run.moves():
            asked += 1
            if move.differs:
                found.append(move)
                if not all_:
                    break
    if as_json:
        moves = [_fields(move) for move in found]
        print(json.dumps({"game_id": run.game_id, "seat": as_, "asked": asked, "moves": moves}))
        return 0
    _tell(run, found, asked, bot=bot.rpartition(":")[2], all_=all_, language=chosen_language(lang))
    return 0


def _tell(
    run: "GhostRun",
    found: "Sequence[GhostMove]",
    asked: int,
    *,
    bot: str,
    all_: bool,
    language: str,
) -> None:
    """The moves found, in sentences; actions and phases are told as code has them."""
    from opolyx_sdk.messages import Table

    table = Table([run.name], run.ruleset, language)
    for move in found:
        _show(move, table)
    if not found:
        print(table.text("ghost.agreed", bot=bot, name=table.who(0), asked=asked))
    elif all_:
        print(table.text("ghost.differ", differing=len(found), asked=asked))


def _read(file: Path) -> bytes:
    from opolyx_sdk.local.verify import read_replay

    try:
        return read_replay(file)
    except OSError as error:
        raise OpolyxError(f"can't read {file}: {error.strerror}") from error


def _show(move: "GhostMove", table: "Table") -> None:
    from opolyx_sdk.cli.output import spoken

    name = table.who(0)
    seat = move.view.player(move.decision.seat)
    where = f"{table.where(seat.position)} ({seat.position})"
    lines = [
        table.text(
            "ghost.decision",
            update=move.update,
            round=move.round,
            phase=spoken(move.decision.phase),
            square=where,
            cash=table.money(seat.cash),
        )
    ]
    if move.played is None:
        lines.append(table.text("ghost.clock", name=name))
    else:
        lines.append(table.text("ghost.played", name=name, action=str(move.played)))
    key = "ghost.refused" if move.refusal else "ghost.bot"
    lines.append(table.text(key, action=str(move.ghost), reason=move.refusal))
    choices = [str(action) for action in move.decision.legal_actions]
    shown, more = ", ".join(choices[:_SHOWN_CHOICES]), len(choices) - _SHOWN_CHOICES
    key = "ghost.choices_more" if more > 0 else "ghost.choices"
    lines.append(table.text(key, choices=shown, more=more))
    print("\n  ".join(lines))


def _fields(move: "GhostMove") -> dict[str, object]:
    return {
        "update": move.update,
        "round": move.round,
        "phase": move.decision.phase.name.lower(),
        "decision_id": move.decision.decision_id,
        "played": _action(move.played),
        "ghost": _action(move.ghost),
        "refusal": move.refusal or None,
        "legal_actions": [_action(action) for action in move.decision.legal_actions],
    }


def _action(action: "Action | None") -> dict[str, object] | None:
    """An action by its name and its fields."""
    return None if action is None else {"action": type(action).__name__, **asdict(action)}
