"""What can go wrong with a running system, done to it on purpose, and what should be noticed."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import Any, Final

import grpc

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1.engine_service_pb2_grpc import EngineServiceStub
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.errors import OpolyxError
from opolyx_sdk.options import ClientOptions
from opolyx_sdk.rooms import RoomOptions
from support_monitored import Monitored

_ENGINE: Final = "opolyx-engine"
_MATCHMAKER: Final = "opolyx-matchmaker"
_PROGRESSION: Final = "opolyx-progression"
_SMALL_WINDOW: Final = (("grpc.http2.bdp_probe", 0), ("grpc.http2.lookahead_bytes", 1 << 14))
_RULESET: Final = "speed@full"
_LONGER_THAN_AN_ENGINE_WAITS_S: Final = 13.0
_SLOW: Final = 4  # streams that nobody reads


@dataclass(frozen=True, slots=True)
class Fault:
    """One thing that goes wrong."""

    name: str
    """What it is, for people."""

    alerts: frozenset[str]
    """What must fire because of it."""

    happen: Callable[[Monitored], AbstractAsyncContextManager[None]]
    """Lasts as long as the block, and is put right at its end."""


def client_of(stack: Monitored, patience_s: float = 10.0) -> AsyncClient:
    """A client of the system, which gives up soon."""
    return AsyncClient(
        stack.address, options=ClientOptions(patience_s=patience_s, call_timeout_s=5.0)
    )


async def started_game(
    players: list[AsyncClient], options: RoomOptions | None = None, built_in: int = 0
) -> str:
    """A game of guests and built-in bots, started; its id."""
    host = players[0]
    room_id = await full_room(players, options, built_in)
    return await host.start_game(room_id)


async def full_room(
    players: list[AsyncClient], options: RoomOptions | None = None, built_in: int = 0
) -> str:
    """A room whose seats are taken; its id."""
    for number, player in enumerate(players):
        await player.create_guest(f"Guest {number}")
    host = players[0]
    room = await host.create_room(_RULESET, len(players) + built_in, options=options)
    for player in players[1:]:
        await player.join_room(code=room.code)
    for _ in range(built_in):
        await host.add_bot(room.room_id, policy="steady")
    return room.room_id


@asynccontextmanager
async def slow_readers(stack: Monitored) -> AsyncIterator[None]:
    """Streams of a game in which much happens, and nobody reads them."""
    async with AsyncExitStack() as clients, asyncio.TaskGroup() as group:
        tasks = []
        for _ in range(_SLOW):
            player = await clients.enter_async_context(client_of(stack))
            game_id = await started_game([player], RoomOptions(watchable=True), built_in=3)
            tasks.append(group.create_task(_surrender(player, game_id)))
            tasks.append(group.create_task(_read_nothing(stack, player, game_id)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()


async def _surrender(player: AsyncClient, game_id: str) -> None:
    """The bots go on alone, and fast."""
    from opolyx_sdk.actions import Surrender

    with suppress(OpolyxError):
        async with player.play(game_id) as game:
            await game.submit(Surrender())


async def _read_nothing(stack: Monitored, player: AsyncClient, game_id: str) -> None:
    """Straight to the engine: a router in between would read."""
    metadata = (("authorization", f"Bearer {player._transport.tokens.jwt}"),)
    while True:
        async with grpc.aio.insecure_channel(stack.at(_ENGINE), options=_SMALL_WINDOW) as channel:
            call: Any = EngineServiceStub(channel).Play(metadata=metadata)
            attach = pb.Attach(game_id=game_id, spectator=False)
            await call.write(pb.PlayRequest(attach=attach))
            with suppress(TimeoutError):  # it ends when the engine ends it
                await asyncio.wait_for(call.wait_for_connection(), 5)
                await asyncio.wait_for(call.code(), 30)
            call.cancel()


@asynccontextmanager
async def changed_records(stack: Monitored) -> AsyncIterator[None]:
    """Somebody writes into the logs of running games."""

    async def change() -> None:
        with stack.database(_ENGINE) as database:
            while True:
                database.execute(
                    "UPDATE engine_records SET body = CAST('x' || body AS BLOB) WHERE (game_id, seq) IN"
                    " (SELECT game_id, seq FROM engine_games WHERE state = 1 AND seq > 3 LIMIT 2)"
                )
                await asyncio.sleep(0.1)

    async with _during(change()):
        yield


@asynccontextmanager
async def damaged_game(stack: Monitored) -> AsyncIterator[None]:
    """A game that rests is damaged, and then asked for."""
    async with client_of(stack) as one, client_of(stack) as other:
        game_id = await started_game([one, other])
        mover = None
        for player in (one, other):
            async with player.play(game_id) as game:
                if game.decision is not None:
                    await game.submit(game.decision.legal_actions[0])
                    mover = player
                    break
        assert mover is not None
        with stack.database(_ENGINE) as database:
            database.execute(
                "UPDATE engine_records SET body = CAST('x' || body AS BLOB) WHERE game_id = ? AND seq > 0",
                (game_id,),
            )
        await asyncio.sleep(5)  # until it rests
        with suppress(OpolyxError):
            async with one.play(game_id):
                pass
        yield


@asynccontextmanager
async def slow_store(stack: Monitored) -> AsyncIterator[None]:
    """Another process holds the engine's database again and again, for less than the engine waits."""

    async def hold() -> None:
        with stack.database(_ENGINE) as database:
            while True:
                database.execute("BEGIN IMMEDIATE")
                await asyncio.sleep(3)
                database.execute("ROLLBACK")
                await asyncio.sleep(3)

    async with _during(hold()):
        yield


