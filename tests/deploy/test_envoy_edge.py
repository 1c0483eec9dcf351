"""Three engines behind the real Envoy: games by the SDK, and calls as a browser makes them."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc_health.v1 import health_pb2_grpc

from envoy_variant import Variant
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_sdk import AsyncClient, ClientOptions
from opolyx_servicekit.probes import Probes
from support_certificates import tls_channel
from support_engine import Caller, Engine, Stream, built_in, people, person
from support_envoy import (
    Edge,
    WebCall,
    running_edge,
    web_call,
    web_headers,
    write_edge_certificate,
)
from support_owners import running_replicas
from support_redis import redis_server
from support_replicas import Owners, error_info, replica_at, running_engines
from support_waiting import until

ENGINE = "/opolyx.engine.v1.EngineService"
PAGE = "https://play.example"


@asynccontextmanager
async def behind_the_edge(
    directory: Path,
    *,
    tls: bool = True,
    change: Callable[[Variant], object] = lambda variant: None,
) -> AsyncIterator[tuple[list[Engine], Owners, Edge]]:
    async with running_engines(directory, 3) as (engines, owners):
        ports = [engine.port for engine in engines]
        async with running_edge(directory, ports, tls=tls, change=change) as edge:
            yield engines, owners, edge


async def owned_game(engine: Engine, owners: Owners, **options: Any) -> str:
    """A game of four people on an engine."""
    game_id = await engine.new_game(people(4), **options)
    owners.of[game_id] = replica_at(engine.port)
    return game_id


def client_of(edge: Edge, engine: Engine, subject: str) -> AsyncClient:
    options = ClientOptions(tls=edge.tls, call_timeout_s=20)
    return AsyncClient(edge.address, token=engine.token(subject), options=options)


@asynccontextmanager
async def caller_of(edge: Edge, engine: Engine, subject: str) -> AsyncIterator[Caller]:
    """A caller on a connection of its own."""
    channel = (
        tls_channel(edge.port(), edge.authority)
        if edge.authority
        else grpc.aio.insecure_channel(edge.address, [("grpc.use_local_subchannel_pool", 1)])
    )
    async with channel:
        yield Caller(channel, engine.token(subject))


async def played(client: AsyncClient, game_id: str, moves: list[int]) -> tuple[bytes, int]:
    """Play to the end by whatever comes last in the list, and note every move; how it ended."""
    async with client.play(game_id) as game:
        while not game.over:
            if decision := game.decision:
                moves.append(await game.submit(decision.legal_actions[-1]))
            else:
                await anext(game)
        return game.log_digest, game.seq


def check_nothing_is_lost(games: list[asyncio.Task[tuple[bytes, int]]], moves: list[int]) -> None:
    """All saw the same game, each of its updates was a player's move, and none was taken twice."""
    ends = {game.result() for game in games}
    assert 1 == len(ends)
    assert list(range(1, ends.pop()[1] + 1)) == sorted(moves)


def at_game(caller: Caller, game_id: str) -> tuple[tuple[str, str], ...]:
    return (*caller.metadata, ("x-opolyx-game", game_id))


def heard_by(engine: Engine) -> list[str]:
    """The games that an engine is asked for, from now on."""
    heard: list[str] = []
    registry: Any = engine.service.registry
    hand = registry.hand

    async def listening(game_id: str, deliver: Any) -> None:
        heard.append(game_id)
        await hand(game_id, deliver)

    registry.hand = listening
    return heard


async def test_a_game_is_played_to_its_end_by_the_sdk_through_tls(tmp_path: Path) -> None:
    async with behind_the_edge(tmp_path) as (engines, owners, edge), AsyncExitStack() as stack:
        game_id = await owned_game(engines[1], owners, round_cap=2)
        clients = [
            await stack.enter_async_context(client_of(edge, engines[seat % 3], f"p_{seat}"))
            for seat in range(4)
        ]

        ends = await asyncio.gather(*(played(client, game_id, []) for client in clients))
        assert 1 == len(set(ends))
        info, _ = await clients[0].get_game(game_id)
        assert 4 == len(info.seats)


