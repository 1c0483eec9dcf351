"""`verify` accepts what follows from the key and nothing else, and names what differs first."""

import hashlib
import json
import random
from collections.abc import Callable
from typing import Any, Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opolyx_rules import RULESETS, commitment_of
from opolyx_rules.chance import RecordedChance
from opolyx_rules.replay import first_digest, known_start
from opolyx_rules.verification import verify
from support_replay import SECRET, record_game, replay_header

HEADER: Final = replay_header(options={"round_cap": 12})
GAME: Final = record_game(replay_header(options={"round_cap": 12}))
PARTIAL: Final = record_game(replay_header(options={"round_cap": 12}), steps=60)
LINES: Final = GAME.splitlines(keepends=True)
LAST: Final = len(LINES) - 3
"""The last update of GAME."""


@pytest.mark.parametrize("name", sorted(RULESETS))
def test_a_whole_game_is_verified(name: str) -> None:
    header = replay_header(name, seats=4, options={"round_cap": 15})
    data = record_game(header)
    verdict = verify(data)

    assert verdict.ok, verdict.problem
    assert verdict.complete
    assert "" == verdict.problem
    assert verdict.update is None
    assert data.count(b"\n") - 3 == verdict.updates
    assert header == verdict.header
    assert json.loads(data.splitlines()[-1])["log_digest"] == verdict.log_digest
    assert verdict.result is not None
    assert [1, 2, 3, 4][: verdict.result.places] == sorted(
        {part.place for part in verdict.result.seats}
    )


def test_a_partial_game_is_verified_but_not_called_complete() -> None:
    verdict = verify(PARTIAL)

    assert verdict.ok, verdict.problem
    assert not verdict.complete
    assert 60 == verdict.updates
    assert verdict.result is None


def test_a_game_of_which_only_the_start_is_there_is_verified() -> None:
    verdict = verify(record_game(replay_header(), steps=0))

    assert verdict.ok, verdict.problem
    assert 0 == verdict.updates


@pytest.mark.parametrize("data", [GAME, PARTIAL], ids=["complete", "partial"])
def test_any_changed_byte_of_a_record_is_found_at_its_update(data: bytes) -> None:
    """The first 21 records and every seventh behind them, three random places each."""
    luck = random.Random("bytes")
    lines = data.splitlines(keepends=True)
    first = 0 if data is GAME else 1  # what a running game's start follows from is nobody's to know
    for seq in range(first, len(lines) - 2):
        if seq > 20 and seq % 7:
            continue
        for _ in range(3):
            place = luck.randrange(len(lines[seq + 1]) - 1)
            changed = bytearray(lines[seq + 1])
            changed[place] = luck.choice([b for b in range(256) if b not in (changed[place], 10)])
            verdict = verify(b"".join([*lines[: seq + 1], bytes(changed), *lines[seq + 2 :]]))

            assert not verdict.ok
            assert seq == verdict.update, (seq, place, verdict.problem)
            assert max(seq - 1, 0) == verdict.updates


@given(place=st.integers(0, len(GAME) - 1), byte=st.integers(0, 255))
def test_any_changed_byte_of_the_file_is_found(place: int, byte: int) -> None:
    changed = bytearray(GAME)
    changed[place] = byte

    assert verify(bytes(changed)).ok == (GAME[place] == byte)


def test_any_changed_byte_of_header_and_footer_is_found() -> None:
    """Every place of both lines: another digit or letter of the same sort, another case."""
    data = record_game(replay_header(options={"round_cap": 1}))
    lines = data.splitlines(keepends=True)
    footer = len(data) - len(lines[-1])
    for place in [*range(len(lines[0])), *range(footer, len(data))]:
        for byte in {*b"0a ", data[place] ^ 1, data[place] ^ 32} - {data[place]}:
            changed = data[:place] + bytes([byte]) + data[place + 1 :]

            assert not verify(changed).ok, (place, chr(byte))


