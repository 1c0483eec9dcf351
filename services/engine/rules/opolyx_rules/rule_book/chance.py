"""Chance cards."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

CHANCE: Final = Chapter(
    "CHANCE",
    "Chance",
    (
        Rule(
            "CHANCE-1",
            "Sixteen cards are drawn in their order, over and over: in that of the table of cards, "
            "or shuffled once before the game.",
            ("deck", "deck_shuffled"),
        ),
        Rule("CHANCE-2", "The whole table reads which card is drawn."),
        Rule("CHANCE-3", "What the cards do is in the table of cards."),
        Rule(
            "CHANCE-4",
            "A card's way forward pays for passing Start. The square it ends on is done with as "
            "usual: one more card on a Chance square, jail on square 30.",
        ),
        Rule(
            "CHANCE-5",
            "Whatever a card charges goes through the payment pause. What the others owe by it is "
            "taken at once from those who have it, and pauses on those who have not.",
        ),
        Rule("CHANCE-6", "Allies are no opponents, to a card."),
        Rule(
            "CHANCE-7",
            "The halal deck has other names for three cards: business booms, a wedding in the "
            "family, a feast for the neighbours. They do what they did.",
        ),
        Rule(
            "CHANCE-8",
            "In the fortune deck two cards bring the wealth god and the misfortune god instead of "
            "money, and the charity dinner is a red packet: the same sum, cut at random points "
            "among the opponents, where a share may be nothing.",
        ),
    ),
)
