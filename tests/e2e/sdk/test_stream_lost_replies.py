"""Replies lost after the commit, and a server that comes back: what was asked happens once."""

import asyncio
import sqlite3
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from opolyx_sdk import AsyncClient, ClientOptions, Game, Refused
from opolyx_sdk.actions import (
    AcceptTrade,
    Action,
    Bid,
    Buy,
    DeclinePurchase,
    PayDebt,
    ProposeTrade,
    Roll,
)
from opolyx_sdk.bots import fallback_action
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import Phase, RefusalReason
from opolyx_sdk.views import GameView
from support_engine import Engine, people, running_engine
from support_proxy import FlakyProxy

OPTIONS = ClientOptions(connect_timeout_s=1, patience_s=30)


class Player:
    """A seat, its client and the network it plays through."""

    def __init__(self, game: Game, network: FlakyProxy) -> None:
        self.game = game
        self.network = network
        self.acknowledged: list[int] = []


async def seated(stack: AsyncExitStack, engine: Engine, game_id: str, count: int) -> list[Player]:
    """Clients in the seats of a game, each through a network of its own."""
    players = []
    for seat in range(count):
        network = await stack.enter_async_context(FlakyProxy(engine.port))
        client = await stack.enter_async_context(
            AsyncClient(network.address, token=engine.token(f"p_{seat}"), options=OPTIONS)
        )
        players.append(Player(await stack.enter_async_context(client.play(game_id)), network))
    return players


async def act_without_reply(engine: Engine, player: Player, action: Action) -> int:
    """Act while replies are lost; cut the link once it is stored; the update's number."""
    table = engine.service.registry.find_running(player.game.info.game_id)
    assert table is not None
    before = table.table.seq
    (link,) = player.network.links
    link.swallows_down = True
    acting = asyncio.create_task(player.game.submit(action))
    async with asyncio.timeout(10):
        while table.table.seq == before:  # noqa: ASYNC110 - a test's wait
            await asyncio.sleep(0.005)
    assert not acting.done()
    link.cut()
    return await asyncio.wait_for(acting, 20)


def cash(view: GameView) -> list[int]:
    return [player.cash for player in view.players]


def wanted(view: GameView, decision: Decision, missing: set[type[Action]]) -> Action:
    """What leads to the kinds that are missing: buy, or sell by auction, and pay."""
    kinds: list[type[Action]] = [PayDebt, AcceptTrade]
    if Buy in missing or Bid not in missing:
        kinds.append(Buy)
    if Bid in missing:
        kinds += [Bid, DeclinePurchase]
    for kind in (*kinds, Roll):
        for action in decision.legal_actions:
            if isinstance(action, kind):
                return action
    return fallback_action(decision)


async def everybody_at(players: list[Player], seq: int) -> None:
    async with asyncio.timeout(10):
        while any(player.game.seq < seq for player in players):  # noqa: ASYNC110 - a test's wait
            await asyncio.sleep(0.005)


@pytest.mark.timeout(120)
async def test_a_reply_lost_after_the_commit_moves_cash_once(tmp_path: Path) -> None:
    """Case A-35: for a roll, a purchase, a bid, a payment and an accepted offer."""
    missing: set[type[Action]] = {Roll, Buy, Bid, PayDebt, AcceptTrade}
    told: list[int] = []
    async with running_engine(tmp_path) as engine, AsyncExitStack() as stack:
        game_id = await engine.new_game(people(2), start_cash=6_000, round_cap=200)
        players = await seated(stack, engine, game_id, 2)
        proposed = False
        for _ in range(600):
            player = next(one for one in players if one.game.decision)
            decision = player.game.decision
            assert decision is not None
            if not proposed and decision.phase is Phase.ROLL and player.game.seq > 4:
                proposed = True
                other = 1 - decision.seat
                seq = await player.game.submit(ProposeTrade(other, 500, (), 500, ()))
                await everybody_at(players, seq)
                player, decision = players[other], players[other].game.decision
                assert decision is not None
                assert decision.phase is Phase.OFFER
            action = wanted(player.game.view, decision, missing)
            if type(action) in missing:
                missing.discard(type(action))
                seq = await act_without_reply(engine, player, action)
                told.append(seq)
            else:
                seq = await player.game.submit(action)
            await everybody_at(players, seq)
            assert seq == players[0].game.seq == players[1].game.seq, "something happened besides"
            if not missing or player.game.over:
                break
        assert set() == missing
        assert cash(players[0].game.view) == cash(players[1].game.view)
    with sqlite3.connect(tmp_path / "engine.db") as database:
        rows = database.execute("SELECT seq, command_id FROM engine_records").fetchall()
    database.close()
    ids = [command_id for _, command_id in rows if command_id]
    assert len(ids) == len(set(ids))
    assert 5 == len(told) == len({command_id for seq, command_id in rows if seq in told})


async def test_a_command_queued_while_the_server_restarts_goes_out_once(tmp_path: Path) -> None:
    """Case A-25: and a second tap is refused, and everybody sees the one move."""
    async with AsyncExitStack() as outer:
        network = await outer.enter_async_context(FlakyProxy(1))
        async with running_engine(tmp_path) as engine:
            network.port = engine.port
            game_id = await engine.new_game(people(3))
            games = []
            for seat in range(3):
                client = await outer.enter_async_context(
                    AsyncClient(network.address, token=engine.token(f"p_{seat}"), options=OPTIONS)
                )
                games.append(await outer.enter_async_context(client.play(game_id)))
            mover = next(game for game in games if game.decision)
            decision = mover.decision
            assert decision is not None
            network.refuses = True
        seen = mover.seq
        queued = asyncio.create_task(mover.submit(decision.legal_actions[0], decision=decision))
        tapped = asyncio.create_task(mover.submit(decision.legal_actions[0], decision=decision))
        await asyncio.sleep(0.3)
        assert not queued.done()
        async with running_engine(tmp_path) as engine:
            network.port, network.refuses = engine.port, False
            async with asyncio.timeout(20):
                assert seen + 1 == await queued
                with pytest.raises(Refused) as caught:
                    await tapped
                assert RefusalReason.STALE_DECISION is caught.value.refusal.reason
                for game in games:
                    assert [seen + 1, mover.view] == [(await anext(game)).seq, game.view]
            stored = await engine.store.game(game_id)
            assert stored is not None
            assert seen + 1 == stored.seq
            for game in games:
                assert [one.decision_id for one in game.decisions] == [
                    one.decision_id for one in mover.decisions
                ]
                assert all(0 < one.time_left() <= 76 for one in game.decisions)
