"""What operators see to, in Redis: dead letters, and what players are entitled to."""

import asyncio
from typing import Any, Final

from opolyx_progression.store.base import DeadLetter, EntitlementChange
from opolyx_progression.store.redis_forms import (
    CHANGES,
    DEAD_LETTERS,
    STATE,
    VIPS,
    changes_key,
    dead_letter_key,
)
from opolyx_progression.store.redis_ledger import Command
from opolyx_servicekit.redis_job import Value
from opolyx_servicekit.redis_link import RedisLink

_PAGE: Final = 1_000
_MOST_ATTEMPTS: Final = 10


async def dead_letters(link: RedisLink, after: int, limit: int) -> list[DeadLetter]:
    """Facts that couldn't be processed, ascending."""
    numbers = await link.call("ZRANGEBYSCORE", DEAD_LETTERS, f"({after}", "+inf", "LIMIT", 0, limit)
    found = await asyncio.gather(*(dead_letter(link, int(number)) for number in numbers))
    return [letter for letter in found if letter is not None]


async def dead_letter(link: RedisLink, number: int) -> DeadLetter | None:
    """The fact of that number, if it couldn't be processed."""
    found = await link.call("HMGET", dead_letter_key(number), "game", "at", "problem", "raw")
    game_id, at_ms, problem, raw = found
    if game_id is None:
        return None
    return DeadLetter(
        number=number,
        game_id=game_id.decode(),
        at_unix_ms=int(at_ms),
        problem=problem.decode(),
        raw=raw,
    )


def put_vip(change: EntitlementChange) -> list[Command]:
    """What sets whether a player is a VIP, and notes who said so."""
    number, player_id, vip = change.number, change.player_id, int(change.vip)
    said: tuple[Value, ...] = (
        *("player", player_id, "vip", vip, "reason", change.reason),
        *("operator", change.operator, "at", change.at_unix_ms),
    )
    return [
        ("HSET", VIPS, player_id, vip),
        ("XADD", CHANGES, f"{number}-0", *said),
        ("ZADD", changes_key(player_id), number, number),
        ("HSET", STATE, "changes", number),
    ]


async def entitlement_changes(
    link: RedisLink, player_id: str, before: int, limit: int
) -> list[EntitlementChange]:
    """Who set entitlements, newest first; see `Store.entitlement_changes`."""
    if not player_id:
        last = f"{before - 1}-0" if before else "+"
        found = await link.call("XREVRANGE", CHANGES, last, "-", "COUNT", limit)
        return [_change(*entry) for entry in found]
    most: Value = f"({before}" if before else "+inf"
    numbers = await link.call(
        "ZREVRANGEBYSCORE", changes_key(player_id), most, "-inf", "LIMIT", 0, limit
    )
    ids = [f"{int(number)}-0" for number in numbers]
    pages = await asyncio.gather(*(link.call("XRANGE", CHANGES, each, each) for each in ids))
    return [_change(*entry) for page in pages for entry in page]


async def strayed_entitlements(link: RedisLink) -> list[tuple[str, bool | None, bool | None]]:
    """Players whose entitlement isn't what was last said; None where there is none."""
    said: dict[str, bool] = {}
    stored: dict[str, bool] = {}
    for _ in range(_MOST_ATTEMPTS):
        before = await link.call("HGET", STATE, "entitlements")
        said, stored = await _said(link), await _flags(link)
        if before == await link.call("HGET", STATE, "entitlements"):
            break  # else somebody said something in between
    strayed = [
        player_id
        for player_id in sorted(stored.keys() | said.keys())
        if stored.get(player_id) != said.get(player_id)
    ]
    return [(player_id, stored.get(player_id), said.get(player_id)) for player_id in strayed]


async def _said(link: RedisLink) -> dict[str, bool]:
    """What was said last, by player."""
    said: dict[str, bool] = {}
    after = 0
    while page := await link.call("XRANGE", CHANGES, f"{after + 1}-0", "+", "COUNT", _PAGE):
        changes = [_change(*entry) for entry in page]
        said |= {change.player_id: change.vip for change in changes}
        after = changes[-1].number
    return said


async def _flags(link: RedisLink) -> dict[str, bool]:
    found = await link.call("HGETALL", VIPS)
    return {player_id.decode(): vip == b"1" for player_id, vip in found.items()}


def _change(entry_id: bytes, fields: dict[bytes, Any]) -> EntitlementChange:
    return EntitlementChange(
        number=int(entry_id.partition(b"-")[0]),
        player_id=fields[b"player"].decode(),
        vip=fields[b"vip"] == b"1",
        reason=fields[b"reason"].decode(),
        operator=fields[b"operator"].decode(),
        at_unix_ms=int(fields[b"at"]),
    )
