"""The environment passes PettingZoo's own tests, and masks exactly what the rules refuse."""

import random
from typing import Any

import numpy as np
import pytest
from pettingzoo.test import api_test, seed_test

from opolyx_rules import RULESETS, get_ruleset, legal_actions
from opolyx_rules.actions import PROPOSE_TRADE
from opolyx_sdk.local import action_space, simulate
from opolyx_sdk.local.observation import observe, size_of
from opolyx_sdk.local.pettingzoo_env import OpolyxEnv, env
from support_playout import random_states

# PettingZoo's own games with a mask have such observations; these warnings leave them out by name.
masked_observations = pytest.mark.filterwarnings(
    "ignore:Observation space for each agent probably should be:UserWarning",
    "ignore:Observation is not a NumPy array:UserWarning",
)


@masked_observations
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("name", "seats"), [("classic@full", 4), ("team@full", 4), ("speed@guide", 2)]
)
def test_pettingzoos_api_test_passes(name: str, seats: int) -> None:
    api_test(env(name, seats=seats), num_cycles=1_000)


@masked_observations
@pytest.mark.timeout(180)
def test_pettingzoos_api_test_passes_to_the_end_of_games_with_opponents() -> None:
    api_test(env("blitz@full", seats=3, round_cap=4, opponents={1: "steady"}), num_cycles=600)


@pytest.mark.timeout(180)
def test_pettingzoos_seed_test_passes() -> None:
    seed_test(lambda: env("fortune@full", seats=3), num_cycles=300)


def play(table: Any, seed: int | None, luck: random.Random) -> tuple[list[Any], dict[str, float]]:
    """One game of random actions: what was seen, and the rewards."""
    table.reset(seed=seed)
    seen: list[Any] = []
    rewards = dict.fromkeys(table.possible_agents, 0.0)
    for agent in table.agent_iter():
        observation, reward, termination, truncation, _ = table.last()
        rewards[agent] += reward
        action = None
        if not (termination or truncation):
            choices = np.flatnonzero(observation["action_mask"])
            assert len(choices)
            action = int(luck.choice(choices))
            seen.append(observation["observation"].tobytes())
        table.step(action)
    return seen, rewards


@pytest.mark.parametrize("name", RULESETS)
def test_rewards_sum_to_nothing_and_follow_the_places(name: str) -> None:
    table = env(name, seats=4, round_cap=6)
    _, rewards = play(table, 3, random.Random(1))

    values = sorted(rewards.values())
    expected = [-1, -1, 1, 1] if "team" in name.partition("@")[0] else [-1, -1 / 3, 1 / 3, 1]
    assert expected == pytest.approx(values)
    assert [] == table.agents


def test_games_follow_from_the_seed_one_after_another() -> None:
    table, again = env("blitz@full", round_cap=5), env("blitz@full", round_cap=5)
    first, _ = play(table, 7, random.Random(1))
    second, _ = play(table, None, random.Random(1))

    assert first != second
    assert first == play(again, 7, random.Random(1))[0]
    assert second == play(again, None, random.Random(1))[0]
    assert first != play(again, 8, random.Random(1))[0]


def test_a_game_of_built_in_bots_is_that_of_the_simulator() -> None:
    table = OpolyxEnv("blitz@full", seats=3, opponents={1: "steady", 2: "random"})
    record = simulate("blitz@full", ["steady", "steady", "random"], 5)
    table.reset(seed=5)
    game = table._running()
    for _, action in record.steps:
        if action[1] == 0 and not game.over:
            assert "seat_0" == table.agent_selection
            number = action_space.number_of(action)
            assert number is not None
            table.step(number)

    assert game.over
    assert record.final_digest == game.digest()


def test_offers_to_an_agent_are_declined_for_it() -> None:
    table = env("classic@full", seats=2, opponents={1: "trader"}, round_cap=20)
    _, rewards = play(table, 2, random.Random(3))

    assert {"seat_0"} == set(rewards)


