"""Commands of seats that are out of the game: each is answered, whatever the log has of it."""

from typing import Any

import pytest

from opolyx_engine.command import STORE_AWAY, Answer, Command
from opolyx_engine.given_answers import GivenAnswers
from opolyx_engine.late_commands import LateCommands
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.recent_commands import RecentCommands
from opolyx_engine.replies import Replies
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import Record
from opolyx_rules.actions import ROLL
from opolyx_rules.reasons import OUT_OF_GAME, Refusal
from opolyx_servicekit.errors import StoreUnavailable
from opolyx_servicekit.tasks import TaskOwner

OUT = Refusal(OUT_OF_GAME, "DEBT-7")


class Log:
    """Knows no command, or fails."""

    def __init__(self, error: Exception | None = None) -> None:
        self.error = error

    async def command(self, game_id: str, command_id: str) -> Record | None:
        if self.error is not None:
            raise self.error
        return None


async def answered(log: Log, *, complete: bool = False, closed: bool = False) -> list[Answer]:
    """What one command is answered."""
    store: Any = log
    answers: list[Answer] = []
    async with TaskOwner("test") as tasks:
        if closed:
            await tasks.close()
        late = LateCommands(
            GivenAnswers("g", store, RecentCommands(complete=complete)),
            Replies("g", EngineMetrics(), EngineSettings()),
            tasks,
        )
        late.take(Command("c", "d1", 0, (ROLL, 0), 1_000, answers.append), OUT)
        if not complete and not closed:
            assert not answers, "the log is asked first"
            (task,) = tasks._tasks
            await ended(task)
    return answers


async def ended(task: Any) -> None:
    try:
        await task
    except KeyError:
        return


async def test_a_command_that_the_log_does_not_know_is_refused() -> None:
    for complete in (True, False):
        assert [Answer(refusal=OUT)] == await answered(Log(), complete=complete)


@pytest.mark.parametrize("error", [StoreUnavailable("STORE_UNAVAILABLE", "away"), KeyError("bug")])
async def test_a_command_whose_log_cannot_be_read_is_to_be_sent_again(error: Exception) -> None:
    (answer,) = await answered(Log(error))
    assert STORE_AWAY == answer.retry_reason
    assert answer.retry_after_ms


async def test_a_command_that_comes_as_the_server_goes_away_is_to_be_sent_again() -> None:
    (answer,) = await answered(Log(), closed=True)
    assert answer.retry_after_ms
