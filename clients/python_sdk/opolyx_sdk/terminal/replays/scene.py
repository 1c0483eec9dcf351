"""The table of a replay: as a live one, with keys that wind it."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from opolyx_sdk.decisions import Decision
from opolyx_sdk.terminal.chart import ChartDialog
from opolyx_sdk.terminal.dialogs.dialog import Do, Open, Outcome, add_hints
from opolyx_sdk.terminal.help import log_dialog
from opolyx_sdk.terminal.menu import Entry
from opolyx_sdk.terminal.painting import Hit, Painting, beside, fitted, stacked
from opolyx_sdk.terminal.replays.dialogs import ExportDialog, RoundDialog
from opolyx_sdk.terminal.replays.playback import Playback
from opolyx_sdk.terminal.scene import Scene

_TAIL: Final = 40
"""Steps whose events are told beside the board."""


class ReplayScene(Scene):
    """What a replay shows at one step."""

    def __init__(self, playback: Playback, language: str) -> None:
        """Show a tape where it is."""
        super().__init__(playback.tape.moment(playback.at), None, language)
        self.playback = playback
        """Where the tape is."""
        self._shown = -1
        self.wind()

    def wind(self) -> None:
        """Show the step at which the tape is."""
        tape, at = self.playback.tape, self.playback.at
        if at != self._shown:
            self._shown = at
            self.chronicle = tape.chronicle(at, _TAIL)
            self.show(tape.moment(at))

    def entries(self) -> tuple[Entry, ...]:
        """Nothing is decided here."""
        return ()

    def press_at(self, key: str, now: float) -> Outcome | None:
        """Take a key at a time; what comes of it, if it is more than another look."""
        if self.playback.press(key, now):
            self.wind()
            return None
        tape = self.playback.tape
        match key:
            case "j":
                return Open(RoundDialog(tape.rounds))
            case "c":
                return Open(ChartDialog(tape.worths))
            case "l":
                return Open(log_dialog(tape.chronicle(self.playback.at)))
            case "x" | "s":
                return Open(ExportDialog())
            case "q" | "escape":
                return Do("left")
        return self.press(key)

    def _clock(self, decision: Decision, now: float) -> str:
        """None: whoever was awaited then had a time that is long past."""
        return ""

    def below(self, width: int, height: int, now: float) -> Painting:
        """Where the tape is, and the keys that wind it."""
        text, tape, at = self.table.text, self.playback.tape, self.playback.at
        told = text(
            "screen.replay.at",
            step=at,
            steps=tape.last,
            round=tape.round_at(at),
            rounds=tape.rounds,
        )
        title = Text(
            beside(f" {told}", f"{self.playback.speed}× ", width), style="bold black on #56b4e9"
        )
        filled = round((width - 2) * at / tape.last) if tape.last else width - 2
        bar = Text(f" {'━' * filled}{'─' * (width - 2 - filled)} ")
        playing = "yes" if self.playback.playing else "no"
        keys = (
            ("␣", "space", text("screen.replay.play", playing=playing)),
            ("←→", "right", text("screen.replay.step")),
            ("↑↓", "down", text("screen.replay.round")),
            ("+-", "+", text("screen.replay.speed", speed=self.playback.speed)),
            ("j", "j", text("screen.replay.jump")),
            ("c", "c", text("screen.keys.chart")),
            ("x", "x", text("screen.replay.save")),
        )
        menu, told_now = _in_columns(keys, width), self._told(width)
        used = 2 + len(told_now) + len(menu.lines) + 1
        parts = [
            Painting([title, bar, *told_now]),
            menu,
            Painting([Text()] * max(0, height - used)),
        ]
        return add_hints(stacked(parts), self._hints(), width)


def _in_columns(keys: Sequence[tuple[str, str, str]], width: int) -> Painting:
    """Keys in two columns: as drawn, as pressed, what they do."""
    tall, wide = -(-len(keys) // 2), width // 2
    lines = [Text() for _ in range(tall)]
    hits = []
    for number, (drawn, key, what) in enumerate(keys):
        x, y = number // tall * wide, number % tall
        lines[y].append(fitted(f" [{drawn}] {what}", wide))
        hits.append(Hit(x, y, wide, key))
    return Painting(lines, hits)
