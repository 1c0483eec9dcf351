"""The rule book in each language: titles, rules, and a ruleset's values and what they mean.

English is the rules' own; the others are in `rule_texts/<language>.toml`. A rule that a language
lacks is English.
"""

import ast
import tomllib
from functools import cache
from importlib.resources import files
from itertools import pairwise
from typing import Final

import opolyx_rules
from opolyx_rules import Ruleset
from opolyx_rules.rule_book import Rule, shown, text_of
from opolyx_sdk.amounts import amount_text, number_text, share_text
from opolyx_sdk.messages import LANGUAGES, Catalogue
from opolyx_sdk.messages.catalogue import ENGLISH, flat

_PLAIN: Final = "–"
"""How the rules show that a field doesn't apply."""

_MONEY: Final = frozenset(
    (
        "start_cash",
        "salary",
        "start_landing_bonus",
        "wager_stake",
        "eight_bonus",
        "bail",
        "auction_step",
    )
)
"""Fields that are money."""


class RuleWords:
    """The rule book's words in one language; `rule_words` makes them."""

    def __init__(self, language: str, texts: dict[str, str]) -> None:
        self._language = language
        self._texts = Catalogue(language, texts)

    def title(self, chapter: str, english: str) -> str:
        """A chapter's heading."""
        return self._known(f"chapter.{chapter}", english)

    def rule(self, rule: Rule, ruleset: Ruleset) -> str:
        """What a rule says, with a ruleset's values."""
        key = f"rule.{rule.id}"
        if not self._texts.has(key):
            return text_of(rule, [ruleset])
        values = {field: self.shown(ruleset, field) for field in rule.fields}
        return self._texts.text(key, **values)

    def about(self, field: str) -> str:
        """What a field means, with the id of the rule that reads it."""
        return self._known(f"field.{field}", _field_docs()[field])

    def shown(self, ruleset: Ruleset, field: str) -> str:
        """A field's value for people; a dash where the rule behind it doesn't apply."""
        english = shown(ruleset, field)
        if self._language == ENGLISH or english == _PLAIN:
            return english
        value: int | bool | str = getattr(ruleset, field)
        if isinstance(value, str) or english in ("yes", "no") or not english[0].isdigit():
            return self._known(f"value.{english}", english)
        if field.endswith("_bp"):
            return share_text(value, self._language)
        if field in _MONEY:
            return amount_text(value, ruleset.name, self._language)
        number = number_text(value, self._language)
        if field.endswith("_seconds"):
            return self._texts.text("value.seconds", number=number)
        return number

    def _known(self, key: str, english: str) -> str:
        return self._texts.text(key) if self._texts.has(key) else english


@cache
def rule_words(language: str) -> RuleWords:
    """The rule book's words in a language; read once.

    Raises:
        ValueError: there are none.
    """
    if language not in LANGUAGES:
        raise ValueError(f"no rule book in {language!r}; there are {', '.join(LANGUAGES)}")
    return RuleWords(language, read_rule_texts(language))


def read_rule_texts(language: str) -> dict[str, str]:
    """Every text of a language's rule book by its key; none for English, which the rules have."""
    if language == ENGLISH:
        return {}
    file = files("opolyx_sdk.local") / "rule_texts" / f"{language}.toml"
    return flat(tomllib.loads(file.read_text(encoding="utf-8")))


@cache
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
