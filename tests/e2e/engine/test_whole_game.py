"""Whole games through the real service over loopback."""

from pathlib import Path

import pytest

from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_rules.verification import verify
from support_engine import Caller, Engine, awaited, built_in, people, running_engine


async def facts_until_end(service: Caller, after: int = 0) -> list[allocation_pb.Fact]:
    """All facts up to the one that a game finished."""
    call = service.allocation.WatchFacts(
        allocation_pb.WatchFactsRequest(after=after, consumer="test"), metadata=service.metadata
    )
    found: list[allocation_pb.Fact] = []
    async for response in call:
        found.extend(response.facts)
        if any(fact.WhichOneof("kind") == "game_finished" for fact in found):
            break
    call.cancel()
    return found


async def watch_to_end(engine: Engine, game_id: str) -> list[pb.Update]:
    """Every update of a game, seen as a spectator."""
    watcher = await engine.caller("p_watcher")
    stream = await watcher.play(game_id, spectator=True)
    stored = await engine.store.game(game_id)
    assert stored is not None
    seen: list[pb.Update] = []
    while True:
        frame = await stream.frame()
        sent = frame.SerializeToString()
        assert stored.secret not in sent
        assert stored.secret.hex().encode() not in sent
        kind = frame.WhichOneof("kind")
        if kind == "snapshot" and frame.snapshot.state != pb.GAME_STATE_RUNNING:
            return seen
        if kind == "update":
            seen.append(frame.update)
            if frame.update.state != pb.GAME_STATE_RUNNING:
                return seen


@pytest.mark.statement("R005")
async def test_built_in_bots_play_a_game_to_its_end(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        seats = [built_in(0), built_in(1, "random"), built_in(2), built_in(3, "random")]
        game_id = await engine.new_game(seats, round_cap=25)
        await watch_to_end(engine, game_id)
        service = await engine.caller("s_progression", "service")
        facts = await facts_until_end(service)
        finished = facts[-1].game_finished
        assert list(range(1, len(facts) + 1)) == [fact.number for fact in facts]
        assert 4 == sum(fact.WhichOneof("kind") == "seat_released" for fact in facts)
        assert [1, 2, 3, 4] == sorted(seat.place for seat in finished.result.seats)
        reader = await engine.caller("p_reader")
        data, complete = await reader.replay(game_id)
        verdict = verify(data)
        assert complete
        assert "" == verdict.problem
        assert finished.log_digest.hex() == verdict.log_digest
        assert game_id not in [game.game_id for game in engine.service.registry.running()]


async def test_people_play_a_game_by_commands(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2), round_cap=3)
        callers = [await engine.caller(f"p_{seat}") for seat in range(2)]
        streams = [await caller.play(game_id) for caller in callers]
        snapshots = [await stream.next("snapshot") for stream in streams]
        assert [0, 1] == [snapshot.your_seat for snapshot in snapshots]
        decision, state, sent = awaited(snapshots[0].decisions), pb.GAME_STATE_RUNNING, 0
        seq = 0
        updates: list[pb.Update] = []
        while state == pb.GAME_STATE_RUNNING:
            sent += 1
            stream = streams[decision.seat]
            command = pb.Command(
                game_id=game_id,
                command_id=f"c{sent}",
                decision_id=decision.decision_id,
                action=decision.legal_actions[-1],
            )
            await stream.send(command=command)
            updates = [await each.next("update") for each in streams]
            result = await stream.result(f"c{sent}")
            assert updates[0] == updates[1]
            assert seq + 1 == updates[0].seq == result.accepted.seq
            seq, state = updates[0].seq, updates[0].state
            if state == pb.GAME_STATE_RUNNING:
                decision = awaited(updates[0].decisions)
        assert 2 == len(updates[0].delta.result.seats)


async def test_everybody_is_told_what_the_house_changed(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        changed = await engine.new_game(
            [built_in(0), built_in(1)], round_cap=25, start_cash=8_000, turn_seconds=30
        )
        as_written = await engine.new_game([built_in(0), built_in(1)])
        reader = await engine.caller("p_reader")

        house = (await reader.game(changed)).house
        untouched = (await reader.game(as_written)).house

    assert (25, 8_000, 30) == (house.round_cap, house.start_cash, house.turn_seconds)
    assert pb.HouseRules() == untouched
