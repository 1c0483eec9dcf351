"""The short forms of `make chaos`, `make chaos-alone` and `make rehearsal`: nothing is lost."""

import pytest

from support_chaos import Chaos, Plan
from support_chaos_replicas import ReplicaChaos, ReplicaPlan
from support_rehearsal import Rehearsal, rehearse


@pytest.mark.timeout(300)
async def test_a_server_killed_under_running_games_loses_nothing_and_repeats_nothing() -> None:
    plan = Plan(kills=5, games=8, round_cap=5, most_commands=20, most_pause_s=0.5, seed=7)
    summary = await Chaos(plan).run()

    assert [] == summary.problems, summary.table()
    assert 5 == summary.counts["kills"]
    assert min(summary.running_at_kills) >= 8
    assert summary.counts["commands acknowledged"] == summary.counts["commands in the log"] > 50
    assert summary.counts["mirrors compared with a digest"] > 50
    assert summary.counts["games ended"] == summary.counts[VERIFIED] >= 8
    assert 0 == summary.counts["exit code at the end"]


VERIFIED = "replays verified with the revealed secret"


@pytest.mark.timeout(300)
async def test_replicas_struck_under_running_games_lose_nothing_and_repeat_nothing() -> None:
    plan = ReplicaPlan(
        blows=6, games=4, minutes=1.0, pause_s=6.0, round_cap=3, rolling=False, others=False, seed=3
    )
    summary = await ReplicaChaos(plan).run()

    assert [] == summary.problems, summary.table()
    assert summary.counts["blows"] >= 4
    assert summary.counts["commands acknowledged"] == summary.counts["commands in the log"] > 20
    assert summary.counts["games ended"] == summary.counts[VERIFIED] >= 4
    assert 7 == summary.counts["programs that ended well"]


@pytest.mark.timeout(300)
async def test_pods_of_the_manifests_are_rolled_out_without_a_loss() -> None:
    plan = Rehearsal(
        overlay="dev",
        games=2,
        round_cap=3,
        settle_s=0.5,
        rollouts=("engine",),
        lose_node=False,
        rotate=False,
    )
    summary = await rehearse(plan)

    assert [] == summary.problems, summary.table()
    assert summary.counts["commands acknowledged"] == summary.counts["commands in the log"] > 20
    assert summary.counts["games ended"] == summary.counts[VERIFIED] >= 2
    # Two engines replaced by two, one of each other program, all ended as their manifests say.
    assert 7 == summary.counts["pods that ended within their grace"]
