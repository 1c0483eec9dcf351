"""A matchmaker without a network, that can be killed or troubled at any call it makes.

Its store is real; its engine is a dictionary. Every call of either is counted, so a test can first
see how many there are and then let each of them fail, before or after it took effect.
"""

import asyncio
import sqlite3
from collections import Counter
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from enum import Enum
from typing import Any, TypeVar, cast

from opolyx_engine.header import HouseOptions
from opolyx_engine.rpc.check_table import check_table
from opolyx_matchmaker.bots import BotDirectory
from opolyx_matchmaker.facts import FactFollower
from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.lobby import Lobby
from opolyx_matchmaker.metrics import MatchmakerMetrics
from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import (
    Engine,
    EngineRefused,
    EngineUnavailable,
    Fact,
    FactKind,
    GameLife,
    PlayerGrant,
    Progression,
    Reservation,
)
from opolyx_matchmaker.queue import MatchQueue
from opolyx_matchmaker.revocations import Revocations
from opolyx_matchmaker.room import Room, RoomOptions
from opolyx_matchmaker.room_wish import RoomWish
from opolyx_matchmaker.search import SearchNews
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.start import Starter
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.store.sqlite import SqliteStore
from opolyx_matchmaker.sweeper import Sweeper
from opolyx_matchmaker.watch import RoomBoard
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import InvalidArgument, StoreUnavailable
from opolyx_servicekit.migrations import migrate
from opolyx_servicekit.sqlite_file import SqliteFile
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.wall_clock import ManualClock

T = TypeVar("T")


class MemoryFile:
    """Stands in for a `SqliteFile`: one step after another, in memory, without threads."""

    def __init__(self) -> None:
        self._db = sqlite3.connect(":memory:", isolation_level=None)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a transaction, after whoever else is ready has run."""
        await asyncio.sleep(0)
        self._db.execute("BEGIN IMMEDIATE")
        try:
            result = work(self._db)
        except BaseException:
            self._db.execute("ROLLBACK")
            raise
        self._db.execute("COMMIT")
        return result

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work`."""
        await asyncio.sleep(0)
        return work(self._db)

    async def migrate(self, component: str, steps: Sequence[str]) -> None:
        """Make the tables."""
        await self.write(lambda db: migrate(db, component, list(steps)))

    def close(self) -> None:
        """Forget all."""
        self._db.close()


class Killed(BaseException):
    """The process is dead: nothing it does from here on has an effect."""


class Trouble(Enum):
    """What happens at one call."""

    KILLED_BEFORE = "killed before the call"
    KILLED_AFTER = "killed after the call"
    NOT_DONE = "fails without effect"
    REPLY_LOST = "fails after its effect"

    @property
    def kills(self) -> bool:
        """Whether the process is dead after it."""
        return self in (Trouble.KILLED_BEFORE, Trouble.KILLED_AFTER)


class Interruptions:
    """Counts the calls of a process, and troubles one of them."""

    def __init__(self, at: int = 0, trouble: Trouble = Trouble.NOT_DONE) -> None:
        """Trouble the call number `at`, from 1; 0 for none."""
        self._at = at
        self._trouble = trouble
        self.calls: list[str] = []
        """The calls so far, by name."""
        self.dead = False
        """Whether the process was killed."""

    async def run(self, name: str, call: Callable[[], Awaitable[T]], error: Exception) -> T:
        """Make a call, or what is to become of it; `error` is how it fails."""
        if self.dead:
            raise Killed
        self.calls.append(name)
        trouble = self._trouble if len(self.calls) == self._at else None
        if trouble is Trouble.KILLED_BEFORE:
            self.dead = True
            raise Killed
        if trouble is Trouble.NOT_DONE:
            raise error
        result = await call()
        if trouble is Trouble.KILLED_AFTER:
            self.dead = True
        if self.dead:  # also if another task's call killed it meanwhile
            raise Killed
        if trouble is Trouble.REPLY_LOST:
            raise error
        return result


class TroubledStore:
    """A store whose every call is counted and may be troubled."""

    def __init__(self, store: Store, interruptions: Interruptions) -> None:
        self._store = store
        self._interruptions = interruptions

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._store, name)

        async def call(*args: Any, **kwargs: Any) -> Any:
            error = StoreUnavailable("STORE_UNAVAILABLE", "injected")
            return await self._interruptions.run(name, lambda: inner(*args, **kwargs), error)

        return call


