"""A player's way through the lobby: from what is chosen to the id of a game."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, suppress
from dataclasses import dataclass
from typing import Final, Protocol

from opolyx_sdk.accounts import Account
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.enums import RoomState
from opolyx_sdk.errors import OpolyxError, WrongState
from opolyx_sdk.matches import Found
from opolyx_sdk.messages import catalogue
from opolyx_sdk.rooms import Room, RoomOptions
from opolyx_sdk.terminal.dialogs.dialog import Dialog, Do, Outcome
from opolyx_sdk.terminal.dialogs.language import LanguageDialog
from opolyx_sdk.terminal.lobby.dialogs import CodeDialog, LobbyDialog, RoomDialog, SearchDialog
from opolyx_sdk.terminal.lobby.lists import JOIN, WATCH, games_dialog, rooms_dialog
from opolyx_sdk.terminal.lobby.wish import POLICIES, Wish

SPEAK: Final = "language:"


@dataclass(frozen=True, slots=True)
class Chosen:
    """A game to sit down at, or to watch."""

    game_id: str
    """The game."""

    watched: bool = False
    """Whether it is only watched."""


class Showing(Protocol):
    """A dialog that is shown while something goes on behind it."""

    def repaint(self) -> None:
        """Look at it again."""
        ...

    def end(self, outcome: Outcome) -> None:
        """Close it with this outcome."""
        ...


class Host(Protocol):
    """Who shows dialogs."""

    async def ask(
        self, dialog: Dialog, meanwhile: Callable[[Showing], Awaitable[None]] | None = None
    ) -> Outcome | None:
        """Show a dialog until something is chosen; `meanwhile` runs as long as it is shown."""
        ...

    def speak(self, language: str) -> None:
        """Go on in another language."""
        ...

    @property
    def language(self) -> str:
        """The language of now."""
        ...


class Visit:
    """One player in the lobby of one server."""

    def __init__(
        self, client: AsyncClient, account: Account, host: Host, wish: Wish, options: RoomOptions
    ) -> None:
        """Come in.

        Args:
            client: acts for the account.
            account: the player.
            host: shows dialogs.
            wish: what kind of game to begin with.
            options: of rooms that are opened.
        """
        self._client = client
        self._account = account
        self._host = host
        self._wish = wish
        self._options = options
        self._dialog = LobbyDialog(wish, account.name)

    async def resumed(self) -> Chosen | None:
        """The unfinished game or room that the player is in, if there is one."""
        where = await self._client.current_game()
        if where.game_id:
            return Chosen(where.game_id)
        if where.room_id:
            return await self.wait_in(await self._client.get_room(where.room_id))
        return None

    async def choose(self) -> Chosen | None:
        """Let the player choose until there is a game; None if they leave.

        What a server refuses is said in the lobby, and another choice can be made.
        """
        while True:
            outcome = await self._host.ask(self._dialog)
            if not isinstance(outcome, Do) or outcome.what == "left":
                return None
            try:
                found = await self._chosen(outcome.what)
            except OpolyxError as error:
                if isinstance(error, WrongState) and (now := await self._now()) is not None:
                    return now
                self._dialog.problem = self._told("screen.error.failed", why=str(error))
                continue
            if found is not None:
                return found

    async def _now(self) -> Chosen | None:
        """The game that holds the player up: a search may find one just as it is given up."""
        try:
            where = await self._client.current_game()
        except OpolyxError:
            return None
        return Chosen(where.game_id) if where.game_id else None

    def _told(self, key: str, **values: str) -> str:
        return catalogue(self._host.language).text(key, **values)

    async def _chosen(self, what: str) -> Chosen | None:
        match what:
            case "quick":
                return await self.search()
            case "open":
                return await self.wait_in(await self.open_room())
            case "code":
                return await self._typed()
            case "rooms":
                rooms = await self._client.list_rooms()
                return await self._listed(await self._host.ask(rooms_dialog(rooms)))
            case "games":
                games = await self._client.list_games()
                return await self._listed(await self._host.ask(games_dialog(games)))
            case "language":
                outcome = await self._host.ask(LanguageDialog(self._host.language))
                if isinstance(outcome, Do):
                    self._host.speak(outcome.what.removeprefix(SPEAK))
        return None

    async def _typed(self) -> Chosen | None:
        outcome = await self._host.ask(CodeDialog())
        if not isinstance(outcome, Do):
            return None
        return await self.join(outcome.what.removeprefix("code:"))

    async def join(self, code: str) -> Chosen | None:
        """Take a seat in the room of a code, and wait there."""
        room, _ = await self._client.join_room(code=code)
        return await self.wait_in(room)

    async def _listed(self, outcome: Outcome | None) -> Chosen | None:
        if not isinstance(outcome, Do):
            return None
        if outcome.what.startswith(WATCH):
            return Chosen(outcome.what.removeprefix(WATCH), watched=True)
        room, _ = await self._client.join_room(outcome.what.removeprefix(JOIN))
        return await self.wait_in(room)

    async def open_room(self) -> Room:
        """A room of the wished kind, with the player as its host."""
        wish = self._wish
        return await self._client.create_room(
            wish.ruleset, wish.seats, public=wish.public, options=self._options
        )

    # --- Quick match ------------------------------------------------------------------------------

    async def search(self) -> Chosen | None:
        """Look for a game until one is found, or until the player has enough."""
        dialog, failed = SearchDialog(), list[OpolyxError]()

        async def go_on(showing: Showing) -> None:
            wish = self._wish
            searching = self._client.quick_match(wish.ruleset, wish.seats, allow_bots=wish.bots)
            try:
                async with aclosing(searching):
                    async for progress in searching:
                        if isinstance(progress, Found):
                            showing.end(Do(progress.game_id))
                            return
                        dialog.take(progress)
                        showing.repaint()
            except OpolyxError as error:
                failed.append(error)
                showing.end(Do("failed"))

        outcome = await self._host.ask(dialog, go_on)
        if failed:
            raise failed[0]
        return Chosen(outcome.what) if isinstance(outcome, Do) else None

    # --- Rooms ------------------------------------------------------------------------------------

    async def wait_in(self, room: Room) -> Chosen | None:
        """Wait in a room until its game starts; None if the player leaves or it is closed."""
        dialog = RoomDialog(room, self._account.player_id)
        while True:
            outcome = await self._host.ask(dialog, lambda showing: self._watch(dialog, showing))
            if not isinstance(outcome, Do):
                continue
            dialog.problem = ""
            if outcome.what.startswith("game:"):
                return Chosen(outcome.what.removeprefix("game:"))
            if outcome.what == "closed":
                self._dialog.problem = self._told("screen.room.closed")
                return None
            if outcome.what == "leave_room":
                with suppress(OpolyxError):
                    await self._client.leave_room(room.room_id)
                return None
            try:
                await self._manage(dialog, outcome.what)
            except OpolyxError as error:
                dialog.problem = str(error)

    async def _watch(self, dialog: RoomDialog, showing: Showing) -> None:
        """Keep the dialog's room up to date."""
        rooms: AsyncIterator[Room] = self._client.watch_room(dialog.room.room_id)
        try:
            async for room in rooms:
                dialog.room = room
                if room.state is RoomState.STARTED:
                    showing.end(Do(f"game:{room.game_id}"))
                    return
                if all(one.player_id != self._account.player_id for one in room.seats):
                    break
                showing.repaint()
        except OpolyxError as error:
            dialog.problem = str(error)
            showing.repaint()
            return
        showing.end(Do("closed"))

    async def _manage(self, dialog: RoomDialog, what: str) -> None:
        """Do what the host asks for."""
        room_id = dialog.room.room_id
        match what.partition(":"):
            case ("add_bot", _, _):
                bots = sum(1 for one in dialog.room.seats if one.policy)
                policy = POLICIES[bots % len(POLICIES)]
                dialog.room = await self._client.add_bot(room_id, policy=policy)
            case ("unseat", _, seat):
                dialog.room = await self._client.remove_bot(room_id, int(seat))
            case ("kick", _, player_id):
                dialog.room = await self._client.kick(room_id, player_id)
            case ("start", _, _):
                await self._client.start_game(room_id)


async def table_of_bots(client: AsyncClient, wish: Wish, options: RoomOptions) -> Chosen:
    """A game against built-in bots, started at once."""
    room = await client.create_room(wish.ruleset, wish.seats, options=options)
    for number in range(wish.seats - 1):
        policy = POLICIES[number % len(POLICIES)]
        await client.add_bot(room.room_id, policy=policy)
    async with asyncio.timeout(30):
        return Chosen(await client.start_game(room.room_id))