@asynccontextmanager
async def stalled_store(stack: Monitored) -> AsyncIterator[None]:
    """Another process holds the engine's database for longer than the engine waits for it."""

    async def hold() -> None:
        with stack.database(_ENGINE) as database:
            while True:
                database.execute("BEGIN IMMEDIATE")
                await asyncio.sleep(_LONGER_THAN_AN_ENGINE_WAITS_S)
                database.execute("ROLLBACK")
                await asyncio.sleep(10)  # what was late is done, and counted

    async with _during(hold()):
        yield


@asynccontextmanager
async def paused_engine(stack: Monitored) -> AsyncIterator[None]:
    """The engine's process stands still again and again."""
    engine = stack.services[_ENGINE]

    async def stutter() -> None:
        while True:
            engine.pause()
            await asyncio.sleep(0.8)
            engine.go_on()
            await asyncio.sleep(1)

    try:
        async with _during(stutter()):
            yield
    finally:
        engine.go_on()


@asynccontextmanager
async def taken_game(stack: Monitored) -> AsyncIterator[None]:
    """Another engine takes games that this one plays."""

    async def take() -> None:
        with stack.database(_ENGINE) as database:
            while True:
                database.execute(
                    "UPDATE engine_games SET epoch = epoch + 1, owner = 'another' WHERE game_id IN"
                    " (SELECT game_id FROM engine_games WHERE state = 1"
                    " ORDER BY started_ms DESC LIMIT 2)"
                )
                await asyncio.sleep(0.5)

    async with _during(take()):
        yield


@asynccontextmanager
async def killed_engine(stack: Monitored) -> AsyncIterator[None]:
    """The engine's process is gone, while games should start."""
    async with client_of(stack) as one, client_of(stack) as other:
        room_id = await full_room([one, other])
        await stack.services[_ENGINE].kill()

        async def start_again() -> None:
            while True:
                with suppress(OpolyxError):
                    await one.start_game(room_id)
                await asyncio.sleep(0.1)

        async with _during(start_again()):
            try:
                yield
            finally:
                await stack.services[_ENGINE].start()


@asynccontextmanager
async def damaged_fact(stack: Monitored) -> AsyncIterator[None]:
    """A result is changed on its way to progression, so that it makes no sense."""
    progression = stack.services[_PROGRESSION]
    await progression.kill()
    with stack.database(_ENGINE) as database:
        before = _last_result(database)[0]
        async with asyncio.timeout(60):
            while (found := _last_result(database))[0] == before:  # noqa: ASYNC110 - a file
                await asyncio.sleep(0.1)
        number, body = found
        document = json.loads(body)
        document["seats"].pop()
        database.execute(
            "UPDATE engine_facts SET body = ? WHERE number = ?",
            (json.dumps(document).encode(), number),
        )
    await progression.start()
    yield


