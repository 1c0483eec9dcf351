"""The audit finds every kind of drift, and none where there is none."""

from pathlib import Path
from typing import Any

import pytest

from opolyx_progression.audit import AuditReport, audit
from opolyx_progression.deliveries import Delivery
from opolyx_progression.leaderboards import rating_board
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.sqlite import SqliteStore
from opolyx_servicekit.sqlite_file import SqliteFile
from support_progression import bot, duel, finished_fact, finished_game, open_store, person

TAMPERINGS = {
    "UPDATE progression_awards SET xp = xp + 1 WHERE game_id = 'g3' AND seat = 0": "award",
    "UPDATE progression_awards SET terms = '[]' WHERE game_id = 'g3' AND seat = 0": "award",
    "UPDATE progression_awards SET zero_reason = 1 WHERE game_id = 'g3' AND seat = 1": "award",
    "DELETE FROM progression_awards WHERE game_id = 'g3' AND seat = 1": "award",
    "INSERT INTO progression_awards SELECT game_id, 5, sequence, 'p_x', xp, terms, zero_reason,"
    " ruleset, table_version, at_unix_ms, place FROM progression_awards"
    " WHERE game_id = 'g3' AND seat = 0": "award",
    "UPDATE progression_players SET xp = xp + 1 WHERE player_id = 'p_a'": "standing",
    "DELETE FROM progression_players WHERE player_id = 'p_a'": "standing",
    "INSERT INTO progression_players VALUES ('p_x', '', 1, 9, 1, 0, 1)": "standing",
    "UPDATE progression_ratings SET mu = mu + 0.1 WHERE player_id = 'p_a'": "rating",
    "DELETE FROM progression_ratings WHERE player_id = 'p_a'": "rating",
    "DELETE FROM progression_cards WHERE player_id = 'p_a' AND level = 3": "cards",
    "UPDATE progression_cards SET rarity = 4 WHERE player_id = 'p_a' AND level = 3": "cards",
    "UPDATE progression_scores SET score = 7 WHERE player_id = 'p_a' AND board = 'xp'": "score",
    "DELETE FROM progression_scores WHERE player_id = 'p_b'": "score",
    "INSERT INTO progression_scores VALUES ('xp', 'p_x', 1)": "score",
    "UPDATE progression_score_counts SET players = 2 WHERE shift = 6 AND board = 'xp'": "counts",
    "UPDATE progression_results SET table_version = 99 WHERE game_id = 'g3'": "award",
    "UPDATE progression_results SET result = '{' WHERE game_id = 'g3'": "result",
    "UPDATE progression_results SET result = '[]' WHERE game_id = 'g3'": "result",
    "UPDATE progression_results SET result = replace(result, '\"places\":2', '\"places\":1')"
    " WHERE game_id = 'g3'": "result",
    "UPDATE progression_results SET result = replace(result, '\"full_groups\":0', '\"full_groups\":1')"
    " WHERE game_id = 'g3'": "award",
    "UPDATE progression_awards SET terms = '[' WHERE game_id = 'g3'": "award",
    "UPDATE progression_awards SET terms = 'null' WHERE game_id = 'g3'": "award",
    "UPDATE progression_awards SET zero_reason = 77 WHERE game_id = 'g3'": "award",
    "INSERT INTO progression_entitlements VALUES ('p_x', 1)": "entitlement",
}


async def audited(path: Path, tampering: str) -> AuditReport:
    async with SqliteFile(path, synchronous="NORMAL") as file:
        store = await SqliteStore.open(file)
        for number in range(1, 6):
            fact = finished_fact(number, duel(f"g{number}", "p_a", "p_b"))
            await store.apply([delivery_of(fact)], now_ms=1)
        if tampering:
            await file.write(lambda connection: connection.execute(tampering).rowcount)
        return await audit(store, count_boards=True)


async def test_games_settled_meanwhile_are_no_drift(tmp_path: Path) -> None:
    async with open_store(tmp_path / "p.db") as store:
        for number in range(1, 6):
            await store.apply([settled(number)], now_ms=1)

        class Busy:
            """Settles another game just before the totals are read."""

            number = 5

            def __getattr__(self, name: str) -> Any:
                return getattr(store, name)

            async def standings(self) -> Any:
                self.number += 1
                await store.apply([settled(self.number)], now_ms=1)
                async for page in store.standings():
                    yield page

        busy: Any = Busy()
        report = await audit(busy)

    assert (5, 0) == (report.games, report.drift)


def settled(number: int) -> Delivery:
    return delivery_of(finished_fact(number, duel(f"g{number}", "p_a", f"p_{number % 3}")))


async def test_account_stays_what_it_was_in_its_first_game(tmp_path: Path) -> None:
    games = [
        duel("g1", "p_a", "p_b"),
        finished_game(person("p_b", 1), bot("p_a", 2), bot("b_c", 3), game_id="g2"),
    ]
    async with open_store(tmp_path / "p.db") as store:
        facts = [finished_fact(number, game) for number, game in enumerate(games, 1)]
        await store.apply([delivery_of(fact) for fact in facts], now_ms=1)
        report = await audit(store, count_boards=True)
        bots = await store.top(rating_board("classic", bots=True), 9)

    assert (2, 0) == (report.games, report.drift), report.drifts
    assert ["b_c"] == [row.player_id for row in bots.rows]


async def test_untouched_store_has_no_drift(tmp_path: Path) -> None:
    report = await audited(tmp_path / "p.db", "")

    assert (5, 10, 2, 0) == (report.games, report.awards, report.players, report.drift)
    assert [] == report.drifts


@pytest.mark.parametrize("tampering", TAMPERINGS)
async def test_tampering_is_drift(tmp_path: Path, tampering: str) -> None:
    report = await audited(tmp_path / "p.db", tampering)

    assert report.drift >= 1
    assert TAMPERINGS[tampering] in {drift.kind for drift in report.drifts}
