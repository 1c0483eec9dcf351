"""Lists to choose from: public rooms, games to watch."""

from collections.abc import Callable, Sequence
from typing import Final, TypeAlias

from opolyx_sdk.enums import Occupant
from opolyx_sdk.game_summary import GameSummary
from opolyx_sdk.rooms import Room
from opolyx_sdk.terminal.dialogs.choices import Choices, row_key
from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Dialog, Do, Outcome, Row, Shut
from opolyx_sdk.text import Table

Line: TypeAlias = tuple[str, Callable[[Table], str]]
"""What a row stands for, and what it says."""

JOIN: Final = "join:"
WATCH: Final = "watch:"


class ListDialog(Dialog):
    """Rows with a mark; a row's key, or Enter, takes one."""

    def __init__(self, title: str, empty: str, lines: Sequence[Line]) -> None:
        """List lines.

        Args:
            title: the title's key.
            empty: the key of what is said when there are none.
            lines: the rows.
        """
        self._title = title
        self._empty = empty
        self._lines = lines
        self._choices = Choices(len(lines))

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text(self._title)

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        if not self._lines:
            return [Row(table.text(self._empty))]
        return [
            Row(
                f"{'▸' if row == self._choices.at else ' '}[{row_key(row) or ' '}]"
                f" {self._lines[row][1](table)}",
                f"row:{row}",
                hidden=True,
            )
            for row in self._choices.seen(height)
        ]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if self._choices.press(key):
            return None
        if key in SHUT_KEYS:
            return Shut()
        row = self._choices.at if key == "enter" else self._choices.row_of(key)
        if key.startswith("row:"):
            row = int(key.removeprefix("row:"))
        return Do(self._lines[row][0]) if row is not None and self._lines else None


def rooms_dialog(rooms: Sequence[Room]) -> ListDialog:
    """Public rooms to join."""
    return ListDialog("screen.lobby.rooms", "screen.lobby.no_rooms", [_room(one) for one in rooms])


def games_dialog(games: Sequence[GameSummary]) -> ListDialog:
    """Running games to watch."""
    return ListDialog("screen.lobby.watch", "screen.lobby.no_games", [_game(one) for one in games])


def _room(room: Room) -> Line:
    names = [one.name for one in room.seats if one.name]
    free = sum(1 for one in room.seats if one.occupant is Occupant.UNSPECIFIED)
    return f"{JOIN}{room.room_id}", lambda table: table.text(
        "screen.lobby.room_row", ruleset=room.ruleset, names=table.listed(names), free=free
    )


def _game(game: GameSummary) -> Line:
    names = [one.name for one in game.seats]
    return f"{WATCH}{game.game_id}", lambda table: table.text(
        "screen.lobby.game_row",
        ruleset=game.ruleset,
        round=game.round,
        names=table.listed(names),
    )
