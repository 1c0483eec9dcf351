"""The replay file: the whole record of a game. `verification` recomputes it.

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
    DECK,
    Chance,
    RecordedChance,
    RecordingChance,
    derive_game_key,
)
from opolyx_rules.editions import get_ruleset
from opolyx_rules.engine import start
from opolyx_rules.events import GAME_ENDED, TURN_ENDED, Log
from opolyx_rules.mechanics.ending import Result
from opolyx_rules.ruleset import Ruleset
from opolyx_rules.state import State

FORMAT: Final = "opolyx-replay/2"

_ENCODER: Final = json.JSONEncoder(separators=(",", ":"), ensure_ascii=True)

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


@dataclass(slots=True, kw_only=True)
class Record:
    """One step: what was put in, what chance gave, and the digests after it. Never changed.

    Not frozen, because one is made for every step, and a frozen one takes three times as long.
    """

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
    body: str = field(default="", init=False, repr=False, compare=False)
    """Its line as far as the running digest covers it, where `make_record` has written it."""


def header_line(header: Header) -> bytes:
    """The first line, with its line feed."""
    return canonical_line({"format": FORMAT, **asdict(header)})


def first_digest(header: Header, secret: bytes) -> bytes:
    """The running digest before record 0: SHA-256 of the header line and the server's secret.

    Without the secret in it, who sees a digest of a running game could try the orders of its deck
    until one leads there: once six of 16 cards were seen, the others have 3.6 million.
    """
    return hashlib.sha256(header_line(header) + secret).digest()


def known_start(header: Header, draws: tuple[int, ...], seen: int) -> tuple[int, ...]:
    """The draws of record 0 as they may be shown while the game runs.

    Args:
        header: The game's.
        draws: What chance gave at its start.
        seen: How many cards were turned up since.

    Returns:
        Draws that lay the cards seen where they lay, and the others behind them by their numbers.
    """
    if not header.rules().deck_shuffled:
        return draws
    deck = header.start(RecordedChance(list(draws))).deck
    dealt = _Dealt(RecordedChance(list(draws)), deck[:seen] + sorted(deck[seen:]))
    recording = RecordingChance(dealt)
    header.start(recording)
    return tuple(recording.drawn)


class _Dealt(Chance):
    """Recorded chance, but for a deck that comes to lie in another order."""

    __slots__ = ("_deck", "_lying", "_source")

    def __init__(self, source: Chance, deck: list[int]) -> None:
        self._source = source
        self._deck = deck
        self._lying = sorted(deck)

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`; for the deck, the place of the card that belongs on top of the rest."""
        value = self._source.draw(label, sides)
        if label != DECK:
            return value
        top, lying = sides - 1, self._lying
        other = lying.index(self._deck[top])
        lying[top], lying[other] = lying[other], lying[top]
        return other


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
    state = turn_digest.hex()
    body = _body(seq, at_unix_ms, action, draws, state)
    digest = hashlib.sha256(previous + body.encode() + b"}\n").hexdigest()
    record = Record(
        seq=seq,
        at_unix_ms=at_unix_ms,
        action=action,
        draws=draws,
        state_digest=state,
        log_digest=digest,
    )
    record.body = body
    return record


def record_line(record: Record) -> bytes:
    """The line of a record, with its line feed."""
    body = record.body
    if not body:
        body = _body(
            record.seq, record.at_unix_ms, record.action, record.draws, record.state_digest
        )
    return f'{body},"log_digest":"{record.log_digest}"}}\n'.encode()


def footer_line(
    records: int, log_digest: str, *, secret: bytes = b"", outcome: Result | None = None
) -> bytes:
    """The last line. With a secret and an outcome the replay is complete, else it is partial."""
    complete = outcome is not None
    return canonical_line(
        {
            "complete": complete,
            "records": records,
            "log_digest": log_digest,
            "secret": secret.hex(),
            "result": result_fields(outcome) if outcome is not None else None,
        }
    )


def ends_turn(log: Log) -> bool:
    """Whether a step ended a turn or the game, so that its record has a state digest."""
    for event in log:
        if event[0] in (TURN_ENDED, GAME_ENDED):
            return True
    return False


def _body(
    seq: int, at_unix_ms: int, action: tuple[int, ...], draws: tuple[int, ...], state: str
) -> str:
    """A record's line without its running digest and its end.

    Written by hand, because a dict and the encoder take five times as long for the same bytes.
    """
    return (
        f'{{"seq":{seq},"at_unix_ms":{at_unix_ms},"action":[{_numbers(action)}],'
        f'"draws":[{_numbers(draws)}],"state_digest":"{state}"'
    )


def _numbers(values: tuple[int, ...]) -> str:
    """Them with commas between; a pattern for all takes a third of the time that joining takes."""
    count = len(values)
    if count < len(_PATTERNS):
        return _PATTERNS[count] % values
    return ",".join([str(value) for value in values])


_PATTERNS: Final = tuple(",".join(["%s"] * count) for count in range(8))


def result_fields(outcome: Result) -> dict[str, object]:
    """A result as the footer has it."""
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


def canonical_line(values: dict[str, object]) -> bytes:
    """One line of the file in the only form it may have, with its line feed."""
    return _ENCODER.encode(values).encode() + b"\n"
