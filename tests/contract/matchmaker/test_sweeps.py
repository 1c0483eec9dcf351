"""What was left behind is put right within the stated time, however much of it there is."""

from collections.abc import Iterator
from typing import Final

import pytest
import structlog

from opolyx_matchmaker.peers import EngineRefused, EngineUnavailable, GameLife
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store
from support_lobby import DictEngine, Grants, Process, open_store, player, wish

MANY: Final = 450  # more than are looked at in one go


@pytest.fixture(autouse=True)
def _no_log() -> Iterator[None]:
    with structlog.testing.capture_logs():
        yield


class SickEngine(DictEngine):
    """Knows of no game, but answers for some with an error."""

    def __init__(self) -> None:
        super().__init__()
        self.errors: dict[str, Exception] = {}
        self.asked = 0

    async def life(self, game_id: str) -> GameLife:
        """GONE, or an error."""
        self.asked += 1
        if game_id in self.errors:
            raise self.errors[game_id]
        return GameLife.GONE


async def played(process: Process, count: int) -> list[str]:
    """Started games, each of somebody and a built-in bot."""
    games = []
    for number in range(count):
        host = player(f"host{number}")
        room = await process.lobby.create(host, wish())
        await process.lobby.add_built_in(host, room.room_id, "steady", None)
        games.append(await process.lobby.start(host, room.room_id))
    return games


async def busy(store: Store, count: int) -> int:
    return sum([bool(await store.placements(f"p_host{number}")) for number in range(count)])


async def after_the_stated_time(process: Process) -> None:
    settings = MatchmakerSettings()
    assert settings.gone_check_seconds + settings.sweep_seconds == 135  # as the documents say
    await process.clock.advance(int(settings.gone_check_seconds * 1000) + 1)
    await process.sweeper.sweep()


@pytest.mark.timeout(180)
async def test_players_of_all_games_that_are_gone_are_free_after_one_sweep() -> None:
    async with open_store() as store:
        engine = SickEngine()
        process = Process(store, engine, Grants())
        await played(process, MANY)
        await process.sweeper.sweep()
        assert 0 == engine.asked, "too early: the engine may still tell by itself"

        await after_the_stated_time(process)

        assert 0 == await busy(store, MANY)
        assert MANY == engine.asked
        await process.die()


async def test_game_that_is_held_frees_nobody_and_is_in_nobodys_way() -> None:
    async with open_store() as store:
        engine = SickEngine()
        process = Process(store, engine, Grants())
        games = await played(process, 6)
        engine.errors = {games[0]: EngineRefused("INTERNAL", "held"), games[2]: _away()}

        await after_the_stated_time(process)

        assert 2 == await busy(store, 6)
        assert await store.placements("p_host0")
        assert await store.placements("p_host2")
        engine.errors = {}
        await after_the_stated_time(process)
        assert 0 == await busy(store, 6)
        await process.die()


async def test_engine_that_is_away_is_not_asked_for_every_game() -> None:
    async with open_store() as store:
        engine = SickEngine()
        process = Process(store, engine, Grants())
        games = await played(process, 20)
        engine.errors = dict.fromkeys(games, _away())

        await after_the_stated_time(process)

        assert 3 == engine.asked
        assert 20 == await busy(store, 20)
        await process.die()


@pytest.mark.timeout(180)
async def test_all_rooms_whose_time_is_up_are_closed_in_one_sweep() -> None:
    async with open_store() as store:
        process = Process(store, DictEngine(), Grants())
        for number in range(MANY):
            await process.lobby.create(player(f"host{number}"), wish())
        await process.sweeper.sweep()
        assert MANY == await busy(store, MANY)

        await process.clock.advance(int(MatchmakerSettings().room_idle_seconds * 1000))
        await process.sweeper.sweep()

        assert 0 == await busy(store, MANY)
        await process.die()


def _away() -> EngineUnavailable:
    return EngineUnavailable("its replica is down")
