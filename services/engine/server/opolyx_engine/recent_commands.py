"""Answers of a game's latest commands, so that one sent again gets the first answer.

Ids are a seat's own: what another seat sends under the same id is another command.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from opolyx_engine.command import COMMAND_ID_REUSED, Answer, Command
from opolyx_rules.actions import Action
from opolyx_rules.reasons import Refusal

MOST_KEPT: Final = 128


@dataclass(frozen=True, slots=True)
class _Known:
    action: Action | None
    answer: Answer


class RecentCommands:
    """The last commands by id; what is older is found in the store."""

    def __init__(self, *, complete: bool) -> None:
        """Know nothing yet.

        Args:
            complete: whether the game's log holds no command either.
        """
        self._known: OrderedDict[tuple[int, str], _Known] = OrderedDict()
        self.complete = complete
        """Whether every command of the log is known here."""

    def keep(self, command_id: str, seat: int, action: Action | Refusal, answer: Answer) -> None:
        """Remember the first answer to a command."""
        asked = None if isinstance(action, Refusal) else action
        self._known[seat, command_id] = _Known(asked, answer)
        if len(self._known) > MOST_KEPT:
            _, forgotten = self._known.popitem(last=False)
            if forgotten.answer.seq:
                self.complete = False

    def answer_to(self, command: Command) -> Answer | None:
        """The first answer, a refusal if the id was used for something else, None if unknown."""
        if command.seat is None:
            return None
        known = self._known.get((command.seat, command.command_id))
        if known is None:
            return None
        asked = None if isinstance(command.action, Refusal) else command.action
        return known.answer if known.action == asked else reused()


def reused() -> Answer:
    """The answer to a command id that was used for another action."""
    return Answer(refusal=Refusal(COMMAND_ID_REUSED, ""))
