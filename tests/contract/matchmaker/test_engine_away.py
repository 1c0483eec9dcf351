"""Searches while the engine is away: they keep their place, for a bounded time, and ask rarely."""

from collections.abc import AsyncIterator, Iterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import pytest
import structlog

from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.peers import EngineUnavailable, Reservation
from opolyx_matchmaker.room import Room, RoomState
from opolyx_matchmaker.search import Search
from opolyx_servicekit.errors import ServiceError
from support_lobby import DictEngine, Grants, Process, open_store, player, settle

PATIENCE_S: int = 60


@pytest.fixture(autouse=True)
def _no_log() -> Iterator[None]:
    with structlog.testing.capture_logs():
        yield


class LostEngine(DictEngine):
    """Answers some calls only; counts those that it doesn't."""

    def __init__(self) -> None:
        super().__init__()
        self.away = ""
        self.missed = 0

    async def reserve(self, request_id: str) -> Reservation:
        """Lost while `away` is "reserve"."""
        self._miss("reserve")
        return await super().reserve(request_id)

    async def create(self, room: Room, grants: Sequence[SeatGrant]) -> None:
        """Lost while `away` is "create"."""
        self._miss("create")
        await super().create(room, grants)

    def _miss(self, call: str) -> None:
        if call == self.away:
            self.missed += 1
            raise EngineUnavailable("its replica is down")


@asynccontextmanager
async def two_search(engine: LostEngine) -> AsyncIterator[tuple[Process, list[Search]]]:
    settings: dict[str, Any] = {
        "match_engine_seconds": PATIENCE_S,
        "retry_base_seconds": 0.1,
        "retry_cap_seconds": 5.0,
        "start_attempts": 1,
    }
    async with open_store() as store:
        process = Process(store, engine, Grants(), **settings)
        with ExitStack() as stack:
            searches = []
            for name in ("ada", "bo"):
                ticket = await process.queue.ticket(player(name), "classic@full", 2, False)
                searches.append(
                    stack.enter_context(process.queue.searching(player(name), ticket, b""))
                )
            yield process, searches
        await process.die()


async def passes(process: Process, seconds: float) -> None:
    """Half a second after another, as the service looks for tables."""
    for _ in range(round(seconds * 2)):
        process.queue.look()
        for _ in range(4):
            await settle()
        await process.clock.advance(500)


@pytest.mark.parametrize("away", ["reserve", "create"])
async def test_search_outlives_an_engine_that_is_away_for_a_while(away: str) -> None:
    engine = LostEngine()
    async with two_search(engine) as (process, searches):
        engine.away = away
        await passes(process, PATIENCE_S - 10)

        assert 5 < engine.missed <= 30, "it is asked later and later"
        for search in searches:
            news = await search.next(1)
            assert news is not None
            assert (2, "") == (news.players, news.game_id)
            assert (PATIENCE_S - 11) * 1000 < news.waited_ms
        engine.away = ""
        await passes(process, 6)

        found = [await search.next(1) for search in searches]
        assert [(game_id, seat) for seat, game_id in enumerate(engine.games)] == [
            (news.game_id, news.seat) for news in found[:1] if news is not None
        ]
        assert {*engine.games} == {news.game_id for news in found if news is not None}
        assert {1} == set(engine.made.values())


@pytest.mark.parametrize("away", ["reserve", "create"])
async def test_search_ends_when_the_engine_stays_away(away: str) -> None:
    """What was stored as starting by then is left to the sweeper; else, nobody is kept busy."""
    engine = LostEngine()
    async with two_search(engine) as (process, searches):
        engine.away = away
        await passes(process, PATIENCE_S + 6)

        for search in searches:
            with pytest.raises(ServiceError) as caught:
                await search.next(1)
            assert "ENGINE_UNAVAILABLE" == caught.value.reason
        placed = await process.store.placements("p_ada")
        if away == "reserve":
            assert not placed
            return
        engine.away = ""
        await process.sweeper.sweep()
        assert RoomState.STARTED is (await process.lobby.get(placed[0].room_id)).state


async def test_time_to_wait_begins_anew_for_who_is_without_a_table() -> None:
    """An outage long ago does not shorten the patience for the next one."""
    engine = LostEngine()
    async with two_search(engine) as (process, (waiting, other)):
        engine.away = "reserve"
        await passes(process, 1)
        process.queue._searches.pop(other.ticket.player_id)
        await passes(process, 2 * PATIENCE_S)
        missed = engine.missed
        ticket = await process.queue.ticket(player("cy"), "classic@full", 2, False)
        with process.queue.searching(player("cy"), ticket, b"") as late:
            await passes(process, 10)

            assert missed < engine.missed
            assert [False, False] == [search.is_over for search in (waiting, late)]
