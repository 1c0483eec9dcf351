"""docs/scaling.md: its figures are those that the costs and the assumptions give."""

import json

import pytest

import scaling
from opolyx_engine.settings import EngineSettings


def test_the_page_has_the_figures_of_its_costs() -> None:
    text = scaling.PAGE.read_text()

    assert scaling.figures() in text, "run `make scaling`"


def test_needs_rise_with_games_and_with_costs() -> None:
    costs = json.loads(scaling.COSTS.read_text())
    settings = EngineSettings()
    few, many = (scaling.need(games, costs, settings) for games in (10_000, 100_000))
    dearer = scaling.need(
        100_000,
        {**costs, "engine_cpu_us_an_action": 2 * costs["engine_cpu_us_an_action"]},
        settings,
    )

    assert few.replicas < many.replicas < dearer.replicas
    assert few.redis_by_memory < many.redis_by_memory
    assert many.actions_a_second == pytest.approx(10 * few.actions_a_second)


def test_even_shares_of_few_replicas() -> None:
    largest, smallest = scaling.shares(3)

    assert 1 <= largest < 1.1
    assert 0.9 < smallest <= 1
