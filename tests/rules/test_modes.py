"""What each edition's modes are: fields that differ from its Classic, and nothing else."""

from dataclasses import fields
from typing import Final

import pytest

from opolyx_rules import RULESETS, Ruleset, SeededChance, actors, apply, get_ruleset, start
from opolyx_rules.content.decks import BACK, CARD_IDS, DECKS
from opolyx_rules.policies import POLICIES
from opolyx_rules.ruleset import CORNER_WAGER, NEVER
from support_rules import ALL, rulesets_with

MODES: Final = {
    "origins": {"classic"},
    "guide": {"classic", "speed"},
    "teams": {"classic", "speed", "team"},
    "full": {"classic", "blitz", "speed", "team", "halal", "fortune"},
}


def changed(ruleset: Ruleset) -> set[str]:
    """Names of the fields that differ from the edition's Classic."""
    classic = get_ruleset(f"classic@{ruleset.edition}")
    return {
        field.name
        for field in fields(Ruleset)
        if getattr(ruleset, field.name) != getattr(classic, field.name)
    }


def of_mode(mode: str) -> list[str]:
    return rulesets_with(mode=mode)


@pytest.mark.statement("R016")
@pytest.mark.parametrize("edition", MODES)
def test_edition_has_its_modes(edition: str) -> None:
    there = {ruleset.mode for ruleset in RULESETS.values() if ruleset.edition == edition}

    assert MODES[edition] <= there


@pytest.mark.statement("R017")
@pytest.mark.parametrize("ruleset", of_mode("classic"))
def test_classic_is_the_whole_game(ruleset: str) -> None:
    classic = RULESETS[ruleset]

    assert (500, NEVER, True, NEVER) == (
        classic.round_cap,
        classic.third_die_from,
        classic.even_build,
        classic.mortgage_rounds,
    )


@pytest.mark.statement("R018", "R187")
@pytest.mark.parametrize("ruleset", of_mode("speed"))
def test_speed_is_classic_compressed(ruleset: str) -> None:
    speed, classic = RULESETS[ruleset], get_ruleset(f"classic@{ruleset.split('@')[1]}")

    assert {
        "mode",
        "third_die_from",
        "even_build",
        "mortgage_rounds",
        "turn_seconds",
        "rent_tax_from",
        "rent_tax_full",
        "round_cap",
    } == changed(speed) - {"builds_per_street"}
    assert speed.turn_seconds < classic.turn_seconds
    assert speed.rent_tax_full <= classic.rent_tax_from
    assert ("builds_per_street" in changed(speed)) == (speed.edition == "guide")


@pytest.mark.statement("R187")
@pytest.mark.parametrize("ruleset", of_mode("speed"))
def test_speed_taxes_rents_long_before_the_others(ruleset: str) -> None:
    edition = RULESETS[ruleset].edition
    others = [
        other.rent_tax_from
        for other in RULESETS.values()
        if other.edition == edition and other.mode in {"classic", "team", "halal", "fortune"}
    ]

    assert 2 * RULESETS[ruleset].rent_tax_from < min(others)


@pytest.mark.statement("R020")
@pytest.mark.parametrize("ruleset", of_mode("team"))
def test_team_has_the_numbers_of_classic(ruleset: str) -> None:
    assert {"mode", "sides", "team_bankruptcy"} >= changed(RULESETS[ruleset])


@pytest.mark.statement("R025", "R189")
@pytest.mark.parametrize("ruleset", of_mode("blitz"))
def test_blitz_is_classic_with_a_finishing_line(ruleset: str) -> None:
    blitz = RULESETS[ruleset]

    assert {"mode", "round_cap", "turn_seconds", "rent_tax_from", "rent_tax_full"} == changed(blitz)
    assert (25, NEVER) == (blitz.round_cap, blitz.rent_tax_from)


@pytest.mark.statement("R026")
@pytest.mark.parametrize("ruleset", of_mode("blitz"))
def test_blitz_of_four_is_some_fifteen_minutes_of_decisions(ruleset: str) -> None:
    """At five seconds a decision, ten games of built-in bots take 10 to 20 minutes each."""
    minutes = []
    for number in range(10):
        chance, choices = SeededChance(bytes([number])), SeededChance(b"choices")
        state = start(get_ruleset(ruleset), 4, chance)
        while not state.over:
            apply(state, POLICIES["steady"](state, actors(state)[0], choices), chance)
        minutes.append(state.decision * 5 / 60)

    assert 10 <= sum(minutes) / len(minutes) <= 20


@pytest.mark.rule("CORNER-1", "MORT-2")
@pytest.mark.statement("R027", "R028", "R044")
@pytest.mark.parametrize("ruleset", of_mode("halal"))
def test_halal_is_classic_without_interest_and_without_wagers(ruleset: str) -> None:
    halal = RULESETS[ruleset]

    assert {"mode", "third_corner", "deck", "mortgage_interest_bp", "financing"} == changed(halal)
    assert 0 == halal.mortgage_interest_bp
    assert CORNER_WAGER != halal.third_corner


@pytest.mark.rule("GOD-3", "CHANCE-8", "CORNER-3")
@pytest.mark.statement("R033", "R034", "R044")
@pytest.mark.parametrize("ruleset", of_mode("fortune"))
def test_fortune_has_four_rules_of_its_own_and_a_board(ruleset: str) -> None:
    """Temple, gods and red packet (the deck), the eight; and names."""
    assert {"mode", "third_corner", "deck", "eight_bonus", "theme"} == changed(RULESETS[ruleset])
    replaced = [
        CARD_IDS[number]
        for number in range(16)
        if DECKS["fortune"][number] != DECKS["standard"][number]
    ]
    assert ["year_end_bonus", "charity_dinner", "tax_audit"] == replaced


@pytest.mark.statement("R015", "R060")
@pytest.mark.parametrize("ruleset", ALL)
def test_every_mode_starts_alike_on_the_one_board(ruleset: str) -> None:
    state = start(get_ruleset(ruleset), 4, SeededChance(b"start"))

    assert ([15_000] * 4, [0] * 4, 40) == (state.cash, state.position, len(state.owner))
    assert (BACK, 3) in DECKS[RULESETS[ruleset].deck]
