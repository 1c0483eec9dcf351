"""Recomputing a replay: key, every die and card, every digest, the result."""

import json
from dataclasses import dataclass

from opolyx_rules.chance import (
    Chance,
    RecordedChance,
    RecordingChance,
    SeededChance,
    commitment_of,
)
from opolyx_rules.engine import apply_checked, check, result
from opolyx_rules.events import Log
from opolyx_rules.mechanics.ending import Result
from opolyx_rules.reasons import InvariantError
from opolyx_rules.replay import (
    FORMAT,
    Header,
    Record,
    SeatRecord,
    canonical_line,
    ends_turn,
    first_digest,
    footer_line,
    header_line,
    make_record,
    record_line,
    result_fields,
)
from opolyx_rules.state import State
from opolyx_rules.views import state_digest

_DIGEST_BYTES = 32


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a verification found."""

    ok: bool
    """Whether everything in the file follows from the header, the secret and the actions."""
    complete: bool
    """Whether the file holds a finished game with its secret; else the dice were not checked."""
    updates: int
    """Updates that were found right."""
    problem: str
    """What differs first; empty when nothing does."""
    update: int | None
    """The first update that differs; None when none does, or when it is the header or footer."""
    header: Header | None
    """The header, if it could be read."""
    log_digest: str
    """The running digest after the last update that was found right, hex."""
    result: Result | None
    """The result, of a complete replay that was found right."""


class _Mismatch(Exception):
    """Something in the file differs from what follows from the rest."""

    def __init__(self, problem: str, update: int | None = None) -> None:
        super().__init__(problem)
        self.problem = problem
        self.update = update


def verify(data: bytes) -> Verdict:
    """Recompute a whole replay: key, every die and card, every digest, the result.

    Never raises for what is in the file; the verdict names the first thing that differs.
    """
    check_run = _Verification(data)
    try:
        check_run.run()
    except _Mismatch as mismatch:
        return check_run.verdict(mismatch.problem, mismatch.update)
    return check_run.verdict("", None)


class _Verification:
    """One run of `verify`."""

    def __init__(self, data: bytes) -> None:
        self._lines = data.split(b"\n")
        self._header: Header | None = None
        self._complete = False
        self._done = -1
        self._digest = b""
        self._result: Result | None = None

    def run(self) -> None:
        if len(self._lines) < 4 or self._lines[-1] != b"":
            self._lines.append(b"")
            if len(self._lines) < 4:
                raise _Mismatch("the file is too short to be a replay")
            raise _Mismatch("the file does not end with a line feed")
        header = self._read_header()
        footer = self._read_footer()
        secret = self._secret(header, footer)
        source = SeededChance(header.game_key(secret)) if self._complete else None
        self._digest = first_digest(header, secret) if self._complete else b""
        state: State | None = None
        for seq, line in enumerate(self._lines[1:-2]):
            state = self._step(header, state, seq, line, source)
        self._check_footer(footer, secret, state)

    def verdict(self, problem: str, update: int | None) -> Verdict:
        return Verdict(
            ok=not problem,
            complete=self._complete,
            updates=max(self._done, 0),
            problem=problem,
            update=update,
            header=self._header,
            log_digest=self._digest.hex(),
            result=self._result if not problem else None,
        )

    def _read_header(self) -> Header:
        line = self._lines[0] + b"\n"
        try:
            values = json.loads(line)
            if values.pop("format") != FORMAT:
                raise _Mismatch(f"the file is not of the format {FORMAT}")
            seats = tuple([SeatRecord(**seat) for seat in values.pop("seats")])
            header = Header(seats=seats, **values)
            _require_types(header)
            rules = header.rules()
            header.cards()
            header.game_key(b"")
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise _Mismatch(f"the header can't be read: {error}") from error
        if header_line(header) != line:
            raise _Mismatch("the header is not in canonical form")
        if rules.digest() != header.ruleset_digest:
            raise _Mismatch(f"the game was played by other rules than {header.ruleset} has here")
        self._header = header
        return header

    def _read_footer(self) -> dict[str, object]:
        line = self._lines[-2] + b"\n"
        try:
            footer: dict[str, object] = json.loads(line)
            canonical = canonical_line(footer)
            keys = list(footer)
        except (ValueError, TypeError, RecursionError) as error:
            raise _Mismatch(f"the footer can't be read: {error}") from error
        if canonical != line or keys != ["complete", "records", "log_digest", "secret", "result"]:
            raise _Mismatch("the footer is not in canonical form")
        self._complete = footer["complete"] is True
        return footer

    def _secret(self, header: Header, footer: dict[str, object]) -> bytes:
        if not self._complete:
            return b""
        try:
            secret = bytes.fromhex(str(footer["secret"]))
        except ValueError as error:
            raise _Mismatch("the footer's secret is not hex") from error
        if commitment_of(secret).hex() != header.commitment:
            raise _Mismatch("the secret is not the one that was committed to")
        return secret

    def _step(
        self, header: Header, state: State | None, seq: int, line: bytes, source: Chance | None
    ) -> State:
        record = self._read_record(seq, line)
        recorded = RecordedChance(list(record.draws))
        recording = RecordingChance(recorded if source is None else source)
        log: Log = []
        try:
            if state is None:
                if record.action:
                    raise _Mismatch("record 0 is not a start", seq)
                state = header.start(recording, log)
            else:
                refusal = check(state, record.action)
                if refusal is not None:
                    raise _Mismatch(f"its action is illegal: {refusal}", seq)
                apply_checked(state, record.action, recording, log)
        except (InvariantError, ValueError) as error:
            raise _Mismatch(f"it can't be replayed: {error}", seq) from error
        if tuple(recording.drawn) != record.draws:
            raise _Mismatch("its dice or draws are not those of the game's key", seq)
        expected = state_digest(state).hex() if ends_turn(log) else ""
        if expected != record.state_digest:
            raise _Mismatch("the state after it has another digest", seq)
        self._digest = bytes.fromhex(record.log_digest)
        self._done = seq
        return state

    def _read_record(self, seq: int, line: bytes) -> Record:
        try:
            values = json.loads(line)
            record = Record(
                **{**values, "action": tuple(values["action"]), "draws": tuple(values["draws"])}
            )
            canonical = record_line(record)
            if not seq and not self._complete:  # what it follows from is known with the secret only
                return self._first_of_partial(record, canonical, line)
            expected = make_record(
                self._digest,
                seq=seq,
                at_unix_ms=record.at_unix_ms,
                action=record.action,
                draws=record.draws,
                turn_digest=bytes.fromhex(record.state_digest),
            )
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise _Mismatch(f"its record can't be read: {error}", seq) from error
        ints = (record.seq, record.at_unix_ms, *record.action, *record.draws)
        if canonical != line + b"\n" or not all([type(value) is int for value in ints]):
            raise _Mismatch("its record is not in canonical form", seq)
        if record != expected:
            raise _Mismatch("its record does not have the digest of what it holds", seq)
        return record

    def _first_of_partial(self, record: Record, canonical: bytes, line: bytes) -> Record:
        """Record 0 of a running game: its digest can't be recomputed, and its deck isn't the real one."""
        numbers = (record.seq, record.at_unix_ms, *record.action, *record.draws)
        if canonical != line + b"\n" or not all([type(value) is int for value in numbers]):
            raise _Mismatch("its record is not in canonical form", 0)
        if record.seq != 0 or len(bytes.fromhex(record.log_digest)) != _DIGEST_BYTES:
            raise _Mismatch("its record does not have a digest", 0)
        return record

    def _check_footer(self, footer: dict[str, object], secret: bytes, state: State | None) -> None:
        if state is None or footer["records"] != self._done + 1:
            raise _Mismatch("the footer counts other records")
        if footer["log_digest"] != self._digest.hex():
            raise _Mismatch("the footer has another digest")
        if not self._complete:
            if footer["result"] is not None or footer["secret"]:
                raise _Mismatch("a partial replay holds a result or a secret")
        elif not state.over:
            raise _Mismatch("the replay says that it is complete, but the game is not over")
        else:
            self._result = result(state)
            if footer["result"] != result_fields(self._result):
                raise _Mismatch("the footer has another result")
        expected = footer_line(
            self._done + 1, self._digest.hex(), secret=secret, outcome=self._result
        )
        if self._lines[-2] + b"\n" != expected:
            raise _Mismatch("the footer is not in canonical form")


def _require_types(header: Header) -> None:
    """Refuse values of other types than the fields have: JSON gives whatever is in the file.

    Raises:
        TypeError: A value is of another type; a flag is no whole number.
    """
    texts = [header.game_id, header.ruleset, header.ruleset_digest, header.commitment]
    numbers = [header.started_unix_ms, *header.options.values()]
    for seat in header.seats:
        texts += [seat.name, seat.kind, seat.policy, seat.nonce]
        numbers += seat.cards.values()
        if type(seat.vip) is not bool:
            raise TypeError(f"{seat.vip!r} is no flag")
    for text in texts:
        if type(text) is not str:
            raise TypeError(f"{text!r} is no text")
    for number in numbers:
        if type(number) is not int:
            raise TypeError(f"{number!r} is no whole number")
