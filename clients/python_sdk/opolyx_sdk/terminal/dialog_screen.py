"""A dialog over the table."""

from collections.abc import Callable
from typing import Final, Protocol

from textual import events
from textual.app import ComposeResult
from textual.containers import Container
from textual.screen import ModalScreen

from opolyx_sdk.terminal.canvas import Canvas
from opolyx_sdk.terminal.dialogs.dialog import Dialog, Outcome
from opolyx_sdk.terminal.painting import Painting
from opolyx_sdk.text import Table

_WIDEST: Final = 76


def pressed(event: events.Key) -> str:
    """The key's name; its character where it has one that is drawn. Ctrl-C leaves, as Esc does."""
    if event.key == "ctrl+c":
        return "escape"
    character = event.character
    if character and character.isprintable() and character != " ":
        return character
    return event.key


class Words(Protocol):
    """Whoever knows how things are told now."""

    def __call__(self) -> Table:
        """The table's words."""
        ...


class DialogScreen(ModalScreen[Outcome | None]):
    """Draws a dialog and gives it keys; ends with what was chosen."""

    CSS = """
    DialogScreen { align: center middle; background: #12161c 60%; color: #e8e8e8; }
    DialogScreen > Container {
        width: auto; height: auto; max-height: 100%;
        border: round $primary; background: $surface; padding: 0 1;
    }
    DialogScreen Canvas { height: auto; }
    """

    def __init__(self, dialog: Dialog, words: Words, changed: Callable[[Dialog], None]) -> None:
        """Show a dialog.

        Args:
            dialog: what is shown.
            words: how it is told.
            changed: told after each key, for dialogs that ask the server meanwhile.
        """
        super().__init__()
        self.dialog = dialog
        """What is shown."""
        self._words = words
        self._changed = changed
        self._canvas = Canvas(self._paint, fits=True)

    def compose(self) -> ComposeResult:
        """See `Screen`."""
        with Container():
            yield self._canvas

    def on_mount(self) -> None:
        """The dialog has begun."""
        self._resize()
        self._changed(self.dialog)

    def on_resize(self) -> None:
        """There is another room."""
        self._resize()

    def repaint(self) -> None:
        """Look at the dialog again."""
        self._canvas.repaint()

    async def on_key(self, event: events.Key) -> None:
        """Give the dialog a key."""
        event.stop()
        event.prevent_default()
        self.press(pressed(event))

    def on_canvas_picked(self, event: Canvas.Picked) -> None:
        """A click is a key."""
        event.stop()
        self.press(event.key)

    def press(self, key: str) -> None:
        """Give the dialog a key, and end with what comes of it."""
        outcome = self.dialog.press(key)
        if outcome is not None:
            self.dismiss(outcome)
            return
        self._changed(self.dialog)
        self.repaint()

    def _paint(self, width: int, height: int) -> Painting:
        return self.dialog.paint(self._words(), width, height)

    def _resize(self) -> None:
        self._canvas.styles.width = min(_WIDEST, self.app.size.width - 4)
        self.repaint()
