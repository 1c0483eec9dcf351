"""Connections that stall, send halves or flood are cut off or refused, and players play on."""

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import grpc
import pytest

from support_engine import ROLL, Caller, Engine, awaited, people, running_engine
from support_flood import Flood
from support_flood_talks import PATHS
from support_http2 import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    PREFACE,
    SETTINGS,
    frame,
    headers,
    reset,
)
from support_matchmaker import eventually

SHORT: Final[dict[str, Any]] = {
    "handshake_seconds": 0.3,
    "keepalive_seconds": 0.3,
    "keepalive_timeout_seconds": 0.3,
    "request_seconds": 0.3,
}
FEW_REFUSED: Final[dict[str, Any]] = {"refused_calls_per_second": 5, "refused_call_burst": 20}
BEGIN: Final = PREFACE + frame(SETTINGS, 0, 0)
CALL: Final = frame(HEADERS, END_HEADERS, 1, headers(PATHS[0]))
HALVES: Final = {
    "nothing": b"",
    "a part of the preface": PREFACE[:10],
    "the preface without settings": PREFACE,
    "a part of a frame's head": BEGIN + CALL[:5],
    "a part of the headers": BEGIN + CALL[:40],
    "headers that are to go on": BEGIN + frame(HEADERS, 0, 1, headers(PATHS[0])),
    "a call without its message": BEGIN + CALL,
    "a part of a message": BEGIN + CALL + frame(DATA, 0, 1, b"\x00\x00\x00\x10\x00abc"),
    "no HTTP/2 at all": b"GET / HTTP/1.1\r\nHost: here\r\n\r\n",
    "a frame of a size that is too large": BEGIN + b"\xff\xff\xff\x00\x00\x00\x00\x00\x01",
}


@asynccontextmanager
async def connected(engine: Engine) -> AsyncIterator[tuple[Any, Any]]:
    reader, writer = await asyncio.open_connection("127.0.0.1", engine.port)
    try:
        yield reader, writer
    finally:
        writer.close()


async def cut_off(reader: asyncio.StreamReader) -> bool:
    """Whether the server closes the connection, within ten seconds."""
    async with asyncio.timeout(10):
        try:
            while await reader.read(65_536):
                pass
        except ConnectionResetError:
            pass
    return True


async def plays(engine: Engine, game_id: str) -> None:
    """A move of whoever is awaited is answered."""
    callers = [await engine.caller(f"p_{seat}") for seat in range(2)]
    decision = awaited((await callers[0].game(game_id)).decisions)
    result = await callers[decision.seat].submit(game_id, "c", decision.decision_id, **ROLL)
    assert result.HasField("accepted")


@pytest.mark.parametrize("half", HALVES.values(), ids=HALVES.keys())
async def test_whoever_sends_half_of_something_is_cut_off(tmp_path: Path, half: bytes) -> None:
    async with running_engine(tmp_path, **SHORT) as engine, connected(engine) as (reader, writer):
        writer.write(half)
        assert await cut_off(reader)


async def test_connections_past_the_limit_are_closed_and_players_play_on(tmp_path: Path) -> None:
    async with running_engine(tmp_path, most_connections=20, handshake_seconds=60) as engine:
        game_id = await engine.new_game(people(2))
        player = await engine.caller("p_0")
        await player.game(game_id)
        connections = [await asyncio.open_connection("127.0.0.1", engine.port) for _ in range(40)]
        closed = [asyncio.create_task(cut_off(reader)) for reader, _ in connections]
        done, open_ones = await asyncio.wait(closed, timeout=2)

        assert 20 <= len(done)
        snapshot = await player.game(game_id)
        assert snapshot.decisions
        for task in open_ones:
            task.cancel()
        await asyncio.gather(*open_ones, return_exceptions=True)
        for _, writer in connections:
            writer.close()


async def test_a_flood_of_calls_is_held_off_while_a_player_plays(tmp_path: Path) -> None:
    limits: dict[str, Any] = {"most_pending_calls": 50, "refused_calls_per_second": 0}
    async with running_engine(tmp_path, **limits) as engine:
        game_id = await engine.new_game(people(2))
        stream = await (await engine.caller("p_0")).play(game_id)
        decision = awaited((await stream.next("snapshot")).decisions)
        mover: Caller = await engine.caller(f"p_{decision.seat}")
        moving = await mover.play(game_id)
        await moving.next("snapshot")
        attack = Flood(engine.port, 20, ("no token", "resets", "pings", "settings"))
        running = asyncio.create_task(attack.run())
        await eventually(lambda: attack.counts["bytes"] > 20_000, 20)

        await moving.command(game_id, "c", decision.decision_id, **ROLL)
        assert (await moving.result("c")).HasField("accepted")
        running.cancel()
        await asyncio.gather(running, return_exceptions=True)
        await plays_at_all(engine, game_id)


