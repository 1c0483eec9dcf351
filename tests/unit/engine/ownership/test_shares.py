"""Which replica a game falls to."""

from collections import Counter

from opolyx_engine.ownership.shares import chosen
from opolyx_engine.replica import Replica

GAMES = [f"g_{number}" for number in range(6_000)]
THREE = [Replica(f"replica {number}", "") for number in range(3)]


def test_games_fall_to_all_alike() -> None:
    counts = Counter(chosen(game_id, THREE) for game_id in GAMES)
    assert 3 == len(counts)
    # Six standard deviations of a fair draw of 6,000 among three.
    assert all(abs(count - 2_000) < 220 for count in counts.values())


def test_the_order_of_the_replicas_does_not_matter() -> None:
    assert all(chosen(each, THREE) == chosen(each, THREE[::-1]) for each in GAMES[:200])


def test_when_one_goes_only_its_games_move() -> None:
    for game_id in GAMES[:500]:
        before, after = chosen(game_id, THREE), chosen(game_id, THREE[:2])
        assert before == after or before == THREE[2]


def test_without_replicas_it_falls_to_nobody() -> None:
    assert chosen("g", []) is None
