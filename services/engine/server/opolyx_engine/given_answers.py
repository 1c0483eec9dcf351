"""The answers a game gave to commands, in memory and in its log: a command counts once."""

from opolyx_engine.command import Answer, Command
from opolyx_engine.recent_commands import RecentCommands, reused
from opolyx_engine.record import Entry, command_key
from opolyx_engine.store.base import GameStore, Record
from opolyx_engine.table import Step
from opolyx_rules.actions import SEAT, Action
from opolyx_rules.reasons import Refusal


class GivenAnswers:
    """What a command that comes again is answered.

    Commands without an id, those of built-in bots, aren't remembered: they never come again.
    """

    def __init__(self, game_id: str, store: GameStore, recent: RecentCommands) -> None:
        """Know what is in `recent`, and find the rest in `store`."""
        self._game_id = game_id
        self._store = store
        self._recent = recent

    def recent(self, command: Command) -> Answer | None:
        """The answer, if the command was answered lately."""
        if not command.command_id or command.seat is None:
            return None
        return self._recent.answer_to(command)

    def needs_store(self, command: Command) -> bool:
        """Whether only the log can tell if the command was accepted long ago."""
        return bool(command.command_id) and command.seat is not None and not self._recent.complete

    async def instead_of(self, command: Command, refusal: Refusal) -> Answer:
        """The answer to a refused command, which may be an old one whose decision is closed by now.

        Raises:
            ServiceError: the store failed.
        """
        if command.seat is None or not self.needs_store(command):
            return Answer(refusal=refusal)
        key = command_key(command.seat, command.command_id)
        record = await self._store.command(self._game_id, key)
        if record is None:
            return Answer(refusal=refusal)
        return _answer_of(record, None if isinstance(command.action, Refusal) else command.action)

    async def of_log(self, command_id: str, action: Action) -> Answer | None:
        """The answer to a command whose id is in the log; None if it isn't there.

        Raises:
            ServiceError: the store failed.
        """
        if not command_id:
            return None
        record = await self._store.command(self._game_id, command_key(action[SEAT], command_id))
        return None if record is None else _answer_of(record, action)

    def keep(self, command: Command, answer: Answer) -> None:
        """Remember the first answer to a command."""
        if command.command_id and command.seat is not None and not answer.retry_after_ms:
            self._recent.keep(command.command_id, command.seat, command.action, answer)

    def keep_step(self, step: Step) -> None:
        """Remember that a step's command was accepted, though nobody could be told yet."""
        entry = step.entry
        if entry.command_id:
            answer = Answer(seq=entry.seq)
            self._recent.keep(entry.command_id, entry.action[SEAT], entry.action, answer)


def _answer_of(record: Record, action: Action | None) -> Answer:
    return Answer(seq=record.seq) if Entry.decode(record).action == action else reused()
