"""What `opolyx demo` shows: readable lines, progress, standings."""

from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table

from opolyx_sdk.cli.profile import why
from opolyx_sdk.events import Event, RoundStarted
from opolyx_sdk.profiles import Award
from opolyx_sdk.replays import Verification
from opolyx_sdk.text import Table as Telling
from opolyx_sdk.text import money, narrate
from opolyx_sdk.views import GameView

_ROUNDS_A_REPORT = 10


class DemoScreen:
    """Prints a game as it goes; nothing when `quiet`."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Console(quiet=quiet, highlight=False, soft_wrap=True)
        self._quiet = quiet
        self._names: Sequence[str] = ()
        self._telling = Telling(())
        self._updates = 0

    def say(self, line: str) -> None:
        """Print a line."""
        self._console.print(line, markup=False)

    def begin(self, ruleset: str, names: Sequence[str]) -> None:
        """The game begins."""
        self._names = names
        self._telling = Telling(names, ruleset)
        self.say(f"{ruleset}: {', '.join(names)}")
        self._console.print("[bold]round 1[/bold]")

    def show(self, events: Sequence[Event], view: GameView) -> None:
        """What one update tells, and from time to time how far the game is."""
        self._updates += 1
        if self._quiet:
            return
        for line in narrate(events, self._telling):
            self.say(f"  {line}")
        for event in events:
            if isinstance(event, RoundStarted):
                self._round(event.round, view)

    def _round(self, number: int, view: GameView) -> None:
        self._console.print(f"[bold]round {number}[/bold]")
        if number % _ROUNDS_A_REPORT:
            return
        worths = [
            f"{self._names[player.seat]} {money(player.net_worth)}"
            for player in view.players
            if player.in_game
        ]
        left = sum(1 for one in view.properties if one.owner is None)
        self.say(
            f"--- update {self._updates}; net worth: {', '.join(worths)};"
            f" {left} properties free ---"
        )

    def standings(self, view: GameView, awards: dict[int, Award]) -> None:
        """Places, worth and XP."""
        if view.result is None:
            return
        table = Table(title=f"Standings after round {view.result.round}")
        for title in ("place", "seat", "name", "net worth", "groups", "XP", "why"):
            table.add_column(title, justify="left" if title in ("name", "why") else "right")
        for line in sorted(view.result.seats, key=lambda one: (one.place, one.seat)):
            award = awards.get(line.seat)
            table.add_row(
                str(line.place),
                str(line.seat),
                self._names[line.seat],
                money(line.net_worth) if line.survived else "out",
                str(line.full_groups),
                str(award.xp) if award else "?",
                why(award) if award else "",
            )
        self._console.print(table)

    def end(self, path: Path, found: Verification, updates: int, seconds: float) -> None:
        """The replay, and whether it holds."""
        self.say(f"{updates} updates in {seconds:.1f} s")
        self.say(f"replay: {path}")
        self.say(found.sentence())
