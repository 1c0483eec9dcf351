"""Dice and draws, as an argument of the rules.

`Chance` is what the rules ask, and what others may derive from: it is interpreted in the compiled
core too. The rest is compiled there, and nothing derives from it.
"""

from opolyx_rules.chance.fair import SeededChance, commitment_of, derive_game_key
from opolyx_rules.chance.recorded import RecordedChance, RecordingChance
from opolyx_rules.chance.scripted import ScriptedChance
from opolyx_rules.chance.source import (
    DECK,
    DICE,
    FIRST_SEAT,
    LABELS,
    PACKET,
    THIRD_DIE,
    WAGER,
    Chance,
)

__all__ = [
    "DECK",
    "DICE",
    "FIRST_SEAT",
    "LABELS",
    "PACKET",
    "THIRD_DIE",
    "WAGER",
    "Chance",
    "RecordedChance",
    "RecordingChance",
    "ScriptedChance",
    "SeededChance",
    "commitment_of",
    "derive_game_key",
]
