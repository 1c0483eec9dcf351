"""Every text that people read, in each language: one catalogue, one file a language.

Most callers want `Table`, which knows a game's names and its language too, and `opolyx_sdk.text`,
which tells events, refusals and actions:

    table = Table(["Ada", "Bruno"], "fortune@full", "zh-Hant")
    table.text("screen.your_turn")                  # a text by its key
    table.text("screen.rounds_left", rounds=3)      # whole numbers are grouped, and choose plurals
    table.text("screen.owned_by", who=table.who(1), where=table.where(6), price=table.money(900))
    describe(event, table)                          # an event
    refusal_text(refusal, table)                    # why not

A text is in `<language>.toml` under its key; English has them all. In braces stand values:

    rounds_left = "{rounds, plural, one {# round left} other {# rounds left}}"
    owned_by = "{where} belongs to {who} ({price})"
    die = "{face, select, bus {the bus} x {an X} other {{face}}}"

A text that a language lacks is English; a key that nobody has reads as itself. Neither raises, for a
server may be newer than this SDK; the tests find what is missing.
"""

from typing import Final

from opolyx_sdk.messages.catalogue import Catalogue, catalogue
from opolyx_sdk.messages.choice import language_of, preferred_language
from opolyx_sdk.messages.table import Table
from opolyx_sdk.names import LANGUAGES as _LANGUAGES

__all__ = ["LANGUAGES", "Catalogue", "Table", "catalogue", "language_of", "preferred_language"]

LANGUAGES: Final = _LANGUAGES
"""Languages of all texts, BCP 47 tags: en, id, zh-Hant, hi."""
