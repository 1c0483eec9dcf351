"""The simulator's values are those that a client gets over the wire, compared step by step."""

import random
from typing import Any, Final

import pytest

from opolyx.engine.v1 import engine_service_pb2
from opolyx_engine.clocks import Clocks
from opolyx_engine.rpc.convert_actions import action_from_proto, action_to_proto
from opolyx_engine.rpc.convert_answers import refusal_to_proto
from opolyx_engine.rpc.convert_decisions import add_decisions
from opolyx_engine.rpc.convert_events import event_to_proto
from opolyx_engine.rpc.convert_views import game_view
from opolyx_engine.rpc.shown import Shown
from opolyx_rules import State, check, get_ruleset
from opolyx_rules import actions as core
from opolyx_rules import events as core_events
from opolyx_rules.reasons import NAMES
from opolyx_rules.reasons import Refusal as CoreRefusal
from opolyx_rules.views import state_digest as core_digest
from opolyx_sdk import Decision, GameView, Refusal, actions
from opolyx_sdk._convert import read, write_action
from opolyx_sdk._digest import state_digest
from opolyx_sdk.enums import BusMove
from opolyx_sdk.local._core_actions import core_action, sdk_action, sdk_refusal
from opolyx_sdk.local._core_decisions import DecisionMaker
from opolyx_sdk.local._core_events import sdk_event
from opolyx_sdk.local._core_views import ViewMaker
from opolyx_sdk.local._game_clock import ACTION_MS, GameClock
from opolyx_sdk.local._quick import quick_maker
from opolyx_sdk.views import PlayerView
from support_playout import TABLES, Playout, candidate_actions, house_rules, random_trade

STEPS: Final = 500


def wire_view(state: State, clocks: Clocks) -> GameView:
    return read(game_view(state, clocks), GameView)


def wire_decisions(state: State, clocks: Clocks) -> tuple[Decision, ...]:
    update = engine_service_pb2.Update()
    add_decisions(update.decisions, Shown(state), clocks)
    return tuple(read(one, Decision) for one in update.decisions)


@pytest.mark.parametrize(("name", "seats"), TABLES[::2])
def test_every_view_decision_and_event_equals_that_of_the_wire(name: str, seats: int) -> None:
    rules = house_rules(get_ruleset(name), seats)
    playout = Playout(rules, seats, "local")
    clock, maker, decisions = GameClock(playout.state), ViewMaker(), DecisionMaker()
    clocks = Clocks().after(playout.state, 0)
    events = playout.events
    for step in range(STEPS):
        state = playout.state
        for event in events:
            assert read(event_to_proto(event), object) == sdk_event(event)
        if step % 12 < 3 or state.over:  # some in a row, the others are leapt over
            assert wire_view(state, clocks) == maker.view(state, clock)
            assert wire_decisions(state, clocks) == decisions.all_open(state, clock)
        if state.over:
            break
        _, events = playout.step()
        clock.tick()
        clock.settle(state)
        clocks = clocks.after(state, clock.now_ms)
    assert core_digest(playout.state) == state_digest(maker.view(playout.state, clock))


def test_a_view_that_was_given_away_never_changes() -> None:
    playout = Playout(get_ruleset("classic@full"), 4, "kept")
    clock, maker = GameClock(playout.state), ViewMaker()
    kept: list[tuple[GameView, GameView]] = []
    for _ in range(300):
        clocks = Clocks().after(playout.state, 0)
        kept.append((maker.view(playout.state, clock), wire_view(playout.state, clocks)))
        playout.step()

    for seen, was in kept:
        assert was.players == seen.players
        assert was.properties == seen.properties
        assert was.turn == seen.turn


def test_the_clock_is_that_of_the_server() -> None:
    for name in ("classic@full", "speed@guide"):
        playout = Playout(get_ruleset(name), 4, "clock")
        clock, clocks = GameClock(playout.state), Clocks().after(playout.state, 0)
        for _ in range(2000):
            assert clocks.due_action(playout.state, clock.now_ms) == clock.due(playout.state)
            later = clock.now_ms
            if playout.state.over:
                break
            playout.step()
            clock.tick()
            assert later + ACTION_MS == clock.now_ms
            clock.settle(playout.state)
            clocks = clocks.after(playout.state, clock.now_ms)
            assert clocks.deadline_ms == clock.deadline_ms


