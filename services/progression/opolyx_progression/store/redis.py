"""The store on Redis or Redis Cluster, shared by several replicas of progression.

Whoever changes something loads, computes, and writes with one script, which does nothing if
somebody else wrote in between: then it is done again from what is there now. A token tells a
change whose answer got lost from one that was never made.
"""

import asyncio
import secrets
from collections.abc import AsyncIterator, Iterable, Sequence
from typing import Final

from opolyx_progression.awards import CURRENT, AwardTable
from opolyx_progression.cards import Card
from opolyx_progression.deliveries import Delivery, Outcome, VoidedGame
from opolyx_progression.games import FinishedGame
from opolyx_progression.leaderboards import BoardPage
from opolyx_progression.store import redis_boards, redis_oversight, redis_records
from opolyx_progression.store.base import (
    DeadLetter,
    EntitlementChange,
    Grant,
    LedgerEntry,
    Profile,
    Store,
    StoredRating,
    StoredResult,
    StoredScore,
    StoredStanding,
)
from opolyx_progression.store.redis_forms import DEAD_LETTERS, STATE, done_key, game_key
from opolyx_progression.store.redis_ledger import Batch, Command, Loaded, keys_of
from opolyx_progression.store.redis_scripts import CHANGE
from opolyx_servicekit.errors import StoreBusy
from opolyx_servicekit.redis_job import Value
from opolyx_servicekit.redis_link import RedisLink

_MOST_ATTEMPTS: Final = 50
_REMEMBERED_S: Final = 60  # far longer than an answer that got lost is asked for again
_LEDGER: Final = "ledger"
_ENTITLEMENTS: Final = "entitlements"


