"""Games on a Redis that is killed or stands still: clients are told to wait, and nothing is lost."""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.record import command_key
from opolyx_engine.store.base import FINISHED
from opolyx_rules.verification import verify
from support_engine import Caller, Engine, awaited, built_in, people, running_engine
from support_redis import RedisServer, redis_server

ROUNDS = 12
TABLES = 3


@asynccontextmanager
async def engine_on_redis(directory: Path) -> AsyncIterator[tuple[Engine, RedisServer]]:
    with redis_server(directory / "redis") as server:
        async with running_engine(directory, store_url=server.url) as engine:
            yield engine, server


class Table:
    """People who send each command until it is judged, and what they were told."""

    def __init__(self, game_id: str, callers: list[Caller]) -> None:
        self.game_id = game_id
        self._callers = callers
        self.accepted: dict[tuple[int, str], int] = {}
        self.retries = 0
        self.seqs: list[int] = []
        self.well_under_way = asyncio.Event()

    async def play(self) -> None:
        """Play to the end."""
        snapshot = await self._callers[0].game(self.game_id)
        while snapshot.state == pb.GAME_STATE_RUNNING:
            decision = awaited(snapshot.decisions)
            await self._send(decision.seat, decision.decision_id, decision.legal_actions[0])
            snapshot = await self._callers[decision.seat].game(self.game_id)
            self.seqs.append(snapshot.seq)

    async def _send(self, seat: int, decision_id: str, action: object) -> None:
        command_id = f"c-{decision_id}"
        command = pb.Command(
            game_id=self.game_id,
            command_id=command_id,
            decision_id=decision_id,
            action=action,  # type: ignore[arg-type]
        )
        caller = self._callers[seat]
        while True:
            answer = await caller.engine.SubmitCommand(
                pb.SubmitCommandRequest(command=command), metadata=caller.metadata
            )
            if answer.result.HasField("retry"):
                self.retries += 1
                await asyncio.sleep(answer.result.retry.retry_after_ms / 1000)
                continue
            if answer.result.HasField("accepted"):
                self.accepted[(seat, command_id)] = answer.result.accepted.seq
            if len(self.accepted) > 5:
                self.well_under_way.set()
            return


async def kill(server: RedisServer) -> None:
    """Killed with -9, and started again a little later."""
    server.kill()
    await asyncio.sleep(0.5)
    await asyncio.to_thread(server.start)


async def stand_still(server: RedisServer) -> None:
    """Three seconds are longer than one answer is waited for."""
    server.pause()
    await asyncio.sleep(3)
    server.go_on()


async def be_away_for_long(server: RedisServer) -> None:
    """Longer than a command waits for its append."""
    server.kill()
    await asyncio.sleep(7)
    await asyncio.to_thread(server.start)


@pytest.mark.timeout(120)
@pytest.mark.parametrize("outage", [kill, stand_still, be_away_for_long])
async def test_games_go_on_after_an_outage_of_redis_and_nothing_is_lost(
    tmp_path: Path, outage: Callable[[RedisServer], Coroutine[Any, Any, None]]
) -> None:
    async with engine_on_redis(tmp_path) as (engine, server):
        callers = [await engine.caller(f"p_{seat}") for seat in range(2)]
        tables = [
            Table(await engine.new_game(people(2), round_cap=ROUNDS), callers)
            for _ in range(TABLES)
        ]
        playing = [asyncio.create_task(table.play()) for table in tables]
        await asyncio.gather(*(table.well_under_way.wait() for table in tables))
        assert not any(each.done() for each in playing)
        await outage(server)
        await asyncio.gather(*playing)
        for table in tables:
            assert table.seqs == sorted(table.seqs), "what was shown is never taken back"
            for (seat, command_id), seq in table.accepted.items():
                record = await engine.store.command(table.game_id, command_key(seat, command_id))
                assert record is not None
                assert seq == record.seq
            data, complete = await callers[0].replay(table.game_id)
            assert complete
            assert "" == verify(data).problem
        facts = await engine.store.facts(0, 100)
        assert list(range(1, len(facts) + 1)) == [fact.number for fact in facts]
        finished = [fact.game_id for fact in facts if fact.fact.kind == "game_finished"]
        assert sorted(finished) == sorted(table.game_id for table in tables)
        if outage == be_away_for_long:
            assert sum(table.retries for table in tables)


@pytest.mark.timeout(120)
async def test_built_in_bots_go_on_after_redis_was_away(tmp_path: Path) -> None:
    async with engine_on_redis(tmp_path) as (engine, server):
        bots = [built_in(seat, "random") for seat in range(4)]
        game_id = await engine.new_game(bots, round_cap=4)
        caller = await engine.caller("p_watcher")
        stream = await caller.play(game_id, spectator=True)
        state = (await stream.next("snapshot")).state
        assert state == pb.GAME_STATE_RUNNING
        await kill(server)
        while state == pb.GAME_STATE_RUNNING:
            state = (await stream.next("update")).state
        game = await engine.store.game(game_id)
        assert game is not None
        assert FINISHED == game.state
        data, complete = await caller.replay(game_id)
        assert complete
        assert "" == verify(data).problem