def test_the_mask_is_the_list_of_legal_actions() -> None:
    for name in ("classic@full", "halal@full", "speed@full"):
        table = OpolyxEnv(name, seats=3)
        table.reset(seed=1)
        game = table._running()
        for state in random_states(get_ruleset(name), 3, "masks", 150):
            if state.offers:
                continue
            game.state = state
            for seat in range(3):
                mask = table.observe(f"seat_{seat}")["action_mask"]
                allowed = [action_space.action_of(int(one), seat) for one in np.flatnonzero(mask)]
                assert sorted(legal_actions(state, seat)) == sorted(allowed)


def test_every_number_is_an_action_of_its_own() -> None:
    found = {action_space.action_of(number, 2) for number in range(action_space.SIZE)}

    assert 196 == action_space.SIZE == len(found)
    for number in range(action_space.SIZE):
        assert number == action_space.number_of(action_space.action_of(number, 2))
    assert action_space.number_of((PROPOSE_TRADE, 0, 1, 0, 2, 0, 8)) is None


def test_a_masked_action_is_refused_and_changes_nothing() -> None:
    table = env("blitz@full", seats=2)
    table.reset(seed=1)
    before = table.observe(table.agent_selection)
    masked = int(np.flatnonzero(before["action_mask"] == 0)[0])

    with pytest.raises(ValueError, match=f"action {masked} is masked: "):
        table.step(masked)
    after = table.observe(table.agent_selection)
    assert np.array_equal(before["observation"], after["observation"])


@pytest.mark.parametrize("action", [None, -1, -40, 196, 1.0, "0", [0]])
def test_what_is_no_action_is_refused_and_changes_nothing(action: Any) -> None:
    table = OpolyxEnv("blitz@full", seats=2)
    table.reset(seed=1)
    agent, before = table.agent_selection, table._running().digest()

    with pytest.raises(ValueError, match="none of 0 to 195"):
        table.step(action)
    assert (agent, before) == (table.agent_selection, table._running().digest())


def test_the_integers_of_numpy_are_actions() -> None:
    table = OpolyxEnv("blitz@full", seats=2)
    table.reset(seed=1)
    table.step(np.int64(0))  # type: ignore[arg-type]

    assert 1 == table._running().seq


@pytest.mark.parametrize("name", RULESETS)
def test_observations_stay_in_their_bounds_and_turn_with_the_seat(name: str) -> None:
    for state in random_states(get_ruleset(name), 4, "seen", 60):
        vectors = [observe(state, seat) for seat in range(4)]
        for vector in vectors:
            assert (size_of(4),) == vector.shape
            assert np.float32 == vector.dtype
            assert (np.abs(vector) <= 1).all()
        # Seat 1 sees itself where seat 0 sees it as the next, but for who is whose ally.
        ours, theirs = vectors[1][:13].tolist(), vectors[0][13:26].tolist()
        assert ours[:9] + ours[10:] == theirs[:9] + theirs[10:]


def test_the_size_is_that_of_the_documentation() -> None:
    for seats in range(2, 7):
        assert 13 * seats + 28 * (seats + 4) + seats + 51 == size_of(seats)


def test_the_table_can_be_read() -> None:
    table = env("blitz@full", seats=2, render_mode="ansi")
    table.reset(seed=1)

    assert "round 1, ROLL\nseat 0: " in table.render()
    assert env("blitz@full", seats=2).unwrapped.render() is None


@pytest.mark.parametrize(
    ("name", "options", "words"),
    [
        ("x@y", {}, "no ruleset"),
        ("classic@full", {"seats": 7}, "not 7"),
        ("classic@full", {"opponents": {0: "clever"}}, "no built-in bot 'clever'"),
        ("classic@full", {"opponents": {4: "steady"}}, "no seat 4: there are 0 to 3"),
        ("classic@full", {"seats": 2, "opponents": {0: "steady", 1: "steady"}}, "no seat is left"),
    ],
)
def test_what_can_not_be_is_said(name: str, options: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        env(name, **options)
