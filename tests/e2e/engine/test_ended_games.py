"""Streams that outlive their games: ended ones are sent as they are, and cost nothing more."""

import asyncio
import gc
import weakref
from pathlib import Path
from typing import Any

from opolyx.engine.v1 import action_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from support_engine import Engine, people, running_engine

SURRENDER: dict[str, Any] = {"surrender": action_pb2.Surrender()}


async def end(engine: Engine, game_id: str) -> None:
    loser = await engine.caller("p_1")
    assert (await loser.submit(game_id, "s", "", **SURRENDER)).HasField("accepted")


async def test_a_stream_is_not_held_up_by_the_games_that_ended_on_it(tmp_path: Path) -> None:
    async with running_engine(tmp_path, most_attachments=2) as engine:
        stream = await (await engine.caller("p_0")).play()
        for _ in range(5):
            game_id = await engine.new_game(people(2))
            await stream.send(attach=pb.Attach(game_id=game_id))
            assert 0 == (await stream.next("attached")).seq
            await end(engine, game_id)
            assert pb.GAME_STATE_FINISHED == (await stream.next("update")).state
        kept = [await engine.new_game(people(2)) for _ in range(3)]
        for game_id in kept:
            await stream.send(attach=pb.Attach(game_id=game_id))
        assert pb.DETACH_REASON_LIMIT == (await stream.next("detached")).reason


async def test_who_attaches_to_an_ended_game_gets_it_and_does_not_keep_it(tmp_path: Path) -> None:
    async with running_engine(tmp_path, finished_games_kept=0) as engine:
        game_id = await engine.new_game(people(2))
        registry = engine.service.registry
        stream = await (await engine.caller("p_0")).play(game_id)
        await stream.next("attached")
        game = weakref.ref(registry.running()[0])
        await end(engine, game_id)
        assert 1 == (await stream.next("update")).seq
        for after_seq, expected in ((None, "snapshot"), (0, "update"), (1, "presence")):
            given: dict[str, Any] = {} if after_seq is None else {"after_seq": after_seq}
            await stream.send(attach=pb.Attach(game_id=game_id, **given))
            assert expected == (await stream.frame()).WhichOneof("kind")
            assert 1 == (await stream.next("attached")).seq
        async with asyncio.timeout(10):
            while game() is not None:
                gc.collect()
                await asyncio.sleep(0)
        assert not stream.call.done()
