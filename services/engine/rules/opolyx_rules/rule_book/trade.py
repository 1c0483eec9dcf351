"""Trades."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

TRADE: Final = Chapter(
    "TRADE",
    "Trades",
    (
        Rule(
            "TRADE-1",
            "Two players who are in exchange cash and properties, either way. One proposes and "
            "may withdraw; the other accepts or declines.",
        ),
        Rule(
            "TRADE-2",
            "One proposes before a roll of one's own, and, with `trade_in_debt`, in one's payment "
            "pause.",
            ("trade_in_debt",),
        ),
        Rule(
            "TRADE-3", "No more than {max_offers} offers of one player are open.", ("max_offers",)
        ),
        Rule(
            "TRADE-4",
            "Nothing is traded of a group that has a building. Mortgaged property is traded only "
            "with `trade_mortgaged`, its mortgage with it.",
            ("trade_mortgaged",),
        ),
        Rule(
            "TRADE-5",
            "The smaller side is worth at least {trade_fairness_bp} of the larger: cash at face, "
            "property at list price, mortgaged property at half. Allies may give as they like.",
            ("trade_fairness_bp",),
        ),
        Rule(
            "TRADE-6",
            "An offer lapses after {offer_seconds}, and at once when one of the two is out or when "
            "anything in it has a new owner, a mortgage made or redeemed, or a building in its "
            "group.",
            ("offer_seconds",),
        ),
        Rule(
            "TRADE-7",
            "On acceptance everything is looked at again, the cash too; if anything fails, nothing "
            "moves.",
        ),
        Rule("TRADE-8", "The table sees every offer. Trading starts no clock afresh."),
    ),
)
