"""Commands that need no turn in their game's task: nothing they ask can take effect any more."""

from opolyx_engine.command import STORE_AWAY, Answer, Command
from opolyx_engine.given_answers import GivenAnswers
from opolyx_engine.replies import Replies
from opolyx_rules.reasons import Refusal
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.tasks import TaskOwner


class LateCommands:
    """Answers the commands of spectators, of seats that are out, and of games that are over.

    At once, but for those of which only the log can tell whether they were accepted long ago.
    """

    def __init__(self, answers: GivenAnswers, replies: Replies, tasks: TaskOwner) -> None:
        """Look into `answers` and reply through `replies`; `tasks` owns the looks into the log."""
        self._answers = answers
        self._replies = replies
        self._tasks = tasks

    def take(self, command: Command, refusal: Refusal) -> None:
        """Answer with what was answered before, or `refusal`."""
        answer = self._answers.recent(command) or self._replies.too_fast(command)
        if answer is not None:
            self._replies.send(command, answer)
        elif not self._answers.needs_store(command):
            self._replies.send(command, Answer(refusal=refusal))
        else:
            self._look_up(command, refusal)

    def _look_up(self, command: Command, refusal: Refusal) -> None:
        try:
            self._tasks.start(self._answer_from_log(command, refusal), name="late command")
        except RuntimeError:  # the server goes away
            self._replies.send(command, self._replies.retry(STORE_AWAY))

    async def _answer_from_log(self, command: Command, refusal: Refusal) -> None:
        answer = self._replies.retry(STORE_AWAY)
        try:
            answer = await self._answers.instead_of(command, refusal)
        except ServiceError:
            pass  # to be sent again
        finally:  # also when the server goes away, or a record can't be read
            self._replies.send(command, answer)
