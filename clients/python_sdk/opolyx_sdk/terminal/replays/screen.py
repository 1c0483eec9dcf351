"""The screen of a replay."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from textual import events
from textual.app import App, ComposeResult
from textual.driver import Driver
from textual.screen import Screen

from opolyx_sdk.terminal.canvas import Canvas
from opolyx_sdk.terminal.colours import BACKGROUND, colourless
from opolyx_sdk.terminal.dialog_screen import DialogScreen, pressed
from opolyx_sdk.terminal.dialogs.dialog import Dialog, Do, Open, Outcome
from opolyx_sdk.terminal.dialogs.language import LanguageDialog
from opolyx_sdk.terminal.exports.write import write_form
from opolyx_sdk.terminal.painting import Painting
from opolyx_sdk.terminal.replays.dialogs import EXPORT, JUMP
from opolyx_sdk.terminal.replays.playback import Playback
from opolyx_sdk.terminal.replays.scene import ReplayScene
from opolyx_sdk.terminal.steady import steady_driver
from opolyx_sdk.terminal.tape import Tape

_TICK_S: Final = 1 / 20
_SPEAK: Final = "language:"


class ReplayScreen(Screen[Do]):
    """Draws a replay and gives it keys; ends when it is left."""

    def __init__(self, tape: Tape, language: str, folder: Path, clock: Callable[[], float]) -> None:
        """Show a tape from its start.

        Args:
            tape: the game.
            language: of all texts.
            folder: where exports are written.
            clock: seconds, going on evenly.
        """
        super().__init__()
        self.scene = ReplayScene(Playback(tape), language)
        """What is seen."""
        self._folder = folder
        self._clock = clock
        self._canvas = Canvas(self._paint)

    def compose(self) -> ComposeResult:
        """See `Screen`."""
        yield self._canvas

    def on_mount(self) -> None:
        """Begin."""
        self.set_interval(_TICK_S, self.tick)

    def tick(self) -> None:
        """Time has gone by."""
        if self.scene.playback.tick(self._clock()):
            self.scene.wind()
            self._canvas.repaint()

    async def on_key(self, event: events.Key) -> None:
        """A key is the scene's."""
        event.stop()
        event.prevent_default()
        self.press(pressed(event))

    def on_canvas_picked(self, event: Canvas.Picked) -> None:
        """A click is a key."""
        event.stop()
        self.press(event.key)

    def press(self, key: str) -> None:
        """Give the scene a key, and do what comes of it."""
        self.do(self.scene.press_at(key, self._clock()))
        self._canvas.repaint()

    def do(self, outcome: Outcome | None) -> None:
        """Do what came of a key."""
        match outcome:
            case Open(dialog):
                self._show(dialog)
            case Do("language"):
                self._show(LanguageDialog(self.scene.table.language))
            case Do("left" | "leave"):
                self.dismiss(Do("left"))
            case Do(what) if what.startswith(_SPEAK):
                self.scene.speak(what.removeprefix(_SPEAK))
            case Do(what) if what.startswith(JUMP):
                tape = self.scene.playback.tape
                self.scene.playback.go(tape.start_of(int(what.removeprefix(JUMP))))
                self.scene.wind()
            case Do(what) if what.startswith(EXPORT):
                self._save(what.removeprefix(EXPORT))
        self._canvas.repaint()

    def _show(self, dialog: Dialog) -> None:
        screen = DialogScreen(dialog, lambda: self.scene.table, lambda _: None)
        self.app.push_screen(screen, self.do)

    def _save(self, form: str) -> None:
        """Write the game down, and say where."""
        playback = self.scene.playback
        try:
            file = write_form(form, playback.tape, playback.at, self.scene.table, self._folder)
        except OSError as error:
            name, why = str(error.filename or self._folder), error.strerror or str(error)
            self.scene.notice = lambda table: table.text("screen.not_saved", file=name, why=why)
        else:
            written = str(file)
            self.scene.notice = lambda table: table.text("screen.saved", file=written)

    def _paint(self, width: int, height: int) -> Painting:
        return self.scene.paint(width, height, self._clock())


class ReplayApp(App[None]):
    """Shows one replay until it is left."""

    CSS = f"ReplayScreen {{ {BACKGROUND} }}"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "opolyx"

    def __init__(
        self,
        tape: Tape,
        *,
        language: str = "en",
        folder: Path = Path(),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Show a game.

        Args:
            tape: the game.
            language: of all texts.
            folder: where exports are written.
            clock: seconds, going on evenly.
        """
        super().__init__(ansi_color=colourless())
        self.shown = ReplayScreen(tape, language, folder, clock)
        """The screen."""

    def get_driver_class(self) -> type[Driver]:
        """See `App`."""
        return steady_driver(super().get_driver_class())

    def on_mount(self) -> None:
        """Begin."""
        self.push_screen(self.shown, lambda _: self.exit())
