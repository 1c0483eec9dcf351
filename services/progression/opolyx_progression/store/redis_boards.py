"""Leaderboards in Redis: sorted sets, whose order is that of `place_of`."""

import json
from collections.abc import AsyncIterator
from typing import Final

from opolyx_progression.leaderboards import BoardPage, Score, ranked
from opolyx_progression.store.base import StoredScore
from opolyx_progression.store.redis_forms import BOARDS, board_key, player_key
from opolyx_progression.store.redis_records import load_players, readable
from opolyx_progression.store.redis_scripts import BOARD, TEXTS
from opolyx_servicekit.redis_link import RedisLink

_SCANNED: Final = 1_000


async def read_page(link: RedisLink, board: str, player_id: str, limit: int) -> BoardPage | None:
    """The rows around a player, or the first ones if none is named; None without such a row."""
    found = await link.run(BOARD, (board_key(board),), (player_id, limit))
    if found is None:
        return None
    players, before_first, up_to_first, text = found
    flat: list[str] = json.loads(text)
    names = await _names(link, flat[::2])
    rows = [
        (each, name, -int(float(place)))
        for each, name, place in zip(flat[::2], names, flat[1::2], strict=True)
    ]
    return BoardPage(ranked(rows, before_first + 1, up_to_first + 1), int(players))


async def _names(link: RedisLink, player_ids: list[str]) -> list[str]:
    """The players' names; none where a player's record makes no sense."""
    if not player_ids:
        return []
    texts = json.loads(await link.run(TEXTS, [player_key(each) for each in player_ids]))
    return [_name(text) for text in texts]


def _name(text: str | bool) -> str:
    try:
        return str(json.loads(str(text))["name"])
    except (ValueError, LookupError, TypeError):
        return ""


async def scores(link: RedisLink) -> AsyncIterator[list[StoredScore]]:
    """All scores, by the page; one that changes meanwhile may come twice."""
    for name in sorted(await link.call("SMEMBERS", BOARDS)):
        board = name.decode()
        cursor: int | str = 0
        while True:
            cursor, flat = await link.call("ZSCAN", board_key(board), cursor, "COUNT", _SCANNED)
            yield await _stored(link, board, flat)
            if not int(cursor):
                break


async def _stored(
    link: RedisLink, board: str, members: list[tuple[bytes, float]]
) -> list[StoredScore]:
    """With the games that changed them last, read after them: so never too old a one."""
    found = {member.decode(): -int(place) for member, place in members}
    known = readable(await load_players(link, found))
    return [
        StoredScore(
            player_id=player_id,
            score=Score(board, player_id, score),
            sequence=known[player_id].sequence if player_id in known else 0,
        )
        for player_id, score in found.items()
    ]
