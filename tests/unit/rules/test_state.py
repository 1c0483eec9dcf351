"""Every slot of `State` is cloned and encoded: found by reflection, so that a new one is, too."""

import json
from collections.abc import Iterator
from typing import Any, Final

import pytest

from opolyx_rules import State, get_ruleset
from opolyx_rules.codec import FORMAT, decode, encode
from opolyx_rules.state import DERIVED, new_state
from support_playout import random_states

FROZEN: Final = ("ruleset", "seats", "cards", "vip")
"""Slots that never change, and that clones share."""
CHANGING: Final = sorted(set(State.__slots__).difference(FROZEN, DERIVED))


def fresh() -> State:
    """A state with a card and a VIP."""
    return new_state(get_ruleset("speed@full"), 3, {1: {39: 1_800}}, (2,))


def fill(state: State) -> State:
    """Give every slot a value of its own: none is what `State` begins with."""
    items: dict[str, Any] = {
        "stack": [(20, 1, 0, 5), (6, 2, 3, 7)],
        "debts": [(2, ((0, 700, 5), (-1, 30, 6)))],
        "offers": [(4, 0, 1, 100, 2, 0, 8, 2)],
        "auction_bids": [(1, 2_000), (2, 2_100)],
        "over": True,
    }
    for number, slot in enumerate(CHANGING, start=1_000):
        value = getattr(state, slot)
        if slot in items:
            setattr(state, slot, items[slot])
        elif isinstance(value, list):
            setattr(state, slot, [number + place for place in range(len(value) or 3)])
        else:
            setattr(state, slot, number)
    state.owner[39] = 1
    state.find_holdings()
    return state


def test_filling_changes_every_slot() -> None:
    filled = fill(fresh())

    assert [] == [slot for slot in CHANGING if getattr(filled, slot) == getattr(fresh(), slot)]


def test_a_clone_has_every_slot() -> None:
    state = fill(fresh())
    clone = state.clone()

    for slot in State.__slots__:
        assert getattr(state, slot) == getattr(clone, slot)
        assert type(getattr(state, slot)) is type(getattr(clone, slot))


def test_a_clone_shares_nothing_that_can_be_changed() -> None:
    state = fill(fresh())
    clone = state.clone()

    for slot in (*CHANGING, *DERIVED):
        shared = getattr(state, slot) is getattr(clone, slot)
        assert not (shared and isinstance(getattr(state, slot), list)), slot
    for slot in FROZEN:
        assert getattr(state, slot) is getattr(clone, slot)


def test_no_slot_holds_lists_within_lists() -> None:
    """A clone copies one level only."""
    for state in random_states(get_ruleset("speed@full"), 5, "nested", 300):
        for slot in State.__slots__:
            assert [] == list(mutable_parts(getattr(state, slot))), slot


def test_the_bytes_hold_every_slot_but_the_ruleset() -> None:
    values = json.loads(encode(fill(fresh())))

    expected = {*State.__slots__, "format"} - {"ruleset", *DERIVED}
    assert sorted(expected) == sorted(values)


@pytest.mark.parametrize("slot", CHANGING)
def test_a_changed_slot_changes_the_bytes(slot: str) -> None:
    state, other = fresh(), fresh()
    setattr(other, slot, getattr(fill(fresh()), slot))

    assert encode(state) != encode(other)


def test_every_slot_survives_the_bytes_with_its_type() -> None:
    state = fill(fresh())
    again = decode(encode(state), state.ruleset)

    for slot in State.__slots__:
        assert getattr(state, slot) == getattr(again, slot)
        assert shape(getattr(state, slot)) == shape(getattr(again, slot))


def test_equal_states_have_equal_bytes() -> None:
    for state in random_states(get_ruleset("fortune@full"), 4, "bytes", 20):
        assert encode(state) == encode(decode(encode(state), state.ruleset))


@pytest.mark.parametrize("version", [None, 0, FORMAT + 1, str(FORMAT)])
def test_another_format_is_refused(version: object) -> None:
    values = json.loads(encode(fresh()))
    values["format"] = version

    with pytest.raises(ValueError, match="state format"):
        decode(json.dumps(values).encode(), get_ruleset("speed@full"))


def test_pushed_frames_have_serials_of_their_own() -> None:
    state = fresh()
    state.push(1, 0)
    state.push(4, 2, 39)

    assert [(1, 0, 0, 1), (4, 2, 39, 2)] == state.stack
    assert 2 == state.serial


def mutable_parts(value: object) -> Iterator[object]:
    """Lists inside a list, however deep: a clone that copies one level would share them."""
    if isinstance(value, list | tuple):
        for part in value:
            if isinstance(part, list):
                yield part
            yield from mutable_parts(part)


def shape(value: object) -> object:
    """The types of a value and of all its parts."""
    if isinstance(value, list | tuple):
        return (type(value), [shape(part) for part in value])
    return type(value)
