"""A question with yes and no, before what can't be undone."""

from collections.abc import Sequence

from opolyx_sdk.terminal.dialogs.dialog import Dialog, Outcome, Row, Shut
from opolyx_sdk.terminal.painting import wrapped
from opolyx_sdk.text import Table


class ConfirmDialog(Dialog):
    """Nothing is chosen by Enter: it takes the letter."""

    def __init__(self, question: str, outcome: Outcome) -> None:
        """Ask before `outcome`.

        Args:
            question: the text's key.
            outcome: what a yes brings.
        """
        self._question = question
        self._outcome = outcome

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return ""

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        return [
            *[Row(line) for line in wrapped(table.text(self._question), width)],
            Row(""),
            Row(table.text("screen.keys.yes"), "y"),
            Row(table.text("screen.keys.no"), "n"),
        ]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if key == "y":
            return self._outcome
        return Shut() if key in ("n", "escape", "q") else None
