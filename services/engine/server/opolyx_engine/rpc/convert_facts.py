"""Stored facts to the wire."""

import json
from typing import Any

from opolyx.engine.v1 import allocation_service_pb2 as pb
from opolyx.engine.v1 import game_pb2
from opolyx_engine import facts
from opolyx_engine.header import GameHeader
from opolyx_engine.rpc.convert_seats import seats_to_proto
from opolyx_engine.store.base import StoredFact
from opolyx_engine.table import ruleset_of


def fact_to_proto(stored: StoredFact) -> pb.Fact:
    """The message of a fact."""
    fact = stored.fact
    message = pb.Fact(number=stored.number, game_id=stored.game_id, at_unix_ms=fact.at_ms)
    document = json.loads(fact.body)
    if fact.kind == facts.SEAT_RELEASED:
        message.seat_released.CopyFrom(pb.SeatReleased(**document))
    elif fact.kind == facts.GAME_VOIDED:
        message.game_voided.CopyFrom(pb.GameVoided(**document))
    else:
        message.game_finished.CopyFrom(_finished(document))
    return message


def _finished(document: dict[str, Any]) -> pb.GameFinished:
    header = GameHeader.decode(document["header"].encode())
    ruleset = ruleset_of(header)
    return pb.GameFinished(
        ruleset=header.ruleset,
        xp_scheme=pb.XpScheme.ValueType(ruleset.xp),
        seats=seats_to_proto(header, ruleset),
        result=game_pb2.ResultView(
            cause=document["cause"],
            round=document["round"],
            seats=[game_pb2.SeatResult(**seat) for seat in document["seats"]],
        ),
        places=ruleset.sides or len(header.holders),
        log_digest=bytes.fromhex(document["log_digest"]),
        gifts=[
            pb.Gift(giver=giver, taker=taker, value=value)
            for giver, taker, value in document.get("gifts", ())  # older facts have none
        ],
    )
