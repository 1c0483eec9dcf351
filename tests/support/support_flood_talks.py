"""What hostile connections do, each kind by its name."""

import asyncio
import random
import struct
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from itertools import count
from typing import Any, Final

from opolyx.engine.v1 import action_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from support_http2 import (
    DATA,
    END_HEADERS,
    END_STREAM,
    HEADERS,
    PING,
    PREFACE,
    SETTINGS,
    WINDOW_UPDATE,
    Wire,
    frame,
    headers,
    message,
    reset,
)

PATHS: Final = (
    "/opolyx.engine.v1.EngineService/GetGame",
    "/opolyx.engine.v1.EngineService/Play",
    "/grpc.health.v1.Health/Watch",
    "/nothing.v1.Here/Nothing",
)
_PLAY: Final = PATHS[1]
_BEGIN: Final = PREFACE + frame(SETTINGS, 0, 0)
_PAUSE_S: Final = 0.2
_BURST: Final = 20
"""Calls, pings or settings between two pauses: 100 a second of each connection."""

_COMMANDS: Final = 100
"""The same of commands: 500 a second, more than an account may."""

_HELLO: Final = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"  # how TLS begins


@dataclass(frozen=True, slots=True)
class Arms:
    """What one hostile connection has."""

    luck: random.Random
    """Of its own."""

    token: str
    """A good token of an account of its own; empty if it has none."""

    game_id: str
    """A game that others play; empty if it knows of none."""


Talk = Callable[[Wire, Arms], Coroutine[Any, Any, None]]


async def say_nothing(wire: Wire, arms: Arms) -> None:
    """Open, and wait."""
    await asyncio.Event().wait()


async def say_half(wire: Wire, arms: Arms) -> None:
    """A part of a preface, of a frame's head, of headers, or a call without its message."""
    call = frame(HEADERS, END_HEADERS, 1, headers(arms.luck.choice(PATHS)))
    whole = _BEGIN + call + frame(DATA, 0, 1, b"\x00\x00\x00\x10\x00abc")
    await wire.send(whole[: arms.luck.randrange(1, len(whole))])
    await asyncio.Event().wait()


async def say_byte_by_byte(wire: Wire, arms: Arms) -> None:
    """A call, one byte a second."""
    call = _BEGIN + frame(HEADERS, END_HEADERS, 1, headers(PATHS[0]))
    for byte in call:
        await wire.send(bytes([byte]), 0)
        await asyncio.sleep(1)


async def say_garbage(wire: Wire, arms: Arms) -> None:
    """What is no HTTP/2, or stops to be it."""
    noise = arms.luck.randbytes(400)
    await wire.send(arms.luck.choice((noise, _HELLO + noise, _BEGIN + noise, PREFACE + noise)))
    await asyncio.Event().wait()


async def call_without_token(wire: Wire, arms: Arms) -> None:
    """Calls by nobody, to what there is and what there isn't."""
    ids = count(1, 2)
    await wire.send(_BEGIN)
    while True:
        ended = END_HEADERS | END_STREAM
        calls = [
            frame(HEADERS, ended, next(ids), headers(arms.luck.choice(PATHS)))
            for _ in range(_BURST)
        ]
        await wire.send(b"".join(calls), _BURST)
        await asyncio.sleep(_PAUSE_S)


async def call_with_bad_token(wire: Wire, arms: Arms) -> None:
    """Calls with tokens that nobody signed, each another one."""
    ids = count(1, 2)
    await wire.send(_BEGIN)
    kept, _, _ = arms.token.rpartition(".")
    while True:
        calls = []
        for _ in range(_BURST):
            bearer = f"Bearer {kept}.{arms.luck.randbytes(32).hex()}"
            block = headers(arms.luck.choice(PATHS[:2]), authorization=bearer)
            calls.append(frame(HEADERS, END_HEADERS | END_STREAM, next(ids), block))
        await wire.send(b"".join(calls), _BURST)
        await asyncio.sleep(_PAUSE_S)


async def call_and_reset(wire: Wire, arms: Arms) -> None:
    """Calls that are cancelled before they can be answered."""
    ids = count(1, 2)
    await wire.send(_BEGIN)
    while True:
        calls = []
        for _ in range(_BURST):
            number = next(ids)
            calls.append(frame(HEADERS, END_HEADERS, number, headers(arms.luck.choice(PATHS))))
            calls.append(reset(number))
        await wire.send(b"".join(calls), 2 * _BURST)
        await asyncio.sleep(_PAUSE_S)


async def ping(wire: Wire, arms: Arms) -> None:
    """Pings, each of which wants an answer."""
    await wire.send(_BEGIN)
    while True:
        pings = [frame(PING, 0, 0, arms.luck.randbytes(8)) for _ in range(_BURST)]
        await wire.send(b"".join(pings), _BURST)
        await asyncio.sleep(_PAUSE_S)


async def change_settings(wire: Wire, arms: Arms) -> None:
    """Settings, each of which wants an answer, and windows that grow by a byte."""
    await wire.send(_BEGIN)
    one = frame(SETTINGS, 0, 0) + frame(WINDOW_UPDATE, 0, 0, struct.pack(">I", 1))
    while True:
        await wire.send(one * _BURST, 2 * _BURST)
        await asyncio.sleep(_PAUSE_S)


async def command_too_fast(wire: Wire, arms: Arms) -> None:
    """A stream with a good token, and commands on it that are all refused; a new one if it ends."""
    ids, commands = count(1, 2), count(1)
    await wire.send(_BEGIN)
    while True:
        stream = next(ids)
        await wire.open(stream, headers(_PLAY, authorization=f"Bearer {arms.token}"))
        goes_on = True
        while goes_on:
            burst = [_command(arms.game_id, next(commands)) for _ in range(_COMMANDS)]
            goes_on = await wire.send_data(stream, burst)
            await asyncio.sleep(_PAUSE_S)


async def open_and_leave(wire: Wire, arms: Arms) -> None:
    """Streams with a good token, left at once for the next ones."""
    ids = count(1, 2)
    await wire.send(_BEGIN)
    left: list[bytes] = []
    block = headers(_PLAY, authorization=f"Bearer {arms.token}")
    while True:
        numbers = [next(ids) for _ in range(_BURST)]
        opened = [frame(HEADERS, END_HEADERS, number, block) for number in numbers]
        await wire.send(b"".join(left + opened), len(left) + len(opened))
        left = [reset(number) for number in numbers]
        await asyncio.sleep(_PAUSE_S)


def _command(game_id: str, number: int) -> bytes:
    command = pb.Command(
        game_id=game_id,
        command_id=f"c{number}",
        decision_id="d0",
        action=action_pb2.Action(roll=action_pb2.Roll()),
    )
    return message(pb.PlayRequest(command=command).SerializeToString())


STALLS: Final[dict[str, Talk]] = {
    "nothing": say_nothing,
    "half": say_half,
    "slow": say_byte_by_byte,
    "garbage": say_garbage,
}
"""Who opens a connection and stalls, or makes no sense."""

FLOODS: Final[dict[str, Talk]] = {
    "no token": call_without_token,
    "bad token": call_with_bad_token,
    "resets": call_and_reset,
    "pings": ping,
    "settings": change_settings,
    "commands": command_too_fast,
    "streams": open_and_leave,
}
"""Who floods."""

TALKS: Final[dict[str, Talk]] = STALLS | FLOODS
"""All of them."""
