"""The audit: everything recomputed from the stored results and compared with what is stored."""

import asyncio
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from opolyx_progression.awards import TABLES, AwardTable
from opolyx_progression.cards import Card
from opolyx_progression.leaderboards import rating_score, standing_scores
from opolyx_progression.ratings import Rating
from opolyx_progression.settlement import Settlement, Standing, settle
from opolyx_progression.store.base import LastChange, LedgerEntry, Store, StoredResult

_GAMES_AT_ONCE: Final = 200
_PLAYERS_AT_ONCE: Final = 1_000
_MOST_REPORTED: Final = 100
_LONGEST_SHOWN: Final = 1_000
_TOLERANCE: Final = 1e-9  # another machine's arithmetic may differ in the last place


@dataclass(frozen=True, slots=True)
class Drift:
    """One stored value that isn't what the results say."""

    kind: str
    """`result`, `award`, `cards`, `standing`, `rating`, `score`, `counts` or `entitlement`."""

    subject: str
    """Whose it is."""

    stored: str
    """What is stored."""

    computed: str
    """What the results say."""


@dataclass(slots=True)
class AuditReport:
    """What an audit found."""

    games: int = 0
    """Games recomputed."""

    awards: int = 0
    """Awards compared."""

    players: int = 0
    """Players whose totals were compared."""

    drift: int = 0
    """Values that differ; must be 0."""

    drifts: list[Drift] = field(default_factory=list)
    """The first hundred of them."""

    at_unix_ms: int = 0
    """When it ended, where anybody noted that."""

    def add(self, kind: str, subject: str, stored: object, computed: object) -> None:
        """Note a difference."""
        self.drift += 1
        if len(self.drifts) < _MOST_REPORTED:
            self.drifts.append(Drift(kind, subject, _shown(stored), _shown(computed)))


async def audit(
    store: Store, *, count_boards: bool = False, tables: Mapping[int, AwardTable] = TABLES
) -> AuditReport:
    """Recompute all that was settled before now; games that are settled meanwhile don't matter.

    Each game is settled again by the award table it was settled by.

    Args:
        store: what to audit.
        count_boards: whether to count the players of each leaderboard too, which keeps other
            readers waiting on a large store.
        tables: every award table there ever was, by version.
    """
    auditor = _Auditor(store, await store.last_sequence(), tables)
    await auditor.recompute_games()
    await auditor.compare_standings()
    await auditor.compare_ratings()
    await auditor.compare_scores()
    await auditor.compare_entitlements()
    if count_boards:
        for board in await store.miscounted_boards():
            auditor.report.add("counts", board, "other counts", "those of its scores")
    return auditor.report


