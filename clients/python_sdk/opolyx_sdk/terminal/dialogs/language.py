"""The language of all texts."""

from collections.abc import Sequence

from opolyx_sdk.messages import LANGUAGES, catalogue
from opolyx_sdk.terminal.dialogs.choices import ROW_KEYS, Choices
from opolyx_sdk.terminal.dialogs.dialog import SHUT_KEYS, Dialog, Do, Outcome, Row, Shut
from opolyx_sdk.text import Table


class LanguageDialog(Dialog):
    """Each language by its own name, so that who can't read this one finds theirs."""

    def __init__(self, language: str) -> None:
        """Choose, beginning at the language of now."""
        self._choices = Choices(len(LANGUAGES))
        self._choices.at = LANGUAGES.index(language)

    def title(self, table: Table) -> str:
        """See `Dialog`."""
        return table.text("screen.language.title")

    def rows(self, table: Table, width: int, height: int) -> Sequence[Row]:
        """See `Dialog`."""
        return [
            Row(
                f"{'▸' if row == self._choices.at else ' '} {catalogue(one).text('language.name')}",
                ROW_KEYS[row],
            )
            for row, one in enumerate(LANGUAGES)
        ]

    def press(self, key: str) -> Outcome | None:
        """See `Dialog`."""
        if self._choices.press(key):
            return None
        if key in SHUT_KEYS:
            return Shut()
        row = self._choices.at if key == "enter" else self._choices.row_of(key)
        return None if row is None else Do(f"language:{LANGUAGES[row]}")
