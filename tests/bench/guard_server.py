"""What an action costs the server, set against the bare server with the same messages and clients.

A few rooms play at both in turn, some tenths of a second each, and stop between: what is counted is the
CPU of the server's process from rest to rest, an action.
"""

import statistics
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Final, Self

from room_load import RoomLoad
from room_target import Target, bare_target, channel_to, engine_target
from support_observed import ObservedEngine

ROOMS: Final = 8
_SLICE_SECONDS: Final = 0.15
_WARM_SECONDS: Final = 0.5


class Player:
    """Rooms at one server, at rest."""

    def __init__(self, target: Target, load: RoomLoad) -> None:
        """Play at `target` with `load`, which is open."""
        self._target = target
        self._load = load

    async def cost_us(self, seconds: float) -> float:
        """Play for so long; the server's CPU an action, microseconds."""
        before = await self._target.cpu_s()
        await self._load.play(seconds)
        played = await self._load.rest()
        return (await self._target.cpu_s() - before) / max(1, played.actions) * 1e6


class ServerCost:
    """A cost that becomes surer the more rounds are measured."""

    def __init__(self, bare: Player, engine: Player) -> None:
        """Nothing is measured yet."""
        self._bare = bare
        self._engine = engine
        self._ratios: list[float] = []

    @classmethod
    @asynccontextmanager
    async def opened(
        cls, folder: Path, observed: type[ObservedEngine] = ObservedEngine
    ) -> AsyncIterator[Self]:
        """Both servers with their rooms, warm; `observed` is how the engine is started."""
        async with AsyncExitStack() as stack:
            bare = await stack.enter_async_context(bare_target(folder))
            engine = await stack.enter_async_context(engine_target(folder, observed=observed))
            players = [await stack.enter_async_context(_playing(one)) for one in (bare, engine)]
            for player in players:
                await player.cost_us(_WARM_SECONDS)
            yield cls(*players)

    async def measure(self, rounds: int) -> None:
        """Play at both in turn so often."""
        for _ in range(rounds):
            bare = await self._bare.cost_us(_SLICE_SECONDS)
            engine = await self._engine.cost_us(_SLICE_SECONDS)
            self._ratios.append(engine / bare)

    def cost(self) -> float:
        """How many times the bare server's CPU an action takes: the median of all rounds."""
        return statistics.median(self._ratios)


@asynccontextmanager
async def _playing(target: Target) -> AsyncIterator[Player]:
    async with AsyncExitStack() as stack:
        channels = [await stack.enter_async_context(channel_to(target)) for _ in range(ROOMS)]
        load = RoomLoad(channels, target.metadata, target.new_game, rooms=ROOMS)
        await stack.enter_async_context(load)
        yield Player(target, load)
