"""Measure what one action, game, stream and heartbeat cost, into `docs/scaling-costs.json`.

`make scaling-costs`; it takes some minutes and wants a machine that does nothing else. Then `make
scaling` rewrites `docs/scaling.md` from the figures. The engine is a process of its own on a
redis-server of its own, both on loopback; their CPU is their own.
"""

import argparse
import asyncio
import json
import os
import sys
import tempfile
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Final

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import grpc

import bench_idle_streams
from opolyx_engine.replica import Replica
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.opening import open_store
from room_load import SEATS, RoomLoad
from room_target import Target, engine_target
from support_observed import ObservedEngine
from support_redis import RedisServer, redis_server

COSTS: Final = Path(__file__).resolve().parents[2] / "docs" / "scaling-costs.json"
_RATE: Final = 200.0
_ROOMS: Final = 50
_BEATS: Final = 500
_REPLICAS: Final = 50
_IDLE_GAMES: Final = 200


def main() -> None:
    """Measure, and write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0, help="of playing")
    parser.add_argument("--out", type=Path, default=COSTS)
    chosen = parser.parse_args()
    found = asyncio.run(_measure(chosen.seconds))
    chosen.out.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found, indent=2))


async def _measure(seconds: float) -> dict[str, float]:
    with tempfile.TemporaryDirectory(prefix="opolyx-scaling-") as name:
        folder = Path(name)
        with redis_server(folder / "redis") as redis:
            found = await _play(folder, redis, seconds)
            found |= await _take_up(folder, redis)
            found |= await _beat(redis)
    found |= await _idle()
    return {key: round(value, 3) for key, value in found.items()}


async def _play(folder: Path, redis: RedisServer, seconds: float) -> dict[str, float]:
    """Rooms of four at a human multitude's pace: CPU, bytes and memory of an action."""
    async with engine_target(folder, store_url=redis.url, finished_games_kept=0) as engine:
        async with _load(engine) as load:
            await load.play(seconds / 4, _RATE)
            before, cpu_before = _info(redis), await engine.cpu_s()
            played = await load.play(seconds, _RATE)
            cpu, after = await engine.cpu_s() - cpu_before, _info(redis)
        memory, actions = _log_bytes(redis)
    done = max(1, played.actions)
    return {
        "engine_cpu_us_an_action": cpu / done * 1e6,
        "redis_cpu_us_an_action": (after["cpu_s"] - before["cpu_s"]) / done * 1e6,
        "redis_received_bytes_an_action": (after["in"] - before["in"]) / done,
        "redis_sent_bytes_an_action": (after["out"] - before["out"]) / done,
        "client_bytes_an_action_and_seat": played.received_bytes / done / SEATS,
        "redis_memory_bytes_an_action": memory / max(1, actions),
    }


def _load(engine: Target) -> RoomLoad:
    channels = [grpc.aio.insecure_channel(f"127.0.0.1:{engine.port}") for _ in range(4)]
    return RoomLoad(channels, engine.metadata, engine.new_game, rooms=_ROOMS)


def _info(redis: RedisServer) -> dict[str, float]:
    with redis.client() as client:
        found: dict[str, Any] = client.info()
    return {
        "cpu_s": found["used_cpu_user"] + found["used_cpu_sys"],
        "in": found["total_net_input_bytes"],
        "out": found["total_net_output_bytes"],
    }


def _log_bytes(redis: RedisServer) -> tuple[float, int]:
    """What all games' keys take in memory, and how many records they hold."""
    memory = records = 0
    with redis.client() as client:
        for key in client.scan_iter(match="{game:*", count=1_000):
            memory += int(client.memory_usage(key, samples=0) or 0)
            if key.endswith(b":log"):
                records += int(client.xlen(key))
    return memory, records


async def _take_up(folder: Path, redis: RedisServer) -> dict[str, float]:
    """CPU of taking a game up, as after a crash: all that run in the store, at a start."""
    async with ObservedEngine(folder, store_url=redis.url, idle_evict_ms=0) as engine:
        look = await engine.look(collect=False)
    with tempfile.TemporaryDirectory() as name:
        empty_url = f"sqlite:///{Path(name) / 'empty.db'}"
        async with ObservedEngine(folder, store_url=empty_url) as engine:
            empty = await engine.look(collect=False)
    return {"take_up_cpu_ms_a_game": (look.cpu_s - empty.cpu_s) / max(1, look.games) * 1000}


async def _beat(redis: RedisServer) -> dict[str, float]:
    """What a heartbeat costs Redis while so many replicas live."""
    settings = EngineSettings(store_url=redis.url)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        replicas = [
            Replica(f"{number:024x}", f"10.0.0.{number}:7701", frozenset())
            for number in range(_REPLICAS)
        ]
        for replica in replicas:
            await store.beat(replica, 60_000)
        before = _info(redis)
        for number in range(_BEATS):
            await store.beat(replicas[number % _REPLICAS], 60_000)
        after = _info(redis)
    return {
        "redis_cpu_us_a_beat_of_50": (after["cpu_s"] - before["cpu_s"]) / _BEATS * 1e6,
        "redis_sent_bytes_a_beat_of_50": (after["out"] - before["out"]) / _BEATS,
    }


async def _idle() -> dict[str, float]:
    """Memory of a game and of a stream, on SQLite: what is in the engine is the same."""
    lines = dict(await bench_idle_streams.measure(_IDLE_GAMES, 1.0))
    return {
        "engine_memory_kib_a_game": float(lines["memory a game, KiB"]),
        "engine_memory_kib_a_stream": float(lines["memory a stream, KiB"]),
    }


if __name__ == "__main__":
    main()
