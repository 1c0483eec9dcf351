"""Turns and rounds."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

TURN: Final = Chapter(
    "TURN",
    "Turns",
    (
        Rule(
            "TURN-1",
            "Roll two dice, walk as many squares, do what the square says. With that the turn is "
            "over; nobody has to end it.",
        ),
        Rule(
            "TURN-2",
            "A double rolls again when its square is done with. The third double of a turn does "
            "not walk: it goes to jail.",
        ),
        Rule("TURN-3", "Who goes to jail has ended the turn, double or not."),
        Rule(
            "TURN-4",
            "Property is managed and trades are proposed before a roll of one's own, the further "
            "roll of a double included. A payment pause is for raising cash: selling buildings, "
            "mortgaging, trading. With `manage_after_roll` property is also managed in the turn's "
            "other decisions.",
            ("manage_after_roll",),
        ),
        Rule(
            "TURN-5",
            "Passing Start pays {salary}; stopping on it pays that and the landing bonus. Walking "
            "backwards past it pays nothing. Neither is taxed. With `salary_until_tax` Start pays "
            "nothing once rents are taxed.",
            ("salary", "start_landing_bonus", "salary_until_tax"),
        ),
        Rule(
            "TURN-6",
            "A round is complete when all who are still in have had a turn in it. Play goes by "
            "seats from whoever began; the round rises from 1 each time the order comes past the "
            "beginner's seat, whether somebody still sits there or not.",
        ),
    ),
)