class DictEngine:
    """Games by id; outlives the processes that call it."""

    def __init__(self) -> None:
        self.reserved: dict[str, str] = {}
        self.games: dict[str, tuple[Room, list[SeatGrant]]] = {}
        self.lives: dict[str, GameLife] = {}
        self.told: list[Fact] = []
        self.made: Counter[str] = Counter()
        self.watching: Callable[[Room], None] = lambda room: None

    async def check_table(self, ruleset: str, seats: int, options: RoomOptions) -> None:
        """As the engine itself does."""
        house = HouseOptions(options.start_cash, options.round_cap, options.turn_seconds)
        try:
            check_table(ruleset, seats, house)
        except InvalidArgument as error:
            raise EngineRefused(error.reason, error.message, error.fields) from None

    async def reserve(self, request_id: str) -> Reservation:
        """The same request gets the same game."""
        game_id = self.reserved.setdefault(request_id, f"g_{len(self.reserved) + 1}")
        return Reservation(game_id, game_id.encode())

    async def create(self, room: Room, grants: Sequence[SeatGrant]) -> None:
        """The same again is no second game; something else under its id is refused."""
        if room.game_id in self.games:
            known, known_grants = self.games[room.game_id]
            if (known.seats, known_grants) != (room.seats, list(grants)):
                raise EngineRefused("GAME_CONFLICT", "other contents")
            return
        assert not room.open_seats, room
        self.games[room.game_id] = room, list(grants)
        self.lives[room.game_id] = GameLife.RUNNING
        self.made[room.game_id] += 1
        self.watching(room)

    async def life(self, game_id: str) -> GameLife:
        """GONE if there is none."""
        return self.lives.get(game_id, GameLife.GONE)

    async def facts(self, after: int) -> AsyncGenerator[list[Fact], None]:
        """What was told after a number."""
        yield self.told[after:]

    def finish(self, game_id: str) -> None:
        """Tell that a game is over."""
        self.lives[game_id] = GameLife.OVER
        self.told.append(Fact(len(self.told) + 1, game_id, FactKind.GAME_OVER))


class TroubledEngine:
    """The engine as a process sees it that may be killed or lose a call."""

    def __init__(self, engine: DictEngine, interruptions: Interruptions) -> None:
        self._engine = engine
        self._interruptions = interruptions

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._engine, name)

        async def call(*args: Any) -> Any:
            error = EngineUnavailable("injected")
            return await self._interruptions.run(name, lambda: inner(*args), error)

        return call


class Grants:
    """Progression: what each player is known for, and each time it is asked something else."""

    def __init__(self) -> None:
        self.ratings: dict[str, int] = {}
        self.asked = 0

    async def grants(self, player_ids: Sequence[str]) -> Mapping[str, PlayerGrant]:
        """Cards that grow by each question, so that it shows if they aren't fixed once."""
        self.asked += 1
        return {
            who: PlayerGrant(
                SeatGrant(cards=((1, self.asked),)),
                {"classic": self.ratings[who]} if who in self.ratings else {},
            )
            for who in player_ids
        }


class Process:
    """One life of the matchmaker, on a store and an engine that outlive it."""

    def __init__(
        self,
        store: Store,
        engine: DictEngine,
        progression: Progression,
        interruptions: Interruptions | None = None,
        **settings: Any,
    ) -> None:
        self.interruptions = interruptions or Interruptions()
        self.clock = ManualClock()
        self.tasks = TaskOwner("process")
        self.store = cast("Store", TroubledStore(store, self.interruptions))
        self.engine = cast("Engine", TroubledEngine(engine, self.interruptions))
        self._told = engine.told
        values: dict[str, Any] = {
            "retry_base_seconds": 0.0001,
            "retry_cap_seconds": 0.0001,
            "rooms_per_minute": 0,
            "searches_per_minute": 0,
            **settings,
        }
        self.parts = parts = Parts(
            settings=MatchmakerSettings(**values),
            store=self.store,
            engine=self.engine,
            progression=progression,
            board=RoomBoard(),
            bots=BotDirectory(),
            tasks=self.tasks,
            metrics=MatchmakerMetrics(),
            clock=self.clock,
        )
        starter = Starter(parts)
        self.lobby = Lobby(parts, starter)
        self.queue = MatchQueue(parts, self.lobby, starter)
        self.sweeper = Sweeper(parts, starter, Revocations(self.store, self.clock))
        self.follower = FactFollower(parts)

    async def hear(self) -> None:
        """Take the facts that were told since the last one that is stored."""
        if facts := self._told[await self.store.cursor() :]:
            await self.follower.take(facts)

    async def search(self, who: Principal, seats: int = 2) -> SearchNews:
        """Search until there is a game."""
        ticket = await self.queue.ticket(who, "classic@full", seats, False)
        with self.queue.searching(who, ticket, b"") as search:
            while True:
                self.queue.look()
                await settle()
                if self.interruptions.dead:
                    raise Killed
                news = await search.next(0.001)
                if news is not None and news.game_id:
                    return news

    async def die(self) -> None:
        """Take the rest of a killed process away."""
        self.interruptions.dead = True
        await self.tasks.close()


@asynccontextmanager
async def open_store() -> AsyncIterator[Store]:
    """The store with its own SQL, in memory: it outlives a `Process`, and nothing else."""
    file = MemoryFile()
    yield await SqliteStore.open(cast("SqliteFile", file))
    file.close()


def player(name: str) -> Principal:
    """Somebody who plays."""
    return Principal(f"p_{name}", "player", name)


def bot(name: str) -> Principal:
    """A bot's account."""
    return Principal(f"b_{name}", "bot", name)


def wish(request_id: str = "1", seats: int = 2, **fields: Any) -> RoomWish:
    """A public room."""
    values: dict[str, Any] = {"ruleset": "classic@full", "public": True, "nonce": b"", **fields}
    options = values.pop("options", RoomOptions())
    return RoomWish(request_id=request_id, seats=seats, options=options, **values)


async def settle() -> None:
    """Let what is ready run."""
    for _ in range(5):
        await asyncio.sleep(0)
