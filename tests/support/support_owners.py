"""Several engines in one process on one store, each with an address that the others reach it by."""

import asyncio
import itertools
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, cast

import grpc

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.record import command_key
from opolyx_engine.store.base import GameStore, StoredGame
from opolyx_rules.verification import verify
from opolyx_servicekit.errors import StoreUnavailable
from support_engine import WAIT_SECONDS, Caller, Engine, awaited, running_engine
from support_redis import free_port

HEARTBEAT_MS = 150
TTL_MS = 1_200

_AGAIN_S = 0.03
_PASSING = (grpc.StatusCode.UNAVAILABLE, grpc.StatusCode.CANCELLED)


class CutStore:
    """An engine's line to its store, which can be cut: then the others take the engine for dead."""

    def __init__(self, inner: GameStore) -> None:
        self._inner = inner
        self.cut = False

    def __getattr__(self, name: str) -> Any:
        method = getattr(self._inner, name)
        if not asyncio.iscoroutinefunction(method):
            return method

        async def called(*args: Any, **options: Any) -> Any:
            if self.cut:
                raise StoreUnavailable("STORE_UNAVAILABLE", "the line is cut")
            return await method(*args, **options)

        return called


def fast(port: int, **settings: Any) -> dict[str, Any]:
    """The settings of an engine at a port of loopback that notices soon who died."""
    address = f"127.0.0.1:{port}"
    values: dict[str, Any] = {
        "listen_address": address,
        "replica_address": address,
        "heartbeat_ms": HEARTBEAT_MS,
        "adoptions_per_second": 1_000,
        "replica_ttl_ms": TTL_MS,
        "store_retry_ms": 20,
        "drain_retry_ms": 20,
        "development_seed": None,
        "grace_seconds": 6.0,
    }
    return {**values, **settings}


@asynccontextmanager
async def running_replica(directory: Path, url: str, **settings: Any) -> AsyncIterator[Engine]:
    """One engine among others on the store; its `store` is a `CutStore`."""
    values = fast(free_port(), store_url=url, **settings)
    async with running_engine(directory, wrap=_cuttable, **values) as engine:
        engine.requests = itertools.count(engine.port * 1_000)  # one request makes one game
        yield engine


@asynccontextmanager
async def running_replicas(
    directory: Path, url: str, count: int, **settings: Any
) -> AsyncIterator[list[Engine]]:
    """Some engines that know of each other."""
    async with AsyncExitStack() as stack:
        engines = [
            await stack.enter_async_context(running_replica(directory, url, **settings))
            for _ in range(count)
        ]
        for engine in engines:
            await engine.service.membership.beat()
        yield engines


def cut(engine: Engine, *, off: bool = True) -> None:
    """Cut an engine off from its store, or let it have it again."""
    engine.store.cut = off  # type: ignore[attr-defined]


async def stored(engine: Engine, game_id: str) -> StoredGame:
    """The game as it is stored."""
    game = await engine.store.game(game_id)
    assert game is not None
    return game


def runs(engine: Engine, game_id: str) -> bool:
    """Whether the engine has the game, in memory or not."""
    return game_id in engine.service.registry.here()


def me(engine: Engine) -> str:
    """The engine's id among the others."""
    return engine.service.membership.me.replica_id


class Players:
    """The people of one game, who send each command until it is judged, wherever they get through."""

    def __init__(self, game_id: str, routes: list[list[Caller]]) -> None:
        self.game_id = game_id
        self.routes = routes
        """For each seat the callers that it may use, one for each engine."""
        self.accepted: dict[tuple[int, str], int] = {}
        self.seqs: list[int] = []

    async def play(self, most: int = 1 << 30) -> None:
        """Play to the end, or so many decisions."""
        snapshot = await self._snapshot(0)
        while snapshot.state == pb.GAME_STATE_RUNNING and most:
            most -= 1
            decision = awaited(snapshot.decisions)
            await self._send(decision)
            snapshot = await self._snapshot(decision.seat)
            self.seqs.append(snapshot.seq)

    async def check(self, engine: Engine) -> None:
        """Nothing that was acknowledged is missing, and the log is whole."""
        assert self.seqs == sorted(self.seqs), "what was shown is never taken back"
        assert len(set(self.accepted.values())) == len(self.accepted)
        for (seat, command_id), seq in self.accepted.items():
            record = await engine.store.command(self.game_id, command_key(seat, command_id))
            assert record is not None
            assert seq == record.seq
        data, _ = await self.routes[0][0].replay(self.game_id)
        assert "" == verify(data).problem

    async def _send(self, decision: Any) -> None:
        command_id = f"c-{decision.decision_id}"
        command = pb.Command(
            game_id=self.game_id,
            command_id=command_id,
            decision_id=decision.decision_id,
            action=decision.legal_actions[0],
        )
        request = pb.SubmitCommandRequest(command=command)
        while True:
            answer = await self._call(decision.seat, "SubmitCommand", request)
            if not answer.result.HasField("retry"):
                break
            await asyncio.sleep(_AGAIN_S)
        if answer.result.HasField("accepted"):
            self.accepted[(decision.seat, command_id)] = answer.result.accepted.seq

    async def _snapshot(self, seat: int) -> pb.Snapshot:
        answer = await self._call(seat, "GetGame", pb.GetGameRequest(game_id=self.game_id))
        snapshot: pb.Snapshot = answer.snapshot
        return snapshot

    async def _call(self, seat: int, name: str, request: Any) -> Any:
        """A call at one engine after the other until one of them answers."""
        async with asyncio.timeout(3 * WAIT_SECONDS):
            while True:
                for caller in list(self.routes[seat]):
                    try:
                        return await getattr(caller.engine, name)(
                            request, metadata=caller.metadata, timeout=WAIT_SECONDS
                        )
                    except grpc.aio.AioRpcError as error:
                        if error.code() not in _PASSING:
                            raise
                await asyncio.sleep(_AGAIN_S)


async def players_of(game_id: str, seats: int, engines: list[Engine]) -> Players:
    """The people of a game, who know the addresses of these engines."""
    routes = [[await engine.caller(f"p_{seat}") for engine in engines] for seat in range(seats)]
    return Players(game_id, routes)


def _cuttable(store: GameStore) -> GameStore:
    return cast("GameStore", CutStore(store))
