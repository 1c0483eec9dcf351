"""Tokens that stop being good while a stream is open, and tokens that never were."""

import asyncio
import itertools
import os
import re
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx.engine.v1 import action_pb2, refusal_pb2
from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.identity.v1.identity_service_pb2_grpc import IdentityServiceStub
from opolyx_sdk import AsyncClient, ClientOptions, Game, NotAuthenticated
from opolyx_server.embedded import EmbeddedServer
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.tokens import LEEWAY_SECONDS
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import START_MS, Caller, Engine, Stream, awaited, people, running_engine
from support_sdk import start_game

CHECK_MS = 15_000


def reason_of(error: Any) -> tuple[grpc.StatusCode, str, str]:
    """Code, domain and reason of a failed call."""
    status = rpc_status.from_call(error)
    assert status is not None
    info = error_details_pb2.ErrorInfo()
    assert status.details[0].Unpack(info)
    return error.code(), info.domain, info.reason


async def end_of(stream: Stream) -> tuple[grpc.StatusCode, str, str]:
    """What a stream ends with."""
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await asyncio.wait_for(read_on(stream), 10)
    return reason_of(caught.value)


async def read_on(stream: Stream) -> None:
    while await stream.call.read() is not grpc.aio.EOF:
        pass


def caller_with(engine: Engine, channel: grpc.aio.Channel, **claims: Any) -> Caller:
    signed = {"subject": "p_0", "role": "player", "ttl_seconds": 86_400, **claims}
    return Caller(channel, engine.signer.sign(**signed))


@pytest.mark.parametrize("whole_account", [False, True])
async def test_streams_of_a_revoked_token_end_within_a_minute(
    tmp_path: Path, whole_account: bool
) -> None:
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock) as engine:
        game_id = await engine.new_game(people(2), turn_seconds=600)
        channel = await engine.channel()
        revoked = caller_with(engine, channel, token_id="t_1")
        play = await revoked.play(game_id)
        watch = Stream(
            revoked.engine.WatchGame(
                pb.WatchGameRequest(game_id=game_id), metadata=revoked.metadata
            )
        )
        await clock.advance(1_000)
        other = await caller_with(engine, channel, token_id="t_2").play(game_id)
        stranger = await (await engine.caller("p_1")).play(game_id)
        for stream in (play, watch, other, stranger):
            await stream.next("attached")
        before = await revoked.game(game_id)
        if whole_account:
            engine.revoked.add_account("p_0", START_MS + 1_000)
        else:
            engine.revoked.add_token("t_1")
        await clock.advance(CHECK_MS)
        ended = (grpc.StatusCode.UNAUTHENTICATED, "opolyx.identity", "TOKEN_REVOKED")
        assert [ended, ended] == [await end_of(play), await end_of(watch)]
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await revoked.game(game_id)
        assert ended == reason_of(caught.value)
        for stream in (other, stranger):
            assert "snapshot" not in [one.WhichOneof("kind") for one in await stream.drained()]
        after = await (await engine.caller("p_1")).game(game_id)
        assert (before.seq, before.decisions) == (after.seq, after.decisions)
        cut = engine.service.metrics.streams_cut.labels("token_revoked")
        assert 2 == cut._value.get()


async def test_streams_of_an_expired_token_end_within_a_minute(tmp_path: Path) -> None:
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock) as engine:
        game_id = await engine.new_game(people(2), turn_seconds=600)
        caller = caller_with(engine, await engine.channel(), ttl_seconds=120)
        stream = await caller.play(game_id)
        await stream.next("attached")
        await clock.advance(120_000 + LEEWAY_SECONDS * 1000 - 1)
        await stream.drained()
        await clock.advance(CHECK_MS)
        assert (grpc.StatusCode.UNAUTHENTICATED, "opolyx.identity", "TOKEN_EXPIRED") == (
            await end_of(stream)
        )
        assert CHECK_MS + LEEWAY_SECONDS * 1000 < 60_000


