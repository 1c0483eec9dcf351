"""What is read back from Redis, as values."""

import asyncio
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from opolyx_progression.cards import Card, best_bonuses
from opolyx_progression.ratings import Rating
from opolyx_progression.settlement import Standing
from opolyx_progression.store.base import Grant, LedgerEntry, Profile, StoredResult
from opolyx_progression.store.redis_forms import (
    BLOCK,
    ROSTER,
    VIPS,
    PlayerRecord,
    awards_key,
    cards_key,
    game_key,
    player_key,
    read_awards,
    read_card,
    read_result,
    settled_key,
)
from opolyx_progression.store.redis_scripts import CARDS_OF
from opolyx_servicekit.redis_job import Value
from opolyx_servicekit.redis_link import RedisLink

_PAGE: Final = 1_000


async def load_players(link: RedisLink, player_ids: Iterable[str]) -> dict[str, bytes]:
    """Those of the players who have totals, as stored, in the order asked."""
    ids = list(player_ids)
    found = await values(link, [player_key(player_id) for player_id in ids])
    return {player_id: text for player_id, text in zip(ids, found, strict=True) if text is not None}


def readable(players: Mapping[str, bytes]) -> dict[str, PlayerRecord]:
    """The players without those whose record makes no sense, which the audit will miss."""
    read: dict[str, PlayerRecord] = {}
    for player_id, text in players.items():
        with suppress(ValueError):
            read[player_id] = PlayerRecord.from_json(player_id, text)
    return read


async def values(link: RedisLink, keys: Sequence[str]) -> list[bytes | None]:
    """What the keys hold, in their order."""
    if not keys:
        return []
    found: list[bytes | None] = await link.call("MGET", *keys)
    return found


async def profile(link: RedisLink, player_id: str) -> Profile:
    """What a player has earned; all zero for an unknown one."""
    found, owned, vip = await asyncio.gather(
        load_players(link, [player_id]),
        link.call("ZCARD", cards_key(player_id)),
        link.call("HGET", VIPS, player_id),
    )
    known = _record(found, player_id)
    return Profile(
        standing=Standing(player_id=player_id) if known is None else known.standing,
        cards=int(owned),
        ratings=_ratings_of(known),
        vip=vip == b"1",
    )


async def awards(
    link: RedisLink, player_id: str, game_id: str, before: int, limit: int
) -> list[LedgerEntry]:
    """Awards, newest first; see `Store.awards`."""
    if game_id:
        entries = _of_games([game_id], await values(link, [game_key(game_id)]))
        entries = [entry for entry in entries if not before or entry.sequence < before]
    else:
        most: Value = f"({before}" if before else "+inf"
        games = await link.call(
            "ZREVRANGEBYSCORE", awards_key(player_id), most, "-inf", "LIMIT", 0, limit
        )
        ids = [each.decode() for each in games]
        entries = _of_games(ids, await values(link, [game_key(each) for each in ids]))
    if player_id:
        entries = [entry for entry in entries if entry.award.player_id == player_id]
    return await _with_cards(link, entries[:limit])


async def ledger(link: RedisLink, after: int, until: int) -> list[LedgerEntry]:
    """Awards of games with `after` < sequence ≤ `until`."""
    games = await _settled(link, after + 1, until)
    known = [game_id for game_id in games if game_id is not None]
    found = await values(link, [game_key(game_id) for game_id in known])
    return await _with_cards(link, _of_games(known, found))


async def cards(link: RedisLink, player_id: str) -> list[Card]:
    """A player's cards, oldest first."""
    return _cards(player_id, await link.call("ZRANGE", cards_key(player_id), 0, -1))


async def grants(link: RedisLink, player_ids: Sequence[str]) -> list[Grant]:
    """What players bring to a table."""
    if not player_ids:
        return []
    players, vips, *owned = await asyncio.gather(
        load_players(link, player_ids),
        link.call("HMGET", VIPS, *player_ids),
        *(cards(link, player_id) for player_id in player_ids),
    )
    return [
        Grant(
            player_id=player_id,
            vip=vip == b"1",
            bonuses=best_bonuses(collection),
            ratings=_ratings_of(_record(players, player_id)),
        )
        for player_id, vip, collection in zip(player_ids, vips, owned, strict=True)
    ]


async def results(link: RedisLink, after: int, until: int) -> list[StoredResult]:
    """Settled results with `after` < sequence ≤ `until`."""
    games = await _settled(link, after + 1, until)
    found = await values(link, [game_key(game_id or "") for game_id in games])
    return [
        read_result(sequence, game_id or "", text)
        for sequence, (game_id, text) in enumerate(zip(games, found, strict=True), after + 1)
    ]


async def roster(link: RedisLink) -> AsyncIterator[list[PlayerRecord]]:
    """All players, by the page; those whose totals can't be read are left out."""
    first = 0
    while ids := await link.call("LRANGE", ROSTER, first, first + _PAGE - 1):
        found = await load_players(link, [player_id.decode() for player_id in ids])
        yield list(readable(found).values())
        first += len(ids)


async def _settled(link: RedisLink, first: int, last: int) -> list[str | None]:
    """The games of these sequence numbers, of at most a few blocks."""
    asked = []
    while first <= last:
        end = min(last, (first // BLOCK + 1) * BLOCK - 1)
        asked.append(link.call("HMGET", settled_key(first), *range(first, end + 1)))
        first = end + 1
    found = await asyncio.gather(*asked)
    return [game and game.decode() for block in found for game in block]


def _of_games(game_ids: Sequence[str], texts: Sequence[bytes | None]) -> list[LedgerEntry]:
    return [
        entry
        for game_id, text in zip(game_ids, texts, strict=True)
        if text is not None
        for entry in read_awards(game_id, text)
    ]


async def _with_cards(link: RedisLink, entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """The entries with the cards that came with them, out of their owners' collections."""
    if not entries:
        return []
    keys = [cards_key(entry.award.player_id) for entry in entries]
    found = await link.run(CARDS_OF, keys, [entry.sequence for entry in entries])
    return [
        replace(entry, cards=tuple(_cards(entry.award.player_id, members))) if members else entry
        for entry, members in zip(entries, found, strict=True)
    ]


def _cards(player_id: str, members: Iterable[bytes]) -> list[Card]:
    return [read_card(player_id, member) for member in members]


def _record(players: Mapping[str, bytes], player_id: str) -> PlayerRecord | None:
    """A player's record, if there is one; raises ValueError if it makes no sense."""
    text = players.get(player_id)
    return None if text is None else PlayerRecord.from_json(player_id, text)


def _ratings_of(known: PlayerRecord | None) -> dict[str, Rating]:
    return {} if known is None else {mode: rating for mode, (rating, _) in known.ratings.items()}
