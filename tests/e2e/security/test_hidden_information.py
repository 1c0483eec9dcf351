"""While a game runs, nothing that anybody can get tells what is hidden.

Every byte that players, spectators, operators, metrics, health, logs, errors and replays deliver is
searched for what is secret, in each form that it could have; and what is delivered must not change
when what is hidden does.
"""

import base64
import io
import json
import random
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
import structlog
from grpc_health.v1 import health_pb2, health_pb2_grpc
from prometheus_client import generate_latest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import operations_service_pb2 as operations_pb
from opolyx_engine.fair_dice import Dice, game_key
from opolyx_engine.game_actor import GameActor
from opolyx_rules.chance import SeededChance, derive_game_key
from opolyx_servicekit.logs import configure_logs
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import START_MS, Caller, Engine, Stream, awaited, people, running_engine

MOVES: Final = 60
RULESETS: Final = ("classic@full", "fortune@full")
_NEXT: Final = 40
"""So many of the next draws in a row are searched for."""


@dataclass
class Found:
    """Everything that was delivered, by who got it."""

    by: list[tuple[str, bytes]] = field(default_factory=list)

    def add(self, who: str, what: bytes | str) -> None:
        self.by.append((who, what.encode() if isinstance(what, str) else what))

    def holders_of(self, needle: bytes) -> list[str]:
        """Who got the needle."""
        return [who for who, what in self.by if needle in what]


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What is logged, at the lowest level."""
    stream = io.StringIO()
    configure_logs(form="json", level="debug", stream=stream)
    yield stream
    structlog.reset_defaults()


@dataclass
class House:
    """A running game with its players, somebody who watches and an operator."""

    engine: Engine
    game_id: str
    players: list[Caller]
    watcher: Caller
    operator: Caller

    @property
    def game(self) -> GameActor:
        return self.engine.service.registry.running()[0]

    def callers(self) -> dict[str, Caller]:
        named = {f"player {seat}": caller for seat, caller in enumerate(self.players)}
        return {**named, "spectator": self.watcher, "operator": self.operator}


@pytest.fixture(params=RULESETS)
async def house(
    request: pytest.FixtureRequest, tmp_path: Path, log: io.StringIO
) -> AsyncIterator[House]:
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock, command_burst=10_000) as engine:
        game_id = await engine.new_game(people(3), request.param)
        players = [await engine.caller(f"p_{seat}") for seat in range(3)]
        watcher = await engine.caller("p_watcher")
        operator = await engine.caller("o_1", "operator")
        yield House(engine, game_id, players, watcher, operator)


async def play(house: House, found: Found, moves: int) -> None:
    """Play by chance, with streams of everybody open; all that they are sent is kept."""
    luck = random.Random(7)
    streams = [await caller.play(house.game_id) for caller in house.players]
    streams.append(await house.watcher.play(house.game_id, spectator=True))
    decision = awaited((await house.players[0].game(house.game_id)).decisions)
    for number in range(moves):
        command = pb.Command(
            game_id=house.game_id,
            command_id=f"c{number}",
            decision_id=decision.decision_id,
            action=luck.choice(decision.legal_actions),
        )
        await house.players[decision.seat].engine.SubmitCommand(
            pb.SubmitCommandRequest(command=command),
            metadata=house.players[decision.seat].metadata,
        )
        snapshot = await house.players[0].game(house.game_id)
        if snapshot.state != pb.GAME_STATE_RUNNING:
            break
        decision = awaited(snapshot.decisions)
    for number, stream in enumerate(streams):
        found.add(f"stream {number}", await drained(stream))
        stream.call.cancel()


async def drained(stream: Stream) -> bytes:
    frames = await stream.drained()
    return b"".join(frame.SerializeToString() for frame in frames)


async def read_everything(house: House, found: Found) -> None:
    """What anybody may ask for while the game runs."""
    for who, caller in house.callers().items():
        found.add(f"{who}: game", (await caller.game(house.game_id)).SerializeToString())
        found.add(f"{who}: replay", (await caller.replay(house.game_id))[0])
        for method in ("GetGame", "GetReplay", "ListGames", "CheckTrade"):
            found.add(f"{who}: {method}", await answer(caller, method, house.game_id))
        stream: Any = caller.engine.WatchGame(
            pb.WatchGameRequest(game_id=house.game_id), metadata=caller.metadata
        )
        found.add(f"{who}: watch", (await stream.read()).SerializeToString())
        stream.cancel()
    operator = house.operator
    inspected = await operator.operations.InspectGame(
        operations_pb.InspectGameRequest(game_id=house.game_id), metadata=operator.metadata
    )
    found.add("operator: inspect", inspected.SerializeToString())
    listed = await operator.operations.ListRunningGames(
        operations_pb.ListRunningGamesRequest(), metadata=operator.metadata
    )
    found.add("operator: running", listed.SerializeToString())


async def answer(caller: Caller, method: str, game_id: str) -> bytes:
    """What a call answers, or the whole of its error."""
    request: Any = getattr(pb, f"{method}Request")()
    if hasattr(request, "game_id"):
        request.game_id = game_id
    try:
        response = await getattr(caller.engine, method)(request, metadata=caller.metadata)
    except grpc.aio.AioRpcError as error:
        return failure(error)
    return bytes(response.SerializeToString())


def failure(error: grpc.aio.AioRpcError) -> bytes:
    """All of an error that a client is sent."""
    trailers = b"".join(
        key.encode() + (value if isinstance(value, bytes) else value.encode())
        for key, value in error.trailing_metadata() or ()
    )
    return (error.details() or "").encode() + trailers


async def provoke(house: House, found: Found) -> None:
    """Errors of every sort."""
    stranger = await house.engine.caller("p_stranger")
    calls: list[tuple[Any, Any, Any]] = [
        (stranger.engine.GetGame, pb.GetGameRequest(game_id="g_none"), stranger.metadata),
        (
            stranger.engine.GetReplay,
            pb.GetReplayRequest(game_id=house.game_id, page_token="9-x"),
            stranger.metadata,
        ),
        (
            stranger.engine.CheckTrade,
            pb.CheckTradeRequest(game_id=house.game_id),
            stranger.metadata,
        ),
        (stranger.engine.ListGames, pb.ListGamesRequest(page_size=1_000), stranger.metadata),
        (stranger.engine.GetGame, pb.GetGameRequest(), (("authorization", "Bearer x.y.z"),)),
        (stranger.engine.GetGame, pb.GetGameRequest(), ()),
        (
            stranger.operations.InspectGame,
            operations_pb.InspectGameRequest(game_id=house.game_id),
            stranger.metadata,
        ),
    ]
    for call, request, metadata in calls:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await call(request, metadata=metadata)
        found.add(f"error {request}", failure(caught.value))


async def look_from_outside(house: House, found: Found, log: io.StringIO) -> None:
    """Metrics, health, logs."""
    found.add("metrics", generate_latest(house.engine.server.metrics.registry))
    health: Any = health_pb2_grpc.HealthStub(house.watcher.channel)
    for name in ("", "opolyx.engine.v1.EngineService", "none"):
        with suppress(grpc.aio.AioRpcError):
            status = await health.Check(health_pb2.HealthCheckRequest(service=name))
            found.add("health", status.SerializeToString())
    lines = [line for line in log.getvalue().splitlines() if "server_started" not in line]
    found.add("log", "\n".join(lines))  # where it listens, the operator has told it


def forms(secret: bytes) -> list[bytes]:
    """How a secret could be written."""
    plain = base64.b64encode(secret)
    return [
        secret,
        secret.hex().encode(),
        secret.hex().upper().encode(),
        plain.rstrip(b"="),
        base64.urlsafe_b64encode(secret).rstrip(b"="),
        base64.b32encode(secret).rstrip(b"="),
        repr(secret).encode(),
        str(int.from_bytes(secret, "big")).encode(),
        json.dumps(list(secret)).encode(),
    ]


def lists(numbers: list[int]) -> list[bytes]:
    """How a row of small numbers could be written."""
    texts = [separator.join(map(str, numbers)) for separator in (",", ", ", " ", "")]
    return [bytes(numbers), *(text.encode() for text in texts)]


def needles(house: House, secret: bytes) -> dict[str, list[bytes]]:
    """What nobody may get, in every form that it could have."""
    table = house.game.table
    key = game_key(secret, table.header)
    chance = SeededChance(key, list(table.places))
    streams = {
        f"next draws of {label}": [chance.draw(label, 6) for _ in range(_NEXT)]
        for label in range(6)
    }
    unseen = table.state.deck[table.state.deck_at :]
    tokens = [dict(caller.metadata)["authorization"] for caller in house.callers().values()]
    words = [token.removeprefix("Bearer ").encode() for token in tokens]
    return {
        "secret": forms(secret),
        "key": forms(key),
        "key without nonces": forms(derive_game_key(secret, house.game_id, [])),
        "development seed": [b'"test"', b"seed=test"],
        "deck": lists(table.state.deck),
        "rest of the deck": lists(unseen) if len(unseen) > 5 else [],
        "tokens": words + [word.split(b".")[2] for word in words],
        "addresses": [b"127.0.0.1", b"ipv4:", str(house.engine.port).encode() + b"/"],
    } | {name: lists(row) for name, row in streams.items()}


async def secret_of(house: House) -> bytes:
    stored = await house.engine.store.game(house.game_id)
    assert stored is not None
    return stored.secret


async def test_no_byte_that_anybody_gets_holds_what_is_hidden(
    house: House, log: io.StringIO
) -> None:
    found = Found()
    await play(house, found, MOVES)
    await read_everything(house, found)
    await provoke(house, found)
    await look_from_outside(house, found, log)

    assert len(found.by) > 40
    assert b"opolyx_" in dict(found.by)["metrics"]
    assert b"rpc_refused" in dict(found.by)["log"], "debug lines are there"
    for name, written in needles(house, await secret_of(house)).items():
        for needle in written:
            assert [] == found.holders_of(needle), name


async def test_the_search_would_find_it(house: House) -> None:
    """Whatever is searched for is found where it is put."""
    for name, written in needles(house, await secret_of(house)).items():
        for needle in written:
            found = Found([("somebody", b"before" + needle + b"after"), ("else", b"nothing")])
            assert ["somebody"] == found.holders_of(needle), name


async def test_nothing_shown_depends_on_what_is_hidden(house: House) -> None:
    """The same game with other dice to come and another deck to draw shows the same bytes."""
    await play(house, Found(), 25)
    before = Found()
    await read_everything(house, before)
    table = house.game.table
    other = table.state.clone()
    other.deck[other.deck_at :] = reversed(other.deck[other.deck_at :])
    house.game.table = replace(table, state=other, dice=Dice(bytes(32), table.header))

    after = Found()
    await read_everything(house, after)

    assert len(table.state.deck) - table.state.deck_at > 1
    assert table.state.deck != other.deck
    assert before.by == after.by


async def test_a_running_games_replay_shows_the_cards_that_were_seen_and_no_other(
    house: House,
) -> None:
    await play(house, Found(), MOVES)
    data, complete = await house.watcher.replay(house.game_id)
    header, first = (json.loads(line) for line in data.splitlines()[:2])
    true = await house.engine.store.records(house.game_id, -1, 1)

    assert not complete
    assert header["game_id"] == house.game_id
    shown, dealt = first["draws"], json.loads(true[0].body.splitlines()[0])["draws"]
    assert len(shown) == len(dealt)
    state = house.game.table.state
    unseen = state.deck[state.deck_at :]
    assert unseen == sorted(unseen) or shown != dealt
