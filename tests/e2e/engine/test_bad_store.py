"""Whole games on a store that is slow, or fails again and again: nothing is lost, and it shows."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1 import action_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_rules.verification import verify
from support_bad_store import BadStores
from support_engine import Caller, Engine, Stream, awaited, people, running_engine


class Player:
    """A client that plays the first legal action, and sends a command until it is judged."""

    def __init__(self, caller: Caller, game_id: str, seat: int) -> None:
        self._caller = caller
        self._game_id = game_id
        self._seat = seat
        self.accepted: dict[str, int] = {}
        self.seqs: list[int] = []
        self.retries = 0

    async def play(self) -> None:
        """Play until the game is over."""
        stream = await self._caller.play(self._game_id, after_seq=0)
        decisions = (await self._caller.game(self._game_id)).decisions
        while True:
            mine = [one for one in decisions if one.decision_id[0] == "d"]
            if mine and mine[0].seat == self._seat and mine[0].decision_id not in self.accepted:
                await self._answer(mine[0])
            update = await stream.next("update")
            self.seqs.append(update.seq)
            if update.state != pb.GAME_STATE_RUNNING:
                return
            decisions = update.decisions

    async def _answer(self, decision: Any) -> None:
        command = pb.Command(
            game_id=self._game_id,
            command_id=decision.decision_id,
            decision_id=decision.decision_id,
            action=decision.legal_actions[0],
        )
        request = pb.SubmitCommandRequest(command=command)
        while True:
            response = await self._caller.engine.SubmitCommand(
                request, metadata=self._caller.metadata
            )
            if not response.result.HasField("retry"):
                break
            self.retries += 1
            await asyncio.sleep(response.result.retry.retry_after_ms / 1000)
        if response.result.HasField("accepted"):
            self.accepted[decision.decision_id] = response.result.accepted.seq


async def play_whole_game(engine: Engine, **options: Any) -> tuple[str, list[Player]]:
    game_id = await engine.new_game(people(2), **options)
    players = [Player(await engine.caller(f"p_{seat}"), game_id, seat) for seat in range(2)]
    await asyncio.gather(*(player.play() for player in players))
    return game_id, players


async def check_nothing_lost(engine: Engine, game_id: str, players: list[Player]) -> int:
    """All saw all updates once, every acknowledgement is in the log; the number of updates."""
    data, complete = await (await engine.caller("p_w")).replay(game_id)
    assert complete
    assert "" == verify(data).problem
    stored = await engine.store.game(game_id)
    assert stored is not None
    for player in players:
        assert list(range(1, stored.seq + 1)) == player.seqs
    records = {one.seq: one.command_id for one in await engine.store.records(game_id, 0, 1 << 30)}
    for seat, player in enumerate(players):
        for command_id, seq in player.accepted.items():
            assert f"{seat}:{command_id}" == records[seq]
    commands = [command_id for command_id in records.values() if command_id]
    assert len(set(commands)) == len(commands) == sum(len(one.accepted) for one in players)
    return stored.seq


def value(engine: Engine, name: str, **labels: str) -> float:
    found = engine.service.metrics.registry.get_sample_value(name, labels)
    return 0 if found is None else found


async def test_a_game_on_a_store_that_fails_every_tenth_write_loses_nothing(
    tmp_path: Path,
) -> None:
    stores = BadStores(every=10)
    async with running_engine(tmp_path, wrap=stores, store_retry_ms=5) as engine:
        game_id, players = await play_whole_game(engine, round_cap=12)
        await check_nothing_lost(engine, game_id, players)
        failed = stores.store.appends // 10
        assert failed >= 3
        name = "opolyx_store_append_failures_total"
        busy, away = value(engine, name, kind="busy"), value(engine, name, kind="unavailable")
        assert failed == busy + away
        assert busy >= 1
        assert away >= 2
        told = value(engine, "opolyx_command_retries_total", reason="store_unavailable")
        assert sum(player.retries for player in players) == told >= 3
        assert failed == value(engine, "opolyx_store_retries_total")
        assert 0 == value(engine, "opolyx_commands_waiting")


@pytest.mark.timeout(180)
async def test_a_game_on_a_store_that_takes_200_ms_a_write_is_slow_and_loses_nothing(
    tmp_path: Path,
) -> None:
    stores = BadStores(delay_s=0.2)
    async with running_engine(tmp_path, wrap=stores, most_waiting_commands=2) as engine:
        game_id, players = await play_whole_game(engine, round_cap=2)
        updates = await check_nothing_lost(engine, game_id, players)
        assert updates >= 4
        assert updates == value(engine, "opolyx_store_append_seconds_count")
        assert updates * 0.2 <= value(engine, "opolyx_store_append_seconds_sum")
        assert 0 == value(engine, "opolyx_store_append_seconds_bucket", le="0.1")
        assert 0 == value(engine, "opolyx_store_append_failures_total", kind="unavailable")
        assert updates == value(engine, "opolyx_store_queue_seconds_count")


async def test_commands_that_wait_and_writes_that_queue_are_seen(tmp_path: Path) -> None:
    stores = BadStores()
    async with running_engine(tmp_path, wrap=stores, most_waiting_commands=3) as engine:
        game_id = await engine.new_game(people(2))
        decision = awaited((await (await engine.caller("p_0")).game(game_id)).decisions)
        stores.store.delay_s = 0.5
        stream = await (await engine.caller(f"p_{decision.seat}")).play(game_id)
        await roll_many(stream, game_id, decision.decision_id, 6)
        assert 3 == value(engine, "opolyx_commands_waiting")
        assert 2 == value(engine, "opolyx_command_retries_total", reason="limit")
        results = [await stream.next("command_result") for _ in range(4)]
        assert ["accepted"] == [one.WhichOneof("outcome") for one in results[:1]]
        assert 0 == value(engine, "opolyx_commands_waiting")


async def roll_many(stream: Stream, game_id: str, decision: str, count: int) -> None:
    """Send so many rolls, and wait for those that are to be sent again."""
    await stream.next("attached")
    for number in range(count):
        await stream.command(game_id, f"c{number}", decision, roll=action_pb2.Roll())
    for _ in range(count - 4):
        assert (await stream.next("command_result")).HasField("retry")