@pytest.mark.parametrize("start", [0, 1, 2, LAST])
def test_a_missing_record_is_found_where_it_is_missing(start: int) -> None:
    verdict = verify(b"".join([*LINES[: start + 1], *LINES[start + 2 :]]))

    assert not verdict.ok
    assert (start if start < LAST else None) == verdict.update


def test_records_in_another_order_are_found() -> None:
    swapped = [*LINES[:5], LINES[6], LINES[5], *LINES[7:]]

    assert 4 == verify(b"".join(swapped)).update


def test_a_record_told_twice_is_found() -> None:
    assert 5 == verify(b"".join([*LINES[:6], LINES[5], *LINES[6:]])).update


@pytest.mark.parametrize("length", [0, 1, len(LINES[0]), len(GAME) // 2, len(GAME) - 1])
def test_a_cut_file_is_found(length: int) -> None:
    assert not verify(GAME[:length]).ok


@pytest.mark.parametrize("tail", [b"\n", b" ", LINES[-1], b"x\n"])
def test_anything_behind_the_footer_is_found(tail: bytes) -> None:
    assert not verify(GAME + tail).ok


# What a forger would do: change something and compute every digest anew.


def forge(
    *,
    header: Callable[[dict[str, Any]], object] = id,
    record: Callable[[dict[str, Any]], object] = id,
    footer: Callable[[dict[str, Any]], object] = id,
    data: bytes = GAME,
) -> bytes:
    """The file with the values of some lines changed, in canonical form, with fitting digests."""
    lines = [json.loads(line) for line in data.splitlines()]
    header(lines[0])
    digest = hashlib.sha256(as_line(lines[0]) + SECRET).digest()
    for values in lines[1:-1]:
        del values["log_digest"]
        record(values)
        digest = hashlib.sha256(digest + as_line(values)).digest()
        values["log_digest"] = digest.hex()
    lines[-1]["log_digest"] = digest.hex()
    footer(lines[-1])
    return b"".join(as_line(values) for values in lines)


def as_line(values: object) -> bytes:
    """Canonical JSON."""
    return json.dumps(values, separators=(",", ":")).encode() + b"\n"


def test_forging_nothing_changes_nothing() -> None:
    assert GAME == forge()


def change(seq: int, **fields: object) -> Callable[[dict[str, Any]], object]:
    """Set fields of one record."""
    return lambda values: values.update(fields) if values["seq"] == seq else None


def first_with(key: str) -> int:
    """The first update whose record has something in this field."""
    return next(seq for seq in range(1, LAST) if json.loads(LINES[seq + 1])[key])


def test_a_forged_die_is_found() -> None:
    seq = first_with("draws")
    draws = json.loads(LINES[seq + 1])["draws"]
    other = [(draws[0] + 1) % 6, *draws[1:]]

    verdict = verify(forge(record=change(seq, draws=other)))

    assert seq == verdict.update
    assert "dice" in verdict.problem


def test_a_forged_state_digest_is_found() -> None:
    seq = first_with("state_digest")

    verdict = verify(forge(record=change(seq, state_digest="00" * 32)))

    assert seq == verdict.update
    assert "another digest" in verdict.problem


@pytest.mark.parametrize(
    "action",
    [
        [],
        [0],
        [99, 0],
        [1, 7],
        [1, -1],
        [1],
        [9, 0, 40],
        [15, 0, 1],
        [20, 0],
        [20, 0, 1, 0, -1, 0, 0],
        [20, 0, 1, 0, 1 << 40, 0, 0],
        [20, 0, 9, 0, 2, 0, 0],
        [101, 0, 55],
        [1, True],
        [1.0, 0],
        ["1", 0],
        [None, 0],
        [[1], 0],
        [1 << 70, 0],
    ],
    ids=str,
)
def test_a_forged_action_is_found(action: list[object]) -> None:
    verdict = verify(forge(record=change(5, action=action)))

    assert 5 == verdict.update


@pytest.mark.parametrize(
    "fields",
    [
        {"seq": 6},
        {"seq": 5.0},
        {"at_unix_ms": "now"},
        {"at_unix_ms": None},
        {"draws": [0] * 9},
        {"draws": {"0": 1}},
        {"draws": 5},
        {"state_digest": "zz"},
        {"state_digest": None},
        {"extra": 1},
    ],
    ids=str,
)
def test_a_record_of_another_form_is_found(fields: dict[str, object]) -> None:
    def put(values: dict[str, Any]) -> None:
        if values["seq"] == 5:
            values.update(fields)

    assert 5 == verify(forge(record=put)).update


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"format": "opolyx-replay/1"}, "format"),
        ({"ruleset": "poker@full"}, "no ruleset"),
        ({"ruleset": "blitz@full"}, "other rules"),
        ({"options": {}}, "other rules"),
        ({"options": {"bail": 1}}, "no house option"),
        ({"options": {"round_cap": 0}}, "round_cap must be"),
        ({"options": {"round_cap": "12"}}, "can't be read"),
        ({"options": {"round_cap": 12.0}}, "can't be read"),
        ({"options": []}, "can't be read"),
        ({"commitment": "00" * 32}, "committed"),
        ({"commitment": 5}, "can't be read"),
        ({"seats": []}, "can't be"),
        ({"seats": 3}, "can't be read"),
        ({"seats": [{"name": "x"}]}, "can't be read"),
        ({"seats": [{}] * 200_000}, "can't be read"),
        ({"game_id": 7}, "can't be read"),
        ({"game_id": "\ud800"}, "can't be read"),
        ({"started_unix_ms": "now"}, "can't be read"),
        ({"surplus": 1}, "can't be read"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_a_forged_header_is_found(fields: dict[str, object], problem: str) -> None:
    verdict = verify(forge(header=lambda values: values.update(fields)))

    assert not verdict.ok
    assert problem in verdict.problem


@pytest.mark.parametrize(
    "fields",
    [
        {"cards": {"39": "3300"}},
        {"cards": {"39": 3_300.5}},
        {"cards": {"x": 1}},
        {"cards": [39]},
        {"nonce": "0"},
        {"nonce": 5},
        {"nonce": "AA"},
        {"vip": "yes"},
        {"vip": 1},
        {"name": 5},
        {"kind": None},
        {"policy": []},
    ],
    ids=str,
)
def test_a_seat_of_another_form_is_found(fields: dict[str, object]) -> None:
    verdict = verify(forge(header=lambda values: values["seats"][1].update(fields)))

    assert not verdict.ok


def test_a_forged_nonce_gives_other_dice() -> None:
    verdict = verify(forge(header=lambda values: values["seats"][0].update(nonce="00fe")))

    assert 0 == verdict.update


def test_another_secret_does_not_fit_the_commitment() -> None:
    verdict = verify(forge(footer=lambda values: values.update(secret="00" * 32)))

    assert "committed" in verdict.problem
    assert verdict.update is None


def test_a_secret_that_was_swapped_with_its_commitment_gives_other_dice() -> None:
    """Even who may rewrite the header finds no dice of their liking without every digest."""
    other = bytes(32)
    verdict = verify(
        forge(
            header=lambda values: values.update(commitment=commitment_of(other).hex()),
            footer=lambda values: values.update(secret=other.hex()),
        )
    )

    assert 0 == verdict.update


def test_an_empty_secret_is_no_way_around_the_dice() -> None:
    verdict = verify(
        forge(
            header=lambda values: values.update(commitment=commitment_of(b"").hex()),
            footer=lambda values: values.update(secret=""),
        )
    )

    assert 0 == verdict.update


@pytest.mark.parametrize(
    "fields",
    [
        {"complete": 1},
        {"complete": "yes"},
        {"complete": None},
        {"complete": False},
        {"records": LAST},
        {"records": LAST + 1.0},
        {"records": str(LAST + 1)},
        {"log_digest": "00" * 32},
        {"secret": SECRET.hex().upper()},
        {"secret": SECRET.hex(" ")},
        {"secret": "zz"},
        {"secret": 5},
        {"result": None},
        {"result": {}},
        {"extra": 1},
    ],
    ids=str,
)
def test_a_forged_footer_is_found(fields: dict[str, object]) -> None:
    verdict = verify(forge(footer=lambda values: values.update(fields)))

    assert not verdict.ok
    assert verdict.update is None
    assert verdict.result is None


@pytest.mark.parametrize("value", [2, 1.0, True, None, "1"], ids=repr)
@pytest.mark.parametrize("key", ["seat", "place", "survived", "net_worth", "full_groups"])
def test_a_forged_result_is_found(key: str, value: object) -> None:
    def put(values: dict[str, Any]) -> None:
        part = values["result"]["seats"][1]
        part[key] = value if (part[key], type(part[key])) != (value, type(value)) else 99

    verdict = verify(forge(footer=put))

    assert not verdict.ok
    assert verdict.update is None


@pytest.mark.parametrize(
    "fields", [{"secret": SECRET.hex()}, {"result": {}}, {"complete": True}], ids=str
)
def test_a_partial_replay_holds_neither_secret_nor_result(fields: dict[str, object]) -> None:
    verdict = verify(forge(data=PARTIAL, footer=lambda values: values.update(fields)))

    assert not verdict.ok
    assert verdict.update is None


def test_a_partial_replay_that_calls_itself_complete_is_found() -> None:
    fields = {"complete": True, "secret": SECRET.hex(), "result": json.loads(LINES[-1])["result"]}
    verdict = verify(forge(data=PARTIAL, footer=lambda values: values.update(fields)))

    assert "not over" in verdict.problem


@pytest.mark.parametrize("line", [0, 1, 5, len(LINES) - 1])
@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"null",
        b"[]",
        b"5",
        b'"text"',
        b"{}",
        b"\xff",
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b"9" * 10_000,
        b"NaN",
        b'{"complete":true,"complete":true}',
    ],
    ids=lambda text: str(text[:12]),
)
def test_nothing_in_the_file_makes_it_raise(line: int, text: bytes) -> None:
    lines = [*LINES[:line], text + b"\n", *LINES[line + 1 :]]

    assert not verify(b"".join(lines)).ok


