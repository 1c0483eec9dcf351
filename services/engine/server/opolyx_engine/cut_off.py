"""Players who can't act because the replica through which they came is gone (CLOCK-5)."""

from collections.abc import Awaitable, Callable

from opolyx_engine.hub import Hub
from opolyx_engine.table import Table
from opolyx_rules.queries import awaited_seat


async def is_cut_off(
    table: Table, hub: Hub, way_stands: Callable[[str], Awaitable[bool]], now_ms: int
) -> bool:
    """Whether that is why the awaited player's clock has run out; true once for each way in.

    A client notices only after seconds that a replica stands still, and a clock may be as short. The
    game's owner is well all the time, so nothing else tells it that its player can't be heard.

    Args:
        table: the game, something of which is due.
        hub: the game's receivers.
        way_stands: whether whoever came through a replica can still be reached through it.
        now_ms: the time, Unix milliseconds.
    """
    deadline_ms = table.clocks.deadline_ms
    if not deadline_ms or deadline_ms > now_ms:
        return False  # it is an offer that lapses
    seat = awaited_seat(table.state)
    way = hub.way_of(seat)
    if not way or await way_stands(way):
        return False
    hub.forget_way(seat)
    return True
