"""Killed or troubled at any call that a start makes: no orphan, nobody locked, one game.

The calls aren't listed here: a clean run counts them, then each of them is interrupted in turn.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, suppress
from typing import Final, TypeVar

import pytest
import structlog

from opolyx_matchmaker.bots import BotOffer
from opolyx_matchmaker.room import Occupant, RoomState
from opolyx_matchmaker.store.base import Store
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import EnvironmentFault, FailedPrecondition, ServiceError
from support_lobby import (
    DictEngine,
    Grants,
    Interruptions,
    Killed,
    Process,
    Trouble,
    open_store,
    player,
    wish,
)

T = TypeVar("T")


@pytest.fixture(autouse=True)
def _no_log() -> Iterator[None]:
    """Every crash is meant, and its traceback costs more than the whole story."""
    with structlog.testing.capture_logs():
        yield


ADA: Final = player("ada")
BO: Final = player("bo")
ROBO: Final = "b_robo"
EVERYBODY: Final = ("p_ada", "p_bo", ROBO)


class World:
    """What outlives the processes, and the one that runs now."""

    def __init__(self, store: Store, interruptions: Interruptions) -> None:
        self.store = store
        self.engine = DictEngine()
        self.progression = Grants()
        self._offers = ExitStack()
        self._begin(interruptions)

    async def do(self, action: Callable[[Process], Awaitable[T]]) -> T:
        """Do as somebody does who tries again after whatever interrupts it."""
        for _ in range(4):
            try:
                return await action(self.process)
            except Killed:
                await self.process.die()
                self._offers.close()
                self._begin(Interruptions())
            except (EnvironmentFault, FailedPrecondition):
                pass
            await self.process.sweeper.sweep()
            await self.check()
        raise AssertionError("there is no way on")

    async def check(self) -> None:
        """Every game belongs to a started room, and everybody to the room that has them."""
        for game_id in self.engine.reserved.values():
            room = await self.store.find_room(game_id=game_id)
            state = room.state if room is not None else None
            assert state is not RoomState.STARTING, "the sweep left it half started"
            assert (game_id in self.engine.games) == (state is RoomState.STARTED), state
            held = [seat.player_id for seat in room.holds.values()] if room is not None else []
            placed = [
                player_id
                for player_id in EVERYBODY
                for placement in await self.store.placements(player_id)
                if placement.game_id == game_id
            ]
            assert sorted(placed) == sorted(held)
        assert all(made == 1 for made in self.engine.made.values())

    async def check_all_in(self, game_id: str, *players: str) -> None:
        for player_id in players:
            assert [game_id] == [one.game_id for one in await self.store.placements(player_id)]

    async def check_all_free(self) -> None:
        for player_id in EVERYBODY:
            assert [] == await self.store.placements(player_id)

    async def close(self) -> None:
        self._offers.close()
        await self.process.die()

    def _begin(self, interruptions: Interruptions) -> None:
        self.process = Process(self.store, self.engine, self.progression, interruptions)
        stream = self._offers.enter_context(self.process.parts.bots.offering(ROBO, "Robo"))
        stream.offer = BotOffer(max_games=1, plays_people=True)


async def fill(process: Process, room_id: str) -> None:
    """Seat a built-in and an offered bot, unless they are seated already."""
    occupants = [seat.occupant for seat in (await process.lobby.get(room_id)).seats]
    if Occupant.BUILT_IN not in occupants:
        await process.lobby.add_built_in(ADA, room_id, "steady", None)
    if Occupant.BOT not in occupants:
        await process.lobby.add_offered(ADA, room_id, ROBO, None)


async def rooms_story(world: World) -> None:
    """A room, its game, and the rematch of that."""
    room = await world.do(lambda process: process.lobby.create(ADA, wish(seats=4)))
    await world.do(lambda process: process.lobby.join(BO, room.room_id, "", b""))
    await world.do(lambda process: fill(process, room.room_id))
    first = await world.do(lambda process: process.lobby.start(ADA, room.room_id))
    assert room.game_id == first
    await world.check_all_in(first, *EVERYBODY)
    world.engine.finish(first)
    await world.do(lambda process: process.hear())
    await world.check_all_free()

    again = await world.do(lambda process: process.lobby.rematch(ADA, first, b""))
    joined = await world.do(lambda process: process.lobby.rematch(BO, first, b""))
    assert again.room_id == joined.room_id
    await world.do(lambda process: fill(process, again.room_id))
    second = await world.do(lambda process: process.lobby.start(ADA, again.room_id))
    await world.check_all_in(second, *EVERYBODY)
    world.engine.finish(second)
    await world.do(lambda process: process.hear())
    await world.check_all_free()
    assert {first, second} == set(world.engine.games)


async def quick_match_story(world: World) -> None:
    """Two who search, until both are in one game."""
    games = await world.do(_both_search)
    assert 1 == len(games)
    (game_id,) = games
    await world.check_all_in(game_id, "p_ada", "p_bo")
    assert {game_id} == set(world.engine.games)
    world.engine.finish(game_id)
    await world.do(lambda process: process.hear())
    await world.check_all_free()


async def _both_search(process: Process) -> set[str]:
    """The games that both are in; whatever ends one search ends the other."""
    searches = [asyncio.create_task(_game_of(process, who)) for who in (ADA, BO)]
    _, unfinished = await asyncio.wait(searches, return_when=asyncio.FIRST_EXCEPTION)
    for search in unfinished:
        search.cancel()
    ends = await asyncio.gather(*searches, return_exceptions=True)
    errors = [end for end in ends if isinstance(end, Killed | ServiceError)]
    if errors:
        raise next((error for error in errors if isinstance(error, Killed)), errors[0])
    return {str(end) for end in ends}


async def _game_of(process: Process, who: Principal) -> str:
    """The game that somebody is in, after a search if in none."""
    if (found := await process.lobby.whereabouts(who)) is not None:
        return found[1].game_id
    return (await process.search(who)).game_id


Story = Callable[[World], Awaitable[None]]


async def tell(story: Story, interruptions: Interruptions) -> None:
    async with open_store() as store:
        world = World(store, interruptions)
        try:
            await story(world)
            await world.check()
        finally:
            await world.close()


@pytest.mark.timeout(900)
@pytest.mark.parametrize("trouble", list(Trouble), ids=lambda one: one.name.lower())
@pytest.mark.parametrize("story", [rooms_story, quick_match_story])
async def test_any_call_may_be_interrupted(story: Story, trouble: Trouble) -> None:
    clean = Interruptions()
    await tell(story, clean)
    assert {"reserve", "create", "create_room", "keep_grants", "change_room", "apply_facts"} <= set(
        clean.calls
    )

    for at, name in enumerate(clean.calls, 1):
        interruptions = Interruptions(at, trouble)
        try:
            await tell(story, interruptions)
        except BaseException as error:
            error.add_note(f"{trouble.value}, call {at} of {len(clean.calls)}: {name}")
            raise
        assert interruptions.calls[at - 1] == name
        assert interruptions.dead or not trouble.kills


@pytest.mark.timeout(900)
@pytest.mark.parametrize("trouble", [Trouble.KILLED_BEFORE, Trouble.KILLED_AFTER])
@pytest.mark.parametrize("created", [False, True])
async def test_process_that_puts_it_right_may_be_killed_as_well(
    trouble: Trouble, created: bool
) -> None:
    """The first is killed at CreateGame, the second at any call of its sweep; the third ends it."""
    at = 0
    while True:
        at += 1
        async with open_store() as store:
            world = World(store, Interruptions())
            room = await world.do(lambda process: process.lobby.create(ADA, wish()))
            await world.do(lambda process, room=room: process.lobby.join(BO, room.room_id, "", b""))  # type: ignore[misc]
            await _kill_at_create(world, room.room_id, created)
            sweeping = Interruptions(at, trouble)
            second = Process(store, world.engine, world.progression, sweeping)
            with suppress(Killed):
                await second.sweeper.sweep()
            await second.die()
            if len(sweeping.calls) < at:
                await world.close()
                break
            third = Process(store, world.engine, world.progression)
            await third.sweeper.sweep()

            assert RoomState.STARTED is (await third.lobby.get(room.room_id)).state
            await world.check()
            await world.check_all_in(room.game_id, "p_ada", "p_bo")
            await third.die()
            await world.close()
    assert at > 5


async def _kill_at_create(world: World, room_id: str, created: bool) -> None:
    async def dead(*_: object) -> None:
        raise Killed

    process = Process(world.store, world.engine, world.progression)
    if created:
        inner = world.engine.create
        room = await world.store.get_room(room_id)
        assert room is not None

        async def create_and_die(*args: object) -> None:
            await inner(*args)  # type: ignore[arg-type]
            raise Killed

        object.__setattr__(process.engine, "create", create_and_die)
    else:
        object.__setattr__(process.engine, "create", dead)
    with pytest.raises(Killed):
        await process.lobby.start(ADA, room_id)
    await process.die()
