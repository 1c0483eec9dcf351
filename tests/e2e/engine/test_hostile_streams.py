"""Streams that attack: whatever is sent, the server stands, other games go on, nothing is left."""

import asyncio
import gc
import random
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import action_pb2, refusal_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1.error_pb2 import ERROR_REASON_LIMIT
from opolyx_engine.store.base import Append, GameStore
from support_engine import ROLL, Caller, Engine, awaited, built_in, people, running_engine

PLAY = "/opolyx.engine.v1.EngineService/Play"


class SlowStore:
    """A store whose appends wait for `go`, when `slow` is set."""

    def __init__(self, inner: GameStore) -> None:
        self._inner = inner
        self.slow = False
        self.go = asyncio.Event()
        self.reached = asyncio.Event()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def append(self, append: Append) -> None:
        if self.slow:
            self.reached.set()
            await self.go.wait()
        await self._inner.append(append)


class Wrapped:
    """Wraps the engine's store and remembers it."""

    store: SlowStore

    def __call__(self, inner: GameStore) -> GameStore:
        self.store = SlowStore(inner)
        return self.store


async def quiet(engine: Engine) -> None:
    for _ in range(500):
        if not len(engine.service.streams):
            return
        await asyncio.sleep(0.01)
    raise AssertionError(f"{len(engine.service.streams)} streams are left")


async def still_plays(engine: Engine, game_id: str) -> None:
    """The awaited seat rolls, and everybody sees it."""
    reader = await engine.caller("p_0")
    before = await reader.game(game_id)
    watcher = await reader.play(game_id)
    await watcher.next("attached")
    decision = awaited(before.decisions)
    mover = await engine.caller(f"p_{decision.seat}")
    request = pb.SubmitCommandRequest(
        command=pb.Command(
            game_id=game_id,
            command_id=f"still {before.seq}",
            decision_id=decision.decision_id,
            action=decision.legal_actions[0],
        )
    )
    response = await mover.engine.SubmitCommand(request, metadata=mover.metadata)
    assert before.seq + 1 == response.result.accepted.seq
    assert before.seq + 1 == (await watcher.next("update")).seq
    watcher.call.cancel()


async def ends_with(call: Any, seconds: float = 5) -> grpc.StatusCode:
    """How a stream that was given nonsense ends; OK if it goes on for so long."""
    try:
        async with asyncio.timeout(seconds):
            while await call.read() is not grpc.aio.EOF:
                pass
            code: grpc.StatusCode = await call.code()
            return code
    except TimeoutError:
        return grpc.StatusCode.OK
    except grpc.aio.AioRpcError as error:
        return error.code()


