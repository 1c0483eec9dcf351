"""The wire and the core agree on every name and number, by reflection."""

import random
from typing import Any

import pytest

from opolyx.engine.v1 import (
    action_pb2,
    decision_pb2,
    event_pb2,
    game_pb2,
    refusal_pb2,
)
from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine import command, facts, header
from opolyx_engine.metrics import REASON_NAMES
from opolyx_engine.rpc.convert_actions import action_from_proto, action_to_proto
from opolyx_engine.rpc.convert_answers import refusal_to_proto
from opolyx_engine.rpc.convert_events import event_to_proto
from opolyx_engine.store import base
from opolyx_rules import actions, events, ids, reasons, views
from opolyx_rules.reasons import Refusal

SENDABLE = [kind for kind in actions.NAMES if kind < actions.TIME_OUT]
MASKS = {"numbers", "give_squares", "want_squares"}


def fields_of(message: Any) -> list[str]:
    return [field.name for field in message.DESCRIPTOR.fields]


def part_fields(message: Any, kind: int) -> list[str]:
    field = message.DESCRIPTOR.fields_by_number[kind]
    return [each.name for each in field.message_type.fields]


def test_actions_have_the_names_and_numbers_of_the_proto() -> None:
    proto = {field.number: field.name for field in action_pb2.Action.DESCRIPTOR.fields}
    assert proto == {kind: actions.NAMES[kind] for kind in SENDABLE}
    for kind in SENDABLE:
        assert list(actions.ARGUMENTS[kind]) == part_fields(action_pb2.Action, kind)


def test_events_have_the_names_and_numbers_of_the_proto() -> None:
    proto = {field.number: field.name for field in event_pb2.Event.DESCRIPTOR.fields}
    assert proto == events.NAMES
    for kind, names in events.FIELDS.items():
        assert list(names) == part_fields(event_pb2.Event, kind)


def test_views_have_the_fields_of_the_proto() -> None:
    assert list(views.PLAYER_FIELDS) == fields_of(game_pb2.PlayerView)
    assert list(views.PROPERTY_FIELDS) == fields_of(game_pb2.PropertyView)
    dice = {"die1", "die2", "third"}
    assert set(views.TURN_FIELDS) - dice == set(fields_of(game_pb2.TurnView)) - {"dice"}


@pytest.mark.parametrize(
    ("enum", "prefix", "numbers"),
    [
        (refusal_pb2.RefusalReason, "REFUSAL_REASON_", REASON_NAMES),
        (decision_pb2.Phase, "PHASE_", "PHASE_"),
        (game_pb2.CashCause, "CASH_CAUSE_", "CASH_"),
        (event_pb2.MoveManner, "MOVE_MANNER_", "MOVE_"),
        (event_pb2.PropertyCause, "PROPERTY_CAUSE_", "PROPERTY_"),
        (event_pb2.PassCause, "PASS_CAUSE_", "PASS_"),
        (event_pb2.OfferCause, "OFFER_CAUSE_", "OFFER_"),
        (event_pb2.ReleaseCause, "RELEASE_CAUSE_", "RELEASE_"),
        (event_pb2.SurrenderCause, "SURRENDER_CAUSE_", "SURRENDER_"),
        (game_pb2.EndCause, "END_CAUSE_", "END_"),
        (action_pb2.BusMove, "BUS_MOVE_", "BUS_"),
        (game_pb2.God, "GOD_", "GOD_"),
        (pb.GameState, "GAME_STATE_", base),
        (pb.SeatKind, "SEAT_KIND_", {1: "person", 2: "bot", 3: "built_in"}),
    ],
)
def test_numbers_are_those_of_the_proto(enum: Any, prefix: str, numbers: Any) -> None:
    proto = {name.removeprefix(prefix): number for name, number in enum.items() if number}
    if isinstance(numbers, str):
        core = {
            name.removeprefix(numbers): number
            for name, number in vars(ids).items()
            if name.startswith(numbers) and number
        }
    elif isinstance(numbers, dict):
        core = {name.upper(): number for number, name in numbers.items()}
    else:
        core = {"RUNNING": base.RUNNING, "FINISHED": base.FINISHED, "VOID": base.VOID}
    assert proto == core


