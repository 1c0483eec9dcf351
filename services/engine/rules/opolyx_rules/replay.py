"""The replay file: the whole record of a game, and its verification.

A replay is lines of canonical JSON (no spaces, keys in the order written here), each ended by a
line feed: one header, one record a step, one footer. Record 0 is the start, record n is update n.
Every record carries the running digest of the log up to itself, so that a changed byte is found at
its record. Format and an example: docs/replay-format.md.
"""

import hashlib
import json
from dataclasses import asdict, dataclass, field, replace
from typing import Final

from opolyx_rules.chance import (
    Chance,
    RecordedChance,
    RecordingChance,
    SeededChance,
    commitment_of,
    derive_game_key,
)
from opolyx_rules.editions import get_ruleset
from opolyx_rules.engine import apply_checked, check, result, start
from opolyx_rules.events import GAME_ENDED, TURN_ENDED, Log
from opolyx_rules.mechanics.ending import Result
from opolyx_rules.reasons import InvariantError
from opolyx_rules.ruleset import Ruleset
from opolyx_rules.state import State
from opolyx_rules.views import state_digest

FORMAT: Final = "opolyx-replay/1"

OPTIONS: Final = ("start_cash", "round_cap", "turn_seconds")
"""Fields of a ruleset that a house may set for one game."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SeatRecord:
    """What the record keeps of a seat."""

    name: str
    """The name shown."""
    kind: str
    """`person`, `bot` or `built_in`."""
    policy: str = ""
    """The built-in bot's policy; empty for others."""
    nonce: str = ""
    """The seat's share in the dice, hex."""
    cards: dict[str, int] = field(default_factory=dict)
    """Bonus in bp by square, as decimal strings (RENT-5)."""
    vip: bool = False
    """Whether the seat may finance (FIN-1)."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Header:
    """What is fixed before the first roll."""

    game_id: str
    """The game."""
    ruleset: str
    """`mode@edition`."""
    ruleset_digest: str
    """`Ruleset.digest()` of the ruleset with the options set."""
    options: dict[str, int]
    """House options by field name, see `OPTIONS`."""
    seats: tuple[SeatRecord, ...]
    """The seats in seat order."""
    commitment: str
    """SHA-256 of the server's secret, hex."""
    started_unix_ms: int
    """When the game started."""

    def rules(self) -> Ruleset:
        """The ruleset with the options set.

        Raises:
            KeyError: No ruleset has this name.
            ValueError: An option is unknown or out of bounds.
        """
        return with_options(get_ruleset(self.ruleset), self.options)

    def cards(self) -> dict[int, dict[int, int]]:
        """Collection cards in the form `engine.start` takes."""
        return {
            seat: {int(square): bonus for square, bonus in record.cards.items()}
            for seat, record in enumerate(self.seats)
        }

    def vip(self) -> tuple[int, ...]:
        """The seats that may finance, in the form `engine.start` takes."""
        return tuple([seat for seat, record in enumerate(self.seats) if record.vip])

    def game_key(self, secret: bytes) -> bytes:
        """The key of the game's dice."""
        nonces = [bytes.fromhex(record.nonce) for record in self.seats]
        return derive_game_key(secret, self.game_id, nonces)

    def start(self, chance: Chance, log: Log | None = None) -> State:
        """Set the game up as `engine.start` does."""
        cards, vip = self.cards(), self.vip()
        return start(self.rules(), len(self.seats), chance, cards=cards, vip=vip, log=log)


