"""Leaderboards in Redis: sorted sets, whose order is that of `place_of`."""

from collections.abc import AsyncIterator
from typing import Final

from opolyx_progression.leaderboards import BoardPage, BoardRow, Score, ranked
from opolyx_progression.store.base import StoredScore
from opolyx_progression.store.redis_forms import BOARDS, board_key
from opolyx_progression.store.redis_records import load_players, readable
from opolyx_progression.store.redis_scripts import BOARD
from opolyx_servicekit.redis_link import RedisLink

_SCANNED: Final = 1_000


async def read_page(link: RedisLink, board: str, player_id: str, limit: int) -> BoardPage | None:
    """The rows around a player, or the first ones if none is named; None without such a row."""
    found = await link.run(BOARD, (board_key(board),), (player_id, limit))
    if found is None:
        return None
    players, before_first, up_to_first, flat = found
    ids = [each.decode() for each in flat[::2]]
    scores = [-int(float(place)) for place in flat[1::2]]
    known = readable(await load_players(link, ids))
    rows = [
        (each, known[each].standing.name if each in known else "", score)
        for each, score in zip(ids, scores, strict=True)
    ]
    page: tuple[BoardRow, ...] = ()
    if rows:
        page = ranked(rows, before_first + 1, up_to_first + 1)
    return BoardPage(page, int(players))


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
