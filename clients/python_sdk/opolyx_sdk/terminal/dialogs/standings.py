"""The end of a game: who came where, and what to do now."""

from collections.abc import Sequence

from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Dialog, Do, Outcome, Row, Shut
from opolyx_sdk.terminal.marks import seat_shape
from opolyx_sdk.terminal.moment import Moment
from opolyx_sdk.text import Table


class StandingsDialog(Dialog):
    """Places, and the keys to go on."""

    def __init__(self, moment: Moment, *, played: bool) -> None:
        """Show how a game ended.

        Args:
            moment: its end.
            played: whether there is a seat that could play again.
        """
        self._moment = moment
        self._played = played

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        void = self._moment.view.result is None
        return table.text("screen.game_void" if void else "screen.standings.title")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        result = self._moment.view.result
        rows = []
        for one in sorted(result.seats if result else (), key=lambda one: (one.place, one.seat)):
            who = f"{seat_shape(one.seat)} {table.who(one.seat)}"
            key = "screen.standings.row" if one.survived else "screen.standings.out"
            worth = table.money(one.net_worth)
            rows.append(Row(table.text(key, place=one.place, who=who, worth=worth)))
        rows.append(Row(""))
        if self._played:
            rows.append(Row(table.text("screen.standings.again"), "g"))
        rows.append(Row(table.text("screen.standings.replay"), "s"))
        rows.append(Row(table.text("screen.keys.quit"), "q"))
        return rows

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if key == "g" and self._played:
            return Do("again")
        if key == "s":
            return Do("save")
        if key == "q":
            return Do("left")
        return Shut() if key in SHUT_KEYS or key == "enter" else None
