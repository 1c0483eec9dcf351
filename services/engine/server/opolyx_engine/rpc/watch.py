"""WatchGame: one game on a stream of its own."""

from functools import partial
from typing import Any

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.hub import Subscription
from opolyx_engine.registry import Registry
from opolyx_engine.resume import attach
from opolyx_engine.rpc.forwarding import Forwarding
from opolyx_engine.rpc.receivers import seat_to_receive
from opolyx_engine.rpc.streams import Streams, write_all
from opolyx_engine.rpc.watch_elsewhere import WatchElsewhere
from opolyx_servicekit.access import Principal, current_principal


class WatchStreams:
    """Serves WatchGame."""

    def __init__(self, registry: Registry, streams: Streams, forwarding: Forwarding) -> None:
        """Watch the games of `registry`, and over `forwarding` those of other replicas."""
        self._registry = registry
        self._streams = streams
        self._forwarding = forwarding
        self._elsewhere = WatchElsewhere(streams, forwarding)

    async def serve(self, request: pb.WatchGameRequest, context: Any) -> None:
        """One stream: as its player for who has a seat, as a spectator for others."""
        principal = current_principal()
        await self._forwarding.served(
            context,
            lambda: self._serve_here(request, context, principal),
            lambda replica: self._elsewhere.serve(request, context, principal, replica),
        )

    async def _serve_here(
        self, request: pb.WatchGameRequest, context: Any, principal: Principal
    ) -> None:
        game = await self._registry.find(request.game_id)
        seated = game.table.header.seat_of(principal.subject) is not None
        seat = seat_to_receive(game, principal, spectator=not seated)
        outbox = self._streams.open(principal)
        subscription = Subscription(
            outbox, seat, game.snapshot_frame, alone=True, way=self._forwarding.way_of(context)
        )
        try:
            after_seq = request.after_seq if request.HasField("after_seq") else None
            may_read_back = partial(self._streams.may_read_back, principal)
            await attach(self._registry, game, subscription, after_seq, may_read_back)
            await write_all(context, outbox)
        finally:
            game.hub.remove(subscription)
            self._streams.close(outbox)
