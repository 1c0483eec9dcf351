"""Whether the rules here are those that a game was started by."""

import hashlib
from typing import Final

from opolyx_engine.header import GameHeader
from opolyx_rules.editions import RULESETS, get_ruleset
from opolyx_rules.version import RULES_VERSION

_UNMARKED: Final = ""  # of games of before there were fingerprints
_UNMARKED_VERSION: Final = 1
_LENGTH: Final = 16  # hexadecimal digits; to tell versions apart, nobody is kept out by it


class RulesFit:
    """The fingerprints of the rules of this process.

    A fingerprint is of one ruleset: its content, and the version of the code that plays it. It is
    stored with the game, so that a version that would play on differently knows it before it tries.
    """

    def __init__(self, version: int = RULES_VERSION) -> None:
        """Know the rulesets of this process, played by this version."""
        self._of = {name: _fingerprint(version, name) for name in RULESETS}
        self.fingerprints = frozenset(self._of.values())
        """All that are played here."""
        if version == _UNMARKED_VERSION:
            self.fingerprints |= {_UNMARKED}

    def of(self, ruleset: str) -> str:
        """The fingerprint with which a game of the ruleset is started here.

        Raises:
            KeyError: there is no such ruleset.
        """
        return self._of[ruleset]


def fingerprint_in(header: bytes) -> str:
    """The fingerprint in a stored header; of one that can't be read as if it had none."""
    try:
        return GameHeader.decode(header).rules
    except (ValueError, KeyError, TypeError):
        return _UNMARKED


def _fingerprint(version: int, ruleset: str) -> str:
    text = f"{version} {get_ruleset(ruleset).digest()}"
    return hashlib.sha256(text.encode()).hexdigest()[:_LENGTH]
