"""The tax on rents."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

RTAX: Final = Chapter(
    "RTAX",
    "The tax on rents",
    (
        Rule(
            "RTAX-1",
            "In long games a share of each rent is withheld from the owner. It rises evenly from "
            "round `rent_tax_from`, reaches {rent_tax_max_bp} in round `rent_tax_full` and stays "
            "there: in round r it is the height × (r - from + 1) ÷ (full - from + 1), rounded "
            "down.",
            ("rent_tax_from", "rent_tax_full", "rent_tax_max_bp"),
        ),
        Rule(
            "RTAX-2",
            "The tenant pays the whole rent all the same. Nothing else is taxed so: no tax, no "
            "card, no bail, no purchase.",
        ),
    ),
)
