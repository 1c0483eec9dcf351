"""The table as one sees it: what the screen shows, and what keys do there. Knows no terminal."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Final, TypeAlias

from rich.text import Text

from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import GameState, Phase
from opolyx_sdk.terminal.board import SQUARE_KEY, draw_board, layout_for
from opolyx_sdk.terminal.chart import ChartDialog
from opolyx_sdk.terminal.chronicle import Chronicle
from opolyx_sdk.terminal.dialogs.dialog import Do, Open, Outcome, add_hints
from opolyx_sdk.terminal.help import help_dialog, holdings_dialog, log_dialog
from opolyx_sdk.terminal.marks import seat_colour, seat_shape
from opolyx_sdk.terminal.menu import LEAVING, Entry, Hand
from opolyx_sdk.terminal.menu_panel import draw_menu
from opolyx_sdk.terminal.moment import Moment, table_of
from opolyx_sdk.terminal.painting import (
    Painting,
    abreast,
    beside,
    fitted,
    stacked,
    wrapped,
)
from opolyx_sdk.terminal.places import ARROWS, moved
from opolyx_sdk.terminal.players import PLAYER_KEY, draw_players
from opolyx_sdk.terminal.squares import about_square, square_title
from opolyx_sdk.terminal.worths import Worths
from opolyx_sdk.text import Table
from opolyx_sdk.updates import Update

Notice: TypeAlias = Callable[[Table], str]

LEAST: Final = (80, 24)
"""Columns and lines that it needs."""

_BELOW: Final = 8
"""Lines for the decision."""
_PLAYERS: Final = (23, 44)
"""Columns for the players, at least and at most."""
_URGENT_S: Final = 10
_DICE: Final = " ⚀⚁⚂⚃⚄⚅"
_THIRD: Final = {4: "⇄", 5: "✗"}


class Scene:
    """The table from one seat, or from none."""

    def __init__(self, moment: Moment, seat: int | None, language: str) -> None:
        """Begin with what is seen now.

        Args:
            moment: the game.
            seat: whose keys are taken; None only watches.
            language: of all texts.
        """
        self.moment = moment
        """The game now."""
        self.seat = seat
        """Whose keys are taken."""
        self.table = table_of(moment.info, language)
        """How it is told."""
        self.chronicle = Chronicle()
        """What has happened."""
        self.worths = Worths()
        """Net worth round by round, since it is watched."""
        self.worths.add(moment.view)
        self.online = True
        """Whether the server is heard."""
        self.notice: Notice | None = None
        """What the player has to know now, in a table's words."""
        self.cursor = moment.view.player(seat or 0).position
        """The square that is looked at."""
        self._marked = 0

    # --- What comes from the game ----------------------------------------------------------------

    def take(self, update: Update, connected_seats: tuple[int, ...]) -> None:
        """The game goes on."""
        if update.missed:
            self.chronicle.note("screen.missed", updates=update.missed)
        self.chronicle.add(update.events)
        self.worths.add(update.view)
        self.show(
            replace(
                self.moment,
                view=update.view,
                decisions=update.decisions,
                state=update.state,
                connected_seats=connected_seats,
            )
        )

    def show(self, moment: Moment) -> None:
        """Another point of the game, without a word on how it came to be."""
        before = self.hand.decision
        moved = moment.view.turn.seat, moment.view.player(moment.view.turn.seat).position
        here = self.moment.view.turn.seat, self.moment.view.player(moment.view.turn.seat).position
        self.moment = moment
        if moved != here:
            self.cursor = moved[1]
        if self.hand.decision != before:
            self._marked = 0
            self.notice = None

    def speak(self, language: str) -> None:
        """Go on in another language."""
        self.table = replace(self.table, language=language)

    @property
    def hand(self) -> Hand:
        """What the seat may do."""
        own = [one for one in self.moment.decisions if one.seat == self.seat]
        return Hand(self.moment.view, self.seat, tuple(own))

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self.moment.state is not GameState.RUNNING

    def entries(self) -> tuple[Entry, ...]:
        """What may be done now."""
        if not self.over:
            return self.hand.entries()
        words = {"g": "screen.standings.again", "s": "screen.standings.replay"}
        offered = words if self.seat is not None else {"s": words["s"]}
        does = {"g": Do("again"), "s": Do("save")}
        return tuple(
            Entry(key, partial(_told, text), partial(_same, does[key]))
            for key, text in offered.items()
        )

    # --- Keys -------------------------------------------------------------------------------------

    def press(self, key: str) -> Outcome | None:
        """Take a key; what comes of it, if it is more than another look."""
        entries = self.entries()
        if key in ("tab", "shift+tab") and entries:
            self._marked = (self._marked + (1 if key == "tab" else -1)) % len(entries)
        elif key == "enter" and entries:
            mark = self._mark(entries)
            return None if mark is None else entries[mark].outcome()
        elif key in ARROWS:
            self.cursor = moved(self.cursor, key)
        elif key.startswith(SQUARE_KEY):
            self.cursor = int(key.removeprefix(SQUARE_KEY))
        elif key.startswith(PLAYER_KEY):
            seat = int(key.removeprefix(PLAYER_KEY))
            return Open(holdings_dialog(self.moment.view, self.moment.info.seats, seat))
        else:
            found = next((one for one in entries if one.key == key), None)
            return found.outcome() if found else self._look(key)
        return None

    def _look(self, key: str) -> Outcome | None:
        """Keys that only show something, or leave."""
        match key:
            case "question_mark" | "?" | "h":
                return Open(help_dialog())
            case "l":
                return Open(log_dialog(self.chronicle))
            case "a":
                return Open(
                    holdings_dialog(self.moment.view, self.moment.info.seats, self.seat or 0)
                )
            case "c":
                return Open(ChartDialog(self.worths))
            case "f2" | "n":
                return Do("language")
            case "q" | "escape":
                return Do("leave")
        return None

    def _mark(self, entries: Sequence[Entry]) -> int | None:
        """The marked entry; what ends one's game is marked only by going there."""
        if not entries:
            return None
        mark = min(self._marked, len(entries) - 1)
        return None if entries[mark].key == LEAVING and not self._marked else mark

    # --- What is seen -----------------------------------------------------------------------------

    def paint(self, width: int, height: int, now: float) -> Painting:
        """The whole screen.

        Args:
            width: columns.
            height: lines.
            now: this machine's Unix time in seconds.
        """
        if width < LEAST[0] or height < LEAST[1]:
            told = self.table.text("screen.small_terminal", columns=LEAST[0], rows=LEAST[1])
            return Painting([Text(told)])
        upper = height - 1 - _BELOW
        players_width = max(_PLAYERS[0], min(_PLAYERS[1], width // 4))
        layout = layout_for(width - players_width, upper)
        inside = self._inside(*layout.inside)
        board = draw_board(self.moment.view, self.table, layout, cursor=self.cursor, inside=inside)
        right = self._beside(width - layout.width - 1, upper)
        middle = abreast(board, right, layout.width + 1)
        blank = [Text()] * max(0, upper - len(middle.lines))
        below = self.below(width, _BELOW, now)
        return stacked([self._head(width, now), middle, Painting(blank), below])

    def _head(self, width: int, now: float) -> Painting:
        table, turn = self.table, self.moment.view.turn
        left = f" {self.moment.info.ruleset} · {table.text('screen.round', round=turn.round)}"
        if not self.online:
            told = table.text("screen.offline")
            return Painting(
                [Text(beside(left, f"⚠ {told} ", width), style="bold black on #f0e442")]
            )
        line = Text(beside(left, f"{self._waited(now)} ", width), style="reverse")
        return Painting([line])

    def _waited(self, now: float) -> str:
        """Who is awaited, and for how long."""
        if self.over:
            return self.table.text("screen.game_over")
        awaited = self.awaited
        if awaited is None:
            return ""
        who = f"{seat_shape(awaited.seat)} {self.table.who(awaited.seat)}"
        told = (
            self.table.text("screen.your_turn")
            if awaited.seat == self.seat
            else self.table.text("screen.waiting_for", who=who)
        )
        left = self._clock(awaited, now)
        return f"{told} · {left}" if left else told

    def _clock(self, decision: Decision, now: float) -> str:
        left = decision.time_left(now)
        if left <= 0:
            return self.table.text("screen.time_is_up")
        return self.table.text("screen.seconds_left", seconds=int(left))

    @property
    def awaited(self) -> Decision | None:
        """What the table waits for."""
        return next((one for one in self.moment.decisions if one.phase is not Phase.OFFER), None)

    def _inside(self, width: int, height: int) -> list[Text]:
        """Within the ring: the dice, what is going on, the square looked at, the last events."""
        view, table = self.moment.view, self.table
        turn = view.turn
        who = f"{seat_shape(turn.seat)} {table.who(turn.seat)}"
        head = Text(f" {who}", style=f"bold {seat_colour(turn.seat)}")
        if turn.dice:
            head.append(f"  {dice_text(turn.dice)}", style="bold")
        lines = [head]
        lines += [Text(f" {line.plain}", style="bold") for line in self._going_on(width - 2)]
        title = square_title(self.cursor, table)
        about = about_square(self.cursor, view, table)
        looked = table.headed(title, about) if about else title
        lines += [Text(f" {line.plain}", style="italic") for line in wrapped(looked, width - 2)[:2]]
        room = height - len(lines)
        told = self._tail(width - 2, room)
        return [*lines, *[Text(f" {line.plain}", style="dim") for line in told]]

    def _going_on(self, width: int) -> list[Text]:
        """An auction, or a debt that holds up the game."""
        view, table = self.moment.view, self.table
        lines: list[Text] = []
        if (auction := view.auction) is not None:
            lines += wrapped(
                table.text("screen.auction.title", where=table.where(auction.square)), width
            )
            if auction.leader is None:
                lines += wrapped(table.text("screen.auction.opening"), width)
            else:
                who, amount = table.who(auction.leader), table.money(auction.bid)
                lines += wrapped(
                    table.text("screen.auction.standing", who=who, amount=amount), width
                )
            names = " ".join(seat_shape(seat) for seat in auction.bidders)
            lines += wrapped(table.text("screen.auction.bidders", names=names), width)
        for debt in view.debts[:1]:
            owed = table.money(sum(claim.amount for claim in debt.claims))
            who = table.who(debt.debtor)
            lines += wrapped(table.text("screen.payment.title", who=who, amount=owed), width)
        return lines

    def _tail(self, width: int, room: int) -> list[Text]:
        """The last events that fit."""
        told: list[Text] = []
        for line in reversed(self.chronicle.lines(self.table)):
            told = [*wrapped(line, width), *told]
            if len(told) >= room:
                break
        return told[-room:] if room > 0 else []

    def _beside(self, width: int, height: int) -> Painting:
        """The players."""
        moment = self.moment
        return draw_players(
            moment.view,
            moment.info.seats,
            self.table,
            width=width,
            height=height,
            you=self.seat,
            connected=moment.connected_seats,
        )

    def below(self, width: int, height: int, now: float) -> Painting:
        """The decision, what is to be known for it, and the keys."""
        entries = self.entries()
        decision = self.hand.decision
        if decision is not None:
            phase = self.table.text(f"phase.{decision.phase.name.lower()}")
            left = f" {self.table.headed(self.table.text('screen.your_turn'), phase)}"
            urgent = decision.time_left(now) < _URGENT_S
            style = "bold black on #ff7f3f" if urgent else "bold black on #56b4e9"
            title = Text(beside(left, f"{self._clock(decision, now)} ", width), style=style)
        else:
            title = Text(fitted(f" {self._waited_below()}", width), style="dim")
        told = self._told(width)
        room = height - 2 - len(told)
        menu = draw_menu(entries, self._mark(entries), self.table, width, room)
        blank = [Text()] * max(0, height - 2 - len(told) - len(menu.lines))
        painting = stacked([Painting([title]), Painting(told), menu, Painting(blank)])
        return add_hints(painting, self._hints(), width)

    def _waited_below(self) -> str:
        if self.moment.state is GameState.VOID:
            return self.table.text("screen.game_void")
        if self.over:
            return self.table.text("screen.game_over")
        if self.seat is None:
            return self.table.text("screen.watching")
        awaited = self.awaited
        if awaited is None:
            return ""
        phase = self.table.text(f"screen.phase.{awaited.phase.name.lower()}")
        who = self.table.who(awaited.seat)
        return f"{self.table.text('screen.waiting_for', who=who)} {phase}"

    def _told(self, width: int) -> list[Text]:
        """What the player must know: a refusal, what is owed to whom."""
        lines: list[str] = []
        table, decision = self.table, self.hand.decision
        if self.notice is not None:
            lines.append(f"⚠ {self.notice(table)}")
        if decision is not None and decision.phase is Phase.PAYMENT:
            cash = self.moment.view.player(decision.seat).cash
            debt = next((one for one in self.moment.view.debts if one.debtor == self.seat), None)
            claims = debt.claims if debt else ()
            told = [
                table.text(
                    "screen.payment.claim",
                    amount=table.money(one.amount),
                    who=table.who(one.creditor),
                )
                for one in claims
            ]
            if decision.amount_owed > cash:
                missing = table.money(decision.amount_owed - cash)
                told.append(table.text("screen.payment.short", amount=missing))
            lines.append(table.text("list.semicolon").join(told))
        return [Text(f" {fitted(line, width - 2)}", style="bold") for line in lines if line]

    def _hints(self) -> list[tuple[str, str]]:
        text = self.table.text
        return [
            ("?", text("screen.keys.help")),
            ("l", text("screen.keys.log")),
            ("a", text("screen.keys.holdings")),
            ("c", text("screen.keys.chart")),
            ("n", text("screen.keys.language")),
            ("q", text("screen.keys.quit")),
        ]


def _told(key: str, table: Table) -> str:
    return table.text(key)


def _same(outcome: Outcome) -> Outcome:
    return outcome


def dice_text(dice: Sequence[int]) -> str:
    """The dice as faces, with their sum."""
    white = [_DICE[face] if 0 < face < len(_DICE) else "?" for face in dice[:2]]
    third = [_THIRD.get(face, str(face)) for face in dice[2:]]
    return f"{' '.join([*white, *third])}  ({sum(dice[:2])})"
