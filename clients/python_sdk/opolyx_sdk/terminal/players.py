"""Who plays, with what: the panel beside the board."""

from collections.abc import Sequence
from typing import Final

from rich.text import Text

from opolyx_sdk.enums import God
from opolyx_sdk.seats import Seat
from opolyx_sdk.terminal.marks import (
    MORTGAGED,
    seat_colour,
    seat_shape,
    square_colours,
    square_letter,
)
from opolyx_sdk.terminal.painting import Hit, Painting, beside, fitted
from opolyx_sdk.text import Table
from opolyx_sdk.views import GameView, PlayerView

PLAYER_KEY: Final = "player:"
"""A click on seat 2 stands for the key `player:2`."""

_BRIEF: Final = 2
_FULL: Final = 4


def draw_players(
    view: GameView,
    seats: Sequence[Seat],
    table: Table,
    *,
    width: int,
    height: int,
    you: int | None = None,
    connected: Sequence[int] = (),
) -> Painting:
    """Two lines a player, and their property below where there is room for all."""
    tall = _FULL if height >= _FULL * len(seats) else _BRIEF
    lines: list[Text] = []
    hits: list[Hit] = []
    for seat in seats:
        player = view.player(seat.seat)
        drawn = _player(view, player, seat, table, width, you, connected)
        if tall == _FULL:
            drawn += [_holdings(view, seat.seat, width), Text()]
        hits += [Hit(0, len(lines) + y, width, f"{PLAYER_KEY}{seat.seat}") for y in range(tall)]
        lines += drawn
    return Painting(lines[:height], hits)


def _player(
    view: GameView,
    player: PlayerView,
    seat: Seat,
    table: Table,
    width: int,
    you: int | None,
    connected: Sequence[int],
) -> list[Text]:
    style = f"bold {seat_colour(seat.seat)}" if player.in_game else "dim strike"
    mark = "▶" if player.in_game and view.turn.seat == seat.seat and not view.over else " "
    notes = " ".join(_notes(player, seat, table, you, connected))
    name = f"{mark}{seat_shape(seat.seat)} {table.who(seat.seat)}"
    first = Text(beside(name, f" {notes}" if notes else "", width), style=style)
    if you == seat.seat:
        first.stylize("underline", 3, 3 + len(table.who(seat.seat)))
    if not player.in_game:
        return [first, Text(fitted(f"   {table.text('screen.out')}", width), style="dim")]
    worth = table.money(player.net_worth)
    return [first, Text(beside(f"   {table.money(player.cash)}", f"Σ {worth}", width))]


def _notes(
    player: PlayerView, seat: Seat, table: Table, you: int | None, connected: Sequence[int]
) -> list[str]:
    """What is special: each a word or a sign."""
    notes = []
    if you == seat.seat:
        notes.append(table.text("screen.you"))
    elif player.in_game and seat.player_id and connected and seat.seat not in connected:
        notes.append(table.text("screen.away"))
    if seat.side != seat.seat:
        notes.append(f"+{seat_shape(seat.side)}")
    if player.in_jail:
        notes.append(table.text("screen.in_jail"))
    if player.god is not God.UNSPECIFIED:
        notes.append("☀" if player.god is God.WEALTH else "☂")
    if seat.cards:
        notes.append(f"♣{len(seat.cards)}")
    return notes


def _holdings(view: GameView, seat: int, width: int) -> Text:
    """Letter and level of each property."""
    line = Text("   ")
    for one in view.properties_of(seat):
        ink, ground = square_colours(one.square)
        state = MORTGAGED if one.mortgaged else str(one.level) if one.level else ""
        line.append(f"{square_letter(one.square)}{state}", style=f"bold {ink} on {ground}")
        line.append(" ")
    line.truncate(width, overflow="ellipsis")
    return line
