"""The program: from a server to a game, from a game to the next."""

import asyncio
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from textual import work
from textual.app import App
from textual.driver import Driver

from opolyx_sdk.accounts import Account
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.errors import OpolyxError, WrongState
from opolyx_sdk.rooms import RoomOptions
from opolyx_sdk.terminal.colours import BACKGROUND, colourless
from opolyx_sdk.terminal.dialog_screen import DialogScreen
from opolyx_sdk.terminal.dialogs.dialog import Dialog, Do, Outcome
from opolyx_sdk.terminal.feed import Feed
from opolyx_sdk.terminal.lobby.lists import WATCH, games_dialog
from opolyx_sdk.terminal.lobby.visit import Chosen, Showing, Visit, table_of_bots
from opolyx_sdk.terminal.lobby.wish import Wish
from opolyx_sdk.terminal.steady import steady_driver
from opolyx_sdk.terminal.table_screen import TableScreen
from opolyx_sdk.text import Table as Words

_LONGEST_END_S: Final = 2.0
_TRIES: Final = 20
_AGAIN_S: Final = 0.25


@dataclass(slots=True)
class Plan:
    """What the program is to do."""

    name: str = "You"
    """The name at the table."""

    wish: Wish = field(default_factory=Wish)
    """What kind of game."""

    options: RoomOptions = field(default_factory=RoomOptions)
    """What the house changes."""

    own_server: bool = False
    """Whether the server is this program's own, and the others are bots."""

    code: str = ""
    """The code of a room to join at once."""

    quick: bool = False
    """Whether a quick match is looked for at once."""

    only_watch: bool = False
    """Whether nothing is done but to watch."""

    watch: str = ""
    """The game that is watched then; empty lets one choose."""

    folder: Path = field(default_factory=Path)
    """Where replays are written."""


class TableApp(App[str]):
    """Plays or watches games of one server; what it returns is what went wrong, if anything."""

    CSS = f"TableScreen {{ {BACKGROUND} }}"
    ENABLE_COMMAND_PALETTE = False
    TITLE = "opolyx"

    def __init__(
        self,
        client: AsyncClient,
        plan: Plan,
        *,
        account: Account | None = None,
        language: str = "en",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """Describe what is to be done.

        Args:
            client: of the server.
            plan: what to do there.
            account: whom the client acts for; without one it makes a guest.
            language: of all texts.
            clock: this machine's Unix time in seconds.
        """
        super().__init__(ansi_color=colourless())
        self._client = client
        self._plan = plan
        self._account = account
        self._language = language
        self._clock = clock

    @property
    def language(self) -> str:
        """The language of now."""
        return self._language

    def speak(self, language: str) -> None:
        """Go on in another language."""
        self._language = language

    def get_driver_class(self) -> type[Driver]:
        """See `App`."""
        return steady_driver(super().get_driver_class())

    def on_mount(self) -> None:
        """Begin."""
        self._run()

    @work
    async def _run(self) -> None:
        try:
            await self._play_on()
        except OpolyxError as error:
            self.exit(str(error))
        else:
            self.exit("")

    async def _play_on(self) -> None:
        """Game after game, until there is no next one."""
        if self._plan.only_watch:
            await self._watch()
            return
        account = self._account or (await self._client.create_guest(self._plan.name)).account
        visit = Visit(self._client, account, self, self._plan.wish, self._plan.options)
        table = await self._first(visit)
        while table is not None:
            outcome = await self._sit(table)
            if self._plan.own_server:
                again = outcome == Do("again")
                table = await self._own_table() if again else None
            elif outcome == Do("again"):
                table = await visit.wait_in(await self._client.rematch(table.game_id))
            else:
                table = await visit.choose() if table.watched else None

    async def _watch(self) -> None:
        """Watch the game that was named, or one after another that is chosen."""
        if self._plan.watch:
            await self._sit(Chosen(self._plan.watch, watched=True))
            return
        while True:
            outcome = await self.ask(games_dialog(await self._client.list_games()))
            if not isinstance(outcome, Do):
                return
            await self._sit(Chosen(outcome.what.removeprefix(WATCH), watched=True))

    async def _first(self, visit: Visit) -> Chosen | None:
        plan = self._plan
        if plan.own_server:
            return await self._own_table()
        if (resumed := await visit.resumed()) is not None:
            return resumed
        if plan.code:
            return await visit.join(plan.code)
        if plan.quick and (found := await visit.search()) is not None:
            return found
        return await visit.choose()

    async def _own_table(self) -> Chosen:
        """A game against bots; who has just ended one may have to wait until the server knows."""
        for _ in range(_TRIES):
            try:
                return await table_of_bots(self._client, self._plan.wish, self._plan.options)
            except WrongState:
                await asyncio.sleep(_AGAIN_S)
        return await table_of_bots(self._client, self._plan.wish, self._plan.options)

    async def _sit(self, table: Chosen) -> Do | None:
        """Sit at a table until one gets up; what is to come next."""
        feed = Feed(self._client, table.game_id, spectator=table.watched, language=self._language)
        screen = TableScreen(
            feed,
            language=self._language,
            own_server=self._plan.own_server,
            folder=self._plan.folder,
            clock=self._clock,
        )
        outcome = await self.push_screen_wait(screen)
        self._language = screen.words.language
        return outcome

    # --- Dialogs before a game --------------------------------------------------------------------

    async def ask(
        self, dialog: Dialog, meanwhile: Callable[[Showing], Awaitable[None]] | None = None
    ) -> Outcome | None:
        """Show a dialog until something is chosen; `meanwhile` runs as long as it is shown."""
        screen = DialogScreen(dialog, self._words, lambda _: None)
        behind = None
        if meanwhile is not None:
            behind = asyncio.ensure_future(meanwhile(_Shown(screen)))
        try:
            return await self.push_screen_wait(screen)
        finally:
            if behind is not None:
                behind.cancel()
                await asyncio.wait([behind], timeout=_LONGEST_END_S)

    def _words(self) -> Words:
        return Words((), self._plan.wish.ruleset, self._language)


class _Shown:
    """A dialog that is shown."""

    def __init__(self, screen: DialogScreen) -> None:
        self._screen = screen

    def repaint(self) -> None:
        """Look at it again."""
        if self._screen.is_mounted:
            self._screen.repaint()

    def end(self, outcome: Outcome) -> None:
        """Close it with this outcome, unless it is closing."""
        with suppress(Exception):
            if self._screen.is_current:
                self._screen.dismiss(outcome)