def test_the_clock_runs_out_and_lets_offers_lapse_as_the_servers() -> None:
    playout = Playout(get_ruleset("classic@full"), 4, "lapse")
    luck = random.Random("lapse")
    lapsed = timed_out = 0
    while not playout.state.over and not (lapsed and timed_out > 3):
        state = playout.state
        clock, clocks = GameClock(state), Clocks().after(state, 0)
        for wait in sorted(luck.randrange(120_000) for _ in range(4)):
            clock.now_ms = wait
            due = clock.due(state)
            assert clocks.due_action(state, wait) == due
            lapsed += due is not None and due[0] == core.LAPSE_OFFER
            timed_out += due is not None and due[0] == core.TIME_OUT
        playout.step()
    assert lapsed
    assert timed_out


def test_actions_go_over_as_they_do_on_the_wire() -> None:
    names = {cls: core.NAMES[kind] for kind, cls in enumerate(actions.ACTION_TYPES, start=1)}
    for action in candidate_actions(4):
        if not 0 <= action[1] < 4 or action[0] >= core.TIME_OUT or -1 in action:
            continue
        if action[0] == core.CHOOSE_BUS and action[2] not in (1, 2, 3):
            continue
        if action[0] == core.WAGER and action[2] not in core.WAGER_MASKS:
            continue
        value = sdk_action(action)
        assert names[type(value)] == core.NAMES[action[0]]
        assert read(action_to_proto(action), object) == value
        assert action == core_action(value, action[1])


def test_trades_go_over_as_they_do_on_the_wire() -> None:
    luck = random.Random("trades")
    playout = Playout(get_ruleset("classic@full"), 4, "trades")
    for _ in range(2_000):
        trade = random_trade(playout.state, luck.randrange(4), luck)
        if min(trade) >= 0 and not playout.state.over:
            assert trade == core_action(sdk_action(trade), trade[1])
        if not playout.state.over:
            playout.step()


ODD: Final[list[Any]] = [
    actions.Wager(()),
    actions.Wager((1, 1)),
    actions.Wager((7,)),
    actions.Wager((1, 2, 3, 4)),
    actions.Build(40),
    actions.Build(1 << 33),
    actions.Build(-1),
    actions.AcceptTrade(-3),
    actions.ChooseBus(BusMove.UNSPECIFIED),
    actions.ProposeTrade(1, 0, (3, 3), 0, ()),
    actions.ProposeTrade(1, 0, (40,), 0, ()),
    actions.ProposeTrade(1, -1, (), 0, ()),
    actions.ProposeTrade(1, 0, (), 2_000_000_000, ()),
    actions.ProposeTrade(9, 0, (1,), 0, ()),
    actions.ProposeTrade(1, 0, (), 0, ()),
]


@pytest.mark.parametrize("action", ODD, ids=str)
def test_what_can_not_be_is_refused_alike(action: actions.Action) -> None:
    state = Playout(get_ruleset("classic@full"), 4, "odd").state
    seat = state.stack[-1][1]
    here = core_action(action, seat)
    try:
        message = write_action(action)
    except ValueError:  # no number of the wire: refused before it is sent
        assert isinstance(here, CoreRefusal)
        return
    there = action_from_proto(message, seat)

    assert type(there) is type(here)
    if isinstance(there, CoreRefusal) and isinstance(here, CoreRefusal):
        assert (there.reason, there.rule, there.numbers) == (here.reason, here.rule, here.numbers)
    else:
        assert there == here
        assert check(state, here) is not None  # type: ignore[arg-type]


WRONG: Final[list[Any]] = ["1", 3, (1.5,)]


@pytest.mark.parametrize(
    "action",
    [None, "roll", actions.Build(WRONG[0]), actions.Wager(WRONG[1]), actions.Wager(WRONG[2])],
    ids=str,
)
def test_what_is_no_action_is_an_error(action: Any) -> None:
    with pytest.raises(TypeError, match="is no"):
        core_action(action, 0)


def test_refusals_are_those_of_the_wire() -> None:
    for reason in NAMES:
        refusal = CoreRefusal(reason, "BUY-1", (("cash", 3), ("price", 600)))
        assert read(refusal_to_proto(refusal), Refusal) == sdk_refusal(refusal)


def test_every_event_has_its_class() -> None:
    for kind, fields in core_events.FIELDS.items():
        event = sdk_event((kind, *[1] * len(fields)))
        assert fields == tuple(type(event).__dataclass_fields__)


def test_quickly_made_values_are_the_real_ones() -> None:
    values = (1, 2, 3, True, False, 0, 0, 0, 0, None, 0, 0, 15_000, 0)
    quick, real = quick_maker(PlayerView)(*values), PlayerView(*values)  # type: ignore[arg-type]

    assert real == quick
    assert hash(real) == hash(quick)
    assert repr(real) == repr(quick)
    with pytest.raises(AttributeError):
        quick.cash = 5  # type: ignore[misc]
