"""No label of a metric comes from a client: hostile names change no value and add no series."""

import uuid
from collections.abc import AsyncIterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry

from opolyx_engine.metrics import REASON_NAMES
from opolyx_rules.actions import NAMES as ACTIONS
from opolyx_sdk import actions
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.errors import OpolyxError
from opolyx_sdk.options import ClientOptions
from opolyx_sdk.rooms import RoomOptions
from opolyx_server.embedded import EmbeddedServer

MARK = "Evil"
HOSTILE = (f'{MARK}{{x="1"}}\n# HELP', f"{MARK}/../..", f"{MARK}" + "x" * 300, "", f"{MARK}\x00")
RULESETS = frozenset(
    f"{mode}@{edition}"
    for mode in ("blitz", "classic", "fortune", "halal", "speed", "team")
    for edition in ("full", "guide", "origins", "teams")
)
MOST_SERIES = 6_000


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[EmbeddedServer]:
    async with EmbeddedServer(tmp_path / "data") as server:
        yield server


def registry_of(server: EmbeddedServer) -> CollectorRegistry:
    assert server._server is not None
    return server._server.metrics.registry


def label_values(registry: CollectorRegistry) -> dict[str, set[str]]:
    """All values of each label, histograms' bounds apart."""
    found: dict[str, set[str]] = {}
    for family in registry.collect():
        for sample in family.samples:
            for name, value in sample.labels.items():
                if name != "le":
                    found.setdefault(name, set()).add(value)
    return found


def count_series(registry: CollectorRegistry) -> int:
    return sum(len(family.samples) for family in registry.collect())


async def attack(address: str) -> None:
    """Everything a client can name, named as nobody expects."""
    soon = ClientOptions(patience_s=1.0)
    for text in HOSTILE:
        async with AsyncClient(address, options=soon) as client:
            with suppress(OpolyxError, ValueError, TypeError):
                await client.create_guest(text)
            if client._transport.tokens.jwt is None:
                await client.create_guest(f"{MARK} guest")
            for call in (
                lambda text=text: client.create_room(text, 2),
                lambda text=text: client.join_room(text),
                lambda text=text: client.list_rooms(ruleset=text),
                lambda text=text: client.start_game(text),
                lambda text=text: client.leaderboard(text),
                lambda text=text: client.awards(game_id=text),
                lambda text=text: client.add_bot(text, policy=text),
            ):
                with suppress(OpolyxError, ValueError, TypeError):
                    await call()
            with suppress(OpolyxError, ValueError, TypeError):
                async with client.play(text) as game:
                    await game.submit(actions.Roll())
    async with grpc.aio.insecure_channel(address) as channel:
        for method in (f"/{MARK}.Service/Do", f"/opolyx.engine.v1.EngineService/{MARK}", "/x"):
            unknown: Any = channel.unary_unary(method)
            with pytest.raises(grpc.aio.AioRpcError):
                await unknown(b"\xff", metadata=(("x-request-id", MARK), ("traceparent", MARK)))


async def play_a_little(address: str) -> None:
    """Something of everything, so that labels have their usual values."""
    async with AsyncClient(address) as client:
        await client.create_guest("Ada")
        room = await client.create_room("blitz@full", 2, options=RoomOptions(round_cap=1))
        await client.add_bot(room.room_id, policy="steady")
        game_id = await client.start_game(room.room_id)
        async with client.play(game_id) as game:
            await game.submit(actions.Surrender())
            async for _ in game:
                pass


async def test_hostile_names_make_no_label_and_no_series(server: EmbeddedServer) -> None:
    registry = registry_of(server)
    await play_a_little(server.address)
    await attack(server.address)
    before, values = count_series(registry), label_values(registry)

    for _ in range(2):
        await attack(server.address)
        async with AsyncClient(server.address) as client:
            await client.create_guest(uuid.uuid4().hex[:12])

    assert count_series(registry) == before < MOST_SERIES
    assert label_values(registry) == values
    assert not [value for known in values.values() for value in known if MARK in value]


async def test_every_label_has_values_that_are_known_beforehand(server: EmbeddedServer) -> None:
    await play_a_little(server.address)
    await attack(server.address)

    values = label_values(registry_of(server))

    assert values["ruleset"] <= RULESETS
    assert values["action"] <= set(ACTIONS.values()) | {"unknown"}
    assert values["reason"] <= {
        *REASON_NAMES.values(),
        *("store_unavailable", "limit", "game_fault", "token_revoked", "token_expired", "rules"),
        "ENGINE_UNAVAILABLE",
    }
    assert values["grpc_type"] <= {"unary", "server_stream", "client_stream", "bidi_stream"}
    assert values["kind"] <= {"person", "bot", "built_in", "busy", "unavailable", "other"}
    assert values["outcome"] <= {
        *("accepted", "refused", "retry", "clock", "snapshot", "ended"),
        *("settled", "known", "voided", "passed", "buried"),
    }
    few = {"how", "what", "by", "invariant", "result", "zero_reason", "grpc_code", "grpc_method"}
    assert all(len(values[name]) < 80 for name in few & values.keys())
    usual = {"generation", "implementation", "major", "minor", "patchlevel", "version"}
    known = {"ruleset", "action", "reason", "kind", "outcome", "grpc_service", "grpc_type"}
    assert values.keys() <= few | usual | known
