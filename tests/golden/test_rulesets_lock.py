"""A released ruleset never changes: games that were played by it must verify for ever.

`rulesets.lock` holds the digest of each, made of all its fields. A change of a released ruleset is
a new edition; a new field with a neutral default changes every digest, and the lock with it.
"""

from pathlib import Path
from typing import Final

from opolyx_rules import RULESETS

LOCK: Final = Path(__file__).resolve().parents[2] / "services/engine/rules/rulesets.lock"


def test_released_rulesets_have_not_changed(update_golden: bool) -> None:
    text = "".join(f"{RULESETS[name].digest()}  {name}\n" for name in sorted(RULESETS))
    if update_golden:
        LOCK.write_text(text)

    assert LOCK.read_text() == text, "a released ruleset has changed; see the lock's own test"


def test_no_two_rulesets_are_equal() -> None:
    assert len(RULESETS) == len({ruleset.digest() for ruleset in RULESETS.values()})


def test_every_released_ruleset_is_still_there() -> None:
    names = {line.split()[1] for line in LOCK.read_text().splitlines()}

    assert names <= set(RULESETS)
    assert 12 <= len(names)
