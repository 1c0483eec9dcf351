"""The engine as a whole: its parts put together, started and stopped.

Used by `main.py` for a server of its own, and by whoever runs several services in one process.
"""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial

import grpc

from opolyx_engine.bots import BotDriver
from opolyx_engine.fact_feed import FactFeed
from opolyx_engine.game_actor import GameTools, Watcher
from opolyx_engine.lives import Lives
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.new_games import NewGames
from opolyx_engine.ownership.adoption import Adoption
from opolyx_engine.ownership.claims import Claims
from opolyx_engine.ownership.hand_over import HandOver
from opolyx_engine.ownership.membership import Membership
from opolyx_engine.ownership.ways_in import WaysIn
from opolyx_engine.registry import Registry
from opolyx_engine.replay_file import ReplayPages
from opolyx_engine.rpc.allocation import AllocationServicer
from opolyx_engine.rpc.engine_servicer import EngineServicer
from opolyx_engine.rpc.forwarding import Forwarding
from opolyx_engine.rpc.frame_encoder import FrameEncoder
from opolyx_engine.rpc.operations import OperationsServicer
from opolyx_engine.rpc.other_requests import CountedEntrance, OtherRequests
from opolyx_engine.rpc.play import PlayStreams
from opolyx_engine.rpc.reads import GameReads
from opolyx_engine.rpc.replica_calls import ReplicaCalls
from opolyx_engine.rpc.replica_channels import ReplicaChannels
from opolyx_engine.rpc.replica_servicer import ReplicaServicer
from opolyx_engine.rpc.service_handlers import (
    COUNTED_ELSEWHERE,
    ROLES,
    SERVICE_NAMES,
    add_services,
)
from opolyx_engine.rpc.streams import Streams
from opolyx_engine.rpc.watch import WatchStreams
from opolyx_engine.rules_fit import RulesFit
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import GameStore, TellsWaits
from opolyx_engine.sweep import Sweep
from opolyx_engine.timers import Timers
from opolyx_engine.watchdog import Watchdog
from opolyx_servicekit.access import Principal
from opolyx_servicekit.peers import open_channel
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.startup import patiently
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.wall_clock import Clock, SystemClock


def _nothing() -> None:
    """What happens on an operator's drain if nobody is to be told."""


def _no_token() -> str:
    """The own token of an engine that calls no others."""
    return ""


def _still_good(principal: Principal) -> None:
    """What is asked of tokens when nobody checks them."""


