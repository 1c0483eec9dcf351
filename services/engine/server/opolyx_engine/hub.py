"""Who receives a game: the subscriptions of all streams, and which seats are connected."""

import asyncio
from collections import Counter
from collections.abc import Callable
from typing import Final

from opolyx_engine.outbox import Outbox

_PRESENCE_SECONDS: Final = 0.1  # who comes and goes all the time makes few notices


class Subscription:
    """One stream's reception of one game."""

    __slots__ = ("_make_snapshot", "alone", "lagging", "outbox", "seat", "told", "way")

    def __init__(
        self,
        outbox: Outbox,
        seat: int | None,
        make_snapshot: Callable[[int | None], bytes],
        *,
        alone: bool = False,
        way: str = "",
    ) -> None:
        """Receive into `outbox`.

        Args:
            outbox: the stream's.
            seat: the seat that the receiver holds; None for a spectator.
            make_snapshot: makes the frames of a fresh start for a seat.
            alone: whether the stream has nothing else to receive and ends with the subscription.
            way: id of the replica through which the stream came; empty if it came by itself.
        """
        self.outbox = outbox
        self.seat = seat
        self.alone = alone
        self.way = way
        self.lagging = False
        self.told: list[int] = []
        """The connected seats that the receiver knows of."""
        self._make_snapshot = make_snapshot

    def snapshot_frame(self) -> bytes:
        """The game as it is now."""
        return self._make_snapshot(self.seat)


class Hub:
    """The subscriptions of one game."""

    def __init__(self, make_presence: Callable[[list[int]], bytes]) -> None:
        """Nobody yet; `make_presence` makes the notice of who is connected."""
        self._subscriptions: dict[Subscription, None] = {}
        self._make_presence = make_presence
        self._receivers_of: Counter[int] = Counter()
        self._connected: list[int] = []
        self._ways: dict[int, str] = {}
        self._telling = False

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return len(self._subscriptions)

    def __contains__(self, subscription: object) -> bool:
        """Whether more may come for a subscription."""
        return subscription in self._subscriptions

    @property
    def connected(self) -> list[int]:
        """Seats with at least one subscription, ascending."""
        return self._connected

    def way_of(self, seat: int) -> str:
        """Through which replica a seat's last stream came; empty if it came by itself.

        It is known after that stream has ended too: the end of the replica may have ended it.
        """
        return self._ways.get(seat, "")

    def forget_way(self, seat: int) -> None:
        """Take a seat's last stream for one that came by itself."""
        self._ways.pop(seat, None)

    def publish(self, frame: bytes) -> None:
        """Queue `frame` for everybody; the same bytes for all."""
        for subscription in self._subscriptions:
            subscription.outbox.publish(frame, subscription)

    def refresh(self) -> None:
        """Queue a snapshot for everybody: something changed that is no update."""
        for subscription in self._subscriptions:
            subscription.outbox.publish(subscription.snapshot_frame(), subscription)

    def presence_frame(self) -> bytes:
        """The notice of who is connected now."""
        return self._make_presence(self._connected)

    def add(self, subscription: Subscription, first_frames: Callable[[], list[bytes]]) -> None:
        """Begin to receive.

        Args:
            subscription: new here.
            first_frames: makes what is sent first, and tells who is connected; called when the
                seat counts as connected.
        """
        self._subscriptions[subscription] = None
        if subscription.seat is not None:
            self._ways[subscription.seat] = subscription.way
        self._count(subscription.seat, 1)
        subscription.told = self._connected
        subscription.outbox.prime(first_frames(), subscription)

    def remove(self, subscription: Subscription) -> None:
        """Stop receiving; a seat stays connected while another stream of it receives."""
        subscription.outbox.forget(subscription)
        if subscription in self._subscriptions:
            del self._subscriptions[subscription]
            self._count(subscription.seat, -1)

    def release(self, frame: bytes) -> None:
        """Let everybody go, with `frame` as the last one."""
        for subscription in self.let_go():
            subscription.outbox.release(subscription, frame)
            if subscription.alone:
                subscription.outbox.end()

    def let_go(self) -> list[Subscription]:
        """Forget everybody; what is queued for them, or a snapshot owed to them, is still sent."""
        released = list(self._subscriptions)
        self._subscriptions.clear()
        self._receivers_of.clear()
        self._connected = []
        return released

    def _count(self, seat: int | None, change: int) -> None:
        if seat is None:
            return
        self._receivers_of[seat] += change
        if self._receivers_of[seat] != max(change, 0):
            return  # it was connected before, or still is
        self._connected = sorted(each for each, count in self._receivers_of.items() if count)
        if not self._telling:
            self._telling = True
            asyncio.get_running_loop().call_later(_PRESENCE_SECONDS, self._tell)

    def _tell(self) -> None:
        """The notice for those who don't know yet."""
        self._telling = False
        frame = b""
        for subscription in self._subscriptions:
            if subscription.told != self._connected:
                subscription.told = self._connected
                frame = frame or self.presence_frame()
                subscription.outbox.publish(frame, subscription)