async def test_a_browser_calls_once_and_watches_a_game(tmp_path: Path) -> None:
    async with behind_the_edge(tmp_path) as (engines, owners, edge):
        game_id = await engines[2].new_game([person(0), built_in(1)], round_cap=1)
        owners.of[game_id] = replica_at(engines[2].port)
        headers = web_headers(engines[0].token("p_0"), x_opolyx_game=game_id)
        asked = pb.GetGameRequest(game_id=game_id).SerializeToString()
        for text in (False, True):
            if text:
                headers["content-type"] = headers["accept"] = "application/grpc-web-text"
            answer = await web_call(edge, f"{ENGINE}/GetGame", asked, headers, text=text)
            assert (200, "0") == (answer.status, answer.trailers["grpc-status"])
            assert PAGE == answer.headers["access-control-allow-origin"]
            assert 0 == pb.GetGameResponse.FromString(answer.messages[0]).snapshot.your_seat
        headers = web_headers(engines[0].token("p_0"), x_opolyx_game=game_id)
        watch = pb.WatchGameRequest(game_id=game_id).SerializeToString()
        call = await WebCall.begin(edge, "POST", f"{ENGINE}/WatchGame", headers, watch)
        assert 200 == call.status
        first = await call.message()
        assert first is not None
        snapshot = pb.WatchGameResponse.FromString(first).frames[0].snapshot
        assert 0 == snapshot.your_seat
        command = pb.Command(game_id=game_id, command_id="c1")
        command.action.surrender.SetInParent()
        asked = pb.SubmitCommandRequest(command=command).SerializeToString()
        answer = await web_call(edge, f"{ENGINE}/SubmitCommand", asked, headers)
        assert "0" == answer.trailers["grpc-status"]
        result = pb.SubmitCommandResponse.FromString(answer.messages[0]).result
        assert result.accepted.seq > 0
        seen: list[int] = []
        while result.accepted.seq not in seen:
            message = await call.message()
            assert message is not None
            frames = pb.WatchGameResponse.FromString(message).frames
            seen += [frame.update.seq for frame in frames if frame.HasField("update")]
        assert seen == list(range(seen[0], seen[-1] + 1))
        await call.end()


async def test_a_page_may_ask_before_it_calls(tmp_path: Path) -> None:
    async with running_edge(tmp_path, []) as edge:
        wanted = "authorization,content-type,grpc-timeout,x-grpc-web,x-opolyx-game,x-user-agent"
        headers = {
            "origin": PAGE,
            "access-control-request-method": "POST",
            "access-control-request-headers": wanted,
        }
        call = await WebCall.begin(edge, "OPTIONS", f"{ENGINE}/GetGame", headers)
        await call.end()
        assert 200 == call.status
        assert PAGE == call.headers["access-control-allow-origin"]
        assert "POST" in call.headers["access-control-allow-methods"]
        allowed = call.headers["access-control-allow-headers"].replace(" ", "").split(",")
        assert set(wanted.split(",")) <= set(allowed)
        assert "access-control-allow-credentials" not in call.headers


async def test_who_calls_is_told_what_was_wrong(tmp_path: Path) -> None:
    async with behind_the_edge(tmp_path) as (engines, _, edge):
        headers = web_headers(engines[0].token("p_0"))
        asked = pb.GetGameRequest(game_id="g_none").SerializeToString()
        answer = await web_call(edge, f"{ENGINE}/GetGame", asked, headers)
        assert str(grpc.StatusCode.NOT_FOUND.value[0]) == answer.trailers["grpc-status"]
        assert "g_none" in answer.trailers["grpc-message"]
        exposed = answer.headers["access-control-expose-headers"]
        assert {"grpc-status", "grpc-message"} <= set(exposed.replace(" ", "").split(","))
        async with caller_of(edge, engines[0], "p_0") as caller:
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await caller.game("g_none")
            assert "GAME_NOT_FOUND" == error_info(caught.value).reason
        headers["authorization"] = "Bearer nonsense"
        answer = await web_call(edge, f"{ENGINE}/GetGame", asked, headers)
        assert str(grpc.StatusCode.UNAUTHENTICATED.value[0]) == answer.trailers["grpc-status"]


