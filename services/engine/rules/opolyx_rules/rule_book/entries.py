"""What the rule book is made of: chapters of rules, each with the ruleset's fields behind it."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule.

    Attributes:
        id: For instance `BUILD-2`; tests and refusals cite it. Never reused for another rule.
        text: What it says, in one or two sentences; `{field}` stands for a field's value.
        fields: The ruleset's fields that it reads, in the order of the text.
    """

    id: str
    text: str
    fields: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Chapter:
    """Rules about one thing.

    Attributes:
        id: What the ids of its rules begin with, for instance `BUILD`.
        title: Heading.
        rules: In the order of their numbers, without gaps.
    """

    id: str
    title: str
    rules: tuple[Rule, ...]
