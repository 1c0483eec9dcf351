"""Fair dice: the published test vectors, an independent reading of the page, and the other sources."""

import hashlib
import hmac
import re
from pathlib import Path
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from opolyx_rules import (
    InvariantError,
    RecordedChance,
    RecordingChance,
    ScriptedChance,
    SeededChance,
    commitment_of,
    derive_game_key,
    get_ruleset,
    start,
)
from opolyx_rules.chance import DECK, DICE, FIRST_SEAT, LABELS, PACKET, THIRD_DIE, WAGER

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "fair-dice.md"
SECRET: Final = bytes(range(32))
NONCES: Final = [b"north", b"", b"\x00\xff"]


def vectors() -> dict[str, str]:
    """The page's table of test vectors: value by name."""
    table = PAGE.read_text().split("## Test vectors")[1]
    rows = re.findall(r"^\| ([^|]+) \| ([^|]+) \|$", table, re.MULTILINE)
    return {name: value.strip("`") for name, value in rows if name != "what" and "---" not in name}


def numbers(name: str) -> list[int]:
    """A vector that is a row of numbers."""
    return [int(word) for word in vectors()[name].split()]


@pytest.fixture
def chance() -> SeededChance:
    """The streams of the page's game."""
    return SeededChance(derive_game_key(SECRET, "game-1", NONCES))


def test_the_commitment_is_the_published_one() -> None:
    assert vectors()["commitment"] == commitment_of(SECRET).hex()


def test_the_key_is_the_published_one() -> None:
    assert vectors()["key"] == derive_game_key(SECRET, "game-1", NONCES).hex()


def test_the_first_block_of_the_dice_is_the_published_one() -> None:
    key = bytes.fromhex(vectors()["key"])
    block = hmac.new(key, b"dice\x00" + bytes(8), hashlib.sha256).hexdigest()

    assert vectors()["block 0 of `dice`"] == block


@pytest.mark.parametrize(
    ("name", "label", "sides"),
    [
        ("five draws of `packet`, n = 2501", PACKET, 2_501),
        ("five faces of `wager`", WAGER, 6),
        ("five draws of `third_die`", THIRD_DIE, 6),
        ("first 20 faces of `dice`", DICE, 6),
        ("`first_seat`, n = 3", FIRST_SEAT, 3),
    ],
)
def test_draws_are_the_published_ones(
    chance: SeededChance, name: str, label: int, sides: int
) -> None:
    expected = numbers(name)
    first = 1 if "faces" in name else 0

    assert expected == [chance.draw(label, sides) + first for _ in expected]


def test_the_deck_is_shuffled_as_published(chance: SeededChance) -> None:
    expected = numbers("`deck`, n = 16 down to 2")
    assert expected == [chance.draw(DECK, sides) for sides in range(16, 1, -1)]
    deck = list(range(16))
    for index, other in zip(range(15, 0, -1), expected, strict=True):
        deck[index], deck[other] = deck[other], deck[index]
    fresh = SeededChance(derive_game_key(SECRET, "game-1", NONCES))

    assert deck == start(get_ruleset("classic@full"), 3, fresh).deck


def test_the_first_seat_is_drawn_from_its_own_stream(chance: SeededChance) -> None:
    (expected,) = numbers("`first_seat`, n = 3")

    assert expected == start(get_ruleset("classic@full"), 3, chance).first_seat


def test_every_vector_of_the_page_is_tested() -> None:
    assert 9 == len(vectors())


@pytest.mark.parametrize(
    ("game_id", "nonces"),
    [
        ("game-2", NONCES),
        ("game-1", [b"north", b"", b"\x00"]),
        ("game-1", [b"", b"north", b"\x00\xff"]),
        ("game-1", [b"nort", b"h", b"\x00\xff"]),
        ("game-1north", [b"", b"\x00\xff"]),
        ("game-1", [*NONCES, b""]),
    ],
)
def test_the_key_depends_on_every_part_and_where_it_ends(game_id: str, nonces: list[bytes]) -> None:
    assert derive_game_key(SECRET, "game-1", NONCES) != derive_game_key(SECRET, game_id, nonces)
    other = derive_game_key(bytes(32), "game-1", NONCES)
    assert derive_game_key(SECRET, "game-1", NONCES) != other


