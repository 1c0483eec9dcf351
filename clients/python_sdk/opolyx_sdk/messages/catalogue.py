"""The texts of one language, by key."""

import tomllib
from collections.abc import Collection, Iterator, Mapping
from functools import cache, partial
from importlib.resources import files
from typing import Final

from opolyx_sdk.amounts import number_text
from opolyx_sdk.messages.patterns import Pattern, Value, Voice, parse, slots, written
from opolyx_sdk.messages.plurals import category
from opolyx_sdk.names import LANGUAGES

ENGLISH: Final = "en"
"""The language that has every text."""


class Catalogue:
    """The texts of one language; `catalogue` makes them."""

    def __init__(
        self, language: str, texts: Mapping[str, str], fallback: "Catalogue | None" = None
    ) -> None:
        self.language = language
        self._texts = texts
        self._fallback = fallback
        self._patterns: dict[str, Pattern] = {}
        self._voice = Voice(partial(number_text, language=language), partial(category, language))

    def own_keys(self) -> frozenset[str]:
        """Keys of its own texts, English ones that it falls back to left out."""
        return frozenset(self._texts)

    def source(self, key: str) -> str:
        """A text of its own as the file has it.

        Raises:
            KeyError: it has none.
        """
        return self._texts[key]

    def has(self, key: str) -> bool:
        """Whether there is such a text, in this language or in English."""
        return key in self._texts or (self._fallback is not None and self._fallback.has(key))

    def fits(self, key: str, values: Collection[str]) -> bool:
        """Whether there is such a text and these are all the values that it needs."""
        if key not in self._texts:
            return self._fallback is not None and self._fallback.fits(key, values)
        return slots(self._pattern(key)) <= set(values)

    def text(self, key: str, /, **values: Value) -> str:
        """A text with these values.

        Never raises: what this language lacks is English, a key that nobody has is shown as it is,
        and so is the name of a value that is missing.

        Args:
            key: for instance "screen.your_turn".
            values: whole numbers choose plurals and are written with the language's grouping, texts
                are taken as they are. Money, squares and players are texts: see `text.Table`.
        """
        if key not in self._texts:
            return self._fallback.text(key, **values) if self._fallback else key
        return written(self._pattern(key), values, self._voice)

    def first(self, *keys: str) -> str:
        """The first of these keys that there is; the last if there is none."""
        return next((key for key in keys if self.has(key)), keys[-1])

    def _pattern(self, key: str) -> Pattern:
        if key not in self._patterns:
            self._patterns[key] = parse(self._texts[key])
        return self._patterns[key]


@cache
def catalogue(language: str) -> Catalogue:
    """The texts of a language; read once.

    Raises:
        ValueError: there are none.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no texts in {language!r}; there are {', '.join(LANGUAGES)}")
    fallback = None if language == ENGLISH else catalogue(ENGLISH)
    return Catalogue(language, read_texts(language), fallback)


def read_texts(language: str) -> dict[str, str]:
    """Every text of a language's file by its whole key, in the file's order."""
    file = files("opolyx_sdk.messages") / f"{language}.toml"
    return flat(tomllib.loads(file.read_text(encoding="utf-8")))


def flat(tables: Mapping[str, object]) -> dict[str, str]:
    """The texts of tables within tables, each by its whole key."""
    return dict(_flat("", tables))


def _flat(prefix: str, table: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    for name, value in table.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix}{name}", str(value)
