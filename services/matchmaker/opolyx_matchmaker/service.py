"""The matchmaker put together: what is served, and the work behind it."""

import asyncio
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Final, Self

import grpc
from prometheus_client import CollectorRegistry

from opolyx_matchmaker.access import ROLES_BY_METHOD
from opolyx_matchmaker.bots import BotDirectory
from opolyx_matchmaker.duty import Duty
from opolyx_matchmaker.facts import FactFollower
from opolyx_matchmaker.identity import ROLES, Identity
from opolyx_matchmaker.lobby import Lobby
from opolyx_matchmaker.metrics import MatchmakerMetrics
from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.peers import NoProgression, Progression
from opolyx_matchmaker.queue import MatchQueue
from opolyx_matchmaker.revocations import Revocations
from opolyx_matchmaker.rpc.identity import IDENTITY, IdentityServicer, add_identity
from opolyx_matchmaker.rpc.matchmaker import MATCHMAKER, MatchmakerServicer, add_matchmaker
from opolyx_matchmaker.rpc.peers import EngineClient, ProgressionClient
from opolyx_matchmaker.rpc.stream_check import StreamCheck
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.start import Starter
from opolyx_matchmaker.store.base import Store
from opolyx_matchmaker.sweeper import Sweeper
from opolyx_matchmaker.watch import RoomBoard
from opolyx_servicekit.access import Principal
from opolyx_servicekit.peers import ServiceToken
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.startup import patiently
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.tokens import TokenSigner
from opolyx_servicekit.wall_clock import Clock, SystemClock

_SUBJECT: Final = "s_matchmaker"


class MatchmakerService:
    """The matchmaker in a process: enter it, add it to a server, and it serves.

    Everything it is given stays its giver's to close.
    """

    service_names: Final = (IDENTITY.full_name, MATCHMAKER.full_name)
    """Full names of what is served, for health and reflection."""

    access: Final[Mapping[str, frozenset[str]]] = ROLES_BY_METHOD
    """By full method name, the roles that may call it."""

    roles: Final = ROLES
    """The roles that tokens may have."""

    def __init__(
        self,
        settings: MatchmakerSettings,
        *,
        store: Store,
        engine: grpc.aio.Channel,
        signer: TokenSigner,
        progression: grpc.aio.Channel | None = None,
        token: Callable[[], str] | None = None,
        registry: CollectorRegistry | None = None,
        clock: Clock | None = None,
    ) -> None:
        """Start nothing yet.

        Args:
            settings: limits, waits and intervals.
            store: an open store.
            engine: a channel to the engine; the engine may come later.
            signer: signs the tokens of guests and bots, and the own ones if `token` is absent.
            progression: a channel to progression; without it, players bring nothing.
            token: makes the service token for the next call to a peer.
            registry: where metrics are registered; one of their own if absent.
            clock: the system's if absent.
        """
        clock = clock or SystemClock()
        make_token = token or ServiceToken(signer, _SUBJECT, clock)
        self._tasks = TaskOwner("matchmaker")
        self._watch = TaskOwner("matchmaker duty")
        self._parts = parts = Parts(
            settings=settings,
            store=store,
            engine=EngineClient(engine, make_token, settings.engine_timeout_seconds),
            progression=_progression(progression, make_token, settings),
            board=RoomBoard(),
            bots=BotDirectory(),
            tasks=self._tasks,
            metrics=MatchmakerMetrics(registry),
            clock=clock,
        )
        self._revocations = Revocations(store, clock)
        starter = Starter(parts)
        self._lobby = Lobby(parts, starter)
        self._queue = MatchQueue(parts, self._lobby, starter)
        self._facts = FactFollower(parts)
        self.sweeper = Sweeper(parts, starter, self._revocations)
        """Puts right what was left behind; runs by itself."""
        self.duty = Duty(store, settings.lease_seconds, parts.metrics, self._take_up)
        """Whether this process is the one of several that serves."""
        check = StreamCheck(self._revocations, clock)
        identity = Identity(settings, store, signer, self._revocations, clock)
        self._identity = IdentityServicer(
            identity, self._revocations, check, settings.stream_check_seconds, settings.proxies
        )
        self._matchmaker = MatchmakerServicer(parts, self._lobby, self._queue, check)

    def add_to(self, server: grpc.aio.Server) -> None:
        """Serve identity and the matchmaker on `server`."""
        add_identity(server, self._identity)
        add_matchmaker(server, self._matchmaker)

    def is_revoked(self, principal: Principal) -> bool:
        """Whether the caller's token was revoked; for the verifier of every server in a process."""
        return self._revocations.is_revoked(principal)

    def stand_before(self, server: ServiceServer) -> None:
        """Close `server` to calls of this service, and to new traffic, while another one serves."""

        def gate(method: str) -> None:
            if method in self.access:
                self.duty.check()

        server.gate = gate
        server.set_ready(self.duty.is_ready, self.service_names)
        self.duty.on_ready = lambda ready: server.set_ready(ready, self.service_names)

    async def drain(self) -> None:
        """Refuse changes as retryable and end open streams; what was begun is finished."""
        self._lobby.drain()
        self._queue.drain()
        self._parts.board.drain()
        self._parts.bots.drain()
        self._identity.drain()
        await asyncio.sleep(0)

    async def __aenter__(self) -> Self:
        """Serve, or stand by if another process does."""
        await patiently(self.duty.look)
        self._watch.start(self.duty.run(), name="duty")
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop the work; an interrupted start is resumed by the next process."""
        await self._watch.close()
        await self._tasks.close()
        await self.duty.end()

    async def _take_up(self) -> None:
        """Load the revocations and begin the work in the background."""
        await self._revocations.refresh()
        self._tasks.start(self._facts.run(), name="facts")
        self._tasks.start(self.sweeper.run(), name="sweeper")
        self._tasks.start(self._queue.run(), name="quick_match")


def _progression(
    channel: grpc.aio.Channel | None, token: Callable[[], str], settings: MatchmakerSettings
) -> Progression:
    if channel is None:
        return NoProgression()
    return ProgressionClient(channel, token, settings.grants_timeout_seconds)
