"""One of many actions of a kind: what to build, to sell, to mortgage, to redeem; where to go."""

from collections.abc import Sequence
from typing import TypeAlias

from rich.text import Text

from opolyx_sdk.actions import Build, ChooseSquare, Mortgage, Redeem, SellBuilding
from opolyx_sdk.board import SQUARES
from opolyx_sdk.decisions import Decision
from opolyx_sdk.terminal.dialogs.choices import Choices, row_key
from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Act, Dialog, Outcome, Row, Shut
from opolyx_sdk.terminal.marks import square_colours, square_letter
from opolyx_sdk.terminal.squares import about_square
from opolyx_sdk.text import Table
from opolyx_sdk.views import GameView

OnSquare: TypeAlias = Build | SellBuilding | Mortgage | Redeem | ChooseSquare
"""An action on one square."""


class PickDialog(Dialog):
    """A list of actions; a row's key, or Enter on the marked row, takes one."""

    def __init__(
        self, title: str, actions: Sequence[OnSquare], decision: Decision, view: GameView
    ) -> None:
        """List the actions.

        Args:
            title: the title's key.
            actions: at least one.
            decision: what is answered.
            view: the state.
        """
        self._title = title
        self._actions = actions
        self._decision = decision
        self._view = view
        self._choices = Choices(len(actions))

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text(self._title)

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        return [self._row(row, table) for row in self._choices.seen(height)]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if self._choices.press(key):
            return None
        if key in SHUT_KEYS:
            return Shut()
        row = self._choices.at if key == "enter" else self._choices.row_of(key)
        if key.startswith("row:"):
            row = int(key.removeprefix("row:"))
        return None if row is None else Act(self._actions[row], self._decision)

    def hints(self, table: Table) -> Sequence[tuple[str, str]]:
        """See `Dialog`."""
        return (
            ("↑↓", table.text("screen.keys.move")),
            ("Enter", table.text("screen.keys.choose")),
            *super().hints(table),
        )

    def _row(self, row: int, table: Table) -> Row:
        action = self._actions[row]
        ink, ground = square_colours(action.square)
        marked = row == self._choices.at
        line = Text("▸ " if marked else "  ")
        line.append(f"[{row_key(row)}]" if row_key(row) else "   ", style="bold")
        line.append(" ")
        line.append(
            f"{square_letter(action.square)}{action.square:>2}", style=f"bold {ink} on {ground}"
        )
        line.append(f" {self._told(action, table)}", style="bold" if marked else "")
        return Row(line, f"row:{row}", hidden=True)

    def _told(self, action: OnSquare, table: Table) -> str:
        where, owned = table.where(action.square), self._view.property_at(action.square)
        level = owned.level if owned else 0
        match action:
            case Build(square):
                cost = table.money(SQUARES[square].build_cost)
                return table.text(
                    "screen.pick.build_row", where=where, level=level, next=level + 1, cost=cost
                )
            case SellBuilding():
                return table.text("screen.pick.sell_row", where=where, level=level, next=level - 1)
            case Mortgage():
                return table.text("screen.pick.mortgage_row", where=where)
            case Redeem():
                since = owned.mortgaged_round if owned else 0
                return table.text("screen.pick.redeem_row", where=where, round=since)
        if self._view.player(self._decision.seat).position == action.square:
            return table.text("screen.pick.stay_row", where=where)
        about = about_square(action.square, self._view, table)
        told = table.text("screen.pick.square_row", where=where)
        return f"{told} – {about}" if about else told
