"""Replays of random games, and lines of them put together anew."""

from typing import Final

from opolyx_rules import (
    RecordingChance,
    SeededChance,
    apply,
    commitment_of,
    get_ruleset,
    result,
    state_digest,
)
from opolyx_rules.replay import (
    Header,
    SeatRecord,
    ends_turn,
    first_digest,
    footer_line,
    header_line,
    make_record,
    record_line,
    with_options,
)
from support_playout import Players

SECRET: Final = bytes(range(100, 132))
_STARTED: Final = 1_700_000_000_000


def replay_header(
    name: str = "classic@full",
    *,
    seats: int = 3,
    options: dict[str, int] | None = None,
    secret: bytes = SECRET,
) -> Header:
    """A header with every sort of seat."""
    chosen = options or {}
    records = [
        SeatRecord(name="Ana", kind="person", nonce="00ff", vip=True),
        SeatRecord(name="萬", kind="bot", cards={"39": 3_300, "1": 300}),
        SeatRecord(name='"b"', kind="built_in", policy="steady", nonce="aa"),
    ]
    return Header(
        game_id="game-1",
        ruleset=name,
        ruleset_digest=with_options(get_ruleset(name), chosen).digest(),
        options=chosen,
        seats=tuple([records[seat % 3] for seat in range(seats)]),
        commitment=commitment_of(secret).hex(),
        started_unix_ms=_STARTED,
    )


def record_game(
    header: Header, *, secret: bytes = SECRET, steps: int | None = None, seed: str = "replay"
) -> bytes:
    """The replay of a random game: whole, or partial after so many steps."""
    chance = RecordingChance(SeededChance(header.game_key(secret)))
    players = Players(len(header.seats), seed)
    state = header.start(chance)
    record = make_record(
        first_digest(header, secret),
        seq=0,
        at_unix_ms=_STARTED,
        action=(),
        draws=tuple(chance.take()),
    )
    lines = [header_line(header), record_line(record)]
    while not state.over and steps != record.seq:
        action = players.choose(state)
        log = apply(state, action, chance)
        record = make_record(
            bytes.fromhex(record.log_digest),
            seq=record.seq + 1,
            at_unix_ms=record.at_unix_ms + 250,
            action=action,
            draws=tuple(chance.take()),
            turn_digest=state_digest(state) if ends_turn(log) else b"",
        )
        lines.append(record_line(record))
    outcome = result(state) if state.over else None
    revealed = secret if state.over else b""
    lines.append(footer_line(len(lines) - 1, record.log_digest, secret=revealed, outcome=outcome))
    return b"".join(lines)
