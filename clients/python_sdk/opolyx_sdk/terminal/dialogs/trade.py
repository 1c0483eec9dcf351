"""Making an offer: who, what for what, and what the server thinks of it while it is made."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from rich.text import Text

from opolyx_sdk.actions import ProposeTrade
from opolyx_sdk.decisions import Decision, PartnerSquares, TradeTemplate, TradeVerdict
from opolyx_sdk.terminal.dialogs.dialog import Act, Dialog, Outcome, Row, Shut
from opolyx_sdk.terminal.marks import seat_shape, square_colours, square_letter
from opolyx_sdk.terminal.painting import fitted
from opolyx_sdk.text import Table, refusal_text

GIVE: Final = 0
WANT: Final = 1
_STEP: Final = 100
_MOST_DIGITS: Final = 7
_BP_A_PERCENT: Final = 100


@dataclass(slots=True)
class _Side:
    """What one of the two puts in."""

    squares: tuple[int, ...]
    most: int
    cash: int = 0
    chosen: set[int] = field(default_factory=set)

    def toggle(self, row: int) -> None:
        """Take a square in, or out again."""
        self.chosen ^= {self.squares[row - 1]}

    def set_cash(self, amount: int) -> None:
        """As much as there is, at most."""
        self.cash = max(0, min(amount, self.most))


class TradeDialog(Dialog):
    """Two columns; arrows move, space chooses, digits type cash, Enter offers."""

    def __init__(self, decision: Decision) -> None:
        """Trade within the template of the decision, which has one."""
        assert decision.trade_template is not None  # noqa: S101 - the menu offers it only then
        self._decision = decision
        self._template: TradeTemplate = decision.trade_template
        self._partner = 0
        self._side, self._row = GIVE, 0
        self._verdict: tuple[ProposeTrade, TradeVerdict] | None = None
        self._begin()

    @property
    def question(self) -> ProposeTrade | None:
        """The trade that a verdict is needed of; None if there is nothing to judge."""
        trade = self.trade
        known = self._verdict is not None and self._verdict[0] == trade
        return None if trade is None or known else trade

    @property
    def trade(self) -> ProposeTrade | None:
        """What is chosen; None while a side is empty."""
        give, want = self._sides
        if not (give.cash or give.chosen) or not (want.cash or want.chosen):
            return None
        return ProposeTrade(
            self._with.seat,
            give.cash,
            tuple(sorted(give.chosen)),
            want.cash,
            tuple(sorted(want.chosen)),
        )

    def judge(self, trade: ProposeTrade, verdict: TradeVerdict) -> None:
        """Take the server's word on a trade; one that was changed meanwhile is asked anew."""
        self._verdict = (trade, verdict)

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        seat = self._with.seat
        return table.text("screen.trade.title", who=f"{seat_shape(seat)} {table.who(seat)}")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        column = (width - 1) // 2
        heads = (table.text("screen.trade.give"), table.text("screen.trade.want"))
        head = Text(" ".join(fitted(one, column) for one in heads), style="bold underline")
        room = max(1, height - 4)
        most = max(len(side.squares) for side in self._sides) + 1
        first = min(max(0, self._row - room // 2), max(0, most - room))
        body = [
            Row(
                Text.assemble(
                    self._cell(GIVE, row, table, column), " ", self._cell(WANT, row, table, column)
                ),
                f"row:{row}",
                hidden=True,
            )
            for row in range(first, min(most, first + room))
        ]
        return [Row(head), *body, *[Row(line) for line in self._judged(table)]]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if key in ("escape", "q"):
            return Shut()
        if key == "enter":
            return None if self.trade is None else Act(self.trade, self._decision)
        if key == "p":
            self._partner = (self._partner + 1) % len(self._template.partner_squares)
            self._begin()
        elif key in ("left", "right", "tab"):
            self._side = 1 - self._side
            self._row = min(self._row, len(self._here.squares))
        elif key in ("up", "down"):
            self._row = (self._row + (1 if key == "down" else -1)) % (len(self._here.squares) + 1)
        elif key.startswith("row:"):
            self._row = min(int(key.removeprefix("row:")), len(self._here.squares))
            if self._row:
                self._here.toggle(self._row)
        else:
            self._change(key)
        return None

    def hints(self, table: Table) -> Sequence[tuple[str, str]]:
        """See `Dialog`."""
        partners = len(self._template.partner_squares) > 1
        other = (("p", table.text("screen.trade.partner")),) if partners else ()
        return (
            ("←→", ""),
            ("↑↓", table.text("screen.keys.move")),
            ("␣", table.text("screen.keys.choose")),
            *other,
            ("Enter", table.text("screen.trade.enter")),
            *super().hints(table),
        )

    @property
    def _with(self) -> PartnerSquares:
        return self._template.partner_squares[self._partner]

    @property
    def _here(self) -> _Side:
        return self._sides[self._side]

    def _begin(self) -> None:
        """Both sides empty, the mark on what one gives."""
        self._sides = (
            _Side(self._template.own_squares, self._template.max_give_cash),
            _Side(self._with.squares, self._with.max_cash),
        )
        self._side, self._row = GIVE, 0

    def _change(self, key: str) -> None:
        """Choose the marked square; or change the side's cash, wherever the mark is."""
        side = self._here
        if key == "space" and self._row:
            side.toggle(self._row)
        elif key.isdecimal() and key.isascii() and len(str(side.cash)) < _MOST_DIGITS:
            side.set_cash(side.cash * 10 + int(key))
        elif key == "backspace":
            side.set_cash(side.cash // 10)
        elif key in ("plus", "+", "minus", "-"):
            side.set_cash(side.cash + (_STEP if key in ("plus", "+") else -_STEP))

    def _cell(self, number: int, row: int, table: Table, width: int) -> Text:
        """One line of one side."""
        side = self._sides[number]
        if row > len(side.squares):
            return Text(" " * width)
        marked = number == self._side and row == self._row
        line = Text("▸" if marked else " ")
        if row == 0:
            cash = table.headed(table.text("screen.trade.cash"), table.money(side.cash))
            line.append(f" {cash}", style="bold" if marked else "")
        else:
            square = side.squares[row - 1]
            ink, ground = square_colours(square)
            line.append("■ " if square in side.chosen else "□ ")
            line.append(f"{square_letter(square)}{square:>2}", style=f"bold {ink} on {ground}")
            line.append(f" {table.where(square)}", style="bold" if marked else "")
        line.truncate(width, overflow="ellipsis", pad=True)
        return line

    def _judged(self, table: Table) -> list[str]:
        """What is known of the trade as it is now."""
        trade = self.trade
        if trade is None:
            return [table.text("screen.trade.empty"), table.text("screen.trade.hint")]
        if self._verdict is None or self._verdict[0] != trade:
            return [table.text("screen.trade.checking")]
        verdict = self._verdict[1]
        values = table.text(
            "screen.trade.values",
            give=table.money(verdict.give_value),
            want=table.money(verdict.want_value),
        )
        if verdict.refusal is not None:
            told = refusal_text(verdict.refusal, table)
        elif self._with.ally:
            told = table.text("screen.trade.allies")
        else:
            told = table.text("screen.trade.fair")
        percent = self._template.fairness_bp // _BP_A_PERCENT
        rule = "" if self._with.ally else table.text("screen.trade.unfair", percent=percent)
        fair = verdict.allowed or verdict.refusal is None or not rule
        verdict_line = table.headed(values, told)
        return [verdict_line] if fair else [verdict_line, rule]
