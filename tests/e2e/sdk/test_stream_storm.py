"""A server goes away and comes back under a hundred clients: they return spread, and miss nothing."""

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from opolyx_sdk import AsyncClient, ClientOptions, Game
from opolyx_sdk._backoff import Outage
from support_engine import awaited, people, running_engine
from support_proxy import FlakyProxy

CLIENTS = 100
HINT_S = 1.0


@pytest.mark.timeout(120)
async def test_clients_of_a_drained_server_wait_as_told_and_come_back_spread(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case A-30: the real thing, smaller."""
    first_waits: dict[Outage, float] = {}
    lost = Outage.lost

    def noting_lost(outage: Outage, *, heard: bool, hint_s: float | None) -> float:
        wait_s = lost(outage, heard=heard, hint_s=hint_s)
        first_waits.setdefault(outage, wait_s)
        return wait_s

    monkeypatch.setattr(Outage, "lost", noting_lost)
    options = ClientOptions(connect_timeout_s=2)
    async with AsyncExitStack() as stack:
        network = await stack.enter_async_context(FlakyProxy(1))
        async with running_engine(tmp_path, drain_retry_ms=round(HINT_S * 1_000)) as engine:
            network.port = engine.port
            game_id = await engine.new_game(people(2))
            games: list[Game] = []
            for number in range(CLIENTS):
                subject = f"p_{number}"  # the first two have the seats
                client = await stack.enter_async_context(
                    AsyncClient(network.address, token=engine.token(subject), options=options)
                )
                entry = client.play(game_id) if number < 2 else client.watch(game_id)
                games.append(await stack.enter_async_context(entry))
            before = await (await engine.caller("p_0")).game(game_id)
        async with running_engine(tmp_path) as engine:
            network.port = engine.port
            async with asyncio.timeout(60):
                while len(engine.service.streams) < CLIENTS:  # noqa: ASYNC110 - a test's wait
                    await asyncio.sleep(0.01)
            after = await (await engine.caller("p_0")).game(game_id)
            assert awaited(before.decisions).decision_id == awaited(after.decisions).decision_id
            mover = next(game for game in games if game.decision)
            assert mover.decision is not None
            seq = await mover.submit(mover.decision.legal_actions[0])
            async with asyncio.timeout(30):
                for game in games:
                    assert seq == (await anext(game)).seq
    assert CLIENTS == len(first_waits)
    assert all(HINT_S <= wait_s <= 2 * HINT_S for wait_s in first_waits.values())
    assert len({round(wait_s, 1) for wait_s in first_waits.values()}) >= 5, "all at once"
