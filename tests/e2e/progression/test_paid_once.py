"""Between the end of a game and its payment: kills and reconnects; case A-43."""

import asyncio
from pathlib import Path

import pytest

from opolyx_sdk import AsyncClient, Award, BotRunner, ClientOptions, RoomOptions, SteadyBot
from opolyx_server.embedded import EmbeddedServer
from support_sdk import ServeProcess, eventually_awards

ROUNDS = 21
PATIENT = ClientOptions(patience_s=60, command_timeout_s=60)


async def started(ada: AsyncClient, bo: AsyncClient, ruleset: str) -> str:
    """A game of two people that ends once so many rounds are complete."""
    await ada.create_guest("Ada")
    await bo.create_guest("Bo")
    room = await ada.create_room(ruleset, 2, options=RoomOptions(round_cap=ROUNDS))
    await bo.join_room(code=room.code)
    return await ada.start_game(room.room_id)


async def played(ada: AsyncClient, bo: AsyncClient, game_id: str) -> None:
    await asyncio.gather(*[BotRunner(one, SteadyBot).play(game_id) for one in (ada, bo)])


@pytest.mark.rule("XP-7")
@pytest.mark.timeout(180)
async def test_a_43_server_killed_the_moment_a_game_ends_pays_it_once(tmp_path: Path) -> None:
    """Case A-43: killed at the end, and twice more after a start, before or after the payment."""
    async with (
        ServeProcess(tmp_path) as server,
        AsyncClient(server.address, options=PATIENT) as ada,
        AsyncClient(server.address, options=PATIENT) as bo,
    ):
        game_id = await started(ada, bo, "classic@guide")
        await played(ada, bo, game_id)
        for _ in range(3):
            await server.kill()
            await server.start()
        paid = [(await eventually_awards(one, game_id, 1))[0] for one in (ada, bo)]
        profiles = [await one.profile() for one in (ada, bo)]
        cards = [await one.cards() for one in (ada, bo)]
        assert 0 == await server.terminate()

    won = paid[0].place == 2
    assert [200, 0] == [award.xp for award in (paid[::-1] if won else paid)]
    assert [award.xp for award in paid] == [profile.xp for profile in profiles]
    assert [1, 1] == [profile.games for profile in profiles]
    wins = [[card for card in owned if card.level == 0] for owned in cards]
    assert [1, 0] == [len(owned) for owned in (wins[::-1] if won else wins)]


@pytest.mark.rule("XP-7")
@pytest.mark.timeout(120)
async def test_a_43_player_who_reconnects_five_times_is_paid_once(tmp_path: Path) -> None:
    """Case A-43: who comes back looks at the game again each time."""
    async with (
        EmbeddedServer(tmp_path, seed="paid") as server,
        AsyncClient(server.address) as ada,
        AsyncClient(server.address) as bo,
    ):
        game_id = await started(ada, bo, "classic@full")
        await played(ada, bo, game_id)
        seen: list[tuple[Award, ...]] = [await eventually_awards(ada, game_id, 1)]
        for _ in range(5):
            await ada.close()
            async with ada.play(game_id) as game:
                assert game.over
            await ada.current_game()
            seen.append(await ada.awards(game_id=game_id))
        profile = await ada.profile()
        async with AsyncClient(server.address, token=server.operator_token()) as operator:
            report = await operator.audit(count_boards=True)

    assert [seen[0]] * 6 == seen
    assert (seen[0][0].xp, 1) == (profile.xp, profile.games)
    assert (1, 2, 0) == (report.games, report.awards, report.drift)
