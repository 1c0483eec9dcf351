"""What seats give each other in trades is kept with the table, through snapshots and to the end."""

import json
from dataclasses import replace

import pytest

from opolyx_engine.facts import GAME_FINISHED
from opolyx_engine.gifts import gifts_after
from opolyx_engine.header import PERSON, GameHeader, Holder, HouseOptions
from opolyx_engine.rpc.convert_facts import fact_to_proto
from opolyx_engine.store.base import StoredFact
from opolyx_engine.table import Step, Table
from opolyx_rules.chance import SeededChance
from opolyx_rules.events import OFFER_CLOSED, Event
from opolyx_rules.ids import OFFER_ACCEPTED, OFFER_DECLINED
from opolyx_rules.policies import POLICIES
from opolyx_rules.queries import awaited_seat
from opolyx_rules.state import State

SECRET = b"s" * 32


def offered(*offers: tuple[int, int, int, int, int, int, int, int]) -> State:
    """A state with open offers: id, proposer, recipient, cash and squares given and wanted."""
    state = Table.begin(header(), SECRET, 1)[0].state.clone()
    state.offers.extend(offers)
    return state


def header(round_cap: int = 12) -> GameHeader:
    holders = tuple(Holder(f"p_{seat}", "", PERSON) for seat in range(4))
    return GameHeader("g_1", "classic@full", holders, options=HouseOptions(round_cap=round_cap))


def test_who_gets_less_has_given() -> None:
    state = offered((1, 0, 2, 5_000, 0, 1_000, 0, 0), (2, 1, 3, 0, 0, 700, 0, 0))
    accepted: list[Event] = [(OFFER_CLOSED, 1, OFFER_ACCEPTED)]

    assert ((0, 2, 4_000),) == gifts_after((), state, accepted)
    assert ((0, 2, 4_100),) == gifts_after(((0, 2, 100),), state, accepted)
    both: list[Event] = [*accepted, (OFFER_CLOSED, 2, OFFER_ACCEPTED)]
    assert ((0, 2, 4_000), (3, 1, 700)) == gifts_after((), state, both)


@pytest.mark.parametrize("events", [[], [(OFFER_CLOSED, 1, OFFER_DECLINED)]])
def test_what_is_not_accepted_is_no_gift(events: list[Event]) -> None:
    state = offered((1, 0, 2, 5_000, 0, 0, 0, 0))

    assert ((1, 2, 3),) == gifts_after(((1, 2, 3),), state, events)


def test_a_fair_trade_gives_nothing() -> None:
    state = offered((1, 0, 2, 900, 0, 900, 0, 0))

    assert () == gifts_after((), state, [(OFFER_CLOSED, 1, OFFER_ACCEPTED)])


def test_gifts_of_a_whole_game_are_told_at_its_end_and_survive_a_snapshot() -> None:
    before = table = Table.begin(header(), SECRET, 1_000)[0]
    chance, number, last = SeededChance(b"deals"), 0, None
    while not table.state.over:
        number += 1
        last = step_of(table, chance, number)
        assert table.gifts == table.at_snapshot(table.to_snapshot()).gifts, "lost by a restart"
        before, table = table, table.after(last)
    assert table.gifts, "nobody traded: the test shows nothing"
    assert last is not None
    facts = before.append_of(last, with_snapshot=False).facts
    (finished,) = [fact for fact in facts if fact.kind == GAME_FINISHED]

    told = fact_to_proto(StoredFact(1, "g_1", finished)).game_finished.gifts
    assert list(table.gifts) == [(gift.giver, gift.taker, gift.value) for gift in told]

    old = json.loads(finished.body)
    del old["gifts"]
    without = replace(finished, body=json.dumps(old).encode())
    assert not fact_to_proto(StoredFact(1, "g_1", without)).game_finished.gifts


def step_of(table: Table, chance: SeededChance, number: int) -> Step:
    """What a trader does next; who may answer an offer does so first."""
    state = table.state
    for offer in state.offers:
        action = POLICIES["trader"](state, offer[2], chance)
        if action[1] == offer[2] and action[0] in (21, 22):
            return table.plan(action, f"c{number}", 2_000 + number)
    action = POLICIES["trader"](state, awaited_seat(state), chance)
    return table.plan(action, f"c{number}", 2_000 + number)
