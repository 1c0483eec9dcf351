"""The pages that explain: help, and what somebody owns."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from opolyx_sdk.enums import God
from opolyx_sdk.seats import Seat
from opolyx_sdk.terminal.chronicle import Chronicle
from opolyx_sdk.terminal.dialogs.reading import ReadingDialog
from opolyx_sdk.terminal.marks import seat_shape, square_colours
from opolyx_sdk.terminal.painting import wrapped
from opolyx_sdk.terminal.squares import about_square, square_title
from opolyx_sdk.text import Table
from opolyx_sdk.views import GameView, PropertyView

_HELP: Final = ("goal", "keys", "board", "marks", "clock", "trade", "leave")
_BP_A_PERCENT: Final = 100


def help_dialog() -> ReadingDialog:
    """What a new player needs to know."""

    def lines(table: Table, width: int) -> Sequence[Text]:
        written: list[Text] = []
        for part in _HELP:
            written += [*wrapped(table.text(f"screen.help.{part}"), width), Text()]
        return written[:-1]

    return ReadingDialog(lambda table: table.text("screen.help.title"), lines, at_end=False)


def log_dialog(chronicle: Chronicle) -> ReadingDialog:
    """All that has happened."""

    def lines(table: Table, width: int) -> Sequence[Text]:
        written = [line for one in chronicle.lines(table) for line in wrapped(one, width)]
        return written or [Text(table.text("screen.nothing_yet"), style="dim")]

    return ReadingDialog(lambda table: table.text("screen.log"), lines, at_end=True)


def holdings_dialog(view: GameView, seats: Sequence[Seat], first: int) -> ReadingDialog:
    """What everybody has, beginning with one seat."""
    order = [seats[(first + step) % len(seats)] for step in range(len(seats))]

    def lines(table: Table, width: int) -> Sequence[Text]:
        written: list[Text] = []
        for seat in order:
            who = f"{seat_shape(seat.seat)} {table.who(seat.seat)}"
            written.append(
                Text(table.text("screen.holdings.title", who=who), style="bold underline")
            )
            for part in _holdings(view, seat, table):
                written += wrapped(part, width)
            written.append(Text())
        return written[:-1]

    return ReadingDialog(lambda table: table.text("screen.keys.holdings"), lines, at_end=False)


def _holdings(view: GameView, seat: Seat, table: Table) -> list[Text]:
    player, owned = view.player(seat.seat), view.properties_of(seat.seat)
    parts = [_property(one, view, table) for one in owned]
    if not owned:
        parts.append(Text(table.text("screen.holdings.none"), style="dim"))
    for card in seat.cards:
        percent, where = card.bonus_bp // _BP_A_PERCENT, table.where(card.square)
        parts.append(Text(table.text("screen.holdings.card", where=where, percent=percent)))
    if player.god is not God.UNSPECIFIED:
        god, until = player.god.name.lower(), player.god_until_round
        parts.append(Text(table.text("screen.holdings.god", god=god, round=until)))
    if player.financed_square is not None:
        where, price = table.where(player.financed_square), table.money(player.financed_price)
        due = player.financed_due_round
        told = table.text("screen.holdings.financed", where=where, price=price, round=due)
        parts.append(Text(told))
    if player.missed_turns:
        parts.append(Text(table.text("screen.holdings.missed", turns=player.missed_turns)))
    return parts


def _property(one: PropertyView, view: GameView, table: Table) -> Text:
    ink, ground = square_colours(one.square)
    line = Text(square_title(one.square, table), style=f"bold {ink} on {ground}")
    about = about_square(one.square, view, table)
    return Text.assemble(line, f"  {about}")
