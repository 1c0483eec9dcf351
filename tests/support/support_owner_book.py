"""A book of who owns which game and who lives, in memory, by a clock that tests move by hand."""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace

from opolyx_engine.header import GameHeader, Holder
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.ownership.claims import Claims
from opolyx_engine.ownership.membership import Membership
from opolyx_engine.replica import Replica
from opolyx_engine.rules_fit import RulesFit
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import RUNNING, VOID, Append, StoredGame
from opolyx_engine.store.owners import NOBODY, RollCall
from opolyx_servicekit.errors import StoreUnavailable
from opolyx_servicekit.wall_clock import ManualClock

TTL_MS = 8_000
BEAT_MS = 2_000


class OwnerBook:
    """What replicas share; the games have no logs."""

    def __init__(self, clock: ManualClock) -> None:
        self.games: dict[str, StoredGame] = {}
        self.hints: dict[str, set[str]] = {}
        """Where games are looked for by their owner; a game may be missing here."""
        self._clock = clock
        self._alive: dict[str, tuple[int, Replica]] = {}

    def add(self, game_id: str, owner: str = NOBODY, *, rules: str = "") -> None:
        header = GameHeader(game_id, "classic@full", (Holder("p", "", 1),), rules=rules)
        epoch = int(owner != NOBODY)
        self.games[game_id] = StoredGame(
            game_id,
            RUNNING,
            "classic@full",
            True,
            b"secret",
            header.encode(),
            1,
            0,
            owner=owner,
            epoch=epoch,
        )
        self.hints.setdefault(owner, set()).add(game_id)

    def owner_of(self, game_id: str) -> str:
        return self.games[game_id].owner

    def count(self, owner: str) -> int:
        return sum(game.owner == owner for game in self.games.values())

    def end(self, game_id: str) -> None:
        self.games[game_id] = replace(self.games[game_id], state=VOID)

    async def claim(self, game_id: str, epoch: int, owner: str) -> int | None:
        game = self.games[game_id]
        if (game.epoch, game.owner) == (epoch + 1, owner):
            return game.epoch
        if game.state != RUNNING or game.epoch != epoch:
            return None
        self.hints.setdefault(owner, set()).add(game_id)
        self.hints.get(game.owner, set()).discard(game_id)
        self.games[game_id] = replace(game, owner=owner, epoch=epoch + 1)
        return epoch + 1

    async def owned_by(self, owner: str, wanted: Callable[[str], bool]) -> list[str]:
        hints = sorted(filter(wanted, self.hints.get(owner, set())))
        return [each for each in hints if self._is_owned(each, owner)]

    async def strays(self, owners: Collection[str]) -> list[str]:
        return [
            each
            for each, game in self.games.items()
            if game.state == RUNNING and game.owner not in owners
        ]

    async def beat(self, replica: Replica, ttl_ms: int, lives: int = 0) -> RollCall:
        now_ms = self._clock.now_ms()
        goes_on = self._alive.get(replica.replica_id, (0, None))[0] > now_ms
        self._alive[replica.replica_id] = (now_ms + ttl_ms, replica)
        entries = self._alive.values()
        return RollCall(
            living=tuple(each for until_ms, each in entries if until_ms > now_ms),
            dead=tuple(each.replica_id for until_ms, each in entries if until_ms <= now_ms),
            lives=max(lives, 1) if goes_on else lives + 1,
        )

    async def leave(self, replica_id: str, *, if_dead: bool = False) -> None:
        until_ms, _ = self._alive.get(replica_id, (0, None))
        if not if_dead or until_ms <= self._clock.now_ms():
            self._alive.pop(replica_id, None)

    async def game(self, game_id: str) -> StoredGame | None:
        return self.games.get(game_id)

    async def append(self, append: Append) -> None:
        assert append.epoch == self.games[append.game_id].epoch
        self.end(append.game_id)

    def _is_owned(self, game_id: str, owner: str) -> bool:
        game = self.games[game_id]
        return game.state == RUNNING and game.owner == owner


class Line:
    """One replica's line to the book; it can be cut."""

    def __init__(self, book: OwnerBook) -> None:
        self._book = book
        self.cut = False
        self.calls = 0

    def __getattr__(self, name: str) -> object:
        method = getattr(self._book, name)

        async def called(*args: object, **options: object) -> object:
            if self.cut:
                raise StoreUnavailable("STORE_UNAVAILABLE", "the line is cut")
            self.calls += 1
            return await method(*args, **options)

        return called


@dataclass
class Member:
    """One replica: what it knows of the others, and what it may claim."""

    line: Line
    membership: Membership
    claims: Claims
    settings: EngineSettings
    metrics: EngineMetrics

    @property
    def replica_id(self) -> str:
        return self.membership.me.replica_id


def member(
    book: OwnerBook,
    clock: ManualClock,
    settings: Mapping[str, object] | None = None,
    *,
    fit: RulesFit | None = None,
) -> Member:
    """A new replica that hasn't said yet that it lives."""
    values: dict[str, object] = {
        "replica_address": "host:1",
        "heartbeat_ms": BEAT_MS,
        "replica_ttl_ms": TTL_MS,
        "adoptions_per_second": 1_000,
        "store_retry_ms": 1,
    }
    made = EngineSettings(**{**values, **(settings or {})})  # type: ignore[arg-type]
    line, metrics = Line(book), EngineMetrics()
    fingerprints = (fit or RulesFit()).fingerprints
    membership = Membership(line, made, clock, metrics, fingerprints)  # type: ignore[arg-type]
    claims = Claims(line, membership, made, metrics)  # type: ignore[arg-type]
    return Member(line, membership, claims, made, metrics)
