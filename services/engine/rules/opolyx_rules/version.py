"""The version of the rules: which engines may go on with each other's games."""

from typing import Final

RULES_VERSION: Final = 1
"""Rises when any ruleset plays differently than before: other events, other states, other draws.

A game is played to its end by the version that began it. `tests/golden/test_rules_version.py` holds
the number to the recorded games.
"""