@pytest.mark.parametrize(
    "service", ["engine.v1.Engine", "matchmaker.v1.Matchmaker", "progression.v1.Progression"]
)
async def test_a_call_without_a_token_is_refused_by_the_edge_itself(
    tmp_path: Path, service: str
) -> None:
    async with running_edge(tmp_path, []) as edge:  # there is nobody behind it
        method = f"/opolyx.{service}Service/Anything"
        headers = web_headers("any")
        del headers["authorization"]
        answer = await web_call(edge, method, b"", headers)
        told = {**answer.headers, **answer.trailers}
        assert str(grpc.StatusCode.UNAUTHENTICATED.value[0]) == told["grpc-status"]
        assert "token" in told["grpc-message"]
        answer = await web_call(edge, method, b"", web_headers("any"))
        told = {**answer.headers, **answer.trailers}
        assert str(grpc.StatusCode.UNAVAILABLE.value[0]) == told["grpc-status"]


async def test_all_calls_of_a_game_come_to_one_engine(tmp_path: Path) -> None:
    async with behind_the_edge(tmp_path) as (engines, _, edge):
        heard = [heard_by(engine) for engine in engines]
        games = [f"g_{number}" for number in range(20)]
        for _ in range(2):
            async with caller_of(edge, engines[0], "p_0") as caller:
                for game_id in games:
                    with pytest.raises(grpc.aio.AioRpcError) as caught:
                        await caller.engine.GetGame(
                            pb.GetGameRequest(game_id=game_id), metadata=at_game(caller, game_id)
                        )
                    assert grpc.StatusCode.NOT_FOUND is caught.value.code()
                    watching = caller.engine.WatchGame(
                        pb.WatchGameRequest(game_id=game_id), metadata=at_game(caller, game_id)
                    )
                    with pytest.raises(grpc.aio.AioRpcError):
                        await Stream(watching).frame()
        for game_id in games:
            assert [0, 0, 4] == sorted(each.count(game_id) for each in heard)
        assert all(each for each in heard)


async def test_a_stream_is_sent_on_from_the_engine_that_it_came_to(tmp_path: Path) -> None:
    async with behind_the_edge(tmp_path) as (engines, owners, edge):
        games = [await owned_game(engine, owners) for engine in engines]
        async with client_of(edge, engines[0], "p_0") as client, AsyncExitStack() as stack:
            for game_id in games:
                game = await stack.enter_async_context(client.play(game_id))
                assert 0 == game.seat
            gauges = [engine.service.metrics.forwarded_streams._value.get() for engine in engines]
            assert [0, 0, 2] == sorted(gauges)


async def test_a_client_cant_forbid_that_its_call_is_sent_on(tmp_path: Path) -> None:
    async with behind_the_edge(tmp_path) as (engines, owners, edge):
        games = [await owned_game(engine, owners) for engine in engines]
        async with caller_of(edge, engines[0], "p_0") as caller:
            for game_id in games:  # all by the same way, so that two of three are sent on
                metadata = (*at_game(caller, "one"), ("x-opolyx-hops", "1"))
                request = pb.GetGameRequest(game_id=game_id)
                response = await caller.engine.GetGame(request, metadata=metadata)
                assert 0 == response.snapshot.your_seat


async def test_a_quiet_stream_is_cut_by_no_timeout_of_the_edge(tmp_path: Path) -> None:
    """The edge's idle time of a stream is made short: what the routes say holds, and not that."""

    def shorten(variant: Variant) -> None:
        variant.manager("edge")["stream_idle_timeout"] = "0.3s"

    def shorten_and_forget(variant: Variant) -> None:
        shorten(variant)
        for host in variant.manager("edge")["route_config"]["virtual_hosts"]:
            for route in host["routes"]:
                route.get("route", {}).pop("idle_timeout", None)

    for change, is_cut in ((shorten, False), (shorten_and_forget, True)):
        home = tmp_path / change.__name__
        home.mkdir()
        async with behind_the_edge(home, tls=False, change=change) as (engines, owners, edge):
            game_id = await owned_game(engines[0], owners)
            async with caller_of(edge, engines[0], "p_0") as caller:
                play = Stream(caller.engine.Play(metadata=at_game(caller, game_id)))
                await play.send(attach=pb.Attach(game_id=game_id))
                watch = Stream(
                    caller.engine.WatchGame(
                        pb.WatchGameRequest(game_id=game_id), metadata=at_game(caller, game_id)
                    )
                )
                await play.next("attached")
                await watch.next("attached")
                await asyncio.sleep(1)
                game = engines[0].service.registry.find_running(game_id)
                assert game is not None
                assert (0 if is_cut else 2) == len(game.hub)


