"""What the other services must learn of a game, in stored form."""

import json
from typing import Any, Final

from opolyx_engine.gifts import NONE, Gifts
from opolyx_engine.header import GameHeader
from opolyx_engine.store.base import NewFact
from opolyx_rules.engine import result
from opolyx_rules.state import State

SEAT_RELEASED: Final = "seat_released"
GAME_FINISHED: Final = "game_finished"
GAME_VOIDED: Final = "game_voided"
"""Kinds; the field names of the proto Fact."""


def seat_released(header: GameHeader, seat: int, *, surrendered: bool, at_ms: int) -> NewFact:
    """The player of a seat is free for other games."""
    return _fact(
        SEAT_RELEASED,
        at_ms,
        {
            "seat": seat,
            "player_id": header.holders[seat].player_id,
            "surrendered": surrendered,
        },
    )


def game_finished(
    header: GameHeader, state: State, log_digest: bytes, at_ms: int, gifts: Gifts = NONE
) -> NewFact:
    """The game ended by the rules."""
    ended = result(state)
    document = {
        "header": header.encode().decode(),
        "log_digest": log_digest.hex(),
        "cause": ended.cause,
        "round": ended.round,
        "seats": [
            {
                "seat": line.seat,
                "place": line.place,
                "survived": line.survived,
                "net_worth": line.net_worth,
                "full_groups": line.full_groups,
            }
            for line in ended.seats
        ],
        "gifts": gifts,
    }
    return _fact(GAME_FINISHED, at_ms, document)


def game_voided(reason: str, player_ids: list[str], at_ms: int) -> NewFact:
    """The game ended without a result; `player_ids` were still in it."""
    return _fact(GAME_VOIDED, at_ms, {"reason": reason, "player_ids": player_ids})


def _fact(kind: str, at_ms: int, document: dict[str, Any]) -> NewFact:
    body = json.dumps(document, separators=(",", ":"), sort_keys=True).encode()
    return NewFact(kind=kind, at_ms=at_ms, body=body)
