"""The rules of a ruleset as values: every rule with its id, every field with what it means."""

from dataclasses import dataclass

from opolyx_rules import RULESETS, Ruleset
from opolyx_rules.rule_book import CHAPTERS, FIELDS, differing_fields
from opolyx_sdk.local.rule_words import RuleWords, rule_words


@dataclass(frozen=True, slots=True)
class RuleField:
    """A field of a ruleset."""

    name: str
    """Its name."""

    value: int | bool | str
    """Its value as the rules read it: k, basis points, seconds, rounds or an answer's number."""

    shown: str
    """Its value for people; a dash where the rule behind it doesn't apply."""

    about: str
    """What it says, with the id of the rule that reads it."""


@dataclass(frozen=True, slots=True)
class RuleText:
    """A rule."""

    id: str
    """For instance "BUILD-2"; refusals cite it."""

    text: str
    """What it says, with this ruleset's values."""


@dataclass(frozen=True, slots=True)
class RuleChapter:
    """Rules about one thing."""

    id: str
    """What the ids of its rules begin with."""

    title: str
    """Its heading."""

    rules: tuple[RuleText, ...]
    """Its rules in order."""


@dataclass(frozen=True, slots=True)
class RulesetPage:
    """All of a ruleset."""

    ruleset: str
    """Its name, mode@edition."""

    digest: str
    """SHA-256 of its fields, hex."""

    seats: tuple[int, ...]
    """Numbers of seats that can play it."""

    fields: tuple[RuleField, ...]
    """Its fields in their order."""

    chapters: tuple[RuleChapter, ...]
    """The rule book with its values."""


@dataclass(frozen=True, slots=True)
class FieldDifference:
    """A field in which two rulesets are not alike."""

    name: str
    """Its name."""

    first: RuleField
    """In the first ruleset."""

    second: RuleField
    """In the second."""


def ruleset_names() -> tuple[str, ...]:
    """Names of all rulesets."""
    return tuple(RULESETS)


def check_ruleset(name: str) -> None:
    """Say whether there is such a ruleset.

    Raises:
        ValueError: no ruleset has this name; the message names all.
    """
    _ruleset(name)


def ruleset_page(name: str, language: str = "en") -> RulesetPage:
    """The rules of the ruleset `mode@edition` in a language.

    Raises:
        ValueError: no ruleset has this name, or there are no texts in the language.
    """
    ruleset, words = _ruleset(name), rule_words(language)
    chapters = tuple(
        RuleChapter(
            each.id,
            words.title(each.id, each.title),
            tuple(RuleText(rule.id, words.rule(rule, ruleset)) for rule in each.rules),
        )
        for each in CHAPTERS
    )
    return RulesetPage(
        ruleset=ruleset.name,
        digest=ruleset.digest(),
        seats=ruleset.seat_counts(),
        fields=tuple(_field(ruleset, field, words) for field in FIELDS),
        chapters=chapters,
    )


def ruleset_differences(
    first: str, second: str, language: str = "en"
) -> tuple[FieldDifference, ...]:
    """The fields in which two rulesets differ, in their order.

    Raises:
        ValueError: no ruleset has one of these names, or there are no texts in the language.
    """
    one, other, words = _ruleset(first), _ruleset(second), rule_words(language)
    return tuple(
        FieldDifference(field, _field(one, field, words), _field(other, field, words))
        for field in differing_fields([one, other])
    )


def _ruleset(name: str) -> Ruleset:
    if name not in RULESETS:
        raise ValueError(f"no ruleset {name!r}; there are {', '.join(RULESETS)}")
    return RULESETS[name]


def _field(ruleset: Ruleset, name: str, words: RuleWords) -> RuleField:
    value: int | bool | str = getattr(ruleset, name)
    return RuleField(name, value, words.shown(ruleset, name), words.about(name))
