"""Financing for VIPs."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

FIN: Final = Chapter(
    "FIN",
    "Financing",
    (
        Rule(
            "FIN-1",
            "By murabaha a VIP buys the property underfoot with nothing down, at its list price "
            "and {financing_bp} fixed at the purchase. It is paid in whole before a roll of one's "
            "own within {financing_rounds} rounds; at the first turn after that it is a debt to "
            "the bank.",
            ("financing", "financing_bp", "financing_rounds"),
        ),
        Rule(
            "FIN-2",
            "By a loan a VIP does so at the list price, with interest that grows evenly with the "
            "rounds, up to {financing_bp} when it falls due.",
            ("financing", "financing_bp"),
        ),
        Rule(
            "FIN-3",
            "A player has one financed property at a time. Until it is paid off it is neither "
            "mortgaged nor traded and raises no cash; in a bankruptcy it falls to the bank.",
        ),
    ),
)