async def test_a_revoked_service_learns_no_more_facts(tmp_path: Path) -> None:
    async with running_engine(tmp_path, token_check_seconds=0.05) as engine:
        channel = await engine.channel()
        service = caller_with(engine, channel, subject="s_m", role="service", token_id="t_s")
        call: Any = service.allocation.WatchFacts(
            allocation_pb.WatchFactsRequest(consumer="test"), metadata=service.metadata
        )
        reading = asyncio.create_task(call.read())
        await asyncio.sleep(0.1)
        engine.revoked.add_token("t_s")
        game_id = await engine.new_game(people(2))
        operator = await engine.caller("o", "operator")
        await operator.allocation.EndGame(
            allocation_pb.EndGameRequest(game_id=game_id), metadata=operator.metadata
        )
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await asyncio.wait_for(reading, 10)
        assert "TOKEN_REVOKED" == reason_of(caught.value)[2]


@pytest.mark.parametrize("bad", ["none", "garbage", "expired", "revoked", "foreign key", "other"])
async def test_a_bad_token_touches_neither_seat_nor_clock_nor_debt(
    tmp_path: Path, bad: str
) -> None:
    """Case A-26: after three wrong attempts the right one resumes with the time that is left."""
    clock = ManualClock(START_MS)
    (tmp_path / "elsewhere").mkdir()
    async with (
        running_engine(tmp_path / "elsewhere", clock=clock) as elsewhere,
        running_engine(tmp_path, clock=clock) as engine,
    ):
        game_id = await engine.new_game(people(2))
        decision = awaited((await (await engine.caller("p_0")).game(game_id)).decisions)
        right = await engine.caller(f"p_{decision.seat}")
        first = await right.play(game_id)
        before = await first.next("snapshot")
        first.call.cancel()
        watcher = await (await engine.caller("p_w")).play(game_id, spectator=True)
        await watcher.next("attached")
        await asyncio.sleep(0.2)  # who left is told to all by then
        await watcher.drained()
        await clock.advance(15_000)
        engine.revoked.add_token("t_bad")
        subject = f"p_{decision.seat}"
        wrong = {
            "none": "",
            "garbage": "not.a.token",
            "expired": engine.signer.sign(subject=subject, role="player", ttl_seconds=-60),
            "revoked": engine.signer.sign(
                subject=subject, role="player", ttl_seconds=60, token_id="t_bad"
            ),
            "foreign key": elsewhere.signer.sign(subject=subject, role="player", ttl_seconds=60),
            "other": engine.token("p_other"),
        }[bad]
        for _ in range(3):
            await attempt(await engine.channel(), wrong, game_id, decision.decision_id)
        assert [] == await watcher.drained()
        second = await right.play(game_id)
        after = await second.next("snapshot")
        assert before.decisions == after.decisions, "the same decision, the same deadline"
        assert (before.seq, decision.seat) == (after.seq, after.your_seat)
        left_ms = awaited(after.decisions).deadline_unix_ms - after.now_unix_ms
        assert 60_000 == left_ms
        result = await right.submit(game_id, "c", decision.decision_id, roll=action_pb2.Roll())
        assert 1 == result.accepted.seq


async def attempt(channel: grpc.aio.Channel, token: str, game_id: str, decision: str) -> None:
    """Attach, read and play with a wrong token; nothing of it may work."""
    caller = Caller(channel, token)
    if not token:
        caller.metadata = ()  # type: ignore[assignment]
    stream = await caller.play()
    try:
        await stream.send(attach=pb.Attach(game_id=game_id))
        await stream.command(game_id, "x", decision, roll=action_pb2.Roll())
        detached = await stream.next("detached")
        assert pb.DETACH_REASON_NOT_SEATED == detached.reason
        result = await stream.result("x")
        assert refusal_pb2.REFUSAL_REASON_SPECTATOR == result.refusal.reason
        stream.call.cancel()
    except (grpc.aio.AioRpcError, asyncio.InvalidStateError):
        # A write that is under way when the server refuses can hide its reason.
        refused = (grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.INTERNAL)
        assert await stream.call.code() in refused


# With the identity service itself: as programs, and all in one.


