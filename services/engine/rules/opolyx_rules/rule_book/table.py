"""Who sits at the table, and how a game begins."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

TABLE: Final = Chapter(
    "TABLE",
    "The table",
    (
        Rule("TABLE-1", "Two to six players play, people and bots in any mix."),
        Rule(
            "TABLE-2",
            "Where there are sides, four or six play in two equal sides; the seats belong to the "
            "one and the other by turns: A, B, A, B.",
            ("sides",),
        ),
        Rule("TABLE-3", "Mode, edition and number of seats are settled when the room is opened."),
        Rule("TABLE-4", "Who opened the room starts the game, once every seat is taken."),
        Rule("TABLE-5", "Who begins is drawn by the game's own chance, each seat alike."),
        Rule(
            "TABLE-6",
            "Nobody is in two unfinished games; an open room counts as one. Going bankrupt, "
            "surrendering and the end of the game set a player free at once.",
        ),
        Rule(
            "TABLE-7",
            "Everybody begins on Start with {start_cash} and no property.",
            ("start_cash",),
        ),
    ),
)
