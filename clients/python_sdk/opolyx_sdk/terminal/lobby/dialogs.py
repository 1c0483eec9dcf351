"""The dialogs before a game: what to play, a code to type, a search, a room that fills."""

from collections.abc import Sequence
from typing import Final

from opolyx_sdk.enums import Occupant
from opolyx_sdk.matches import MatchProgress, Waiting, Widened
from opolyx_sdk.rooms import Room
from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Dialog, Do, Outcome, Row, Shut
from opolyx_sdk.terminal.lobby.wish import Wish
from opolyx_sdk.terminal.marks import seat_shape
from opolyx_sdk.text import Table

_CODE_LONGEST: Final = 16
_CHOICES: Final = {"1": "quick", "2": "open", "3": "code", "4": "rooms", "5": "games"}


class LobbyDialog(Dialog):
    """What to do on a server, and what kind of game."""

    def __init__(self, wish: Wish, name: str) -> None:
        """Ask, beginning with a wish, which is changed."""
        self._wish = wish
        self._name = name
        self.problem = ""
        """What went wrong last."""

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text("screen.lobby.title")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        wish, text = self._wish, table.text
        yes = {True: "yes", False: "no"}
        return [
            Row(text("screen.lobby.name", name=self._name)),
            Row(f"⚠ {self.problem}" if self.problem else ""),
            Row(text("screen.lobby.quick"), "1"),
            Row(text("screen.lobby.new_room"), "2"),
            Row(text("screen.lobby.join"), "3"),
            Row(text("screen.lobby.rooms"), "4"),
            Row(text("screen.lobby.watch"), "5"),
            Row(""),
            Row(text("screen.lobby.ruleset", ruleset=wish.ruleset), "r"),
            Row(text("screen.lobby.seats", seats=wish.seats), "s"),
            Row(text("screen.lobby.bots_welcome", choice=yes[wish.bots]), "b"),
            Row(text("screen.lobby.listed", choice=yes[wish.public]), "p"),
            Row(""),
            Row(text("screen.keys.language"), "n"),
            Row(text("screen.keys.quit"), "q"),
        ]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        self.problem = ""
        match key:
            case "r":
                self._wish.next_ruleset()
            case "s":
                self._wish.next_seats()
            case "b":
                self._wish.bots = not self._wish.bots
            case "p":
                self._wish.public = not self._wish.public
            case "n":
                return Do("language")
            case "q" | "escape":
                return Do("left")
            case _ if key in _CHOICES:
                return Do(_CHOICES[key])
        return None

    def hints(self, table: Table) -> Sequence[tuple[str, str]]:
        """See `Dialog`."""
        return ()


class CodeDialog(Dialog):
    """A room's code, typed."""

    def __init__(self) -> None:
        """Ask for a code."""
        self._code = ""

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text("screen.lobby.join")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        return [Row(table.text("screen.lobby.type_code", code=f"{self._code}▏"))]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if key == "escape":
            return Shut()
        if key == "enter":
            return Do(f"code:{self._code}") if self._code else None
        if key == "backspace":
            self._code = self._code[:-1]
        elif len(key) == 1 and key.isalnum() and len(self._code) < _CODE_LONGEST:
            self._code += key.upper()
        return None

    def hints(self, table: Table) -> Sequence[tuple[str, str]]:
        """See `Dialog`."""
        return (("Enter", table.text("screen.keys.choose")), *super().hints(table))


class SearchDialog(Dialog):
    """A quick match that goes on."""

    def __init__(self) -> None:
        """Nothing is known yet."""
        self._waiting = Waiting(1, 0)
        self._window = 0

    def take(self, progress: MatchProgress) -> None:
        """What the server says of the search."""
        if isinstance(progress, Waiting):
            self._waiting = progress
        elif isinstance(progress, Widened):
            self._window = progress.window

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text("screen.lobby.quick")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        players, seconds = self._waiting.players, self._waiting.waited_ms // 1000
        rows = [Row(table.text("screen.lobby.searching", players=players, seconds=seconds))]
        if self._window:
            rows.append(Row(table.text("screen.lobby.widened", window=self._window)))
        return rows

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        return Shut() if key in SHUT_KEYS else None


class RoomDialog(Dialog):
    """A room that fills."""

    def __init__(self, room: Room, player_id: str) -> None:
        """Show a room to somebody who is in it."""
        self.room = room
        """The room as it was last heard of."""
        self.problem = ""
        """What went wrong last."""
        self._player_id = player_id

    @property
    def host(self) -> bool:
        """Whether the room is this player's."""
        return self.room.creator_id == self._player_id

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        if self.room.code:
            return table.text("screen.room.title", code=self.room.code)
        return table.text("screen.room.public")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        text = table.text
        rows = [Row(text("screen.lobby.ruleset", ruleset=self.room.ruleset)), Row("")]
        for one in self.room.seats:
            taken = one.occupant is not Occupant.UNSPECIFIED
            name = one.name if taken else text("screen.room.empty")
            kind = text(f"occupant.{one.occupant.name.lower()}") if taken else ""
            away = taken and self.host and one.player_id != self._player_id
            rows.append(
                Row(
                    f"{seat_shape(one.seat)} {name}{f' ({kind})' if kind else ''}",
                    str(one.seat + 1) if away else "",
                )
            )
        rows.append(Row(""))
        if self.host:
            if not self.room.full:
                rows.append(Row(text("screen.room.add_bot"), "b"))
                rows.append(Row(text("screen.room.not_full")))
            else:
                rows.append(Row(text("screen.room.start"), "s"))
        else:
            rows.append(Row(text("screen.room.waiting")))
        if self.problem:
            rows.append(Row(f"⚠ {self.problem}"))
        return rows

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if key in ("q", "escape"):
            return Do("leave_room")
        if not self.host:
            return None
        if key == "b" and not self.room.full:
            return Do("add_bot")
        if key in ("s", "enter") and self.room.full:
            return Do("start")
        if key.isdecimal() and 0 < int(key) <= len(self.room.seats):
            return self._away(int(key) - 1)
        return None

    def hints(self, table: Table) -> Sequence[tuple[str, str]]:
        """See `Dialog`."""
        digits = (("1-6", table.text("screen.room.remove")),) if self.host else ()
        return (*digits, ("Esc", table.text("screen.room.leave")))

    def _away(self, seat: int) -> Outcome | None:
        one = self.room.seats[seat]
        if one.occupant in (Occupant.BOT, Occupant.BUILT_IN):
            return Do(f"unseat:{seat}")
        taken = one.occupant is Occupant.PERSON and one.player_id != self._player_id
        return Do(f"kick:{one.player_id}") if taken else None
