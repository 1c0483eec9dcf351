"""The games of this engine: running ones have an actor, ended ones are read when asked for.

A game in which nothing goes on rests: it has no actor, and is taken up again when somebody asks
for it or its clock is due, with the deadlines it had. A game whose stored log can't be followed any
more is held: not played, but kept as it is, until a server that can follow it starts, or an
operator ends it as void.
"""

import asyncio
from collections.abc import Collection
from dataclasses import replace
from functools import partial
from typing import Final

from opolyx_engine.absent import HeldGame, Rest, RestingGame
from opolyx_engine.arrivals import Deliver
from opolyx_engine.errors import (
    game_conflict,
    game_fault,
    game_not_found,
    no_reservation,
    store_unavailable,
)
from opolyx_engine.game_actor import GameActor, GameTools, Watcher
from opolyx_engine.game_log import void_unread
from opolyx_engine.header import GameHeader
from opolyx_engine.moves import Moves
from opolyx_engine.ownership.claims import Claims
from opolyx_engine.ownership.given_game import Give, GivenGame
from opolyx_engine.ownership.membership import Membership
from opolyx_engine.places import Places
from opolyx_engine.record import Entry
from opolyx_engine.rules_fit import RulesFit
from opolyx_engine.store.base import (
    RESERVED,
    RUNNING,
    VOID,
    Append,
    StoreConflict,
    StoredGame,
)
from opolyx_engine.table import Table
from opolyx_engine.take_ups import TakeUps
from opolyx_servicekit.errors import FailedPrecondition, ServiceError

_MOST_FINDS: Final = 5