def _last_result(database: Any) -> tuple[int, bytes]:
    found = database.execute(
        "SELECT number, body FROM engine_facts WHERE kind = 'game_finished'"
        " ORDER BY number DESC LIMIT 1"
    ).fetchone()
    return found or (0, b"")


@asynccontextmanager
async def changed_awards(stack: Monitored) -> AsyncIterator[None]:
    """Somebody gives a player XP by hand."""
    change = "UPDATE progression_players SET xp = xp + ? WHERE player_id = ?"
    with stack.database(_PROGRESSION) as database:
        (player_id,) = database.execute("SELECT player_id FROM progression_players").fetchone()
        database.execute(change, (1, player_id))
        try:
            yield
        finally:
            database.execute(change, (-1, player_id))


@asynccontextmanager
async def no_audit(stack: Monitored) -> AsyncIterator[None]:
    """The audit can't read what it needs."""
    with stack.database(_PROGRESSION) as database:
        database.execute("ALTER TABLE progression_results RENAME TO elsewhere")
        try:
            yield
        finally:
            database.execute("ALTER TABLE elsewhere RENAME TO progression_results")


@asynccontextmanager
async def killed_matchmaker(stack: Monitored) -> AsyncIterator[None]:
    """The matchmaker's process is gone."""
    await stack.services[_MATCHMAKER].kill()
    try:
        yield
    finally:
        await stack.services[_MATCHMAKER].start()


@asynccontextmanager
async def undiscovered(stack: Monitored) -> AsyncIterator[None]:
    """Prometheus finds no matchmaker any more."""
    stack.discover(_MATCHMAKER, found=False)
    try:
        yield
    finally:
        stack.discover(_MATCHMAKER)


@asynccontextmanager
async def _during(work: Any) -> AsyncIterator[None]:
    task = asyncio.create_task(work)
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


FAULTS: Final = (
    Fault("streams that nobody reads", frozenset({"OpolyxSlowReaders"}), slow_readers),
    Fault("a store that is slow", frozenset({"OpolyxStoreSlow", "OpolyxTimerLag"}), slow_store),
    Fault(
        "a store that stands still",
        frozenset(
            {
                "OpolyxStoreDown",
                "OpolyxGamesStuck",
                "OpolyxCommandsSlow",
            }
        ),
        stalled_store,
    ),
    Fault("records changed by hand", frozenset({"OpolyxWatchdogViolation"}), changed_records),
    Fault("a damaged game", frozenset({"OpolyxGamesHeld", "OpolyxGameFaults"}), damaged_game),
    Fault("a game taken by another engine", frozenset({"OpolyxAppendsFenced"}), taken_game),
    Fault("an engine that stands still", frozenset({"OpolyxEventLoopLag"}), paused_engine),
    Fault(
        "an engine that is gone",
        frozenset(
            {
                "OpolyxTargetDown",
                "OpolyxFactsLost",
                "OpolyxStartsFail",
                "OpolyxErrorBudgetFast",
                "OpolyxErrorBudgetSlow",
            }
        ),
        killed_engine,
    ),
    Fault("a damaged fact", frozenset({"OpolyxDeadLetters"}), damaged_fact),
    Fault("awards changed by hand", frozenset({"OpolyxAwardDrift"}), changed_awards),
    Fault("an audit that can't read", frozenset({"OpolyxAuditStale"}), no_audit),
    Fault(
        "a matchmaker that is gone",
        frozenset({"OpolyxRevocationsLost", "OpolyxNoMatchmaker"}),
        killed_matchmaker,
    ),
    Fault("a service that isn't discovered", frozenset({"OpolyxTargetAbsent"}), undiscovered),
)
"""In the order in which they happen."""
