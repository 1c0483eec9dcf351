"""Who receives a game: the subscriptions of all streams, and which seats are connected."""

from collections.abc import Callable

from opolyx_engine.outbox import Outbox


class Subscription:
    """One stream's reception of one game."""

    __slots__ = ("_make_snapshot", "lagging", "outbox", "seat")

    def __init__(
        self, outbox: Outbox, seat: int | None, make_snapshot: Callable[[int | None], bytes]
    ) -> None:
        """Receive into `outbox`.

        Args:
            outbox: the stream's.
            seat: the seat that the receiver holds; None for a spectator.
            make_snapshot: makes the frame of a fresh snapshot for a seat.
        """
        self.outbox = outbox
        self.seat = seat
        self.lagging = False
        self._make_snapshot = make_snapshot

    def snapshot_frame(self) -> bytes:
        """The game as it is now."""
        return self._make_snapshot(self.seat)


class Hub:
    """The subscriptions of one game."""

    def __init__(self, presence_frame: Callable[[list[int]], bytes]) -> None:
        """Nobody yet; `presence_frame` makes the notice of who is connected."""
        self._subscriptions: dict[Subscription, None] = {}
        self._presence_frame = presence_frame
        self._connected: list[int] = []

    def __len__(self) -> int:
        """How many subscriptions there are."""
        return len(self._subscriptions)

    @property
    def connected(self) -> list[int]:
        """Seats with at least one subscription, ascending."""
        return self._connected

    def subscriptions(self) -> list[Subscription]:
        """All of them."""
        return list(self._subscriptions)

    def publish(self, frame: bytes) -> None:
        """Queue `frame` for everybody; the same bytes for all."""
        for subscription in self._subscriptions:
            subscription.outbox.publish(frame, subscription)

    def add(self, subscription: Subscription, first_frames: Callable[[], list[bytes]]) -> None:
        """Begin to receive, with `first_frames`, made when the seat counts as connected."""
        self._subscriptions[subscription] = None
        before = self._connected
        self._connected = self._seats()
        subscription.outbox.prime(first_frames(), subscription)
        self._tell(before, subscription)

    def remove(self, subscription: Subscription) -> None:
        """Stop receiving; a seat stays connected while another stream of it receives."""
        if self._subscriptions.pop(subscription, subscription) is subscription:
            return
        subscription.outbox.forget(subscription)
        before = self._connected
        self._connected = self._seats()
        self._tell(before, None)

    def _seats(self) -> list[int]:
        seats = {entry.seat for entry in self._subscriptions if entry.seat is not None}
        return sorted(seats)

    def _tell(self, before: list[int], newcomer: Subscription | None) -> None:
        if before == self._connected:
            return
        frame = self._presence_frame(self._connected)
        for subscription in self._subscriptions:
            if subscription is not newcomer:
                subscription.outbox.publish(frame, subscription)
