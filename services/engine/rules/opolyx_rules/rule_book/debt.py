"""Debts, bankruptcy and surrender."""

from typing import Final

from opolyx_rules.rule_book.entries import Chapter, Rule

DEBT: Final = Chapter(
    "DEBT",
    "Debts",
    (
        Rule(
            "DEBT-1",
            "Rent, taxes, charges of cards and forced bail stop the game on a payment pause; "
            "nothing is taken in silence. The debtor may be somebody who is not on turn.",
        ),
        Rule(
            "DEBT-2",
            "The debtor sells buildings, mortgages and trades, then pays the whole sum at once.",
        ),
        Rule(
            "DEBT-3",
            "The pause is as long as a step, but {payment_seconds} at least. After that the game "
            "mortgages what is unbuilt, cheapest first; sells buildings, cheapest group first, "
            "evenly where building is even; mortgages what that set free; and pays. If all that "
            "is too little the debtor is bankrupt.",
            ("payment_seconds",),
        ),
        Rule(
            "DEBT-4",
            "Bankruptcy is declared only by who could not raise the sum: cash, half the cost of "
            "all buildings and half the price of all unmortgaged property fall short of it.",
        ),
        Rule(
            "DEBT-5",
            "Several creditors share in proportion to their claims, rounded down; the rest goes to "
            "the bank. The rent tax is a creditor.",
        ),
        Rule("DEBT-6", "The share of a creditor who is out when it is paid goes to the bank."),
        Rule(
            "DEBT-7",
            "Of a bankrupt everything is sold to the bank; the proceeds and the cash pay the "
            "creditors. The properties have no owner, no building and no mortgage, and the player "
            "is out.",
        ),
        Rule(
            "DEBT-8",
            "Where properties go to an ally, the next one by seats who is still in takes them as "
            "they are, and the creditors get the cash only. Without such an ally all is sold.",
            ("team_bankruptcy",),
        ),
        Rule(
            "DEBT-9",
            "A player surrenders at any time, on turn or not. An open debt is settled as in a "
            "bankruptcy; otherwise cash and properties go to the bank, or the properties to the "
            "ally.",
        ),
    ),
)