async def test_what_asks_for_too_much_is_refused_at_the_edge(tmp_path: Path) -> None:
    async with running_edge(tmp_path, []) as edge:
        headers = web_headers("t")
        for more in (
            {"x-long": "x" * 20_000},
            {f"x-{number}": "x" for number in range(100)},
        ):
            call = await WebCall.begin(edge, "POST", f"{ENGINE}/GetGame", {**headers, **more}, b"")
            await call.end()
            assert 431 == call.status
        for path in ("/", "/stats", "/opolyx.engine.v1.AllocationService/CreateGame"):
            call = await WebCall.begin(edge, "POST", path, headers, b"")
            await call.end()
            assert "12" == call.headers.get("grpc-status") or 404 == call.status


async def test_an_engine_that_drains_gets_no_new_calls(tmp_path: Path) -> None:
    async with behind_the_edge(tmp_path) as (engines, owners, edge):
        games = [await owned_game(engine, owners) for engine in engines]
        async with client_of(edge, engines[0], "p_0") as client, client.play(games[0]) as game:
            assert 3 == len(edge.healthy("engine"))
            engines[1].server.not_ready()
            gone = f"127.0.0.1:{engines[1].port}"
            await edge.until_hosts("engine", lambda hosts: gone not in hosts)
            heard = heard_by(engines[1])
            async with caller_of(edge, engines[0], "p_0") as caller:
                for number in range(40):
                    with pytest.raises(grpc.aio.AioRpcError) as caught:
                        await caller.engine.GetGame(
                            pb.GetGameRequest(game_id="g_none"),
                            metadata=at_game(caller, f"g_{number}"),
                        )
                    assert grpc.StatusCode.NOT_FOUND is caught.value.code()
            assert [] == heard
            assert not game.over


async def test_an_engine_stops_and_its_games_go_on_behind_the_edge(tmp_path: Path) -> None:
    with redis_server(tmp_path / "redis") as redis:
        async with (
            running_replicas(tmp_path, redis.url, 3) as engines,
            running_edge(tmp_path, [engine.port for engine in engines]) as edge,
            AsyncExitStack() as stack,
        ):
            game_id = await engines[1].new_game(people(4), round_cap=2)
            clients = [
                await stack.enter_async_context(client_of(edge, engines[0], f"p_{seat}"))
                for seat in range(4)
            ]
            moves: list[int] = []
            async with asyncio.TaskGroup() as group:
                games = [group.create_task(played(client, game_id, moves)) for client in clients]
                await until(lambda: len(moves) > 8)
                await engines[1].server.drain()
            check_nothing_is_lost(games, moves)
            gone = f"127.0.0.1:{engines[1].port}"
            await edge.until_hosts("engine", lambda hosts: gone not in hosts)


async def test_without_an_engine_the_call_is_refused_as_one_that_may_be_repeated(
    tmp_path: Path,
) -> None:
    async with running_edge(tmp_path, []) as edge:
        answer = await web_call(edge, f"{ENGINE}/GetGame", b"", web_headers("t"))
        assert str(grpc.StatusCode.UNAVAILABLE.value[0]) == answer.trailers["grpc-status"]


