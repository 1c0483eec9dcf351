"""The third die."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

DIE: Final = Chapter(
    "DIE",
    "The third die",
    (
        Rule(
            "DIE-1",
            "From a certain round on a third die is rolled with the two white ones, but not in "
            "jail. Its faces are 1, 2, 3, bus, X and X.",
            ("third_die_from",),
        ),
        Rule("DIE-2", "A number is added to the walk."),
        Rule("DIE-3", "The bus leaves the choice: walk the white sum, or one of the white dice."),
        Rule(
            "DIE-4",
            "X walks the white sum and, when the turn would end, jumps forward to the nearest "
            "property without an owner, or, when there is none, to the nearest unmortgaged one of "
            "a rival; what stands there is done with, and passing Start pays. Once a turn, and not "
            "after going to jail.",
        ),
        Rule(
            "DIE-5",
            "Three equal numbers go to any square of the player's choice and roll again. They are "
            "no double on the way to jail, and they do not pass Start.",
        ),
        Rule("DIE-6", "Doubles are a matter of the white dice alone."),
    ),
)
