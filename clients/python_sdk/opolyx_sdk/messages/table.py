"""Who sits at a table, what is printed on its board, and the language that it is told in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from enum import Enum
from typing import Any, Final
from unicodedata import category

from opolyx_sdk.amounts import amount_text, number_text, share_text
from opolyx_sdk.board import GROUPS
from opolyx_sdk.messages.catalogue import Catalogue, catalogue
from opolyx_sdk.messages.patterns import Value
from opolyx_sdk.names import card_name, square_name

_SEATS: Final = frozenset(
    [
        "seat",
        "first_seat",
        "owner",
        "payer",
        "payee",
        "giver",
        "taker",
        "winner",
        "recipient",
        "proposer",
        "creditor",
        "awaited",
    ]
)
_SQUARES: Final = frozenset(["square", "origin", "target"])
_MONEY: Final = frozenset(
    [
        "amount",
        "price",
        "owed",
        "paid",
        "opening_bid",
        "payout",
        "cash",
        "stake",
        "bail",
        "cost",
        "needed",
        "raisable",
        "given",
        "wanted",
    ]
)
_TURNS_TEXT_AROUND: Final = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that change the direction of text: a name with one of them would rewrite its line."""


@dataclass(frozen=True, slots=True)
class Table:
    """Who sits at it, what is printed on its board, and the language of all texts."""

    names: Sequence[str]
    """Names of the seats, in seat order."""

    ruleset: str = ""
    """The ruleset, "mode@edition"; names of squares and cards depend on it, and 萬."""

    language: str = "en"
    """Of all texts: en, id, zh-Hant or hi."""

    @property
    def catalogue(self) -> Catalogue:
        """The texts themselves.

        Raises:
            ValueError: there are none in this language.
        """
        return catalogue(self.language)

    def text(self, key: str, /, **values: Value) -> str:
        """A text by its key with these values, see `opolyx_sdk.messages`."""
        return self.catalogue.text(key, **values)

    def who(self, seat: int | None) -> str:
        """The name of a seat; None is the bank."""
        if seat is None:
            return self.text("seat.bank")
        known = self.names[seat] if 0 <= seat < len(self.names) else ""
        return clean(known) or self.text("seat.unnamed", number=seat)

    def where(self, square: int) -> str:
        """The name of a square."""
        return square_name(square, self.ruleset, self.language)

    def card(self, card: int) -> str:
        """The name of a card."""
        return card_name(card, self.ruleset, self.language)

    def money(self, amount: int) -> str:
        """An amount of k; Fortune's in Chinese is in 萬."""
        return amount_text(amount, self.ruleset, self.language)

    def number(self, number: int) -> str:
        """A whole number as the language groups its digits."""
        return number_text(number, self.language)

    def percent(self, basis_points: int) -> str:
        """A share of basis points in percent."""
        return share_text(basis_points, self.language)

    def listed(self, items: Iterable[str]) -> str:
        """Several things, one behind the other."""
        return self.text("list.separator").join(items)

    def headed(self, head: str, what: str) -> str:
        """A heading and what stands behind it: "Cash: 5k"."""
        return f"{head}{self.text('list.colon')}{what}"

    def any_of(self, items: Sequence[str]) -> str:
        """Several things of which it is one: 2, 3 or 4."""
        if len(items) < 2:
            return self.listed(items)
        return f"{self.listed(items[:-1])}{self.text('list.last')}{items[-1]}"

    def group(self, group: str | int) -> str:
        """The name of a colour group, by its own name or by its number on the wire."""
        if isinstance(group, int):
            group = tuple(GROUPS)[group] if 0 <= group < len(GROUPS) else str(group)
        return self.called("group", group)

    def mode(self, ruleset: str = "") -> str:
        """The name of a ruleset's mode; the table's own if none is given."""
        return self.called("mode", (ruleset or self.ruleset).partition("@")[0])

    def called(self, section: str, word: str) -> str:
        """What a word is called, or the word itself: `called("rank", "banker")`."""
        key = f"{section}.{word}"
        return self.text(key) if self.catalogue.has(key) else word

    def values_of(self, fact: object) -> dict[str, Value]:
        """The fields of an event or action as they are put into texts."""
        return {
            field.name: self.shown(field.name, getattr(fact, field.name))
            for field in fields(fact)  # type: ignore[arg-type]  # events and actions are dataclasses
        }

    def shown(self, name: str, value: Any) -> Value:  # noqa: ANN401 - any field of any event
        """A field's value as it is put into texts: what it is follows from the field's name."""
        if name in _SEATS:
            return self.who(value)
        if name in _SQUARES:
            return self.where(value)
        if name in _MONEY:
            return self.money(value)
        if isinstance(value, Enum):
            return value.name.lower()
        if isinstance(value, tuple):
            return self.listed(map(str, value))
        if name == "card":
            return self.card(value)
        if name == "group":
            return self.group(value)
        return value if isinstance(value, int) else str(value)


def clean(name: str) -> str:
    """A name as a player gave it, without what could command a terminal or turn its line around."""
    return "".join(
        mark for mark in name if category(mark) != "Cc" and mark not in _TURNS_TEXT_AROUND
    ).strip()
