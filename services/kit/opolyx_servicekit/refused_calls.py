"""Who has call after call refused: the connection is closed.

To refuse a call costs nearly as much as to serve one, and gRPC leaves it to the caller to stop. So
each connection has a budget of calls that are refused, or that their caller cancels before it has said
anything; past it the connection is closed. So has each address, which many connections could share to
stay within theirs: when it is used up, or one of them was closed, they have a small part of theirs for
a while, and are closed at the first call that nobody could think to be good, such as one without a
token. Who calls as it should isn't concerned, whatever its address.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Collection
from typing import Any, Final

import grpc
import structlog

from opolyx_servicekit.connections import Connections, host_of
from opolyx_servicekit.rates import Buckets
from opolyx_servicekit.tasks import TaskOwner

_log = structlog.get_logger(__name__)

_SENSELESS: Final = frozenset({grpc.StatusCode.UNAUTHENTICATED, grpc.StatusCode.UNIMPLEMENTED})
_REFUSED: Final = _SENSELESS | {
    grpc.StatusCode.DEADLINE_EXCEEDED,
    grpc.StatusCode.INVALID_ARGUMENT,
    grpc.StatusCode.PERMISSION_DENIED,
    grpc.StatusCode.RESOURCE_EXHAUSTED,
}
_GATHER_S: Final = 0.1  # so that many are closed at once; the refusal is on its way meanwhile
_MOST_HOSTS: Final = 10_000
_KNOWN_S: Final = 60.0
_STRICTER: Final = 20
_LONGEST_CLOSE_S: Final = 5.0
_SHARED: Final = 2  # what an address has, times what a connection has
_MOST_LOGGED: Final = 5


class RefusedCalls:
    """The budgets of connections, and of addresses that used one up."""

    def __init__(
        self,
        per_second: int,
        burst: int,
        *,
        on_closed: Callable[[int], object] = int,
        close: Callable[[Collection[str], Collection[int]], int] | None = None,
        gather_seconds: float = _GATHER_S,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        """Count nothing yet.

        Args:
            per_second: calls of one connection that may be refused, on average; 0 for any number.
            burst: the same at once.
            on_closed: told how many connections were closed.
            close: closes the connections of some peers to some ports; how many there were. Those of
                this process if absent.
            gather_seconds: how long to wait for further ones before some are closed.
            monotonic: the time, seconds.
        """
        self._gather_seconds = gather_seconds
        self._buckets = Buckets(per_second, burst) if per_second else None
        self._of_hosts = Buckets(per_second * _SHARED, burst * _SHARED)
        self._strict = Buckets(per_second, max(1, burst // _STRICTER))
        self._on_closed = on_closed
        self._close = close or Connections().close
        self._monotonic = monotonic
        self._tasks = TaskOwner("refused calls")
        self._known: OrderedDict[str, float] = OrderedDict()
        self._gathered: set[str] = set()
        self._closing: set[str] = set()
        self.ports: tuple[int, ...] = ()
        """Ports of the server; connections to others are none of its clients'."""

    def note(self, context: Any, code: grpc.StatusCode) -> None:
        """Count a call that ends with `code`, if it is one that was refused."""
        if code in _REFUSED:
            self._count(context, senseless=code in _SENSELESS)

    async def leave_unanswered(self, context: Any) -> None:
        """Return at once, but for a call on a connection that is about to be closed.

        Such a call isn't worth an answer: it ends with its connection. There are many of them,
        as whoever floods has sent more before it is closed.
        """
        if (self._gathered or self._closing) and self._is_closing(str(context.peer())):
            await asyncio.sleep(_LONGEST_CLOSE_S)

    def note_silent(self, context: Any) -> None:
        """Count a call that was cancelled before its caller had said anything."""
        self._count(context, senseless=False)

    def _count(self, context: Any, *, senseless: bool) -> None:
        if self._buckets is None:
            return
        peer = str(context.peer())
        if self._is_closing(peer):
            return
        host, now_s = host_of(peer), self._monotonic()
        if not host:
            return
        now_ms = int(now_s * 1000)
        if self._of_hosts.wait_ms(host, now_ms):
            self._know(host, now_s)
        if now_s < self._known.get(host, 0.0):
            over = senseless or self._strict.wait_ms(peer, now_ms) > 0
        else:
            over = self._buckets.wait_ms(peer, now_ms) > 0
        if over:
            self._know(host, now_s)
            self._close_soon(peer)

    def _is_closing(self, peer: str) -> bool:
        return peer in self._gathered or peer in self._closing

    async def aclose(self) -> None:
        """Close no more connections."""
        await self._tasks.close()

    def _know(self, host: str, now_s: float) -> None:
        self._known[host] = now_s + _KNOWN_S
        self._known.move_to_end(host)
        if len(self._known) > _MOST_HOSTS:
            self._known.popitem(last=False)

    def _close_soon(self, peer: str) -> None:
        self._gathered.add(peer)
        if not len(self._tasks):
            self._tasks.start(self._close_gathered(), name="close")

    async def _close_gathered(self) -> None:
        while self._gathered:
            await asyncio.sleep(self._gather_seconds)
            self._closing, self._gathered = self._gathered, set()
            closed = await asyncio.to_thread(self._close, self._closing, self.ports)
            self._on_closed(closed)
            hosts = sorted({host_of(peer) for peer in self._closing})
            _log.info("connections_closed", count=closed, hosts=hosts[:_MOST_LOGGED])
            self._closing = set()