class Registry(Watcher):
    """Finds games by id, starts their actors, lets go of them when they rest, end or move."""

    def __init__(
        self, tools: GameTools, claims: Claims, membership: Membership, fit: RulesFit
    ) -> None:
        """No game yet.

        Args:
            tools: handed to every actor, with this registry as a watcher.
            claims: makes games this replica's own.
            membership: which replica this is.
            fit: the rules here.
        """
        self._tools = tools
        self._claims = claims
        self._membership = membership
        self._fit = fit
        self._places = Places(tools)
        self._take_ups = TakeUps(tools, self._places, claims)
        self._moves = Moves(tools, self._places, self._take_ups, claims)

    def running(self) -> list[GameActor]:
        """All games that run here."""
        return list(self._places.running.values())

    def find_running(self, game_id: str) -> GameActor | None:
        """The game of that id, if it runs here."""
        return self._places.running.get(game_id)

    def round_of(self, game_id: str) -> int:
        """The round of a running game, in memory or resting; 0 if that isn't known."""
        if game := self._places.running.get(game_id):
            return game.table.state.round
        rested = self._places.absent.resting.get(game_id)
        return rested.round if rested else 0

    def resting(self) -> dict[str, RestingGame]:
        """The resting games by id; not to be changed."""
        return self._places.absent.resting

    def held(self) -> dict[str, HeldGame]:
        """The held games by id; not to be changed."""
        return self._places.absent.held

    def refused(self) -> dict[str, str]:
        """Rulesets of the games that no living replica has the rules of, by id."""
        return self._claims.refused

    def coming(self) -> Collection[str]:
        """Ids of games that are to be taken up as soon as that can be done."""
        return self._take_ups.coming

    async def take_up_all(self) -> None:
        """See `TakeUps.take_up_all`."""
        await self._take_ups.take_up_all()

    async def took_up(self, game_id: str) -> bool:
        """See `TakeUps.took_up`."""
        return await self._take_ups.took_up(game_id)

    async def find(self, game_id: str) -> GameActor:
        """The game, running or ended.

        Raises:
            NotFound: there is none, or it hasn't started.
            FailedPrecondition: it is held, because its log leads to no state, or no replica has
                its rules.
            GameElsewhere: another replica runs it.
            ServiceError: the store failed.
        """
        for _ in range(_MOST_FINDS):
            found: list[GameActor] = []
            await self.hand(game_id, found.append)
            # It may rest again before this task goes on.
            if not (found[0].stopped and found[0].running):
                return found[0]
        raise store_unavailable(self._tools.settings.store_retry_ms)

    async def hand(self, game_id: str, deliver: Deliver) -> None:
        """Call `deliver` with the game, running or ended.

        If the game must be taken up first, that is before its clock acts: what came before a
        deadline counts before it, however long the store took.

        Raises:
            NotFound, FailedPrecondition, GameElsewhere, ServiceError: as `find`; `deliver` isn't
                called.
        """
        if not self._membership.certain:
            await self._moves.make_sure_of(game_id)
        if known := self._places.running.get(game_id) or self._places.ended.get(game_id):
            known.touch()
            deliver(known)
            return
        if self._places.absent.has_fault(game_id):
            raise game_fault(game_id)
        await self._take_ups.hand(game_id, deliver)

    async def create(self, header: GameHeader, secret: bytes) -> GameActor:
        """Start a reserved game; one that was started alike before is returned as it is.

        Raises:
            FailedPrecondition: it isn't reserved, or was started with other contents.
            GameElsewhere: it was started alike before, and another replica runs it.
            ServiceError: the store failed.
        """
        work = self._create(replace(header, rules=self._fit.of(header.ruleset)), secret)
        try:
            task = self._tools.tasks.start(work, name=f"create {header.game_id[:64]}")
        except RuntimeError:  # the server goes away
            raise store_unavailable(self._tools.settings.drain_retry_ms) from None
        # A game that is stored must move, whether or not the caller waits until it is.
        made = await asyncio.shield(task)
        if isinstance(made, ServiceError):
            raise made
        return made

    async def end_as_void(self, game_id: str, reason: str) -> int:
        """End a game without a result, a held one too; its life afterwards.

        Raises:
            NotFound: there is none, or it hasn't started.
            GameElsewhere: another replica runs it.
            ServiceError: the store failed; the game may go on.
        """
        if (life := self._places.absent.unreadable.life(game_id)) is not None:
            return life
        try:
            game = await self.find(game_id)
        except FailedPrecondition:  # its log can't be followed, or not by the rules here
            return await self._end_unread(game_id, reason)
        return await game.end_as_void(reason)

    async def missed_updates(self, game: GameActor, after_seq: int) -> list[bytes]:
        """See `Loader.missed_updates`."""
        return await self._take_ups.loader.missed_updates(game, after_seq)

    def rest_idle(self) -> None:
        """Let the games rest that nobody has received or asked for in a while."""
        if not self._tools.settings.idle_evict_ms:
            return
        before_ms = self._tools.clock.now_ms() - self._tools.settings.idle_evict_ms
        for game in self.running():
            if len(game.hub):
                game.touch()
            elif game.quiet_since_ms <= before_ms:
                self.rest(game)

    def rest(self, game: GameActor) -> bool:
        """Let a game rest, if nothing goes on in it; whether it does."""
        table = game.table
        rest = Rest(
            table.header.ruleset,
            table.seq,
            table.state.round,
            game.quiet_since_ms,
            game.next_due_ms,
        )
        if self._places.running.get(game.game_id) is not game or not game.rest():
            return False
        self.let_rest(game.game_id, rest)
        self._tools.metrics.evictions.inc()
        return True

    def let_rest(self, game_id: str, rest: Rest) -> None:
        """Keep a game of this replica's that isn't in memory: it rests here from now on."""
        if game_id not in self._places.running:
            self._places.absent.rest(game_id, rest, partial(self._take_ups.returns.now, game_id))

    def come(self, game_id: str) -> None:
        """Take a game up at once that is this replica's."""
        self._take_ups.returns.now(game_id)

    async def close(self) -> None:
        """Stop all actors; what they have answered for is stored."""
        await self._tools.tasks.close()
        self._places.running.clear()

    def ended(self, game: GameActor) -> None:
        """Keep an ended game readable, come back to one that moved, and hold one that is broken."""
        self._places.take_out(game)
        if not game.running:
            self._take_ups.returns.forget(game.game_id)
            self._places.keep_ended(game)
        elif game.lost:
            self._take_ups.returns.moved(game.game_id)
        elif game.broken:
            self._places.absent.hold(game.game_id, game.table.header.ruleset, game.table.seq)

    def knows(self, game_id: str) -> bool:
        """Whether the game is here, in memory or not, or on its way here."""
        return game_id in self._places or game_id in self._take_ups

    def here(self) -> list[str]:
        """Ids of this replica's games, in memory, resting or held."""
        return self._places.here()

    async def hand_over(self, game_id: str, give: Give, wait_s: float) -> GivenGame | None:
        """See `Moves.hand_over`."""
        return await self._moves.hand_over(game_id, give, wait_s)

    async def make_sure(self) -> None:
        """See `Moves.make_sure`."""
        await self._moves.make_sure()

    # Starting games.

    async def _create(self, header: GameHeader, secret: bytes) -> GameActor | ServiceError:
        table, entry = Table.begin(header, secret, self._tools.clock.now_ms())
        try:
            stored = await self._store_start(header, entry)
            if arrival := self._take_ups.arrivals.find(header.game_id):
                await asyncio.wait([arrival.task])  # it may have looked before the game was there
            now = (stored.state, stored.seq, stored.started_ms)
            is_new = now == (RUNNING, 0, table.started_ms) and self._claims.is_mine(stored)
            if not is_new or self.knows(header.game_id):
                return await self.find(header.game_id)
            return self._places.start(GameActor(table, self._tools, epoch=stored.epoch))
        except ServiceError as error:
            return error

    async def _store_start(self, header: GameHeader, entry: Entry) -> StoredGame:
        game_id, me = header.game_id, self._membership.me.replica_id
        first = Append(game_id=game_id, expected_seq=-1, records=(entry.encode(),))
        try:
            stored = await self._tools.store.create(
                game_id, header.ruleset, header.watchable, header.encode(), first, me
            )
        except ServiceError:
            self._take_ups.returns.later(game_id)  # it may be stored all the same
            raise
        if stored is None:
            raise no_reservation(game_id)
        if not _is_alike(stored.header, header):
            raise game_conflict(game_id)
        return stored

    # Games that can't be followed.

    async def _end_unread(self, game_id: str, reason: str) -> int:
        stored = await self._tools.store.game(game_id)
        if stored is None or stored.state == RESERVED:
            raise game_not_found(game_id)
        stored = await self._claims.own_to_end(stored)
        if stored.state != RUNNING:
            return stored.state
        try:
            await void_unread(self._tools.store, stored, reason, self._tools.clock.now_ms())
        except StoreConflict:  # somebody else got further with it
            self._places.absent.forget(game_id)
            raise store_unavailable(self._tools.settings.store_retry_ms) from None
        self._places.absent.forget(game_id)
        self._claims.refused.pop(game_id, None)
        self._places.absent.unreadable.add(game_id, VOID)
        return VOID


def _is_alike(stored: bytes, header: GameHeader) -> bool:
    """Whether a game was started with these contents, by whatever version."""
    try:
        return replace(GameHeader.decode(stored), rules=header.rules) == header
    except (ValueError, KeyError, TypeError):
        return False
