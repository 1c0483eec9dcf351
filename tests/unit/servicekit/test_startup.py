"""A start waits for an environment that fails for a moment, and for nothing else."""

import pytest

from opolyx_servicekit import startup
from opolyx_servicekit.errors import FailedPrecondition, StoreUnavailable
from opolyx_servicekit.startup import patiently


@pytest.fixture(autouse=True)
def no_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(startup, "_PAUSE_S", 0)


class Step:
    """Fails as told, then succeeds."""

    def __init__(self, *failures: Exception) -> None:
        self.failures = list(failures)
        self.calls = 0

    async def __call__(self) -> str:
        self.calls += 1
        if self.failures:
            raise self.failures.pop(0)
        return "done"


def away() -> StoreUnavailable:
    return StoreUnavailable("STORE_UNAVAILABLE", "away")


async def test_a_store_that_is_away_for_a_moment_is_waited_for() -> None:
    step = Step(away(), away())
    assert "done" == await patiently(step)
    assert 3 == step.calls


async def test_the_wait_is_bounded() -> None:
    step = Step(*[away() for _ in range(3)])
    with pytest.raises(StoreUnavailable):
        await patiently(step, wait_s=0)
    assert 1 == step.calls


async def test_what_waiting_doesnt_mend_is_told_at_once() -> None:
    step = Step(FailedPrecondition("NO", "no"))
    with pytest.raises(FailedPrecondition):
        await patiently(step)
    assert 1 == step.calls