@asynccontextmanager
async def program(module: str, environment: dict[str, str]) -> AsyncIterator[int]:
    """A service as a process; its port."""
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        module,
        env={**os.environ, **environment},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    reading = None
    try:
        port = 0
        async with asyncio.timeout(30):
            while not port and (line := await process.stderr.readline()):
                found = re.search(r'"port": ?(\d+)', line.decode())
                port = int(found[1]) if found and b"server_started" in line else 0
        assert port
        reading = asyncio.create_task(process.stderr.read())
        yield port
    finally:
        process.kill()
        await process.wait()
        if reading is not None:
            await reading


async def until_streams_end(
    stream: Any, identity: IdentityServiceStub, metadata: Any, revoking: Any
) -> tuple[grpc.StatusCode, str, str]:
    await identity.RevokeToken(revoking, metadata=metadata)
    return await end_of(stream)


@pytest.mark.timeout(120)
async def test_programs_of_their_own_hear_of_revoked_tokens(tmp_path: Path) -> None:
    keys = tmp_path / "keys.json"
    public = str(ensure_keys(keys))
    matchmaker_settings = {
        "OPOLYX_MATCHMAKER_STORE_URL": f"sqlite:///{tmp_path}/matchmaker.db",
        "OPOLYX_MATCHMAKER_SIGNING_KEYS_FILE": str(keys),
        "OPOLYX_MATCHMAKER_LOG_FORMAT": "json",
    }
    async with program("opolyx_matchmaker.main", matchmaker_settings) as identity_port:
        engine_settings = {
            "OPOLYX_ENGINE_STORE_URL": f"sqlite:///{tmp_path}/engine.db",
            "OPOLYX_ENGINE_VERIFICATION_KEYS_FILE": public,
            "OPOLYX_ENGINE_SIGNING_KEYS_FILE": str(keys),
            "OPOLYX_ENGINE_IDENTITY_ADDRESS": f"127.0.0.1:{identity_port}",
            "OPOLYX_ENGINE_TOKEN_CHECK_SECONDS": "0.3",
            "OPOLYX_ENGINE_LOG_FORMAT": "json",
        }
        async with (
            program("opolyx_engine.main", engine_settings) as engine_port,
            grpc.aio.insecure_channel(f"127.0.0.1:{identity_port}") as identity_channel,
            grpc.aio.insecure_channel(f"127.0.0.1:{engine_port}") as engine_channel,
        ):
            identity = IdentityServiceStub(identity_channel)
            made = await identity.CreateGuest(identity_pb.CreateGuestRequest(name="Ada"))
            caller = Caller(engine_channel, made.token.jwt)
            stream = await caller.play("g_unknown")
            assert pb.DETACH_REASON_NOT_FOUND == (await stream.next("detached")).reason
            ended = await until_streams_end(
                stream, identity, caller.metadata, identity_pb.RevokeTokenRequest()
            )
            assert "TOKEN_REVOKED" == ended[2]
            again = await caller.play()
            assert "TOKEN_REVOKED" == (await end_of(again))[2]


async def test_all_in_one_a_revoked_token_ends_the_stream_and_the_sdk_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPOLYX_ENGINE_TOKEN_CHECK_SECONDS", "0.1")
    async with (
        EmbeddedServer(tmp_path, seed="revoked") as server,
        AsyncClient(server.address, options=ClientOptions(patience_s=60)) as client,
    ):
        game_id = await start_game(client)
        opened = itertools.count()
        play = client._transport.play

        def counted(*arguments: Any) -> Any:
            next(opened)
            return play(*arguments)

        monkeypatch.setattr(client._transport, "play", counted)
        async with client.play(game_id) as game:
            await client.revoke_token()
            with pytest.raises(NotAuthenticated) as caught:
                await asyncio.wait_for(play_on(game), 20)
        assert "TOKEN_REVOKED" == caught.value.reason
        assert str(client._transport.tokens.jwt) not in str(caught.value)
        tried = next(opened)
        await asyncio.sleep(1)
        assert tried + 1 == next(opened), "nothing is tried again"


async def play_on(game: Game) -> None:
    async for _ in game:
        pass
