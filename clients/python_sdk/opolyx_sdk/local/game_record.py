"""A game that was simulated: who played, what was done, how it ended; and its replay."""

import hashlib
from dataclasses import dataclass, field
from pathlib import Path

from opolyx_rules import engine, replay
from opolyx_rules.chance import RecordingChance, SeededChance
from opolyx_rules.events import Log
from opolyx_rules.state import State
from opolyx_rules.views import state_digest
from opolyx_sdk.views import ResultView


@dataclass(slots=True)
class SeatReport:
    """How one player did beside the result. Times are of this machine and of this run."""

    name: str
    """The name at the table."""

    decisions: int = 0
    """Decisions answered."""

    refusals: list[str] = field(default_factory=list)
    """What was refused, and why."""

    failures: list[str] = field(default_factory=list)
    """What the bot raised, and where it was too slow."""

    fallbacks: int = 0
    """Decisions that were answered for the bot, because it failed, was too slow or was refused."""

    thinking_s: list[float] = field(default_factory=list)
    """Seconds for each decision in turn; empty for a built-in bot."""


@dataclass(frozen=True, slots=True)
class GameRecord:
    """A finished game. All but the reports follows from the seed and what the bots did."""

    header: replay.Header
    """What was fixed before the first roll."""

    secret: bytes
    """What the dice come from, together with the header."""

    steps: tuple[tuple[int, tuple[int, ...]], ...]
    """When and what was done, in order: milliseconds of the game's clock, and the rules' action."""

    result: ResultView
    """How it ended."""

    final_digest: bytes
    """Digest of the last public state."""

    reports: tuple[SeatReport, ...] = field(compare=False)
    """How each player did, in seat order."""

    @property
    def game_id(self) -> str:
        """The game."""
        return self.header.game_id

    @property
    def rounds(self) -> int:
        """Round of the end."""
        return self.result.round

    @property
    def places(self) -> tuple[int, ...]:
        """Places in seat order."""
        return tuple(one.place for one in self.result.seats)

    @property
    def net_worth(self) -> tuple[int, ...]:
        """Net worth at the end in seat order, in k; 0 for who was out."""
        return tuple(one.net_worth for one in self.result.seats)

    @property
    def digest(self) -> str:
        """Hex SHA-256 of all that was put into the game and of its last public state.

        Equal exactly when two games are the same, and quick to have; `log_digest` is the one that
        servers and replays know.
        """
        moves = repr(self.steps).encode("ascii")
        whole = replay.header_line(self.header) + self.secret + moves + self.final_digest
        return hashlib.sha256(whole).hexdigest()

    @property
    def log_digest(self) -> str:
        """Running digest of the log at its end, hex, as `opolyx verify` finds it."""
        return self._played_again()[0][-1].log_digest

    def turn_digests(self) -> tuple[str, ...]:
        """Digest of the public state at each turn's end and at the game's, hex."""
        records, _ = self._played_again()
        return tuple(record.state_digest for record in records if record.state_digest)

    def as_replay(self) -> bytes:
        """The replay file."""
        records, end = self._played_again()
        lines = [replay.header_line(self.header), *map(replay.record_line, records)]
        digest, outcome = records[-1].log_digest, engine.result(end)
        lines.append(replay.footer_line(len(records), digest, secret=self.secret, outcome=outcome))
        return b"".join(lines)

    def save(self, path: Path | str) -> None:
        """Write the replay file, which `opolyx verify` accepts.

        Raises:
            OSError: it can't be written.
        """
        Path(path).write_bytes(self.as_replay())

    def _played_again(self) -> tuple[list[replay.Record], State]:
        """The log's records, and the last state: made only when asked for, because it takes time."""
        chance = RecordingChance(SeededChance(self.header.game_key(self.secret)))
        events: Log = []
        state = self.header.start(chance, events)
        digest, records = replay.first_digest(self.header, self.secret), []
        for seq, (at_ms, action) in enumerate([(self.header.started_unix_ms, ()), *self.steps]):
            if seq:
                events = engine.apply(state, action, chance)
            record = replay.make_record(
                digest,
                seq=seq,
                at_unix_ms=at_ms,
                action=action,
                draws=tuple(chance.take()),
                turn_digest=state_digest(state) if replay.ends_turn(events) else b"",
            )
            records.append(record)
            digest = bytes.fromhex(record.log_digest)
        return records, state
