"""Texts with values in braces: what they say, by a subset of ICU's MessageFormat.

    {name}                                        a value
    {n, plural, one {# round} other {# rounds}}   by how many; # is the number, =0 one exact number
    {god, select, wealth {…} other {…}}           by a word

There are no quotes: a brace always is one.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final, TypeAlias

Value: TypeAlias = str | int
"""What is put into a text: a word or text as it is, or a whole number."""

_MARKS: Final = "{}#"
_DEEPEST: Final = 5
"""Nobody needs a choice within so many others; without a bound a file could end the process."""


@dataclass(frozen=True, slots=True)
class Voice:
    """How a language writes numbers and tells how many."""

    number: Callable[[int], str]
    """A whole number in digits."""

    category: Callable[[int], str]
    """CLDR's category of a count: "one", "other" …"""


@dataclass(frozen=True, slots=True)
class _Slot:
    """A value."""

    name: str


@dataclass(frozen=True, slots=True)
class _Choice:
    """One of several texts, by a value."""

    name: str
    plural: bool
    branches: Mapping[str, "Pattern"]


Part: TypeAlias = str | _Slot | _Choice
Pattern: TypeAlias = tuple[Part, ...]


def parse(text: str) -> Pattern:
    """The parts of a text.

    Raises:
        ValueError: its braces are not balanced, or a choice has no `other`.
    """
    reader = _Reader(text)
    pattern = reader.pattern(within="", depth=0)
    if reader.at < len(text):
        raise ValueError(f"a brace too many in {text!r}")
    return pattern


def written(pattern: Pattern, values: Mapping[str, Value], voice: Voice) -> str:
    """The text with these values; one that is missing is shown by its name in braces."""
    return "".join(_written(part, values, voice) for part in pattern)


def slots(pattern: Pattern) -> frozenset[str]:
    """Names of all values that a text speaks of."""
    return frozenset(_names(pattern))


def words(pattern: Pattern) -> Iterator[str]:
    """Everything that a text says itself, whatever its values are."""
    for part in pattern:
        if isinstance(part, str):
            yield part
        elif isinstance(part, _Choice):
            for branch in part.branches.values():
                yield from words(branch)


def branches(pattern: Pattern) -> Iterator[tuple[str, bool, frozenset[str]]]:
    """Every choice: the name of its value, whether it is a plural, the keys of its texts."""
    for part in pattern:
        if isinstance(part, _Choice):
            yield part.name, part.plural, frozenset(part.branches)
            for branch in part.branches.values():
                yield from branches(branch)


def _written(part: Part, values: Mapping[str, Value], voice: Voice) -> str:
    if isinstance(part, str):
        return part
    value = values.get(part.name)
    if isinstance(part, _Choice):
        return written(part.branches[_key(part, value, voice)], values, voice)
    if value is None:
        return f"{{{part.name}}}"
    return voice.number(value) if isinstance(value, int) else value


def _key(choice: _Choice, value: Value | None, voice: Voice) -> str:
    """Which of its texts a choice takes."""
    if choice.plural and isinstance(value, int):
        wanted = (f"={value}", voice.category(value))
    else:
        wanted = (str(value), "other")
    return next((key for key in wanted if key in choice.branches), "other")


def _names(pattern: Pattern) -> Iterator[str]:
    for part in pattern:
        if isinstance(part, _Slot):
            yield part.name
        elif isinstance(part, _Choice):
            yield part.name
            for branch in part.branches.values():
                yield from _names(branch)


class _Reader:
    """Reads a text from its beginning."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.at = 0

    def pattern(self, *, within: str, depth: int) -> Pattern:
        """Parts up to a closing brace; `#` is the value `within`, if any."""
        parts: list[Part] = []
        while (mark := self._until(_MARKS if within else "{}", parts)) not in ("", "}"):
            self.at += 1
            parts.append(_Slot(within) if mark == "#" else self._braced(depth))
        return tuple(parts)

    def _until(self, marks: str, parts: list[Part]) -> str:
        """Read text up to one of the marks; the mark, or nothing at the end."""
        start = self.at
        while self.at < len(self._text) and self._text[self.at] not in marks:
            self.at += 1
        if self.at > start:
            parts.append(self._text[start : self.at])
        return self._text[self.at : self.at + 1]

    def _braced(self, depth: int) -> Part:
        """What stands behind an opening brace, with the closing one."""
        if depth >= _DEEPEST:
            raise ValueError(f"too many choices within each other in {self._text!r}")
        name = self._word(",}")
        if not name.isidentifier():
            raise ValueError(f"no name of a value: {name!r} in {self._text!r}")
        if self._mark() == "}":
            return _Slot(name)
        kind = self._word(",")
        if kind not in ("plural", "select"):
            raise ValueError(f"no kind of choice: {kind!r} in {self._text!r}")
        self._mark()
        return _Choice(name, kind == "plural", self._branches(name, kind, depth))

    def _branches(self, name: str, kind: str, depth: int) -> dict[str, Pattern]:
        found: dict[str, Pattern] = {}
        within = name if kind == "plural" else ""
        while key := self._word("{}"):
            if self._mark() != "{":
                raise ValueError(f"no text behind {key!r} in {self._text!r}")
            found[key] = self.pattern(within=within, depth=depth + 1)
            self._mark()
        self._mark()
        if "other" not in found:
            raise ValueError(f"a choice without `other` in {self._text!r}")
        return found

    def _word(self, ends: str) -> str:
        """What stands before one of the marks, without space around it."""
        parts: list[Part] = []
        self._until(ends, parts)
        return "".join(part for part in parts if isinstance(part, str)).strip()

    def _mark(self) -> str:
        """The mark here, read."""
        mark = self._text[self.at : self.at + 1]
        if not mark:
            raise ValueError(f"a brace is never closed in {self._text!r}")
        self.at += 1
        return mark
