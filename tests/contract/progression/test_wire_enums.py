"""Stored enums have the wire's numbers and names, so that conversion can't mix them up."""

from enum import IntEnum
from typing import Any

import pytest

from opolyx.engine.v1.allocation_service_pb2 import XpScheme
from opolyx.engine.v1.engine_service_pb2 import SeatKind as WireSeatKind
from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx_progression.awards import TermKind, ZeroReason
from opolyx_progression.cards import Rarity
from opolyx_progression.deliveries import Unreadable, VoidedGame
from opolyx_progression.games import Scheme, SeatKind
from opolyx_progression.levels import Rank
from opolyx_progression.rpc.convert import delivery_of
from support_progression import (
    bot,
    finished_fact,
    finished_game,
    person,
    released_fact,
    voided_fact,
)


@pytest.mark.parametrize(
    ("ours", "wire", "prefix", "zero"),
    [
        (TermKind, pb.TermKind, "TERM_KIND_", None),
        (ZeroReason, pb.ZeroReason, "ZERO_REASON_", "NOT_ZERO"),
        (Rarity, pb.Rarity, "RARITY_", None),
        (Rank, pb.Rank, "RANK_", None),
        (Scheme, XpScheme, "XP_SCHEME_", None),
        (SeatKind, WireSeatKind, "SEAT_KIND_", None),
    ],
)
def test_enum_is_the_wire_s(ours: type[IntEnum], wire: Any, prefix: str, zero: str | None) -> None:
    theirs = {name.removeprefix(prefix): number for name, number in wire.items() if number or zero}
    if zero:
        theirs[zero] = theirs.pop("UNSPECIFIED")

    assert theirs == {member.name: member.value for member in ours}


def test_finished_game_survives_the_wire() -> None:
    game = finished_game(
        person("p_a", 1, survived=True, full_groups=2), bot("b_a", 2), bot("", 3), ended_in=77
    )

    assert game == delivery_of(finished_fact(9, game)).effect


def test_seats_come_in_any_order() -> None:
    game = finished_game(person("p_a", 2), person("p_b", 1, survived=True))
    fact = finished_fact(9, game)
    fact.game_finished.seats.reverse()
    fact.game_finished.result.seats.reverse()

    assert game == delivery_of(fact).effect


def test_other_facts_mean_what_they_say() -> None:
    assert VoidedGame("fault") == delivery_of(voided_fact(1, "g")).effect
    assert delivery_of(released_fact(1, "g", "p_a")).effect is None


@pytest.mark.parametrize("broken", ["scheme", "kind", "result", "place", "places"])
def test_senseless_result_is_unreadable(broken: str) -> None:
    fact = finished_fact(9, finished_game(person("p_a", 1), person("p_b", 2)))
    finished = fact.game_finished
    match broken:
        case "scheme":
            finished.xp_scheme = XpScheme.XP_SCHEME_UNSPECIFIED
        case "kind":
            finished.seats[0].kind = WireSeatKind.SEAT_KIND_UNSPECIFIED
        case "result":
            finished.result.seats[1].seat = 5
        case "place":
            finished.result.seats[1].place = 9
        case _:
            finished.places = 0

    assert isinstance(delivery_of(fact).effect, Unreadable)
