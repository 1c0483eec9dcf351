"""The rules of a ruleset as values: every rule with its id, every field with what it means."""

import ast
from dataclasses import dataclass
from importlib.resources import files
from itertools import pairwise

import opolyx_rules
from opolyx_rules import RULESETS, Ruleset
from opolyx_rules.rule_book import CHAPTERS, FIELDS, Rule, differing_fields, shown, text_of


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


def ruleset_page(name: str) -> RulesetPage:
    """The rules of the ruleset `mode@edition`.

    Raises:
        ValueError: no ruleset has this name.
    """
    ruleset, about = _ruleset(name), _field_docs()
    chapters = tuple(
        RuleChapter(each.id, each.title, tuple(_rule_text(rule, ruleset) for rule in each.rules))
        for each in CHAPTERS
    )
    return RulesetPage(
        ruleset=ruleset.name,
        digest=ruleset.digest(),
        seats=ruleset.seat_counts(),
        fields=tuple(_field(ruleset, field, about) for field in FIELDS),
        chapters=chapters,
    )


def ruleset_differences(first: str, second: str) -> tuple[FieldDifference, ...]:
    """The fields in which two rulesets differ, in their order.

    Raises:
        ValueError: no ruleset has one of these names.
    """
    one, other, about = _ruleset(first), _ruleset(second), _field_docs()
    return tuple(
        FieldDifference(field, _field(one, field, about), _field(other, field, about))
        for field in differing_fields([one, other])
    )


def _ruleset(name: str) -> Ruleset:
    if name not in RULESETS:
        raise ValueError(f"no ruleset {name!r}; there are {', '.join(RULESETS)}")
    return RULESETS[name]


def _rule_text(rule: Rule, ruleset: Ruleset) -> RuleText:
    return RuleText(rule.id, text_of(rule, [ruleset]))


def _field(ruleset: Ruleset, name: str, about: dict[str, str]) -> RuleField:
    value: int | bool | str = getattr(ruleset, name)
    return RuleField(name, value, shown(ruleset, name), about[name])


def _field_docs() -> dict[str, str]:
    """The sentence below each field of `Ruleset`; Python itself forgets it, so the source is read."""
    source = (files(opolyx_rules) / "ruleset.py").read_text(encoding="utf-8")
    body = next(
        node.body
        for node in ast.parse(source).body
        if isinstance(node, ast.ClassDef) and node.name == Ruleset.__name__
    )
    docs = {}
    for field, doc in pairwise(body):
        match field, doc:
            case ast.AnnAssign(target=ast.Name(id=name)), ast.Expr(ast.Constant(value=str(text))):
                docs[name] = text
    return docs
