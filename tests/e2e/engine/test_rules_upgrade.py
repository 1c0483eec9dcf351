"""One engine whose rules are another version's after a restart: old games wait, or are ended."""

import itertools
from pathlib import Path

import grpc
import pytest

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import operations_service_pb2 as operations_pb
from opolyx_engine.rules_fit import RulesFit
from opolyx_engine.store.base import VOID
from support_engine import people, running_engine


async def test_a_game_of_other_rules_waits_for_them_and_may_be_ended(tmp_path: Path) -> None:
    old, new = RulesFit(1), RulesFit(2)
    async with running_engine(tmp_path, fit=old) as engine:
        waits = await engine.new_game(people(2))
        ends = await engine.new_game(people(2))
    async with running_engine(tmp_path, fit=new) as engine:
        assert {waits, ends} == set(engine.service.registry.refused())
        assert [] == engine.service.registry.here()
        player, operator = await engine.caller("p_0"), await engine.caller("o", "operator")
        with pytest.raises(grpc.aio.AioRpcError) as refused:
            await player.game(waits)
        assert grpc.StatusCode.FAILED_PRECONDITION == refused.value.code()
        stream = await player.play(waits)
        assert pb.DETACH_REASON_UNAVAILABLE == (await stream.next("detached")).reason
        ended = await operator.allocation.EndGame(
            allocation_pb.EndGameRequest(game_id=ends), metadata=operator.metadata
        )
        assert VOID == ended.state
        engine.requests = itertools.count(100)  # those before were other requests
        fresh = await engine.new_game(people(2))
        place = operations_pb.GAME_PLACE_REFUSED
        listed = await operator.operations.ListRunningGames(
            operations_pb.ListRunningGamesRequest(place=place), metadata=operator.metadata
        )
        assert [waits] == [game.game_id for game in listed.games]
    async with running_engine(tmp_path, fit=old) as engine:
        assert [waits] == engine.service.registry.here()
        assert {fresh} == set(engine.service.registry.refused())
        snapshot = await (await engine.caller("p_0")).game(waits)
        assert (0, pb.GAME_STATE_RUNNING) == (snapshot.seq, snapshot.state)