class RedisStore(Store):
    """See `Store`; any number of processes may share one Redis."""

    def __init__(self, link: RedisLink, *, table: AwardTable = CURRENT) -> None:
        """Use an open link, which stays its owner's to close.

        Args:
            link: the connection.
            table: the award table that games are settled by from now on.
        """
        self._link = link
        self._table = table

    async def apply(self, deliveries: Sequence[Delivery], *, now_ms: int) -> list[Outcome]:
        """Apply facts in one change."""
        for _ in range(_MOST_ATTEMPTS):
            loaded = await self._load(deliveries)
            token, batch = loaded.token, Batch(loaded, self._table, now_ms)
            outcomes = []
            for delivery in deliveries:
                outcomes.append(batch.take(delivery))
                await asyncio.sleep(0)  # the service goes on
            commands = batch.commands()
            if not commands or await self._change(_LEDGER, token, commands):
                return outcomes
        raise _too_many_others()

    async def set_vip(
        self, player_id: str, *, vip: bool, reason: str, operator: str, now_ms: int
    ) -> None:
        """Set whether a player is a VIP."""
        for _ in range(_MOST_ATTEMPTS):
            token, last = await self._link.call("HMGET", STATE, _ENTITLEMENTS, "changes")
            change = EntitlementChange(
                number=int(last or 0) + 1,
                player_id=player_id,
                vip=vip,
                reason=reason,
                operator=operator,
                at_unix_ms=now_ms,
            )
            commands = redis_oversight.put_vip(change)
            if await self._change(_ENTITLEMENTS, (token or b"").decode(), commands):
                return
        raise _too_many_others()

    async def cursor(self) -> int:
        """The greatest fact number applied."""
        return await self._number("cursor")

    async def dead_letters(self, *, after: int, limit: int) -> list[DeadLetter]:
        """Facts that couldn't be processed, ascending."""
        return await redis_oversight.dead_letters(self._link, after, limit)

    async def dead_letter(self, number: int) -> DeadLetter | None:
        """The fact of that number, if it couldn't be processed."""
        return await redis_oversight.dead_letter(self._link, number)

    async def dead_letter_count(self) -> int:
        """How many facts couldn't be processed."""
        return int(await self._link.call("ZCARD", DEAD_LETTERS))

    async def profile(self, player_id: str) -> Profile:
        """What a player has earned."""
        return await redis_records.profile(self._link, player_id)

    async def awards(
        self, player_id: str, *, game_id: str, before: int, limit: int
    ) -> list[LedgerEntry]:
        """Awards, newest first."""
        return await redis_records.awards(self._link, player_id, game_id, before, limit)

    async def cards(self, player_id: str) -> list[Card]:
        """A player's cards, oldest first."""
        return await redis_records.cards(self._link, player_id)

    async def grants(self, player_ids: Sequence[str]) -> list[Grant]:
        """What players bring to a table."""
        return await redis_records.grants(self._link, player_ids)

    async def entitlement_changes(
        self, player_id: str, *, before: int, limit: int
    ) -> list[EntitlementChange]:
        """Who set entitlements, newest first."""
        return await redis_oversight.entitlement_changes(self._link, player_id, before, limit)

    async def strayed_entitlements(self) -> list[tuple[str, bool | None, bool | None]]:
        """Players whose entitlement isn't what was last said."""
        return await redis_oversight.strayed_entitlements(self._link)

    async def top(self, board: str, limit: int) -> BoardPage:
        """The first rows of a leaderboard."""
        page = await redis_boards.read_page(self._link, board, "", limit)
        return page or BoardPage((), 0)

    async def around(self, board: str, player_id: str, limit: int) -> BoardPage | None:
        """A player's row amid its neighbours."""
        return await redis_boards.read_page(self._link, board, player_id, limit)

    async def last_sequence(self) -> int:
        """Number of the game settled last."""
        return await self._number("sequence")

    async def results(self, *, after: int, limit: int) -> list[StoredResult]:
        """Settled results, ascending."""
        until = min(after + limit, await self.last_sequence())
        return await redis_records.results(self._link, after, until)

    async def ledger(self, *, after: int, until: int) -> list[LedgerEntry]:
        """Awards by sequence and seat."""
        until = min(until, await self.last_sequence())
        return await redis_records.ledger(self._link, after, until)

    async def standings(self) -> AsyncIterator[list[StoredStanding]]:
        """Totals in the order of first games."""
        async for page in redis_records.roster(self._link):
            yield [
                StoredStanding(
                    player_id=one.standing.player_id,
                    sequence=one.sequence,
                    standing=one.standing,
                )
                for one in page
            ]

    async def ratings(self) -> AsyncIterator[list[StoredRating]]:
        """Ratings in the order of first games."""
        async for page in redis_records.roster(self._link):
            yield [
                StoredRating(
                    player_id=one.standing.player_id, mode=mode, rating=rating, sequence=sequence
                )
                for one in page
                for mode, (rating, sequence) in one.ratings.items()
            ]

    async def scores(self) -> AsyncIterator[list[StoredScore]]:
        """Scores by board, in no order."""
        async for page in redis_boards.scores(self._link):
            yield page

    async def miscounted_boards(self) -> list[str]:
        """None: a sorted set counts its own members."""
        return []

    async def _load(self, deliveries: Iterable[Delivery]) -> Loaded:
        """What the deliveries are about. The token is read first: what follows isn't older."""
        token, cursor, sequence = await self._link.call(
            "HMGET", STATE, _LEDGER, "cursor", "sequence"
        )
        games, accounts = _named_in(deliveries)
        stored, players = await asyncio.gather(
            redis_records.values(self._link, [game_key(game_id) for game_id in games]),
            redis_records.load_players(self._link, accounts),
        )
        over = {game_id for game_id, text in zip(games, stored, strict=True) if text is not None}
        return Loaded(
            token=(token or b"").decode(),
            cursor=int(cursor or 0),
            sequence=int(sequence or 0),
            over=over,
            players=players,
        )

    async def _change(self, field: str, expected: str, commands: Sequence[Command]) -> bool:
        """Do the commands, unless the field isn't what it was any more."""
        token = secrets.token_hex(8)
        arguments: list[Value] = [field, expected, token, _REMEMBERED_S]
        for command in commands:
            arguments += (len(command), *command)
        keys = dict.fromkeys(str(key) for command in commands for key in keys_of(command))
        return bool(await self._link.run(CHANGE, (STATE, done_key(token), *keys), arguments))

    async def _number(self, field: str) -> int:
        return int(await self._link.call("HGET", STATE, field) or 0)


def _named_in(deliveries: Iterable[Delivery]) -> tuple[list[str], list[str]]:
    """The games and the accounts that deliveries may change, each once."""
    games: dict[str, None] = {}
    accounts: dict[str, None] = {}
    for delivery in deliveries:
        effect = delivery.effect
        if isinstance(effect, VoidedGame):
            games[delivery.game_id] = None
        elif isinstance(effect, FinishedGame):
            games[effect.game_id] = None
            accounts.update((seat.player_id, None) for seat in effect.seats if seat.player_id)
    return list(games), list(accounts)


def _too_many_others() -> StoreBusy:
    return StoreBusy("STORE_UNAVAILABLE", "others write to the store all the time")
