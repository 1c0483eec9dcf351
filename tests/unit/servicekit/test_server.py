"""The server harness: ports, probes, TLS, drain and signals, over loopback."""

import asyncio
import os
import signal
import sys
import urllib.request
from collections.abc import Awaitable, Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection_pb2, reflection_pb2_grpc
from structlog.testing import capture_logs

from opolyx_servicekit.access import PUBLIC
from opolyx_servicekit.errors import Unavailable
from opolyx_servicekit.server import MAX_MESSAGE_BYTES, ServiceServer
from opolyx_servicekit.settings import ServiceSettings
from support_certificates import tls_channel, write_certificate

SERVICE = "shop.v1.Shop"
ECHO = f"/{SERVICE}/Echo"
SERVING = health_pb2.HealthCheckResponse.SERVING
NOT_SERVING = health_pb2.HealthCheckResponse.NOT_SERVING


class Shop:
    """One method that echoes once it may."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.opened = asyncio.Event()

    async def echo(self, request: StringValue, context: Any) -> StringValue:
        if request.value == "wait":
            self.entered.set()
            await self.opened.wait()
        return request

    def add_to(self, server: grpc.aio.Server) -> None:
        handler = grpc.unary_unary_rpc_method_handler(
            self.echo,
            request_deserializer=StringValue.FromString,
            response_serializer=StringValue.SerializeToString,
        )
        generic = grpc.method_handlers_generic_handler(SERVICE, {"Echo": handler})
        server.add_generic_rpc_handlers((generic,))


def server_of(
    settings: ServiceSettings,
    shop: Shop | None = None,
    on_drain: Callable[[], Awaitable[None]] | None = None,
) -> ServiceServer:
    return ServiceServer(
        settings,
        add_services=(shop or Shop()).add_to,
        service_names=[SERVICE],
        roles={ECHO: PUBLIC},
        verifier=None,
        on_drain=on_drain,
    )


def plain_channel(port: int) -> grpc.aio.Channel:
    return grpc.aio.insecure_channel(f"127.0.0.1:{port}")


async def echo(channel: Any, text: str) -> str:
    call = channel.unary_unary(ECHO, StringValue.SerializeToString, StringValue.FromString)
    answer = await call(StringValue(value=text), timeout=10)
    return str(answer.value)


async def health(channel: grpc.aio.Channel, name: str) -> int:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    answer = await stub.Check(health_pb2.HealthCheckRequest(service=name), timeout=10)
    return int(answer.status)


def watch(channel: grpc.aio.Channel) -> Any:
    stub: Any = health_pb2_grpc.HealthStub(channel)
    return stub.Watch(health_pb2.HealthCheckRequest(service=SERVICE), timeout=10)


async def test_health_knows_liveness_and_each_service() -> None:
    async with (
        server_of(ServiceSettings(probe_address="127.0.0.1:0")) as server,
        plain_channel(server.bound_port) as main,
        plain_channel(server.probe_port) as probe,
    ):
        for channel in (main, probe):
            assert await health(channel, "") == SERVING
            assert await health(channel, SERVICE) == SERVING
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await health(channel, "other")
            assert caught.value.code() is grpc.StatusCode.NOT_FOUND
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await echo(probe, "not here")
        assert caught.value.code() is grpc.StatusCode.UNIMPLEMENTED


async def test_a_service_that_waits_is_not_ready_and_its_calls_are_refused() -> None:
    """A gate is asked of every call but those of health; readiness may be set before the start."""
    closed = True

    def gate(method: str) -> None:
        if method == ECHO and closed:
            raise Unavailable("STANDBY", "another one serves")

    waits = server_of(ServiceSettings())
    waits.gate = gate
    waits.set_ready(False, [SERVICE])
    async with waits as server, plain_channel(server.bound_port) as channel:
        assert await health(channel, "") == SERVING
        assert await health(channel, SERVICE) == NOT_SERVING
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await echo(channel, "too soon")
        assert caught.value.code() is grpc.StatusCode.UNAVAILABLE
        closed = False
        server.set_ready(True, [SERVICE])
        assert await health(channel, SERVICE) == SERVING
        assert await echo(channel, "now") == "now"


async def test_a_server_that_drains_is_never_ready_again() -> None:
    seen: list[int] = []

    async def ready_again() -> None:
        server.set_ready(True, [SERVICE])
        async with plain_channel(server.bound_port) as channel:
            seen.append(await health(channel, SERVICE))

    server = server_of(ServiceSettings(), on_drain=ready_again)
    async with server:
        pass
    assert seen == [NOT_SERVING]


async def test_draining_takes_readiness_first_and_lets_open_calls_end() -> None:
    shop = Shop()
    seen: list[tuple[int, int, str]] = []

    async def goodbye() -> None:
        seen.append(
            (await health(probe, ""), await health(probe, SERVICE), await echo(main, "still here"))
        )
        shop.opened.set()

    settings = ServiceSettings(probe_address="127.0.0.1:0")
    async with (
        server_of(settings, shop, goodbye) as server,
        plain_channel(server.bound_port) as main,
        plain_channel(server.probe_port) as probe,
    ):
        call = asyncio.create_task(echo(main, "wait"))
        await shop.entered.wait()
        await asyncio.gather(server.drain(), server.drain())

        assert await call == "wait"
        assert seen == [(SERVING, NOT_SERVING, "still here")]
        with pytest.raises(grpc.aio.AioRpcError):
            await echo(main, "too late")


async def test_watchers_see_the_drain_and_do_not_hold_it_up() -> None:
    async with (
        server_of(ServiceSettings(grace_seconds=50)) as server,
        plain_channel(server.bound_port) as channel,
    ):
        watched = watch(channel)
        assert (await watched.read()).status == SERVING
        # Asked for before the end: grpc.aio gives nothing more to who asks after it.
        reading = asyncio.create_task(watched.read())
        async with asyncio.timeout(10):
            await server.drain()

        assert (await reading).status == NOT_SERVING
        assert await watched.code() is grpc.StatusCode.UNAVAILABLE


async def test_a_goodbye_that_fails_or_hangs_does_not_stop_the_drain() -> None:
    async def fail() -> None:
        raise LookupError("goodbye")

    async def hang() -> None:
        await asyncio.Event().wait()

    for goodbye in (fail, hang):
        server = server_of(ServiceSettings(grace_seconds=0.01), on_drain=goodbye)
        with capture_logs() as lines:
            async with server:
                pass
        assert "drain_incomplete" in [line["event"] for line in lines]


async def test_the_goodbye_and_the_open_calls_share_one_grace(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Who stops the process counts on the grace being all."""
    spent_s = 0.0
    clock = SimpleNamespace(monotonic=lambda: 1_000.0 + spent_s)
    monkeypatch.setattr("opolyx_servicekit.server.time", clock)
    for spends_s, left_s in ((0.0, 20.0), (8.0, 12.0), (19.0, 5.0)):
        spent_s = 0.0

        async def goodbye(spends_s: float = spends_s) -> None:
            nonlocal spent_s
            spent_s += spends_s

        server = server_of(ServiceSettings(grace_seconds=20), on_drain=goodbye)
        await server.start()
        inner, waits = server._server, list[float]()
        assert inner is not None

        class Waiting:
            async def stop(self, grace_s: float, inner: Any = inner, to: Any = waits) -> None:
                to.append(grace_s)
                await inner.stop(0)

        server._server = Waiting()  # type: ignore[assignment]
        await server.drain()
        assert [left_s] == waits


