"""The screen of one game: played or watched."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from textual import events, work
from textual.app import ComposeResult
from textual.screen import Screen

from opolyx_sdk.actions import ProposeTrade
from opolyx_sdk.errors import OpolyxError
from opolyx_sdk.terminal.canvas import Canvas
from opolyx_sdk.terminal.dialog_screen import DialogScreen, pressed
from opolyx_sdk.terminal.dialogs.confirm import ConfirmDialog
from opolyx_sdk.terminal.dialogs.dialog import Act, Dialog, Do, Open, Outcome
from opolyx_sdk.terminal.dialogs.language import LanguageDialog
from opolyx_sdk.terminal.dialogs.offers import OffersDialog
from opolyx_sdk.terminal.dialogs.standings import StandingsDialog
from opolyx_sdk.terminal.dialogs.trade import TradeDialog
from opolyx_sdk.terminal.feed import Feed
from opolyx_sdk.terminal.painting import Painting, wrapped
from opolyx_sdk.text import Table

_TICK_S: Final = 0.5


class TableScreen(Screen[Do]):
    """Draws the scene of a feed, and gives it keys; ends with what is to come next."""

    def __init__(
        self,
        feed: Feed,
        *,
        language: str,
        own_server: bool = False,
        folder: Path = Path(),
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Show a game.

        Args:
            feed: the game.
            language: of all texts, until another is chosen.
            own_server: whether the game ends with this program.
            folder: where replays are written.
            clock: this machine's Unix time in seconds.
        """
        super().__init__()
        self.feed = feed
        """The game."""
        self._language = language
        self._own_server = own_server
        self._folder = folder
        self._clock = clock
        self._canvas = Canvas(self._paint)
        self._problem: OpolyxError | None = None
        self._told_end = False

    @property
    def words(self) -> Table:
        """How things are told now."""
        scene = self.feed.scene
        return scene.table if scene else Table((), "", self._language)

    def compose(self) -> ComposeResult:
        """See `Screen`."""
        yield self._canvas

    def on_mount(self) -> None:
        """Begin to receive the game."""
        self.set_interval(_TICK_S, self.tick)
        self._receive()

    def tick(self) -> None:
        """Time has gone by."""
        self.feed.look()
        self._canvas.repaint()
        self._ask_again()

    @work
    async def _receive(self) -> None:
        try:
            await self.feed.run(self._changed)
        except OpolyxError as error:
            self._problem = error
            self._canvas.repaint()

    def _changed(self) -> None:
        """The game has gone on."""
        self._canvas.repaint()
        scene = self.feed.scene
        if scene is not None and scene.over and not self._told_end:
            self._told_end = True
            self.show(StandingsDialog(scene.moment, played=scene.seat is not None))

    # --- Keys -------------------------------------------------------------------------------------

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
        scene = self.feed.scene
        if scene is None:
            if key in ("q", "escape"):
                self.dismiss(Do("leave"))
            return
        self.do(scene.press(key))
        self._canvas.repaint()

    def do(self, outcome: Outcome | None) -> None:
        """Do what came of a key."""
        match outcome:
            case Act(action, decision):
                self._act(Act(action, decision))
            case Open(dialog):
                self.show(dialog)
            case Do("language"):
                self.show(LanguageDialog(self.words.language))
            case Do(what) if what.startswith("language:"):
                self._speak(what.removeprefix("language:"))
            case Do("save"):
                self._save()
            case Do("leave"):
                self._leave()
            case Do():
                self.dismiss(outcome)

    def show(self, dialog: Dialog) -> None:
        """Put a dialog over the table."""
        screen = DialogScreen(dialog, lambda: self.words, self._ask)
        self.app.push_screen(screen, self.do)

    def _leave(self) -> None:
        """Leave at once where nothing is left behind, else after a question."""
        scene = self.feed.scene
        if scene is None or scene.over:
            self.dismiss(Do("left"))
            return
        question = "stop_watching" if scene.seat is None else "leave"
        if self._own_server and scene.seat is not None:
            question = "leave_own"
        self.show(ConfirmDialog(f"screen.confirm.{question}", Do("left")))

    def _speak(self, language: str) -> None:
        self._language = language
        if self.feed.scene is not None:
            self.feed.scene.speak(language)
        self._canvas.repaint()

    @work
    async def _act(self, act: Act) -> None:
        await self.feed.act(act.action, act.decision)
        self._canvas.repaint()

    @work
    async def _save(self) -> None:
        await self.feed.save(self._folder)
        self._canvas.repaint()

    # --- Questions of dialogs ---------------------------------------------------------------------

    def _ask(self, dialog: Dialog) -> None:
        """Ask the server what a dialog wants to know."""
        if isinstance(dialog, TradeDialog | OffersDialog) and dialog.question is not None:
            self._judge(dialog, dialog.question)

    def _ask_again(self) -> None:
        """Ask once more what an outage has left open."""
        screen = self.app.screen
        if isinstance(screen, DialogScreen):
            self._ask(screen.dialog)

    @work(exclusive=True, group="verdict")
    async def _judge(self, dialog: TradeDialog | OffersDialog, trade: ProposeTrade) -> None:
        verdict = await self.feed.check(trade)
        if verdict is None:
            return
        dialog.judge(trade, verdict)
        screen = self.app.screen
        if isinstance(screen, DialogScreen) and screen.dialog is dialog:
            screen.repaint()

    # --- What is seen -----------------------------------------------------------------------------

    def _paint(self, width: int, height: int) -> Painting:
        scene, words = self.feed.scene, self.words
        if self._problem is not None:
            why = str(self._problem)
            told = wrapped(words.text("screen.error.closed", why=why), width)
            return Painting([*told, *wrapped(f"[q] {words.text('screen.keys.quit')}", width)])
        if scene is None:
            told = wrapped(words.text("screen.connecting", server=self.feed.client.address), width)
            return Painting(told)
        return scene.paint(width, height, self._clock())