def as_the_page_says(key: bytes, label: bytes, sides: list[int]) -> list[int]:
    """Points 4 and 5 of the page, written out once more and without cleverness."""
    stream, place, drawn = b"", 0, []
    for block in range(2 + len(sides)):
        message = label + b"\x00" + block.to_bytes(8, "big")
        stream += hmac.new(key, message, hashlib.sha256).digest()
    for count in sides:
        width = 1 if count <= 256 else 2
        while True:
            value = int.from_bytes(stream[place : place + width], "big")
            place += width
            if value < 256**width // count * count:
                drawn.append(value % count)
                break
    return drawn


@given(
    key=st.binary(min_size=1, max_size=40),
    label=st.integers(0, len(LABELS) - 1),
    sides=st.lists(st.integers(1, 3_000) | st.sampled_from([6, 255, 256, 257]), max_size=40),
)
def test_draws_follow_the_page(key: bytes, label: int, sides: list[int]) -> None:
    chance = SeededChance(key)

    assert as_the_page_says(key, LABELS[label], sides) == [chance.draw(label, n) for n in sides]


def test_a_stream_does_not_shift_another() -> None:
    alone, mixed = SeededChance(b"key"), SeededChance(b"key")
    expected = [alone.draw(DICE, 6) for _ in range(100)]
    drawn = []
    for _ in range(100):
        mixed.draw(DECK, 16)
        mixed.draw(WAGER, 6)
        drawn.append(mixed.draw(DICE, 6))

    assert expected == drawn


@given(used=st.lists(st.integers(0, 300), min_size=len(LABELS), max_size=len(LABELS)))
def test_streams_go_on_from_their_places(used: list[int]) -> None:
    first = SeededChance(b"key")
    for label, count in enumerate(used):
        for _ in range(count):
            first.draw(label, 6)
    again = SeededChance(b"key", first.places())

    for label in range(len(LABELS)):
        assert [first.draw(label, 6) for _ in range(9)] == [again.draw(label, 6) for _ in range(9)]


def test_a_die_is_fair() -> None:
    """Each face within five standard deviations of a sixth of 60,000 rolls."""
    chance = SeededChance(b"fair")
    faces = [0] * 6
    for _ in range(60_000):
        faces[chance.draw(DICE, 6)] += 1

    assert all(abs(count - 10_000) < 5 * 91.3 for count in faces)


def test_recording_keeps_the_draws_in_order_and_once() -> None:
    recording = RecordingChance(ScriptedChance([3, 5], other={WAGER: [4]}))
    drawn = [recording.draw(DICE, 6), recording.draw(WAGER, 6), recording.draw(DICE, 6)]

    assert [2, 4, 4] == drawn == recording.take()
    assert [] == recording.take()


def test_a_record_gives_its_draws_back_and_no_more() -> None:
    recorded = RecordedChance([2, 5])
    assert [2, 5] == [recorded.draw(DICE, 6), recorded.draw(DICE, 6)]
    assert 0 == recorded.rest()

    with pytest.raises(InvariantError, match="no draw for dice"):
        recorded.draw(DICE, 6)


@pytest.mark.parametrize("value", [-1, 6])
def test_a_record_outside_the_bounds_is_an_error(value: int) -> None:
    with pytest.raises(InvariantError, match=r"outside 0\.\.5"):
        RecordedChance([value]).draw(DICE, 6)


def test_a_script_that_has_ended_is_an_error_for_dice_only() -> None:
    script = ScriptedChance([6], third=[5])
    assert 5 == script.draw(DICE, 6)
    assert 5 == script.draw(THIRD_DIE, 6)
    assert 0 == script.draw(DECK, 16)

    for label in (DICE, THIRD_DIE):
        with pytest.raises(InvariantError, match="has ended"):
            script.draw(label, 6)


def test_a_scripted_value_outside_the_bounds_is_an_error() -> None:
    with pytest.raises(InvariantError, match=r"outside 0\.\.5"):
        ScriptedChance([7]).draw(DICE, 6)