async def test_a_cancelled_drain_still_closes_the_ports_beside() -> None:
    """As a second signal does it: the metrics' thread must not stay behind."""
    shop = Shop()
    settings = ServiceSettings(grace_seconds=50, metrics_address="127.0.0.1:0")
    server = server_of(settings, shop)
    await server.start()
    async with plain_channel(server.bound_port) as channel:
        call = asyncio.create_task(echo(channel, "wait"))
        await shop.entered.wait()
        drain = asyncio.create_task(server.drain())
        await asyncio.sleep(0.05)
        drain.cancel()
        with pytest.raises(asyncio.CancelledError):
            await drain

        with pytest.raises(OSError, match="refused"):
            await asyncio.to_thread(scrape, server.metrics_port)
        shop.opened.set()
        await asyncio.gather(call, return_exceptions=True)


async def test_calls_past_the_grace_are_cancelled() -> None:
    shop = Shop()
    async with (
        server_of(ServiceSettings(grace_seconds=0.01), shop) as server,
        plain_channel(server.bound_port) as channel,
    ):
        call = asyncio.create_task(echo(channel, "wait"))
        await shop.entered.wait()
        await server.drain()

        with pytest.raises(grpc.aio.AioRpcError):
            await call


async def test_draining_what_never_started_is_nothing() -> None:
    await server_of(ServiceSettings()).drain()


async def test_a_taken_port_is_an_error_at_start() -> None:
    async with server_of(ServiceSettings()) as server:
        taken = ServiceSettings(listen_address=f"127.0.0.1:{server.bound_port}")
        with pytest.raises(RuntimeError):
            await server_of(taken).__aenter__()


async def test_messages_over_the_limit_are_refused() -> None:
    async with (
        server_of(ServiceSettings()) as server,
        plain_channel(server.bound_port) as channel,
    ):
        assert len(await echo(channel, "x" * (MAX_MESSAGE_BYTES - 100))) > 1_000_000
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await echo(channel, "x" * (MAX_MESSAGE_BYTES + 1))
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED


async def test_metrics_are_served_over_http() -> None:
    async with (
        server_of(ServiceSettings(metrics_address="127.0.0.1:0")) as server,
        plain_channel(server.bound_port) as channel,
    ):
        await echo(channel, "a")
        text = await asyncio.to_thread(scrape, server.metrics_port)

    assert f'grpc_method="Echo",grpc_service="{SERVICE}",grpc_type="unary"}} 1.0' in text
    assert "process_cpu_seconds_total" in text


def scrape(port: int) -> str:
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        return str(answer.read(), "utf-8")


@pytest.mark.parametrize("reflection", [True, False])
async def test_reflection_is_there_if_it_is_set(reflection: bool) -> None:
    async with (
        server_of(ServiceSettings(reflection=reflection)) as server,
        plain_channel(server.bound_port) as channel,
    ):
        stub: Any = reflection_pb2_grpc.ServerReflectionStub(channel)  # type: ignore[arg-type]
        ask = reflection_pb2.ServerReflectionRequest(list_services="")
        call = stub.ServerReflectionInfo(iter([ask]), timeout=10)
        if not reflection:
            assert await call.code() is grpc.StatusCode.UNIMPLEMENTED
            return
        (answer,) = [answer async for answer in call]
        assert SERVICE in [found.name for found in answer.list_services_response.service]


async def test_certificates_are_replaced_while_running(tmp_path: Path) -> None:
    cert, key = write_certificate(tmp_path, "server")
    first = cert.read_bytes()
    settings = ServiceSettings(tls_cert_file=cert, tls_key_file=key)
    async with server_of(settings) as server:
        async with tls_channel(server.bound_port, first) as channel:
            assert await echo(channel, "a") == "a"
        write_certificate(tmp_path, "server")
        async with tls_channel(server.bound_port, cert.read_bytes()) as channel:
            assert await echo(channel, "b") == "b"
        async with tls_channel(server.bound_port, first) as channel:
            with pytest.raises(grpc.aio.AioRpcError):
                await echo(channel, "c")


async def test_clients_must_show_a_certificate_if_an_authority_is_set(tmp_path: Path) -> None:
    cert, key = write_certificate(tmp_path, "server")
    client = write_certificate(tmp_path, "client")
    settings = ServiceSettings(tls_cert_file=cert, tls_key_file=key, tls_client_ca_file=client[0])
    async with server_of(settings) as server:
        async with tls_channel(server.bound_port, cert.read_bytes(), client) as channel:
            assert await echo(channel, "a") == "a"
        async with tls_channel(server.bound_port, cert.read_bytes()) as channel:
            with pytest.raises(grpc.aio.AioRpcError):
                await echo(channel, "b")


async def test_half_a_tls_setting_is_refused(tmp_path: Path) -> None:
    cert, _ = write_certificate(tmp_path, "server")
    with pytest.raises(ValueError, match="belong together"):
        await server_of(ServiceSettings(tls_cert_file=cert)).__aenter__()


MAIN = """
import asyncio, sys
from opolyx_servicekit.server import ServiceServer, run
from opolyx_servicekit.settings import ServiceSettings

async def main(stop):
    server = ServiceServer(
        ServiceSettings(), add_services=lambda server: None, service_names=[], roles={}, verifier=None
    )
    async with server:
        print("ready", flush=True)
        await stop.wait()
        print("draining", flush=True)
        if len(sys.argv) > 1:
            await asyncio.Event().wait()
    print("done", flush=True)

sys.exit(run(main))
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_drains_and_exits_with_0(number: int) -> None:
    child = await started("-c", MAIN)
    os.kill(child.pid, number)
    output, _ = await child.communicate()

    assert [word for word in output.split() if word in (b"draining", b"done")] == [
        b"draining",
        b"done",
    ]
    assert child.returncode == 0


async def test_a_second_signal_does_not_wait_for_a_drain_that_hangs() -> None:
    child = await started("-c", MAIN, "hang")
    child.send_signal(signal.SIGTERM)
    assert child.stdout is not None
    while b"draining" not in await child.stdout.readline():
        pass
    child.send_signal(signal.SIGTERM)
    await child.communicate()

    assert child.returncode == 1


async def started(*arguments: str) -> asyncio.subprocess.Process:
    """A child that said it is ready."""
    child = await asyncio.create_subprocess_exec(
        sys.executable, *arguments, stdout=asyncio.subprocess.PIPE
    )
    assert child.stdout is not None
    while b"ready" not in (line := await child.stdout.readline()):
        assert line, "the child ended by itself"
    return child