def with_options(ruleset: Ruleset, options: dict[str, int]) -> Ruleset:
    """The ruleset with house options set.

    Raises:
        ValueError: An option is unknown or out of the ruleset's bounds.
    """
    unknown = sorted(set(options) - set(OPTIONS))
    if unknown:
        raise ValueError(f"no house option {unknown[0]!r}; there are {', '.join(OPTIONS)}")
    changed = replace(
        ruleset,
        start_cash=options.get("start_cash", ruleset.start_cash),
        round_cap=options.get("round_cap", ruleset.round_cap),
        turn_seconds=options.get("turn_seconds", ruleset.turn_seconds),
    )
    wrong = changed.validate()
    if wrong:
        raise ValueError("; ".join(wrong))
    return changed


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One step: what was put in, what chance gave, and the digests after it."""

    seq: int
    """0 for the start, then the number of the update."""
    at_unix_ms: int
    """When it took effect."""
    action: tuple[int, ...]
    """The action; empty for the start."""
    draws: tuple[int, ...]
    """What chance gave, in order."""
    state_digest: str
    """`state_digest` at the end of a turn and of the game, hex; empty elsewhere."""
    log_digest: str
    """The running digest up to this record, hex."""


def header_line(header: Header) -> bytes:
    """The first line, with its line feed."""
    return _line({"format": FORMAT, **asdict(header)})


def first_digest(header: Header) -> bytes:
    """The running digest before record 0: SHA-256 of the header line."""
    return hashlib.sha256(header_line(header)).digest()


def make_record(
    previous: bytes,
    *,
    seq: int,
    at_unix_ms: int,
    action: tuple[int, ...],
    draws: tuple[int, ...],
    turn_digest: bytes = b"",
) -> Record:
    """The record of a step, with its running digest: SHA-256(previous digest || record so far).

    Args:
        previous: The running digest before it; `first_digest` for record 0.
        seq: See `Record`.
        at_unix_ms: See `Record`.
        action: See `Record`.
        draws: See `Record`.
        turn_digest: `state_digest` where `ends_turn` holds for the step's events; else empty.
    """
    body = _body(seq, at_unix_ms, action, draws, turn_digest.hex())
    digest = hashlib.sha256(previous + _line(body)).hexdigest()
    return Record(
        seq=seq,
        at_unix_ms=at_unix_ms,
        action=action,
        draws=draws,
        state_digest=turn_digest.hex(),
        log_digest=digest,
    )


def record_line(record: Record) -> bytes:
    """The line of a record, with its line feed."""
    body = _body(record.seq, record.at_unix_ms, record.action, record.draws, record.state_digest)
    return _line({**body, "log_digest": record.log_digest})


def footer_line(
    records: int, log_digest: str, *, secret: bytes = b"", outcome: Result | None = None
) -> bytes:
    """The last line. With a secret and an outcome the replay is complete, else it is partial."""
    complete = outcome is not None
    return _line(
        {
            "complete": complete,
            "records": records,
            "log_digest": log_digest,
            "secret": secret.hex(),
            "result": _result_fields(outcome) if outcome is not None else None,
        }
    )


def ends_turn(log: Log) -> bool:
    """Whether a step ended a turn or the game, so that its record has a state digest."""
    for event in log:
        if event[0] in (TURN_ENDED, GAME_ENDED):
            return True
    return False


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
        source: Chance | None = SeededChance(header.game_key(secret)) if secret else None
        self._digest = first_digest(header)
        state: State | None = None
        for seq, line in enumerate(self._lines[1:-2]):
            state = self._step(header, state, seq, line, source)
        self._check_footer(footer, state)

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
            rules = header.rules()
            header.cards()
            header.game_key(b"")
        except (ValueError, KeyError, TypeError, AttributeError) as error:
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
            canonical = _line(footer)
            keys = list(footer)
        except (ValueError, TypeError) as error:
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

    def _check_footer(self, footer: dict[str, object], state: State | None) -> None:
        if state is None or footer["records"] != self._done + 1:
            raise _Mismatch("the footer counts other records")
        if footer["log_digest"] != self._digest.hex():
            raise _Mismatch("the footer has another digest")
        if not self._complete:
            if footer["result"] is not None or footer["secret"]:
                raise _Mismatch("a partial replay holds a result or a secret")
            return
        if not state.over:
            raise _Mismatch("the replay says that it is complete, but the game is not over")
        self._result = result(state)
        if footer["result"] != _result_fields(self._result):
            raise _Mismatch("the footer has another result")


def _body(
    seq: int, at_unix_ms: int, action: tuple[int, ...], draws: tuple[int, ...], state: str
) -> dict[str, object]:
    return {
        "seq": seq,
        "at_unix_ms": at_unix_ms,
        "action": list(action),
        "draws": list(draws),
        "state_digest": state,
    }


def _result_fields(outcome: Result) -> dict[str, object]:
    seats = [
        {
            "seat": part.seat,
            "place": part.place,
            "survived": part.survived,
            "net_worth": part.net_worth,
            "full_groups": part.full_groups,
        }
        for part in outcome.seats
    ]
    return {"cause": outcome.cause, "round": outcome.round, "seats": seats}


def _line(values: dict[str, object]) -> bytes:
    return json.dumps(values, separators=(",", ":"), ensure_ascii=True).encode() + b"\n"
