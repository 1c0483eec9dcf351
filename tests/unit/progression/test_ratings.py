"""Ratings: ladders apart, teams as teams."""

from itertools import pairwise

import pytest

from opolyx_progression.ratings import NEWCOMER, Rating, rated_after
from support_progression import bot, finished_game, person


def test_newcomer_shows_1000() -> None:
    assert 1000 == NEWCOMER.ordinal


def test_better_places_rate_higher() -> None:
    game = finished_game(*[person(f"p_{place}", place) for place in (3, 1, 4, 2)])

    rated = rated_after(game, {})

    ordered = [rated[f"p_{place}"].mu for place in (1, 2, 3, 4)]
    assert all(better > worse for better, worse in pairwise(ordered))
    assert {1} == {rating.games for rating in rated.values()}


def test_people_and_bots_are_compared_among_themselves_only() -> None:
    mixed = finished_game(
        bot("b_a", 1), person("p_a", 2), bot("", 3), person("p_b", 4), bot("b_b", 5)
    )
    people = finished_game(person("p_a", 1), person("p_b", 2))

    rated = rated_after(mixed, {})

    assert {"p_a", "p_b", "b_a", "b_b"} == set(rated)
    assert rated_after(people, {})["p_a"] == rated["p_a"]
    assert rated["b_a"].mu > rated["b_b"].mu


def test_a_person_alone_among_bots_is_not_rated() -> None:
    game = finished_game(person("p_a", 1), bot("b_a", 2), bot("", 3))

    assert {} == rated_after(game, {})


def test_a_side_is_one_team() -> None:
    game = finished_game(
        person("p_a", 1, side=0),
        person("p_b", 2, side=1),
        person("p_c", 1, side=0),
        person("p_d", 2, side=1),
        places=2,
    )

    rated = rated_after(game, {})

    assert rated["p_a"] == rated["p_c"]
    assert rated["p_b"] == rated["p_d"]
    assert rated["p_a"].mu > NEWCOMER.mu > rated["p_b"].mu


def test_a_side_of_people_only_is_no_contest() -> None:
    game = finished_game(
        person("p_a", 1, side=0),
        bot("b_a", 2, side=1),
        person("p_b", 1, side=0),
        bot("b_b", 2, side=1),
        places=2,
    )

    assert {} == rated_after(game, {})


def test_upset_moves_more_than_the_expected_result() -> None:
    before = {"p_a": Rating(35.0, 2.0, 50), "p_b": Rating(20.0, 2.0, 50)}

    expected = rated_after(finished_game(person("p_a", 1), person("p_b", 2)), before)
    upset = rated_after(finished_game(person("p_a", 2), person("p_b", 1)), before)

    assert expected["p_a"].mu - 35.0 < 35.0 - upset["p_a"].mu
    assert 51 == upset["p_a"].games


def test_rating_is_reproducible() -> None:
    """Stored ratings must be recomputable, so the model's answer is pinned."""
    rated = rated_after(finished_game(person("p_a", 1), person("p_b", 2)), {})

    assert 27.635389493140497 == pytest.approx(rated["p_a"].mu, rel=1e-12)
    assert 8.06590141354368 == pytest.approx(rated["p_a"].sigma, rel=1e-12)
