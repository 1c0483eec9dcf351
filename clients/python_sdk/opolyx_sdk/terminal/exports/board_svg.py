"""The board as a picture: names, owners, levels, mortgages, tokens, and the players within."""

from typing import Final

from opolyx_sdk.board import SQUARES
from opolyx_sdk.terminal.exports.svg import document, element, label
from opolyx_sdk.terminal.marks import owner_shape, seat_shape, square_colours, square_letter
from opolyx_sdk.terminal.moment import Moment
from opolyx_sdk.terminal.places import EDGE, PLACES
from opolyx_sdk.text import Table

_CELL: Final = 80
_SIZE: Final = _CELL * (EDGE + 1)
_NAME_SIZE: Final = 9.5
_NAME_WIDTH: Final = 15
_NAME_LINES: Final = 3
_INKS: Final = ("#8a5200", "#005b8f", "#00613f", "#5e5600", "#85305f", "#9c2f00")


def board_svg(moment: Moment, table: Table) -> str:
    """The board at one point of a game."""
    parts: list[str] = []
    for square in range(len(SQUARES)):
        parts += _square(square, moment, table)
    parts += _within(moment, table)
    title = f"{moment.info.ruleset}, {moment.info.game_id}"
    return document(_SIZE, _SIZE, title, parts)


def _square(square: int, moment: Moment, table: Table) -> list[str]:
    x, y = (place * _CELL for place in PLACES[square])
    ink, ground = square_colours(square)
    name = f"{square_letter(square)}{square}"
    parts = [
        element("rect", x=x, y=y, width=_CELL, height=_CELL, fill="#fbfaf6", stroke="#555555"),
        element("rect", x=x, y=y, width=_CELL, height=18, fill=ground, stroke="#555555"),
        label(name, x + 5, y + 13, 11, fill=ink, font_weight="bold"),
    ]
    for number, line in enumerate(_lines(table.where(square))):
        parts.append(label(line, x + 5, y + 31 + 11 * number, _NAME_SIZE))
    owned = moment.view.property_at(square)
    if owned is not None and owned.owner is not None:
        state = "×" if owned.mortgaged else "▪" * owned.level
        told = f"{owner_shape(owned.owner)} {state}"
        fill = _INKS[owned.owner % len(_INKS)]
        parts.append(label(told, x + 5, y + 65, 12, fill=fill, font_weight="bold"))
    here = [one.seat for one in moment.view.players if one.in_game and one.position == square]
    if here:
        told = "".join(seat_shape(seat) for seat in here)
        parts.append(label(told, x + 5, y + 77, 12))
    return parts


def _within(moment: Moment, table: Table) -> list[str]:
    """In the middle: the ruleset, the round, and what each player has."""
    x, y = _CELL + 40, _CELL + 60
    told = table.text("screen.round", round=moment.view.turn.round)
    parts = [
        label(moment.info.ruleset, x, y, 24, font_weight="bold"),
        label(told, x, y + 28, 16),
    ]
    for number, seat in enumerate(moment.info.seats):
        player = moment.view.player(seat.seat)
        fill = _INKS[seat.seat % len(_INKS)]
        line = y + 80 + 44 * number
        name = f"{seat_shape(seat.seat)} {table.who(seat.seat)}"
        parts.append(label(name, x, line, 17, fill=fill, font_weight="bold"))
        if player.in_game:
            cash, worth = table.money(player.cash), table.money(player.net_worth)
            has = f"{table.text('screen.cash')} {cash} · {table.text('screen.net_worth')} {worth}"
        else:
            has = table.text("screen.out")
        parts.append(label(has, x + 20, line + 19, 14))
    return parts


def _lines(name: str) -> list[str]:
    """A name in a few short lines; what has no spaces is cut where it must be."""
    lines = [""]
    for word in name.split():
        rest = word
        if lines[-1] and len(lines[-1]) + 1 + len(rest) <= _NAME_WIDTH:
            lines[-1] += f" {rest}"
            continue
        while rest:
            lines.append(rest[:_NAME_WIDTH])
            rest = rest[_NAME_WIDTH:]
    return [line for line in lines if line][:_NAME_LINES]
