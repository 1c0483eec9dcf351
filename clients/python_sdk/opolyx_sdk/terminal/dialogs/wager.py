"""The wager: one to three numbers of a die."""

from collections.abc import Sequence

from rich.text import Text

from opolyx_sdk.actions import Wager
from opolyx_sdk.decisions import Decision
from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Act, Dialog, Outcome, Row, Shut
from opolyx_sdk.text import Table


class WagerDialog(Dialog):
    """Digits choose and give back numbers; Enter wagers on them."""

    def __init__(self, wagers: Sequence[Wager], decision: Decision) -> None:
        """Offer these wagers, at least one."""
        self._wagers = {frozenset(one.numbers): one for one in wagers}
        self._numbers = sorted({number for one in wagers for number in one.numbers})
        self._decision = decision
        self._chosen: set[int] = set()

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text("screen.wager.title")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        chosen = table.listed(map(str, sorted(self._chosen)))
        told = (
            table.text("screen.wager.chosen", numbers=chosen)
            if chosen
            else table.text("screen.wager.hint")
        )
        boxes = [
            Row(Text("■" if number in self._chosen else "□", style="bold"), str(number))
            for number in self._numbers
        ]
        return [*boxes, Row(told)]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if key in SHUT_KEYS:
            return Shut()
        if key == "enter":
            wager = self._wagers.get(frozenset(self._chosen))
            return None if wager is None else Act(wager, self._decision)
        if key.isdecimal() and int(key) in self._numbers:
            self._toggle(int(key))
        return None

    def hints(self, table: Table) -> Sequence[tuple[str, str]]:
        """See `Dialog`."""
        return (("Enter", table.text("screen.wager.enter")), *super().hints(table))

    def _toggle(self, number: int) -> None:
        """Take a number in, unless that leads to no wager, or give it back."""
        wanted = self._chosen ^ {number}
        if not wanted or any(wanted <= numbers for numbers in self._wagers):
            self._chosen = wanted