@given(st.binary(max_size=300))
def test_no_bytes_at_all_make_it_raise(data: bytes) -> None:
    assert not verify(data).ok


def test_the_running_digest_begins_with_the_header_and_the_secret() -> None:
    header = replay_header(options={"round_cap": 12})
    first = first_digest(header, SECRET)
    assert hashlib.sha256(LINES[0] + SECRET).digest() == first

    body = json.loads(LINES[1])
    expected = body.pop("log_digest")
    assert expected == hashlib.sha256(first + as_line(body)).hexdigest()


def test_nobody_without_the_secret_can_try_decks_against_a_digest() -> None:
    """Else a client would know every card before it is drawn: a deck has few orders."""
    body = json.loads(LINES[1])
    digest = body.pop("log_digest")
    guesses = (b"", bytes(32), commitment_of(SECRET))
    tried = {
        hashlib.sha256(first_digest(HEADER, one) + as_line(body)).hexdigest() for one in guesses
    }

    assert digest not in tried


@pytest.mark.parametrize("seen", [0, 1, 3, 7, 8])
def test_a_known_start_shows_the_cards_seen_and_hides_the_order_of_the_rest(seen: int) -> None:
    """Two games that differ in the cards nobody has seen yet show the same start."""
    draws = tuple(json.loads(LINES[1])["draws"])
    deck = HEADER.start(RecordedChance(list(draws))).deck

    shown = known_start(HEADER, draws, seen)

    start = HEADER.start(RecordedChance(list(shown)))
    assert deck[:seen] + sorted(deck[seen:]) == start.deck
    assert HEADER.start(RecordedChance(list(draws))).first_seat == start.first_seat
    assert (shown == draws) == (deck[seen:] == sorted(deck[seen:]))


def test_a_deck_that_is_not_shuffled_is_no_secret() -> None:
    header = replay_header("classic@guide")
    assert (1,) == known_start(header, (1,), 0)
