"""The twelve presets field by field: a second copy of their numbers, to be changed by hand only.

A row of `DIFFERING` has a field and its value in each preset, in words as the rule book shows it;
a field with one value in all twelve is in `SHARED`.
"""

from dataclasses import asdict

import pytest

from opolyx_rules import RULESETS
from opolyx_rules.rule_book import FIELDS, shown
from opolyx_rules.ruleset import BANKRUPT_LIQUIDATES, BANKRUPT_TO_TEAMMATE

COLUMNS = [
    "classic@origins",
    "classic@guide",
    "speed@guide",
    "classic@teams",
    "speed@teams",
    "team@teams",
    "classic@full",
    "blitz@full",
    "speed@full",
    "team@full",
    "halal@full",
    "fortune@full",
]

DIFFERING = """
start_landing_bonus 0 0 0 1000 1000 1000 1000 1000 1000 1000 1000 1000
salary_until_tax yes no no no no no no no no no no no
third_corner rest rest rest wager wager wager wager wager wager wager rest temple
deck standard standard standard standard standard standard standard standard standard standard halal fortune
deck_shuffled yes no no yes yes yes yes yes yes yes yes yes
eight_bonus – – – – – – – – – – – 88
third_die_from – – 7 – 7 – – – 7 – – –
even_build yes yes no yes no yes yes yes no yes yes yes
builds_per_street 1 1 any 1 1 1 1 1 1 1 1 1
manage_after_roll no yes yes no no no no no no no no no
mortgage_interest_bp 10% 10% 10% 10% 10% 10% 10% 10% 10% 10% 0% 10%
mortgage_rounds – – 10 – 10 – – – 10 – – –
trade_in_debt no yes yes yes yes yes yes yes yes yes yes yes
trade_mortgaged no no no no no no yes yes yes yes yes yes
bail_timing before_roll before_roll before_roll after_roll after_roll after_roll before_roll before_roll before_roll before_roll before_roll before_roll
last_attempt free_release pay_and_stay pay_and_stay pay_and_move pay_and_move pay_and_move pay_and_move pay_and_move pay_and_move pay_and_move pay_and_move pay_and_move
rent_tax_from 100 100 40 100 40 100 100 – 40 100 100 100
rent_tax_full 200 200 100 200 100 200 200 – 100 200 200 200
round_cap 500 500 300 500 300 500 500 25 300 500 500 500
turn_seconds 75s 75s 45s 75s 45s 75s 75s 60s 45s 75s 75s 75s
missed_turns 2 3 3 2 2 2 2 2 2 2 2 2
sides – – – – – 2 – – – 2 – –
team_bankruptcy – – – – – liquidate – – – to_teammate – –
financing – – – – – – loan loan loan loan murabaha loan
collection_bonus no no no yes yes yes yes yes yes yes yes yes
xp none winner winner every_seat every_seat every_seat every_seat every_seat every_seat every_seat every_seat every_seat
theme world world world world world world world world world world world fortune
"""
ROWS = {line.split()[0]: line.split()[1:] for line in DIFFERING.strip().split("\n")}

SHARED = {
    "start_cash": 15_000,
    "salary": 2_000,
    "wager_stake": 1_000,
    "god_rounds": 3,
    "god_bp": 5_000,
    "trade_fairness_bp": 5_000,
    "max_offers": 3,
    "bail": 500,
    "jail_attempts": 3,
    "rent_tax_max_bp": 9_900,
    "auction_step": 100,
    "auction_seconds": 10,
    "payment_seconds": 75,
    "offer_seconds": 60,
    "financing_rounds": 15,
    "financing_bp": 2_000,
    "collection_cap_bp": 3_300,
}


@pytest.mark.parametrize("name", COLUMNS)
def test_preset_has_its_values(name: str) -> None:
    expected = {field: values[COLUMNS.index(name)] for field, values in ROWS.items()}

    assert expected == {field: shown(RULESETS[name], field).replace(" ", "") for field in ROWS}
    assert SHARED == {field: asdict(RULESETS[name])[field] for field in SHARED}
    # The rows show it only where there are sides.
    assert RULESETS[name].team_bankruptcy == (
        BANKRUPT_TO_TEAMMATE if name == "team@full" else BANKRUPT_LIQUIDATES
    )


def test_every_preset_and_every_field_is_here() -> None:
    assert sorted(RULESETS) == sorted(COLUMNS)
    assert {len(COLUMNS)} == {len(values) for values in ROWS.values()}
    assert sorted(FIELDS) == sorted([*ROWS, *SHARED])


@pytest.mark.parametrize("name", COLUMNS)
def test_a_preset_is_called_by_mode_and_edition(name: str) -> None:
    mode, edition = name.split("@")

    assert (mode, edition, name) == (
        RULESETS[name].mode,
        RULESETS[name].edition,
        RULESETS[name].name,
    )