async def plays_at_all(engine: Engine, game_id: str) -> None:
    """The server answers once the flood is over; a call may be refused while it runs out."""
    caller = await engine.caller("p_0")
    async with asyncio.timeout(10):
        while True:
            try:
                await caller.game(game_id)
            except grpc.aio.AioRpcError as error:
                if error.code() is not grpc.StatusCode.CANCELLED:  # gRPC's word for a full queue
                    raise
            else:
                return


async def test_thousands_of_calls_that_are_reset_at_once_leave_nothing(tmp_path: Path) -> None:
    async with running_engine(tmp_path, refused_calls_per_second=0) as engine:
        game_id = await engine.new_game(people(2))
        luck = random.Random(3)
        async with connected(engine) as (_, writer):
            writer.write(BEGIN)
            for stream in range(1, 6_000, 2):
                opened = headers(luck.choice(PATHS))
                writer.write(frame(HEADERS, END_HEADERS | END_STREAM, stream, opened))
                writer.write(reset(stream))
            await writer.drain()
            await plays(engine, game_id)
        await eventually(lambda: not len(engine.service.streams), 10)


def calls(count: int, path: str, **metadata: str) -> bytes:
    """So many calls, without a message."""
    block, ended = headers(path, **metadata), END_HEADERS | END_STREAM
    return b"".join(frame(HEADERS, ended, 2 * number + 1, block) for number in range(count))


@pytest.mark.parametrize("path", PATHS[:2] + PATHS[3:])
async def test_who_is_refused_again_and_again_is_cut_off_and_others_play_on(
    tmp_path: Path, path: str
) -> None:
    async with running_engine(tmp_path, **FEW_REFUSED) as engine:
        game_id = await engine.new_game(people(2))
        player = await engine.caller("p_0")
        stream = await player.play(game_id)
        await stream.next("snapshot")
        async with connected(engine) as (reader, writer):
            writer.write(BEGIN + calls(20, path))
            assert b"" != await reader.read(1_000)
            writer.write(calls(60, path)[len(calls(20, path)) :])
            assert await cut_off(reader)
        async with connected(engine) as (reader, writer):
            writer.write(BEGIN + calls(1, path))
            assert await cut_off(reader), "the address is known now"

        await plays(engine, game_id)
        await stream.next("update")
        assert 2 == engine.server.metrics.connections_closed._value.get()


async def test_who_opens_streams_and_leaves_them_unused_is_cut_off(tmp_path: Path) -> None:
    async with running_engine(tmp_path, **FEW_REFUSED) as engine:
        game_id = await engine.new_game(people(2))
        channel = await engine.channel(**{"grpc.use_local_subchannel_pool": 1})
        hostile = Caller(channel, engine.token("p_9"))
        closed, streams = engine.server.metrics.connections_closed, engine.service.streams
        opened = 0
        while not closed._value.get():
            opened += 1
            stream = await hostile.play()
            await eventually(lambda: len(streams) > 0 or closed._value.get() > 0)
            stream.call.cancel()
            await eventually(lambda: len(streams) == 0)
        assert 20 < opened
        await eventually(lambda: closed._value.get() == 1)
        await plays(engine, game_id)


async def test_behind_a_proxy_nobody_is_cut_off_for_others(tmp_path: Path) -> None:
    async with running_engine(tmp_path, refused_calls_per_second=0) as engine:
        channel = await engine.channel()
        stranger, player = Caller(channel, "no token"), Caller(channel, engine.token("p_0"))
        game_id = await engine.new_game(people(2))
        stream = await player.play(game_id)
        await stream.next("snapshot")
        for _ in range(150):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stranger.game(game_id)
            assert caught.value.code() is grpc.StatusCode.UNAUTHENTICATED
        assert [] == [frame.WhichOneof("kind") for frame in await stream.drained()][2:]
        assert 0 == engine.server.metrics.connections_closed._value.get()