def test_kinds_of_seats_and_facts_are_those_of_the_proto() -> None:
    assert (1, 2, 3) == (header.PERSON, header.SDK_BOT, header.BUILT_IN)
    kinds = [field.name for field in allocation_pb.Fact.DESCRIPTOR.oneofs[0].fields]
    assert [facts.SEAT_RELEASED, facts.GAME_FINISHED, facts.GAME_VOIDED] == kinds


def test_every_reason_can_be_sent() -> None:
    for reason in REASON_NAMES:
        message = refusal_to_proto(Refusal(reason, "TURN-1", (("cash", 5),)))
        assert (reason, {"cash": 5}) == (message.reason, dict(message.numbers))
        assert message.message
    assert max(REASON_NAMES) == command.GAME_NOT_FOUND


def test_every_action_survives_the_wire() -> None:
    chance = random.Random(7)
    for kind in SENDABLE:
        for _ in range(20):
            values = [
                chance.choice([0b10, 0b1110])
                if name == "numbers"
                else chance.getrandbits(40)
                if name in MASKS
                else chance.randrange(40)
                for name in actions.ARGUMENTS[kind]
            ]
            action = (kind, 3, *values)
            data = action_to_proto(action).SerializeToString()
            assert action == action_from_proto(action_pb2.Action.FromString(data), 3)


def test_every_event_can_be_sent_and_leaves_out_who_is_absent() -> None:
    for kind, names in events.FIELDS.items():
        message = event_to_proto((kind, *[2] * len(names)))
        assert events.NAMES[kind] == message.WhichOneof("kind")
        part = getattr(message, events.NAMES[kind])
        assert [1] == list(part.numbers) if "numbers" in names else True
    moved = event_to_proto((events.CASH_MOVED, ids.BANK, 0, 500, ids.CASH_SALARY)).cash_moved
    assert (False, True, 0) == (moved.HasField("payer"), moved.HasField("payee"), moved.payee)


@pytest.mark.parametrize(
    ("trade", "reason"),
    [
        ({"give_squares": [1, 1]}, reasons.DUPLICATE_LINE),
        ({"want_squares": [3, 1, 3]}, reasons.DUPLICATE_LINE),
        ({"give_cash": -500}, reasons.INVALID_CASH),
        ({"want_cash": -1}, reasons.INVALID_CASH),
        ({"want_cash": 1 << 40}, reasons.INVALID_CASH),
        ({"give_squares": [40]}, reasons.INVALID_ACTION),
        ({"recipient": (1 << 32) - 1}, reasons.INVALID_ACTION),
    ],
)
def test_a_trade_that_the_core_cannot_express_is_refused(
    trade: dict[str, Any], reason: int
) -> None:
    message = action_pb2.Action(propose_trade=action_pb2.ProposeTrade(**trade))
    refusal = action_from_proto(message, 0)
    assert isinstance(refusal, Refusal)
    assert reason == refusal.reason


@pytest.mark.parametrize("numbers", [[0], [7], [2, 2], [1 << 31]])
def test_a_wager_on_odd_numbers_is_refused(numbers: list[int]) -> None:
    refusal = action_from_proto(action_pb2.Action(wager=action_pb2.Wager(numbers=numbers)), 0)
    assert isinstance(refusal, Refusal)
    assert reasons.WAGER_NUMBERS == refusal.reason


def test_an_action_that_is_not_set_is_refused() -> None:
    refusal = action_from_proto(action_pb2.Action(), 0)
    assert isinstance(refusal, Refusal)
    assert reasons.INVALID_ACTION == refusal.reason