class _Auditor:
    """One audit: the state recomputed so far."""

    def __init__(self, store: Store, until: int, tables: Mapping[int, AwardTable]) -> None:
        self._store = store
        self._until = until
        self._tables = tables
        self._standings: dict[str, Standing] = {}
        self._ratings: dict[str, dict[str, Rating]] = {}  # mode, player id
        self.report = AuditReport()

    async def recompute_games(self) -> None:
        after = 0
        while results := await self._page(after):
            entries = await self._entries(after, results[-1].sequence)
            for result in results:
                self._compare_game(result, entries.pop(result.game_id, []))
                await asyncio.sleep(0)  # the service goes on
            for game_id, extra in entries.items():
                self.report.add("award", game_id, extra, "no result")
            after = results[-1].sequence

    async def _entries(self, after: int, until: int) -> dict[str, list[LedgerEntry]]:
        """The ledger's entries by game."""
        entries: dict[str, list[LedgerEntry]] = {}
        try:
            for entry in await self._store.ledger(after=after, until=until):
                entries.setdefault(entry.award.game_id, []).append(entry)
        except ValueError as error:
            self.report.add("award", f"results {after + 1} to {until}", "unreadable", error)
        return entries

    async def _page(self, after: int) -> list[StoredResult]:
        results = await self._store.results(after=after, limit=_GAMES_AT_ONCE)
        return [result for result in results if result.sequence <= self._until]

    def _compare_game(self, result: StoredResult, entries: list[LedgerEntry]) -> None:
        game = result.game
        self.report.games += 1
        if game is None:
            self.report.add("result", result.game_id, "unreadable", "a result")
            return
        table = self._tables.get(result.table_version)
        if table is None:
            self.report.add("award", game.game_id, result.table_version, "no such award table")
            return
        ratings = self._ratings.setdefault(game.mode, {})
        settlement = settle(game, self._standings, ratings, table)
        ratings.update(settlement.ratings)
        self._standings.update({one.player_id: one for one in settlement.standings})
        self._compare_awards(game.game_id, settlement, entries)

    def _compare_awards(
        self, game_id: str, settlement: Settlement, entries: list[LedgerEntry]
    ) -> None:
        stored = {entry.award.seat: entry for entry in entries}
        for award in settlement.awards:
            self.report.awards += 1
            subject = f"{game_id}/{award.seat}"
            entry = stored.pop(award.seat, None)
            if entry is None or (entry.award, entry.xp) != (award, award.xp):
                self.report.add("award", subject, entry, award)
            cards = _cards_of(settlement, award.player_id)
            if entry is not None and entry.cards != cards:
                self.report.add("cards", subject, entry.cards, cards)
        for seat, entry in stored.items():
            self.report.add("award", f"{game_id}/{seat}", entry, "no such seat")

    async def compare_standings(self) -> None:
        missing = set(self._standings)
        async for page in self._store.standings():
            for row in page:
                self.report.players += 1
                missing.discard(row.player_id)
                computed = self._standings.get(row.player_id)
                if self._is_settled(row) and row.standing != computed:
                    self.report.add("standing", row.player_id, row.standing, computed)
        for player_id in sorted(missing):
            self.report.add("standing", player_id, None, self._standings[player_id])

    async def compare_ratings(self) -> None:
        missing = {mode: set(rated) for mode, rated in self._ratings.items()}
        async for page in self._store.ratings():
            for row in page:
                missing.get(row.mode, set()).discard(row.player_id)
                computed = self._ratings.get(row.mode, {}).get(row.player_id)
                if self._is_settled(row) and not _are_close(row.rating, computed):
                    self.report.add("rating", f"{row.player_id}/{row.mode}", row.rating, computed)
        for mode, left in missing.items():
            for player_id in sorted(left):
                lost = self._ratings[mode][player_id]
                self.report.add("rating", f"{player_id}/{mode}", None, lost)

    async def compare_scores(self) -> None:
        computed = await self._scores()
        missing = set(computed)
        async for page in self._store.scores():
            for row in page:
                key = (row.score.board, row.player_id)
                missing.discard(key)
                score = computed.get(key)
                if self._is_settled(row) and row.score.score != score:
                    self.report.add("score", "/".join(key), row.score.score, score)
        for key in sorted(missing):
            self.report.add("score", "/".join(key), None, computed[key])

    async def compare_entitlements(self) -> None:
        """What a player is entitled to is what an operator said last."""
        for player_id, stored, said in await self._store.strayed_entitlements():
            self.report.add("entitlement", player_id, stored, said)

    async def _scores(self) -> dict[tuple[str, str], int]:
        """By board and player id."""
        scores: dict[tuple[str, str], int] = {}
        for number, standing in enumerate(self._standings.values()):
            of_player = standing_scores(standing)
            for mode, rated in self._ratings.items():
                if rating := rated.get(standing.player_id):
                    of_player.append(rating_score(standing, mode, rating))
            scores.update({(one.board, one.player_id): one.score for one in of_player})
            if number % _PLAYERS_AT_ONCE == 0:
                await asyncio.sleep(0)  # the service goes on
        return scores

    def _is_settled(self, row: LastChange) -> bool:
        """Whether the row is as of the games recomputed; else a later game changed it."""
        return row.sequence <= self._until


def _shown(value: object) -> str:
    return repr(value)[:_LONGEST_SHOWN]


def _cards_of(settlement: Settlement, player_id: str) -> tuple[Card, ...]:
    cards = [card for card in settlement.cards if card.player_id == player_id]
    return tuple(sorted(cards, key=lambda card: card.level))


def _are_close(stored: Rating, computed: Rating | None) -> bool:
    return (
        computed is not None
        and stored.games == computed.games
        and math.isclose(stored.mu, computed.mu, rel_tol=_TOLERANCE)
        and math.isclose(stored.sigma, computed.sigma, rel_tol=_TOLERANCE)
    )
