"""What a client that attaches gets first: nothing, the updates it missed, or a snapshot.

A snapshot also follows the updates where these don't tell all: the game was ended as void, or an
outage moved its deadlines.
"""

from collections.abc import Callable
from typing import Final

from opolyx_engine.errors import store_unavailable
from opolyx_engine.game_actor import GameActor
from opolyx_engine.hub import Subscription
from opolyx_engine.registry import Registry

_MOST_READS: Final = 3  # the game goes on while older updates are read


async def attach(
    registry: Registry,
    game: GameActor,
    subscription: Subscription,
    after_seq: int | None,
    may_read_back: Callable[[int], bool],
) -> None:
    """Begin to receive `game`; one that has ended is sent as it is, as nothing more will come.

    Args:
        registry: reads updates back that aren't in memory.
        game: the game.
        subscription: not yet in the game's hub.
        after_seq: the last update the client has; None for a snapshot.
        may_read_back: asked whether so many updates may be read from the store for the client.

    Raises:
        ServiceError: the store failed, or the game went elsewhere; the subscription wasn't added.
    """
    older: list[bytes] = []
    with game.kept():
        for _ in range(_MOST_READS):
            if after_seq is None or not 0 <= after_seq < game.ring.first_seq - 1:
                break
            if not may_read_back(game.ring.first_seq - 1 - after_seq):
                break
            read = await registry.missed_updates(game, after_seq)
            if not read:
                break
            older += read
            after_seq += len(read)
    # No await from here on: what is published later finds the subscription there.
    if game.stopped and game.running:
        raise store_unavailable(0)
    missed = None if after_seq is None else game.ring.after(after_seq)

    def first_frames() -> list[bytes]:
        if missed is None:
            return [game.snapshot_frame(subscription.seat)]
        if not game.updates_tell_all:
            return [*older, *missed, game.snapshot_frame(subscription.seat)]
        return [*older, *missed, game.hub.presence_frame(), game.attached_frame()]

    if game.running:
        game.hub.add(subscription, first_frames)
    else:
        subscription.outbox.prime(first_frames(), subscription)