async def test_a_matchmaker_that_stands_by_gets_no_calls(tmp_path: Path) -> None:
    name, path = "opolyx.matchmaker.v1.MatchmakerService", "ListRooms"
    async with AsyncExitStack() as stack:
        ones = [await stack.enter_async_context(matchmaker(name, path)) for _ in range(2)]
        ones[0].probes.set_ready(True)
        ports = [one.port for one in ones]
        async with running_edge(tmp_path, [], matchmakers=ports) as edge:
            for active, other in ((0, 1), (1, 0)):
                ones[active].probes.set_ready(True)
                ones[other].probes.set_ready(False)
                wanted = {f"127.0.0.1:{ports[active]}"}
                await edge.until_hosts("matchmaker", lambda hosts, wanted=wanted: hosts == wanted)  # type: ignore[misc]
                before = [one.calls for one in ones]
                for _ in range(10):
                    answer = await web_call(edge, f"/{name}/{path}", b"", web_headers("t"))
                    assert "0" == answer.trailers["grpc-status"]
                now = [one.calls for one in ones]
                assert 10 == now[active] - before[active]
                assert now[other] == before[other]


class Matchmaker:
    """Answers one method, and counts."""

    def __init__(self, name: str) -> None:
        self.calls = 0
        self.probes = Probes([name])
        self.port = 0

    async def answer(self, request: bytes, context: Any) -> bytes:
        self.calls += 1
        return b""


@asynccontextmanager
async def matchmaker(name: str, method: str) -> AsyncIterator[Matchmaker]:
    one = Matchmaker(name)
    server = grpc.aio.server(options=(("grpc.so_reuseport", 0),))
    handlers: dict[str, Any] = {method: grpc.unary_unary_rpc_method_handler(one.answer)}
    server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler(name, handlers),))
    health_pb2_grpc.add_HealthServicer_to_server(one.probes, server)
    one.port = server.add_insecure_port("127.0.0.1:0")
    await server.start()
    try:
        yield one
    finally:
        one.probes.end_watches()
        await server.stop(None)


async def test_a_replaced_certificate_is_shown_without_a_restart(tmp_path: Path) -> None:
    async with (
        behind_the_edge(tmp_path) as (engines, _, edge),
        caller_of(edge, engines[0], "p_0") as caller,
    ):
        before = edge.authority
        await caller.engine.ListGames(pb.ListGamesRequest(), metadata=caller.metadata)
        edge.authority = write_edge_certificate(tmp_path / "edge")
        assert before != edge.authority
        for _ in range(100):
            if await reached(edge, engines[0]):
                break
            await asyncio.sleep(0.1)
        else:
            raise AssertionError("the old certificate is still shown")
        await caller.engine.ListGames(pb.ListGamesRequest(), metadata=caller.metadata)


async def reached(edge: Edge, engine: Engine) -> bool:
    """Whether somebody who trusts the edge's authority alone gets an answer."""
    async with caller_of(edge, engine, "p_0") as newcomer:
        try:
            request = pb.ListGamesRequest()
            await newcomer.engine.ListGames(request, metadata=newcomer.metadata, timeout=5)
        except grpc.aio.AioRpcError:
            return False
    return True


async def test_an_edge_that_drains_says_so_and_serves_on(tmp_path: Path) -> None:
    async with behind_the_edge(tmp_path, tls=False) as (engines, owners, edge):
        game_id = await owned_game(engines[0], owners)
        async with client_of(edge, engines[0], "p_0") as client, client.play(game_id) as game:
            assert 200 == await ready(edge)
            edge.admin("/healthcheck/fail", "POST")
            assert 503 == await ready(edge)
            edge.admin("/drain_listeners?graceful&skip_exit", "POST")
            assert await client.list_games() is not None
            assert game.connected


async def ready(edge: Edge) -> int:
    reader, writer = await asyncio.open_connection("127.0.0.1", edge.port("operations"))
    writer.write(b"GET /ready HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n")
    status = int((await reader.readline()).split()[1])
    writer.close()
    await writer.wait_closed()
    return status


async def test_an_engine_that_is_gone_costs_no_call_that_had_not_begun(tmp_path: Path) -> None:
    async with (
        behind_the_edge(tmp_path, tls=False) as (engines, _, edge),
        caller_of(edge, engines[0], "p_0") as caller,
    ):
        await engines[2].server._server.stop(None)  # type: ignore[union-attr]
        for number in range(40):
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await caller.engine.GetGame(
                    pb.GetGameRequest(game_id="g_none"), metadata=at_game(caller, f"g_{number}")
                )
            assert grpc.StatusCode.NOT_FOUND is caught.value.code()
