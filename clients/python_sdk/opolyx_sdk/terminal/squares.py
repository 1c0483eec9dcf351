"""What is to be known of a square, in a line."""

from opolyx_sdk.board import GROUPS, SQUARES, Square
from opolyx_sdk.terminal.marks import square_letter
from opolyx_sdk.text import Table
from opolyx_sdk.views import GameView, PropertyView


def square_title(square: int, table: Table) -> str:
    """Letter, number and name, as the board has them."""
    return f"{square_letter(square)}{square} {table.where(square)}"


def about_square(square: int, view: GameView, table: Table) -> str:
    """Whose it is and what it brings; empty for a square that is only stopped on."""
    printed, owned = SQUARES[square], view.property_at(square)
    if owned is None:
        amount = table.money(printed.price)
        return table.text("screen.square.tax", amount=amount) if printed.price else ""
    if owned.owner is None:
        price = table.money(printed.price)
        if not printed.build_cost:
            return table.text("screen.square.free", price=price)
        rent, cost = table.money(printed.rents[0]), table.money(printed.build_cost)
        return table.text("screen.square.free_street", price=price, rent=rent, cost=cost)
    who = table.who(owned.owner)
    if owned.mortgaged:
        return table.text("screen.square.mortgaged", who=who)
    rent = _rent(printed, owned, view, table)
    if owned.level:
        return table.text("screen.square.owned_level", who=who, level=owned.level, rent=rent)
    return table.text("screen.square.owned", who=who, rent=rent)


def _rent(printed: Square, owned: PropertyView, view: GameView, table: Table) -> str:
    """The printed rent; what a game adds to it, gods and taxes, only the server knows."""
    if printed.build_cost:
        return table.money(printed.rents[owned.level])
    members = [view.property_at(square) for square in GROUPS[printed.group]]
    held = sum(1 for one in members if one and one.owner == owned.owner)
    rent = table.money(printed.rents[held - 1])
    if printed.group == "utility":
        return table.text("screen.square.utility_rate", rate=rent)
    return rent
