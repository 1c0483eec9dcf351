"""Real servers, real outages: nothing that was seen or acknowledged is lost or repeated."""

import asyncio
from pathlib import Path

import pytest

from opolyx_sdk import (
    AsyncClient,
    BotRunner,
    ClientOptions,
    Game,
    GameInfo,
    SteadyBot,
    Update,
    WrongState,
)
from opolyx_sdk.actions import ProposeTrade
from opolyx_sdk.enums import RefusalReason
from opolyx_server.embedded import EmbeddedServer
from support_sdk import ServeProcess, start_game

PATIENT = ClientOptions(patience_s=30, command_timeout_s=40)


class Recorder(SteadyBot):
    """Plays steadily and keeps the numbers of what it saw."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[int] = []
        self.info: GameInfo | None = None

    def on_start(self, info: GameInfo) -> None:
        self.info = info

    def on_update(self, update: Update) -> None:
        assert not update.missed
        self.seen.append(update.seq)


async def test_a_client_cut_off_again_and_again_sees_every_update_once(tmp_path: Path) -> None:
    async with (
        EmbeddedServer(tmp_path, seed="cuts") as server,
        AsyncClient(server.address, options=PATIENT) as client,
    ):
        game_id = await start_game(client)
        bot = Recorder()
        playing = asyncio.create_task(BotRunner(client, lambda: bot).play(game_id))
        cuts = 0
        while not playing.done():
            await asyncio.sleep(0.15)
            if cuts < 12:
                await client._transport.drop()
                cuts += 1
        report = await playing

        assert cuts >= 3
        assert report.result is not None
        assert bot.seen == list(range(bot.seen[0], bot.seen[-1] + 1))
        assert [] == report.refusals


async def play_and_keep(game: Game, acknowledged: list[int], updates: list[Update]) -> None:
    """Play by hand, keeping what was acknowledged and what was seen."""
    bot = SteadyBot()
    answered = ""
    while not game.over:
        decision = game.decision
        if decision is not None and (key := f"{decision.decision_id}/{game.seq}") != answered:
            answered = key
            acknowledged.append(
                await game.submit(bot.decide(game.view, decision), decision=decision)
            )
        try:
            updates.append(await anext(game))
        except StopAsyncIteration:
            break
    updates += [update async for update in game]


@pytest.mark.timeout(120)
async def test_a_server_killed_and_started_again_goes_on_with_the_game(tmp_path: Path) -> None:
    async with (
        ServeProcess(tmp_path) as server,
        AsyncClient(server.address, options=PATIENT) as client,
    ):
        game_id = await start_game(client)
        acknowledged: list[int] = []
        updates: list[Update] = []
        async with client.play(game_id) as game:
            shown_on_entry = game.seq
            playing = asyncio.create_task(play_and_keep(game, acknowledged, updates))
            for goal in (15, 60, 110):
                while game.seq < goal and not playing.done():  # noqa: ASYNC110 - a test's wait
                    await asyncio.sleep(0.005)
                await server.kill()
                await server.start()
            await playing
            seat = game.seat
            assert game.view.result is not None

        # An update can be here before the first look at the game, so it may come at once.
        first = updates[0].seq
        assert first <= shown_on_entry + 1
        assert list(range(first, updates[-1].seq + 1)) == [one.seq for one in updates]
        assert not [one for one in updates if one.missed]
        by_seq = {one.seq: one for one in updates}
        assert acknowledged
        assert {seat} == {by_seq[seq].actor for seq in acknowledged}
        assert len(set(acknowledged)) == len(acknowledged)
        verdict = await client.check_trade(game_id, ProposeTrade(1, 100, (), 0, (1,)))
        assert verdict.refusal is not None
        assert RefusalReason.GAME_OVER is verdict.refusal.reason
        assert 0 == await server.terminate()


async def test_one_player_is_in_one_game_and_is_freed_at_its_end(tmp_path: Path) -> None:
    async with (
        EmbeddedServer(tmp_path, seed="free") as server,
        AsyncClient(server.address) as client,
    ):
        game_id = await start_game(client)
        assert game_id == (await client.current_game()).game_id
        with pytest.raises(WrongState) as caught:
            await client.create_room("blitz@full", 4)
        assert "ALREADY_PLAYING" == caught.value.reason
        await BotRunner(client, SteadyBot).play(game_id)
        async with asyncio.timeout(10):
            while (await client.current_game()).game_id:  # noqa: ASYNC110 - a test's wait
                await asyncio.sleep(0.02)
        (award,) = await client.awards(game_id=game_id)

        assert (await client.profile()).xp == award.xp