class EngineService:
    """The engine's servicers and what they stand on."""

    service_names = SERVICE_NAMES
    """Full names of its gRPC services."""

    roles = ROLES
    """Which roles may call which method."""

    counted_elsewhere = COUNTED_ELSEWHERE
    """Methods with a budget of their own."""

    def __init__(
        self,
        settings: EngineSettings,
        store: GameStore,
        *,
        clock: Clock | None = None,
        metrics: RpcMetrics | None = None,
        check_token: Callable[[Principal], None] = _still_good,
        own_token: Callable[[], str] = _no_token,
        fit: RulesFit | None = None,
    ) -> None:
        """Put the parts together; nothing runs before `running`.

        Args:
            settings: the settings.
            store: where games are kept; the caller closes it.
            clock: the time; the machine's own if absent.
            metrics: whose registry the engine's metrics join.
            check_token: raises `Unauthenticated` if the token of an open stream was revoked or has
                expired; it is asked from time to time.
            own_token: the token of a service for calls to other engines on the same store.
            fit: the rules that are played here; those of this process if absent.
        """
        self._clock = clock or SystemClock()
        self.metrics = EngineMetrics(metrics.registry if metrics else None)
        """The engine's own metrics."""
        if isinstance(store, TellsWaits):
            store.tell_waits(self.metrics.queue_seconds.observe)
        self._timers = Timers(self._clock)
        self._facts = FactFeed(store)
        self._new_games = NewGames()
        self._bots = BotDriver(settings, self._clock)
        encoder = FrameEncoder(self._clock)
        fit = fit or RulesFit()
        self.membership = Membership(store, settings, self._clock, self.metrics, fit.fingerprints)
        """This engine among those on the same store."""
        self.channels = ReplicaChannels(
            partial(open_channel, settings=settings, name=settings.replica_name)
        )
        """The channels to the other replicas."""
        calls = ReplicaCalls(self.channels.to, own_token)
        lives = Lives(self.metrics, self._clock)
        watchers: list[Watcher] = [self._facts, self._bots, lives]
        tools = GameTools(
            store=store,
            clock=self._clock,
            timers=self._timers,
            frames=encoder,
            metrics=self.metrics,
            settings=settings,
            watchers=watchers,
            tasks=TaskOwner("games"),
            surely_mine=lambda: self.membership.certain,
            way_stands=WaysIn(self.membership, calls.answers).stands,
        )
        claims = Claims(store, self.membership, settings, self.metrics)
        self.registry = Registry(tools, claims, self.membership, fit)
        """The games."""
        watchers.append(self.registry)
        self.metrics.commands_waiting.set_function(self._waiting)
        self._sweep = Sweep(self.registry, settings, self._clock, self.metrics)
        self._watchdog = Watchdog(self.registry, store, settings, self._clock, self.metrics)
        self.streams = Streams(settings, self.metrics, self._clock, check_token)
        """The open streams."""
        self.membership.on_return = self.registry.make_sure
        self.membership.on_heard = lambda: self.channels.keep(self.membership.hoped_for())
        self._adoption = Adoption(
            store,
            self.membership,
            self.registry.took_up,
            self.registry.knows,
            claims.refused,
            settings,
            self._clock,
        )
        self._hand_over = HandOver(
            self.registry, store, self.membership, calls.take_up, settings, self.metrics
        )
        self._forwarding = Forwarding(
            self.channels, settings, self._clock, self.metrics, self.membership
        )
        others = OtherRequests(settings, self.metrics, self._clock)
        entrance = CountedEntrance(
            self.registry, self._clock, self.metrics, others, self.streams.patience
        )
        self._engine = EngineServicer(
            entrance,
            PlayStreams(
                self.registry,
                entrance,
                self.streams,
                settings,
                self._clock,
                others,
                self._forwarding,
            ),
            WatchStreams(self.registry, self.streams, self._forwarding),
            GameReads(self.registry, store, encoder, ReplayPages(store, settings)),
        )
        self._allocation = AllocationServicer(
            self.registry, store, self._facts, settings, self._clock, check_token, self._new_games
        )
        self._operations = OperationsServicer(
            self.registry, store, settings, self._clock, self._new_games, self._drain_for_operator
        )
        self.on_operator_drain: Callable[[], object] = _nothing
        """Called when an operator drains the engine: the server is ready no longer."""

    def _waiting(self) -> int:
        return sum(game.waiting for game in self.registry.running())

    @asynccontextmanager
    async def running(self) -> AsyncIterator["EngineService"]:
        """Take up the games of the store and run; stops everything at the end."""
        async with TaskOwner("engine") as tasks:
            tasks.start(self._timers.run(), name="timers")
            tasks.start(self._bots.run(), name="bots")
            await self._join(tasks)
            tasks.start(self._sweep.run(), name="sweep")
            tasks.start(self._watchdog.run(), name="watchdog")
            tasks.start(self.streams.watch_tokens(), name="tokens")
            try:
                yield self
            finally:
                await self.drain()
                await self.registry.close()
                await self._hand_over.release()
                await self.channels.close()

    def add_to(self, server: grpc.aio.Server) -> None:
        """Add the servicers to a server."""
        replica = ReplicaServicer(self.registry)
        servicers = (self._engine, self._allocation, self._operations, replica)
        add_services(server, servicers, self._forwarding)

    async def drain(self) -> None:
        """Take nothing new, hand the games over and send every stream elsewhere.

        Games that no other engine takes go on until the end.
        """
        await self._leave()
        self._facts.close()

    async def _join(self, tasks: TaskOwner) -> None:
        """Have a place among the engines on the store; one that is alone takes all its games up."""
        if self.membership.alone:
            await patiently(self.registry.take_up_all)
            return
        await patiently(self.membership.beat)
        tasks.start(self.membership.run(), name="heartbeat")
        tasks.start(self._adoption.run(), name="adoption")

    async def _leave(self) -> int:
        self._new_games.draining = True
        try:  # streams meet the games where they are then
            await self._hand_over.run()
        finally:
            streams = self.streams.drain()
        return streams

    async def _drain_for_operator(self) -> int:
        """As `drain`, but the other services hear of what still happens here."""
        self.on_operator_drain()
        return await self._leave()