async def test_random_bytes_end_their_own_stream_at_most(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        good = await caller.play(game_id)
        await good.next("attached")
        raw: Any = caller.channel.stream_stream(PLAY)
        chance = random.Random(4)
        command = pb.PlayRequest(
            command=pb.Command(game_id=game_id, command_id="c", decision_id="d1")
        ).SerializeToString()
        codes = set()
        for number in range(60):
            data = bytearray(command if number % 2 else chance.randbytes(chance.randrange(1, 60)))
            for _ in range(number % 5):
                data[chance.randrange(len(data))] = chance.randrange(256)
            call = raw(metadata=caller.metadata)
            await call.write(bytes(data))
            await call.done_writing()
            codes.add(await ends_with(call))
        assert codes == {grpc.StatusCode.OK, grpc.StatusCode.INVALID_ARGUMENT}
        assert [] == await good.drained()
        await still_plays(engine, game_id)


@pytest.mark.parametrize(
    "data",
    [
        b"",  # no kind
        b"\xfa\x01\x00",  # a kind of the future
        pb.PlayRequest().SerializeToString(),
    ],
)
async def test_a_request_without_a_known_kind_ends_the_stream(tmp_path: Path, data: bytes) -> None:
    async with running_engine(tmp_path) as engine:
        caller = await engine.caller("p_0")
        call: Any = caller.channel.stream_stream(PLAY)(metadata=caller.metadata)
        await call.write(data)
        assert grpc.StatusCode.INVALID_ARGUMENT is await ends_with(call)


async def test_a_request_above_the_limit_ends_its_stream_only(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        stream = await caller.play()
        await stream.command(game_id, "x" * (2 << 20), "d1", **ROLL)
        assert await ends_with(stream.call) is not grpc.StatusCode.OK
        await quiet(engine)
        await still_plays(engine, game_id)


async def test_empty_and_huge_fields_are_answered_briefly(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        stream = await (await engine.caller("p_0")).play()
        for text in ("", "é\x00\u202e萬" * 20, "x" * 900_000):
            await stream.send(attach=pb.Attach(game_id=text))
            detached = await stream.next("detached")
            assert pb.DETACH_REASON_NOT_FOUND == detached.reason
            await stream.send(detach=pb.Detach(game_id=text))
            assert pb.DETACH_REASON_REQUESTED == (await stream.next("detached")).reason
            await stream.command(game_id, text, text[:100_000], **ROLL)
            refused = await stream.next("command_result")
            assert refusal_pb2.REFUSAL_REASON_INVALID_ACTION == refused.refusal.reason
            assert text[:128] == refused.command_id
            await stream.command(game_id, f"c{len(text)}", text, **ROLL)
            assert (await stream.next("command_result")).refusal.reason
            await stream.command(text, "c", "d1", **ROLL)
            unknown = await stream.result("c")
            assert refusal_pb2.REFUSAL_REASON_GAME_NOT_FOUND == unknown.refusal.reason
        await stream.send(attach=pb.Attach(game_id=game_id, after_seq=(1 << 64) - 1))
        assert 0 == (await stream.next("snapshot")).seq
        await stream.send(ping=pb.Ping(nonce=(1 << 64) - 1))
        assert (1 << 64) - 1 == (await stream.next("pong")).nonce
        await still_plays(engine, game_id)


def hostile_actions(chance: random.Random) -> list[action_pb2.Action]:
    """Actions of every kind with arguments that no client should send."""
    ints = [0, 1, 39, 40, 41, 63, 64, (1 << 31) - 1, 1 << 31, (1 << 32) - 1]
    cash = [0, -1, 1, -(1 << 63), (1 << 63) - 1, 1_000_000_000, 1_000_000_001]
    made = [action_pb2.Action()]
    for field in action_pb2.Action.DESCRIPTOR.fields:
        for _ in range(12):
            action = action_pb2.Action()
            part = getattr(action, field.name)
            part.SetInParent()
            for argument in part.DESCRIPTOR.fields:
                if argument.is_repeated:
                    getattr(part, argument.name).extend(chance.choices(ints, k=chance.randrange(5)))
                elif argument.enum_type is not None:
                    setattr(part, argument.name, chance.choice([0, 1, 2, 3, 99, -1, 1 << 30]))
                elif "cash" in argument.name:
                    setattr(part, argument.name, chance.choice(cash))
                else:
                    setattr(part, argument.name, chance.choice(ints))
            if field.name != "surrender":
                made.append(action)
    return made


async def test_actions_with_any_numbers_are_judged_in_every_phase(tmp_path: Path) -> None:
    limits: dict[str, Any] = {
        "commands_per_second": 100_000,
        "command_burst": 100_000,
        "refused_command_burst": 100_000,
    }
    chance = random.Random(9)
    async with running_engine(tmp_path, **limits) as engine:
        game_id = await engine.new_game(people(3))
        callers = [await engine.caller(f"p_{seat}") for seat in range(3)]
        streams = [await caller.play() for caller in callers]
        sent = 0
        for _ in range(12):
            decision = awaited((await callers[0].game(game_id)).decisions)
            actions = hostile_actions(chance)
            chance.shuffle(actions)
            actions = [*actions[:60], chance.choice(decision.legal_actions)]
            for action in actions:
                sent += 1
                command = pb.Command(
                    game_id=game_id,
                    command_id=f"c{sent}",
                    decision_id=chance.choice([decision.decision_id, "o1", "d-1", ""]),
                    action=action,
                )
                await streams[decision.seat].send(command=command)
                answer = await streams[decision.seat].result(command.command_id)
                assert not answer.HasField("retry")
        for action in hostile_actions(chance):
            if action.WhichOneof("kind") == "propose_trade":
                request = pb.CheckTradeRequest(game_id=game_id, trade=action.propose_trade)
                await callers[1].engine.CheckTrade(request, metadata=callers[1].metadata)
        assert pb.GAME_STATE_RUNNING == (await callers[0].game(game_id)).state
        assert 0 == engine.service.metrics.faults._value.get()
        await still_plays(engine, game_id)


async def test_who_gives_up_waiting_for_an_answer_harms_nobody(tmp_path: Path) -> None:
    wrapped = Wrapped()
    async with running_engine(tmp_path, wrap=wrapped) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        decision = awaited((await caller.game(game_id)).decisions)
        mover = await engine.caller(f"p_{decision.seat}")
        wrapped.store.slow = True
        asked = asyncio.create_task(mover.submit(game_id, "c", decision.decision_id, **ROLL))
        await wrapped.store.reached.wait()
        asked.cancel()
        await asyncio.gather(asked, return_exceptions=True)
        await mover.channel.close()
        await asyncio.sleep(0.05)
        wrapped.store.slow = False
        wrapped.store.go.set()
        again = await (await engine.caller(f"p_{decision.seat}")).submit(
            game_id, "c", decision.decision_id, **ROLL
        )
        assert 1 == again.accepted.seq
        snapshot = await caller.game(game_id)
        assert (1, pb.GAME_STATE_RUNNING) == (snapshot.seq, snapshot.state)
        await still_plays(engine, game_id)


async def test_spectators_and_one_seat_cannot_crowd_out_another(tmp_path: Path) -> None:
    wrapped = Wrapped()
    async with running_engine(tmp_path, wrap=wrapped, most_waiting_commands=8) as engine:
        game_id = await engine.new_game(people(2))
        decision = awaited((await (await engine.caller("p_0")).game(game_id)).decisions)
        mover = await (await engine.caller(f"p_{decision.seat}")).play()
        other = await (await engine.caller(f"p_{1 - decision.seat}")).play()
        stranger = await (await engine.caller("p_stranger")).play()
        wrapped.store.slow = True
        await mover.command(game_id, "first", decision.decision_id, **ROLL)
        await wrapped.store.reached.wait()
        for number in range(300):
            await stranger.command(game_id, f"s{number}", "d1", **ROLL)
        for number in range(300):
            answer = await stranger.result(f"s{number}")
            assert refusal_pb2.REFUSAL_REASON_SPECTATOR == answer.refusal.reason
        for number in range(50):
            await other.command(game_id, f"o{number}", "d1", **ROLL)
        for number in range(8, 50):
            assert ERROR_REASON_LIMIT == (await other.result(f"o{number}")).retry.reason
        await mover.command(game_id, "second", decision.decision_id, **ROLL)
        await mover.drained()
        wrapped.store.slow = False
        wrapped.store.go.set()
        second = await mover.result("second")
        assert refusal_pb2.REFUSAL_REASON_STALE_DECISION == second.refusal.reason


async def test_ids_of_built_in_bots_cannot_be_taken(tmp_path: Path) -> None:
    async with running_engine(tmp_path, bot_think_ms=30) as engine:
        game_id = await engine.new_game([*people(1), built_in(1)])
        caller = await engine.caller("p_0")
        stream = await caller.play(game_id)
        snapshot = await stream.next("snapshot")
        for number in range(100):
            await stream.command(game_id, f"bot-d{number}", "d0", **ROLL)
        for number in range(100):
            await stream.result(f"bot-d{number}")
        while awaited(snapshot.decisions).seat == 0:
            decision = awaited(snapshot.decisions)
            command = pb.Command(
                game_id=game_id,
                command_id=f"mine {decision.decision_id}",
                decision_id=decision.decision_id,
                action=decision.legal_actions[-1],
            )
            request = pb.SubmitCommandRequest(command=command)
            await caller.engine.SubmitCommand(request, metadata=caller.metadata)
            snapshot = await caller.game(game_id)
        while (await stream.next("update")).actor != 1:
            pass


async def test_who_comes_and_goes_all_the_time_disturbs_nobody(tmp_path: Path) -> None:
    async with running_engine(tmp_path, most_queued_frames=16) as engine:
        game_id = await engine.new_game(people(2))
        reader = await (await engine.caller("p_1")).play(game_id)
        await reader.next("attached")
        stream = await (await engine.caller("p_0")).play()
        for _ in range(400):
            await stream.send(attach=pb.Attach(game_id=game_id, after_seq=0))
            await stream.send(detach=pb.Detach(game_id=game_id))
            await stream.next("detached")
        await asyncio.sleep(0.25)  # the last notice, that the seat is gone
        kinds = [frame.WhichOneof("kind") for frame in await reader.drained()]
        assert {"presence"} >= set(kinds)
        assert len(kinds) < 60
        await stream.send(attach=pb.Attach(game_id=game_id, after_seq=0))
        while [0, 1] != list((await reader.next("presence")).connected_seats):
            pass


async def test_nothing_of_a_game_follows_its_detached_frame(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        stream = await (await engine.caller("p_0")).play()
        for _ in range(50):
            await stream.send(attach=pb.Attach(game_id=game_id))
            await stream.send(attach=pb.Attach(game_id=game_id, after_seq=0))
            await stream.send(detach=pb.Detach(game_id=game_id))
        await stream.send(ping=pb.Ping(nonce=1))
        detached = 0
        while detached < 50:
            detached += (await stream.frame()).WhichOneof("kind") == "detached"
        assert "pong" == (await stream.frame()).WhichOneof("kind")


async def test_an_account_has_a_limit_of_streams(tmp_path: Path) -> None:
    async with running_engine(tmp_path, most_account_streams=3) as engine:
        caller = await engine.caller("p_0")
        streams = [await caller.play() for _ in range(3)]
        for stream in streams:
            await stream.drained()
        assert grpc.StatusCode.RESOURCE_EXHAUSTED is await ends_with((await caller.play()).call)
        await (await (await engine.caller("p_1")).play()).drained()
        streams[0].call.cancel()
        code = grpc.StatusCode.UNKNOWN
        for _ in range(100):
            code = await ends_with((await caller.play()).call, 0.5)
            if code is grpc.StatusCode.OK:
                break
        assert grpc.StatusCode.OK is code


async def abandon(caller: Caller, game_id: str, step: int) -> None:
    """Open a stream, and leave it in one of many ways at one of many points."""
    stream = await caller.play()
    if step % 7 > 0:
        await stream.send(attach=pb.Attach(game_id=game_id, spectator=True))
    if step % 7 > 1:
        await stream.command(game_id, f"c{step}", "d0", **ROLL)
    if step % 7 > 2:
        await stream.next("attached")
    if step % 7 > 3:
        await stream.send(detach=pb.Detach(game_id=game_id))
    if step % 7 > 4:
        await stream.send(attach=pb.Attach(game_id="g_unknown"))
    if step % 7 > 5:
        await stream.call.done_writing()
    for _ in range(step % 5):
        await asyncio.sleep(0)
    stream.call.cancel()


async def test_hundreds_of_streams_leave_no_task_and_no_memory(tmp_path: Path) -> None:
    limits: dict[str, Any] = {"refused_command_burst": 100_000}
    async with running_engine(tmp_path, **limits) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_w")

        async def wave(count: int) -> int:
            for start in range(0, count, 50):
                steps = range(start, start + 50)
                await asyncio.gather(*(abandon(caller, game_id, step) for step in steps))
            await quiet(engine)
            await asyncio.sleep(0.15)  # notices of presence
            gc.collect()
            return len(gc.get_objects())

        await wave(100)  # warms caches up
        tasks, before = len(asyncio.all_tasks()), await wave(100)
        after = await wave(500)
        assert len(asyncio.all_tasks()) <= tasks
        assert after - before < 400, "streams left objects"
        game = engine.service.registry.find_running(game_id)
        assert game is not None
        assert 0 == len(game.hub)
        await still_plays(engine, game_id)


async def test_half_closed_streams_get_their_answers_and_end(tmp_path: Path) -> None:
    wrapped = Wrapped()
    async with running_engine(tmp_path, wrap=wrapped) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        decision = awaited((await caller.game(game_id)).decisions)
        stream = await (await engine.caller(f"p_{decision.seat}")).play()
        wrapped.store.slow = True
        await stream.command(game_id, "c", decision.decision_id, **ROLL)
        await stream.call.done_writing()
        await wrapped.store.reached.wait()
        wrapped.store.slow = False
        wrapped.store.go.set()
        assert 1 == (await stream.result("c")).accepted.seq
        with pytest.raises(EOFError):
            await stream.frame()


async def test_what_is_not_stored_yet_is_in_no_snapshot(tmp_path: Path) -> None:
    wrapped = Wrapped()
    limits: dict[str, Any] = {"most_queued_frames": 8}
    async with running_engine(tmp_path, wrap=wrapped, **limits) as engine:
        game_id = await engine.new_game(people(2))
        caller = await engine.caller("p_0")
        game = engine.service.registry.find_running(game_id)
        assert game is not None
        before = await caller.game(game_id)
        decision = awaited(before.decisions)
        watcher = await caller.play(game_id)
        await watcher.next("attached")
        wrapped.store.slow = True
        mover = await engine.caller(f"p_{decision.seat}")
        asked = asyncio.create_task(mover.submit(game_id, "c", decision.decision_id, **ROLL))
        await wrapped.store.reached.wait()
        for _ in range(9):  # past the limit: a refresh
            game.hub.publish(game.attached_frame())
        refreshed = await watcher.next("snapshot")
        assert (0, before.view) == (refreshed.seq, refreshed.view)
        attached = await (await caller.play(game_id)).next("snapshot")
        assert (0, before.view) == (attached.seq, attached.view)
        assert 0 == (await caller.game(game_id)).seq
        wrapped.store.slow = False
        wrapped.store.go.set()
        assert 1 == (await asked).accepted.seq
        assert 1 == (await watcher.next("update")).seq
