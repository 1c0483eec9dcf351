"""What `opolyx demo` shows: readable lines, progress, standings."""

import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from opolyx_sdk.amounts import decimal_text
from opolyx_sdk.events import Event, RoundStarted
from opolyx_sdk.profiles import Award
from opolyx_sdk.replays import Verification
from opolyx_sdk.text import Table, award_text, narrate
from opolyx_sdk.views import GameView

_ROUNDS_A_REPORT = 10


class DemoScreen:
    """Prints a game as it goes, in one of the languages; nothing when `quiet`."""

    def __init__(self, *, quiet: bool, language: str = "en") -> None:
        self._console = Console(quiet=quiet, highlight=False, soft_wrap=True)
        self._quiet = quiet
        self._table = Table((), language=language)
        self._updates = 0

    def say(self, line: str) -> None:
        """Print a line."""
        self._console.print(line, markup=False)

    def tell(self, key: str, **values: str | int) -> None:
        """Print a text of the demo's by its key."""
        self.say(self._table.text(f"demo.{key}", **values))

    def room(self, code: str, names: Sequence[str]) -> None:
        """The room is full."""
        self.tell("room", code=code, names=self._table.listed(names))

    def begin(self, ruleset: str, names: Sequence[str]) -> None:
        """The game begins."""
        self._table = Table(names, ruleset, self._table.language)
        self.say(f"{ruleset}{self._table.text('list.colon')}{self._table.listed(names)}")
        self._head(1)

    def show(self, events: Sequence[Event], view: GameView) -> None:
        """What one update tells, and from time to time how far the game is."""
        self._updates += 1
        if self._quiet:
            return
        for line in narrate(events, self._table):
            self.say(f"  {line}")
        for event in events:
            if isinstance(event, RoundStarted):
                self._round(event.round, view)

    def _head(self, number: int) -> None:
        self._console.print(Text(self._table.text("demo.round", round=number), style="bold"))

    def _round(self, number: int, view: GameView) -> None:
        self._head(number)
        if number % _ROUNDS_A_REPORT:
            return
        table = self._table
        worths = [
            f"{table.who(player.seat)} {table.money(player.net_worth)}"
            for player in view.players
            if player.in_game
        ]
        left = sum(1 for one in view.properties if one.owner is None)
        self.tell("report", update=self._updates, worths=table.listed(worths), free=left)

    def standings(self, view: GameView, awards: dict[int, Award]) -> None:
        """Places, worth and XP."""
        if view.result is None:
            return
        table = self._table
        grid = Grid(title=table.text("demo.standings", round=view.result.round))
        for column in ("place", "seat", "name", "net_worth", "groups", "xp", "why"):
            title = table.text(f"demo.{column}")
            grid.add_column(title, justify="left" if column in ("name", "why") else "right")
        for line in sorted(view.result.seats, key=lambda one: (one.place, one.seat)):
            award = awards.get(line.seat)
            grid.add_row(
                table.number(line.place),
                table.number(line.seat),
                Text(table.who(line.seat)),
                table.money(line.net_worth) if line.survived else table.text("demo.out"),
                table.number(line.full_groups),
                table.number(award.xp) if award else "?",
                award_text(award, table) if award else "",
            )
        self._console.print(grid)

    def end(self, path: Path, found: Verification, updates: int, seconds: float) -> None:
        """The replay, and whether it holds."""
        table = self._table
        self.tell("took", updates=updates, seconds=decimal_text(seconds, 1, table.language))
        self.tell("replay", path=str(path))
        self.say(found.sentence(table.language))
        self.tell("look_again", command=f"{_called()} replay {path}")
        self.tell("play", command=f"{_called()} play")


def _called() -> str:
    """How this command was called, so that what is printed can be typed."""
    return sys.argv[0] if sys.argv[0].endswith("opolyx") else "opolyx"
