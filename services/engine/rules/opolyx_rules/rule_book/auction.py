"""Auctions."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

AUCTION: Final = Chapter(
    "AUCTION",
    "Auctions",
    (
        Rule(
            "AUCTION-1",
            "Bidders are asked one by one, by seats from the one after who declined; who declined "
            "comes last.",
        ),
        Rule(
            "AUCTION-2",
            "The first bid is the list price, every other one is {auction_step} more than the bid "
            "that stands. Nobody names another amount.",
            ("auction_step",),
        ),
        Rule("AUCTION-3", "Bid or pass. Who has passed is out of this auction."),
        Rule("AUCTION-4", "Whose bid stands is not asked until it is topped."),
        Rule("AUCTION-5", "Who has too little cash for the next bid passes without being asked."),
        Rule(
            "AUCTION-6",
            "A bidder has {auction_seconds}; silence is a pass, and no missed turn.",
            ("auction_seconds",),
        ),
        Rule(
            "AUCTION-7",
            "When all others have passed, whose bid stands pays it in cash and owns the property. "
            "Without a bid it stays with the bank.",
        ),
        Rule(
            "AUCTION-8",
            "Until then nothing else changes hands: no managing, and no trade is accepted.",
        ),
        Rule(
            "AUCTION-9",
            "Who surrenders passes. A standing bid of theirs is void: the highest bid of those "
            "who have not passed stands again, or, without one, bidding begins anew at the list "
            "price among them. Who only loses the connection is bound by the bid.",
        ),
        Rule("AUCTION-10", "Prisoners and allies bid like everybody."),
    ),
)
