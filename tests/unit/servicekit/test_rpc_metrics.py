"""The metrics of calls: named and labelled as go-grpc-middleware's, there from the start, bounded."""

import asyncio
from typing import Any

import grpc
import pytest
from google.protobuf.wrappers_pb2 import StringValue
from grpc_health.v1 import health
from prometheus_client import CollectorRegistry

from opolyx_servicekit.access import PUBLIC
from opolyx_servicekit.loop_lag import LoopLag
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.settings import ServiceSettings
from opolyx_servicekit.wall_clock import ManualClock

LABELS = {"grpc_type", "grpc_service", "grpc_method"}
GO_CODES = (
    "OK Canceled Unknown InvalidArgument DeadlineExceeded NotFound AlreadyExists PermissionDenied"
    " Unauthenticated ResourceExhausted FailedPrecondition Aborted OutOfRange Unimplemented Internal"
    " Unavailable DataLoss"
)


def series(metrics: RpcMetrics) -> dict[str, list[dict[str, str]]]:
    """The labels of all samples of calls, by name."""
    found: dict[str, list[dict[str, str]]] = {}
    for family in metrics.registry.collect():
        for sample in family.samples:
            if sample.name.startswith("grpc_server") and not sample.name.endswith("_created"):
                found.setdefault(sample.name, []).append(dict(sample.labels))
    return found


def test_all_methods_and_codes_are_there_at_0_before_the_first_call() -> None:
    metrics = RpcMetrics(CollectorRegistry())

    metrics.expect([health.SERVICE_NAME, "not.loaded.Service"])

    found = series(metrics)
    seconds = "grpc_server_handling_seconds"
    assert set(found) == {
        "grpc_server_started_total",
        "grpc_server_handled_total",
        "grpc_server_msg_received_total",
        "grpc_server_msg_sent_total",
        *(f"{seconds}_{part}" for part in ("bucket", "count", "sum")),
    }
    for name, samples in found.items():
        extra = {"grpc_server_handled_total": {"grpc_code"}, f"{seconds}_bucket": {"le"}}
        assert all(set(labels) == LABELS | extra.get(name, set()) for labels in samples)
    kinds = {labels["grpc_method"]: labels["grpc_type"] for labels in found[f"{seconds}_count"]}
    assert kinds == {"Check": "unary", "Watch": "server_stream"}
    codes = [each["grpc_code"] for each in found["grpc_server_handled_total"]]
    assert sorted(codes) == sorted(GO_CODES.split() * len(kinds))


async def test_a_call_whose_time_was_over_is_no_call_that_was_cancelled() -> None:
    """GRPC cancels the handler for both."""
    entered, metrics = asyncio.Event(), RpcMetrics(CollectorRegistry())

    async def wait(request: StringValue, context: Any) -> StringValue:
        entered.set()
        await asyncio.Event().wait()
        return request

    def add(server: grpc.aio.Server) -> None:
        handler: Any = grpc.unary_unary_rpc_method_handler(wait, StringValue.FromString, None)
        server.add_generic_rpc_handlers(
            (grpc.method_handlers_generic_handler("shop.v1.Shop", {"Wait": handler}),)
        )

    server = ServiceServer(
        ServiceSettings(grace_seconds=0),
        add_services=add,
        service_names=(),
        roles={"/shop.v1.Shop/Wait": PUBLIC},
        verifier=None,
        metrics=metrics,
    )
    async with server, grpc.aio.insecure_channel(f"127.0.0.1:{server.bound_port}") as channel:
        method: Any = channel.unary_unary("/shop.v1.Shop/Wait")
        with pytest.raises(grpc.aio.AioRpcError):
            await method(b"", timeout=0.3)
        entered.clear()
        call = method(b"")
        await entered.wait()
        call.cancel()
        async with asyncio.timeout(10):
            while (  # noqa: ASYNC110 - the server counts by itself
                counts := handled(metrics)
            ).keys() != {"DeadlineExceeded", "Canceled"}:
                await asyncio.sleep(0.01)

    assert set(counts.values()) == {1.0}


def handled(metrics: RpcMetrics) -> dict[str, float]:
    """How often calls ended, by code."""
    return {
        sample.labels["grpc_code"]: sample.value
        for family in metrics.registry.collect()
        for sample in family.samples
        if sample.name == "grpc_server_handled_total" and sample.value
    }


class LateClock(ManualClock):
    """Sleeps longer than it is told."""

    def __init__(self, late_s: float) -> None:
        super().__init__(0)
        self._late_s = late_s
        self._now_s = 0.0

    def monotonic(self) -> float:
        return self._now_s

    async def sleep_until(self, unix_ms: int) -> None:
        self._now_s += (unix_ms - self.now_ms()) / 1000 + self._late_s


@pytest.mark.parametrize("late_s", [0.0, 0.3, -0.001])
async def test_lag_of_the_event_loop_is_what_a_sleep_was_too_long(late_s: float) -> None:
    metrics = RpcMetrics(CollectorRegistry())

    await LoopLag(metrics.loop_lag, LateClock(late_s)).look()

    assert metrics.registry.get_sample_value("opolyx_event_loop_lag_seconds_count") == 1
    total = metrics.registry.get_sample_value("opolyx_event_loop_lag_seconds_sum")
    assert total == pytest.approx(max(late_s, 0.0))
