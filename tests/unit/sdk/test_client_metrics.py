"""A client's metrics: named and labelled as go-grpc-middleware's, of all kinds of calls it makes."""

from collections.abc import AsyncIterator
from contextlib import suppress

import pytest
from prometheus_client import CollectorRegistry

from opolyx_sdk.actions import Roll
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.errors import MissingExtra, OpolyxError
from opolyx_sdk.metrics import ClientMetrics, go_name
from opolyx_sdk.options import ClientOptions
from opolyx_sdk.testing import ScriptedServer


@pytest.fixture
def registry() -> CollectorRegistry:
    return CollectorRegistry()


@pytest.fixture
async def client(registry: CollectorRegistry) -> AsyncIterator[AsyncClient]:
    with ScriptedServer() as server:
        server.game()
        options = ClientOptions(metrics=ClientMetrics(registry), patience_s=1.0)
        async with AsyncClient(server.address, options=options) as client:
            yield client


def value(registry: CollectorRegistry, name: str, method: str, **labels: str) -> float:
    """The sum of a method's samples of one name."""
    return sum(
        sample.value
        for family in registry.collect()
        for sample in family.samples
        if sample.name == name
        and sample.labels["grpc_method"] == method
        and labels.items() <= sample.labels.items()
    )


async def test_single_calls_are_counted_by_their_code(
    client: AsyncClient, registry: CollectorRegistry
) -> None:
    await client.create_guest("Ada")
    with suppress(OpolyxError):
        await client.get_room("r_nowhere")

    kind = {"grpc_type": "unary", "grpc_service": "opolyx.identity.v1.IdentityService"}
    for name in ("started_total", "msg_sent_total", "msg_received_total", "handling_seconds_count"):
        assert value(registry, f"grpc_client_{name}", "CreateGuest", **kind) == 1
    assert value(registry, "grpc_client_handled_total", "CreateGuest", grpc_code="OK", **kind) == 1
    failed = value(registry, "grpc_client_handled_total", "GetRoom")
    assert failed >= 1
    assert value(registry, "grpc_client_handled_total", "GetRoom", grpc_code="OK") == 0
    assert value(registry, "grpc_client_msg_received_total", "GetRoom") == 0


async def test_streams_are_counted_with_their_messages(
    client: AsyncClient, registry: CollectorRegistry
) -> None:
    await client.create_guest("Ada")
    async with client.play("g1") as game:
        assert await game.submit(Roll()) == 1
        assert value(registry, "grpc_client_started_total", "Play", grpc_type="bidi_stream") == 1
        assert value(registry, "grpc_client_handled_total", "Play") == 0
    await client.close()

    assert value(registry, "grpc_client_msg_sent_total", "Play") >= 2
    assert value(registry, "grpc_client_msg_received_total", "Play") >= 1
    assert value(registry, "grpc_client_handled_total", "Play", grpc_code="Canceled") == 1
    assert value(registry, "grpc_client_handling_seconds_count", "Play") == 1


def test_codes_have_gos_names() -> None:
    assert [go_name(name) for name in ("OK", "CANCELLED", "NOT_FOUND", "OUT_OF_RANGE")] == [
        *("OK", "Canceled", "NotFound", "OutOfRange")
    ]


@pytest.mark.parametrize(
    ("module", "make"),
    [
        ("prometheus_client", ClientMetrics),
        (
            "opentelemetry.trace",
            lambda: AsyncClient("127.0.0.1:1", options=ClientOptions(traces=True)),
        ),
    ],
)
def test_a_missing_extra_is_named(
    monkeypatch: pytest.MonkeyPatch, module: str, make: type[ClientMetrics]
) -> None:
    monkeypatch.setitem(__import__("sys").modules, module, None)

    with pytest.raises(MissingExtra, match=r"opolyx-sdk\[(metrics|otel)\]"):
        make()
