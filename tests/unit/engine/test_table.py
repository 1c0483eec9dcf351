"""Tables, steps and clocks over whole games, without a wire or a store."""

import pytest

from opolyx_engine.clocks import Clocks
from opolyx_engine.header import PERSON, GameHeader, Holder
from opolyx_engine.record import Entry
from opolyx_engine.store.base import FINISHED
from opolyx_engine.table import LogMismatch, Table
from opolyx_rules.actions import DECLINE_TRADE, LAPSE_OFFER, SURRENDER, TIME_OUT, propose_trade
from opolyx_rules.chance import SeededChance
from opolyx_rules.engine import check
from opolyx_rules.ids import PHASE_NONE
from opolyx_rules.policies import POLICIES
from opolyx_rules.queries import awaited_phase, awaited_seat

SECRET = b"s" * 32


def new_table(ruleset: str = "classic@full", seats: int = 4) -> Table:
    holders = tuple(Holder(f"p_{seat}", "", PERSON) for seat in range(seats))
    return Table.begin(GameHeader("g_1", ruleset, holders), SECRET, 1_000)[0]


def played(table: Table, steps: int) -> list[Table]:
    """The tables of a random game, one a step."""
    chance, tables = SeededChance(b"bot"), [table]
    for number in range(steps):
        state = table.state
        if state.over:
            break
        seat = awaited_seat(state)
        action = POLICIES["random"](state, seat, chance)
        table = table.after(table.plan(action, f"c{number}", 2_000 + number))
        tables.append(table)
    return tables


@pytest.mark.parametrize("ruleset", ["classic@full", "speed@full", "fortune@full"])
def test_leaving_in_any_phase_never_freezes_the_table(ruleset: str) -> None:
    phases = set()
    for table in played(new_table(ruleset), 400):
        state = table.state
        if state.over:
            continue
        phases.add(awaited_phase(state))
        seat, now_ms = awaited_seat(state), table.clocks.deadline_ms
        assert table.clocks.due_action(state, now_ms - 1) is None
        action = table.clocks.due_action(state, now_ms)
        assert (TIME_OUT, seat) == action
        for leaving in (action, (SURRENDER, seat)):
            after = table.after(table.plan(leaving, "", now_ms))
            if after.state.over:
                assert (FINISHED, None) == (after.life, after.clocks.next_due_ms)
                continue
            assert PHASE_NONE != awaited_phase(after.state)
            assert not after.state.out_order[awaited_seat(after.state)]
            assert after.clocks.deadline_ms > now_ms
            assert state.decision < after.state.decision
    assert 4 <= len(phases)


def test_a_step_leaves_its_table_as_it_was_and_can_be_planned_again() -> None:
    table = played(new_table(), 50)[-1]
    before = table.to_snapshot()
    action = POLICIES["random"](table.state, awaited_seat(table.state), SeededChance(b"x"))
    first, second = (table.plan(action, "c", 5_000) for _ in range(2))
    assert first.entry == second.entry
    assert first.events == second.events
    assert before == table.to_snapshot()


def test_a_game_comes_back_from_a_snapshot_and_its_records() -> None:
    tables = played(new_table(), 200)
    middle, end = tables[100], tables[-1]
    restored = new_table().at_snapshot(middle.to_snapshot())
    assert middle.to_snapshot() == restored.to_snapshot()
    chance = SeededChance(b"bot")
    for number, table in enumerate(tables[:-1]):
        action = POLICIES["random"](table.state, awaited_seat(table.state), chance)
        if number >= 100:
            step = restored.plan(action, f"c{number}", 2_000 + number)
            restored = restored.after(restored.replayed(Entry.decode(step.entry.encode())))
    assert end.to_snapshot() == restored.to_snapshot()


def test_a_changed_record_is_noticed() -> None:
    table = new_table()
    step = table.plan((1, awaited_seat(table.state)), "c", 5_000)
    stored = step.entry.encode()
    assert step.entry == Entry.decode(stored)
    assert step.entry == table.replayed(Entry.decode(stored)).entry
    changed = type(stored)(
        stored.seq, stored.at_ms, stored.command_id, stored.body.replace(b"5000", b"5001")
    )
    with pytest.raises(LogMismatch):
        table.replayed(Entry.decode(changed))


def test_offers_lapse_at_their_own_time_and_close_with_an_answer() -> None:
    table = new_table()
    seat = awaited_seat(table.state)
    other = (seat + 1) % 4
    offer = propose_trade(seat, other, give_cash=1_000, want_cash=1_000)
    assert check(table.state, offer) is None
    offered = table.after(table.plan(offer, "c", 3_000))
    assert ((1, 63_000),) == offered.clocks.offers
    assert table.clocks.deadline_ms == offered.clocks.deadline_ms
    assert 63_000 == offered.clocks.next_due_ms
    assert (LAPSE_OFFER, seat, 1) == offered.clocks.due_action(offered.state, 63_000)
    declined = offered.after(offered.plan((DECLINE_TRADE, other, 1), "d", 4_000))
    assert () == declined.clocks.offers


def test_grace_moves_only_deadlines_that_are_near() -> None:
    clocks = Clocks(3, 50_000, ((1, 12_000), (2, 90_000)))
    after = clocks.with_grace(10_000, 10_000)
    assert Clocks(3, 50_000, ((1, 20_000), (2, 90_000))) == after
    assert Clocks() == Clocks().with_grace(10_000, 10_000)
