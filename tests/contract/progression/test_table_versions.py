"""Awards stay recomputable: each game is audited by the table it was settled by."""

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

import pytest

from opolyx_progression.audit import AuditReport, audit
from opolyx_progression.awards import CURRENT, TABLES, AwardTable, Term, TermKind
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.opening import open_store
from support_progression import duel, finished_fact

GENEROUS = replace(
    TABLES[1], version=2, first_place=900, last_place=90, survival=7, last_unpaid_round=5
)
BOTH: Mapping[int, AwardTable] = MappingProxyType({1: TABLES[1], 2: GENEROUS})


async def settle(
    settings: ProgressionSettings, table: AwardTable, numbers: range, *, ended_in: int = 50
) -> None:
    async with open_store(settings, table=table) as store:
        for number in numbers:
            game = duel(f"g{number}", "p_a", "p_b", ended_in=ended_in)
            await store.apply([delivery_of(finished_fact(number, game))], now_ms=1)


async def audited(settings: ProgressionSettings, tables: Mapping[int, AwardTable]) -> AuditReport:
    async with open_store(settings) as store:
        return await audit(store, tables=tables)


@pytest.fixture
async def played(settings: ProgressionSettings) -> ProgressionSettings:
    """Two games of the first table, then two of a second, of which one is short by the first."""
    await settle(settings, TABLES[1], range(1, 3))
    await settle(settings, GENEROUS, range(3, 4))
    await settle(settings, GENEROUS, range(4, 5), ended_in=6)
    return settings


@pytest.mark.rule("XP-7")
async def test_xp_7_award_keeps_the_table_it_was_made_by(played: ProgressionSettings) -> None:
    async with open_store(played) as store:
        ledger = await store.awards("p_a", game_id="", before=0, limit=10)
        total = (await store.profile("p_a")).standing.xp

    assert [2, 2, 1, 1] == [entry.award.table_version for entry in ledger]
    assert [907, 907, 250, 250] == [entry.xp for entry in ledger]
    assert (Term(TermKind.PLACE, 900), Term(TermKind.SURVIVAL, 7)) == ledger[0].award.terms
    assert 907 + 907 + 250 + 250 == total


@pytest.mark.rule("XP-7")
async def test_xp_7_audit_takes_each_game_by_its_own_table(played: ProgressionSettings) -> None:
    report = await audited(played, BOTH)

    assert (4, 8, 0, []) == (report.games, report.awards, report.drift, report.drifts)


async def test_a_released_table_that_was_changed_is_drift(played: ProgressionSettings) -> None:
    changed = {1: replace(TABLES[1], survival=51), 2: GENEROUS}

    report = await audited(played, changed)

    assert {"g1/0", "g2/0"} == {one.subject for one in report.drifts if one.kind == "award"}


async def test_a_table_that_was_lost_is_drift(played: ProgressionSettings) -> None:
    report = await audited(played, {2: GENEROUS})

    assert {"g1", "g2"} == {one.subject for one in report.drifts if one.kind == "award"}
    assert "no such award table" in report.drifts[0].computed


def test_new_games_are_paid_by_the_newest_table() -> None:
    assert CURRENT is TABLES[max(TABLES)]
    assert list(TABLES) == [table.version for table in TABLES.values()]
