"""Rent."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

RENT: Final = Chapter(
    "RENT",
    "Rent",
    (
        Rule(
            "RENT-1",
            "Who stops on property of somebody else owes its rent, unless it is mortgaged.",
        ),
        Rule(
            "RENT-2",
            "A street's rent goes by its buildings. Without any, it is doubled when the owner has "
            "the whole group, whether another street of it is mortgaged or not.",
        ),
        Rule(
            "RENT-3",
            "A station's rent goes by how many stations its owner has, mortgaged ones included.",
        ),
        Rule(
            "RENT-4",
            "A utility takes the dice times 40, or times 100 from an owner of both. The dice are "
            "those of the last roll, also after a card; a number on the third die counts.",
        ),
        Rule(
            "RENT-5",
            "A collection card for just this square raises its rent, at the tenant's cost: common "
            "3 %, rare 8 %, epic 18 %, legendary 33 %. The owner's best card counts, for no more "
            "than {collection_cap_bp}. Cards are those held when the game started.",
            ("collection_bonus", "collection_cap_bp"),
        ),
        Rule("RENT-6", "Allies owe each other no rent.", ("sides",)),
        Rule(
            "RENT-7",
            "What raises a rent is added up first, card and gods, then applied once; the result "
            "is rounded down.",
            ("god_bp",),
        ),
        Rule("RENT-8", "An owner in jail collects as ever."),
        Rule(
            "RENT-9",
            "Rent is a debt to the owner; what the rent tax withholds of it leaves the game.",
        ),
    ),
)
