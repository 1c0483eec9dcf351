"""One record of a game's log, as stored: its line of the replay, then the clocks after it.

Record 0 is the start, record n is update n. The replay file is made of the stored lines as they
are.
"""

import json
from dataclasses import dataclass
from typing import Final

from opolyx_engine.clocks import Clocks
from opolyx_engine.store.base import Record
from opolyx_rules import replay
from opolyx_rules.actions import SEAT, Action

_COMPACT: Final = json.JSONEncoder(separators=(",", ":"))


@dataclass(slots=True)
class Entry:
    """A record, decoded. Never changed."""

    line: replay.Record
    """What the replay holds of it."""

    command_id: str
    """The command's id, its seat's own; empty for the clock and the start."""

    clocks: Clocks
    """The deadlines after it."""

    @property
    def seq(self) -> int:
        """Its number, from 0."""
        return self.line.seq

    @property
    def at_ms(self) -> int:
        """When it took effect, Unix milliseconds."""
        return self.line.at_unix_ms

    @property
    def action(self) -> Action:
        """What was done; empty for the start."""
        return self.line.action

    @property
    def log_digest(self) -> bytes:
        """Running digest of the log up to it."""
        return bytes.fromhex(self.line.log_digest)

    @property
    def state_digest(self) -> bytes:
        """Digest of the public state at the end of a turn and of the game; else empty."""
        return bytes.fromhex(self.line.state_digest)

    def encode(self) -> Record:
        """The stored form."""
        clocks = _COMPACT.encode(encode_clocks(self.clocks)).encode()
        body = replay.record_line(self.line) + clocks
        key = command_key(self.action[SEAT], self.command_id) if self.command_id else ""
        return Record(self.seq, self.at_ms, key, body)

    @staticmethod
    def decode(record: Record) -> "Entry":
        """The entry of a stored form."""
        first, clocks = record.body.split(b"\n")
        values = json.loads(first)
        line = replay.Record(
            **{**values, "action": tuple(values["action"]), "draws": tuple(values["draws"])}
        )
        command_id = record.command_id
        if command_id:
            command_id = command_id.removeprefix(command_key(line.action[SEAT], ""))
        return Entry(line, command_id, decode_clocks(json.loads(clocks)))


def command_key(seat: int, command_id: str) -> str:
    """What a command is known by in its game's log: no seat can use up another's ids."""
    return f"{seat}:{command_id}"


def replay_line(record: Record) -> bytes:
    """The record's line of the replay file, with its line feed."""
    return record.body[: record.body.index(b"\n") + 1]


def encode_clocks(clocks: Clocks) -> list[object]:
    """The clocks as JSON."""
    return [clocks.step, clocks.deadline_ms, clocks.offers]


def decode_clocks(document: tuple[int, int, list[tuple[int, int]]]) -> Clocks:
    """The clocks of their JSON."""
    step, deadline_ms, offers = document
    return Clocks(step, deadline_ms, tuple((offer, lapse_ms) for offer, lapse_ms in offers))
