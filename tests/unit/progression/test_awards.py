"""Awards by rule: XP-1 to XP-4, and the case of farming by quick surrender."""

from dataclasses import replace

import pytest

from opolyx_progression.awards import (
    CURRENT,
    TABLES,
    Term,
    TermKind,
    ZeroReason,
    awards_of,
    place_xp,
)
from opolyx_progression.games import FinishedGame, Scheme
from support_progression import bot, finished_game, person


def xp_of(game: FinishedGame) -> list[int]:
    return [award.xp for award in awards_of(game)]


def reasons_of(game: FinishedGame) -> list[ZeroReason]:
    return [award.zero_reason for award in awards_of(game)]


@pytest.mark.rule("XP-1")
@pytest.mark.statement("R195", "R196")
@pytest.mark.parametrize(
    ("places", "expected"),
    [
        (2, [200, 40]),
        (3, [200, 120, 40]),
        (4, [200, 147, 94, 40]),
        (5, [200, 160, 120, 80, 40]),
        (6, [200, 168, 136, 104, 72, 40]),
    ],
)
def test_xp_1_place_pays_from_200_evenly_down_to_40(places: int, expected: list[int]) -> None:
    assert expected == [place_xp(place, places) for place in range(1, places + 1)]


@pytest.mark.rule("XP-1")
@pytest.mark.statement("R197", "R198")
@pytest.mark.parametrize("groups", range(9))
def test_xp_1_each_full_group_adds_25_and_survival_50(groups: int) -> None:
    game = finished_game(person("p_a", 1, survived=True, full_groups=groups), person("p_b", 2))

    winner, loser = awards_of(game)

    assert 200 + 25 * groups + 50 == winner.xp
    assert (Term(TermKind.PLACE, 40),) == loser.terms


@pytest.mark.statement("R002")
def test_money_of_the_game_buys_nothing_outside_it() -> None:
    """Rich or poor at the end, the same place is awarded the same."""
    poor = finished_game(person("p_a", 1, survived=True), person("p_b", 2))
    rich = replace(poor, seats=tuple(replace(seat, net_worth=9_000_000) for seat in poor.seats))

    assert awards_of(poor) == awards_of(rich)


@pytest.mark.rule("XP-1")
def test_xp_1_team_shares_its_place_and_places_are_sides() -> None:
    game = finished_game(
        person("p_a", 1, survived=True, side=0),
        person("p_b", 2, side=1),
        person("p_c", 1, side=0),
        person("p_d", 2, side=1),
        places=2,
        ruleset="team@full",
    )

    assert [250, 40, 200, 40] == xp_of(game)


@pytest.mark.rule("XP-2")
@pytest.mark.statement("R199")
@pytest.mark.parametrize("scheme", [Scheme.EVERY_SEAT, Scheme.WINNER])
def test_xp_2_round_20_pays_nothing_and_21_pays(scheme: Scheme) -> None:
    seats = (person("p_a", 1, survived=True), person("p_b", 2))

    short = finished_game(*seats, scheme=scheme, ended_in=20)
    long = finished_game(*seats, scheme=scheme, ended_in=21)

    assert [0, 0] == xp_of(short)
    assert [ZeroReason.SHORT_GAME] * 2 == reasons_of(short)
    assert xp_of(long)[0] >= 200


@pytest.mark.rule("XP-3")
@pytest.mark.statement("R195")
def test_xp_3_winner_scheme_pays_200_to_the_winner_alone() -> None:
    game = finished_game(
        person("p_a", 2, survived=True, full_groups=3),
        person("p_b", 1, survived=True, full_groups=5),
        person("p_c", 3),
        scheme=Scheme.WINNER,
    )

    assert [0, 200, 0] == xp_of(game)
    assert [
        ZeroReason.NOT_WINNER,
        ZeroReason.NOT_ZERO,
        ZeroReason.NOT_WINNER,
    ] == reasons_of(game)


@pytest.mark.rule("XP-3")
def test_xp_3_none_scheme_pays_nobody() -> None:
    game = finished_game(person("p_a", 1, survived=True), person("p_b", 2), scheme=Scheme.NONE)

    assert [0, 0] == xp_of(game)
    assert [ZeroReason.SCHEME] * 2 == reasons_of(game)


@pytest.mark.rule("XP-4")
@pytest.mark.parametrize("scheme", list(Scheme))
def test_xp_4_bots_get_nothing(scheme: Scheme) -> None:
    game = finished_game(
        bot("b_a", 1, survived=True, full_groups=8), bot("", 2), person("p_a", 3), scheme=scheme
    )

    assert [0, 0] == xp_of(game)[:2]
    assert [ZeroReason.BOT] * 2 == reasons_of(game)[:2]


@pytest.mark.rule("XP-4")
def test_xp_4_fewer_than_two_people_get_half() -> None:
    alone = finished_game(person("p_a", 2, survived=True, full_groups=1), bot("b", 1), bot("", 3))
    guided = finished_game(person("p_a", 1), bot("", 2), scheme=Scheme.WINNER)

    award = awards_of(alone)[0]

    assert (120 + 25 + 50) // 2 == award.xp
    assert Term(TermKind.FEW_PEOPLE, -98) == award.terms[-1]
    assert 100 == awards_of(guided)[0].xp


@pytest.mark.rule("XP-4")
def test_xp_4_two_people_among_bots_get_all() -> None:
    game = finished_game(person("p_a", 1), person("p_b", 3), bot("", 2))

    assert [200, 40, 0] == xp_of(game)


@pytest.mark.rule("XP-2")
@pytest.mark.statement("R199")
def test_a_44_fifty_quick_surrenders_pay_nothing() -> None:
    for number in range(50):
        game = finished_game(
            person("p_a", 1, survived=True, full_groups=2),
            person("p_b", 2),
            game_id=f"g{number}",
            ended_in=3,
        )
        assert [0, 0] == xp_of(game)


@pytest.mark.rule("XP-1")
def test_a_44_four_of_five_surrender_in_round_21_and_get_place_xp_only() -> None:
    game = finished_game(
        person("p_a", 1, survived=True, full_groups=1),
        *[person(f"p_{place}", place) for place in range(2, 6)],
        ended_in=21,
    )

    assert [275, 160, 120, 80, 40] == xp_of(game)
    assert all(
        [TermKind.PLACE] == [term.kind for term in award.terms] for award in awards_of(game)[1:]
    )


@pytest.mark.rule("XP-7")
def test_xp_7_award_names_its_table_and_tables_are_frozen() -> None:
    """Awards stay recomputable: this table was released, and may only be followed by others."""
    game = finished_game(person("p_a", 1), person("p_b", 2))

    assert {CURRENT.version} == {award.table_version for award in awards_of(game)}
    first = TABLES[1]
    assert (200, 40, 25, 50, 200, 20, 2) == (
        first.first_place,
        first.last_place,
        first.full_group,
        first.survival,
        first.win,
        first.last_unpaid_round,
        first.fewest_people,
    )


def test_terms_sum_up_and_no_award_is_below_zero() -> None:
    for place in range(1, 7):
        for people in range(1, 7):
            seats = [
                person(f"p_{seat}", (seat + place - 1) % 6 + 1, survived=seat % 2 == 0)
                if seat < people
                else bot("", (seat + place - 1) % 6 + 1)
                for seat in range(6)
            ]
            for award in awards_of(finished_game(*seats)):
                assert sum(term.xp for term in award.terms) == award.xp >= 0
                assert (award.xp == 0) == (award.zero_reason is not ZeroReason.NOT_ZERO)
