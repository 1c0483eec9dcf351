"""The store: each game once, whatever happens on the way; XP-7 and case A-43."""

import asyncio
import random
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from opolyx_progression.audit import audit
from opolyx_progression.awards import CURRENT
from opolyx_progression.cards import draw_card
from opolyx_progression.deliveries import Delivery, Outcome
from opolyx_progression.games import FinishedGame, Scheme
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.ledger import apply_all
from opolyx_progression.store.schema import COMPONENT, STEPS
from opolyx_progression.store.sqlite import SqliteStore
from opolyx_servicekit.migrations import migrate
from opolyx_servicekit.sqlite_file import SqliteFile
from support_progression import (
    bot,
    duel,
    everything,
    finished_fact,
    finished_game,
    open_store,
    person,
    released_fact,
    senseless_fact,
    voided_fact,
)

PLAYERS = ["p_a", "p_b", "p_c", "p_d", "b_a"]


def games() -> list[FinishedGame]:
    """A history with every scheme, teams, bots, short games, level-ups and cards."""
    found = [duel(f"duel{number}", "p_a", "p_b") for number in range(6)]
    found.append(duel("short", "p_b", "p_a", ended_in=20))
    found.append(
        finished_game(
            person("p_c", 1, side=0),
            person("p_a", 2, side=1),
            bot("b_a", 1, side=0),
            person("p_d", 2, side=1),
            places=2,
            game_id="team",
            ruleset="team@full",
        )
    )
    found.append(
        finished_game(
            person("p_d", 1),
            person("p_a", 2),
            game_id="guide",
            ruleset="classic@guide",
            scheme=Scheme.WINNER,
        )
    )
    found.append(finished_game(person("p_c", 1), bot("", 2), bot("b_a", 3), game_id="bots"))
    return found


def deliveries() -> list[Delivery]:
    facts = [released_fact(1, "duel0", "p_b")]
    for game in games():
        facts.append(finished_fact(len(facts) + 1, game))
    facts.append(senseless_fact(len(facts) + 1, "senseless"))
    facts.append(voided_fact(len(facts) + 1, "void"))
    facts.append(finished_fact(len(facts) + 1, duel("last", "p_d", "p_c")))
    return [delivery_of(fact) for fact in facts]


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    async with open_store(tmp_path / "progression.db") as opened:
        yield opened


async def test_unknown_player_has_an_empty_profile(store: SqliteStore) -> None:
    profile = await store.profile("p_nobody")

    assert (0, 0, 0) == (profile.standing.xp, profile.standing.games, profile.standing.wins)
    assert (0, {}, False) == (profile.cards, profile.ratings, profile.vip)


async def test_finished_game_is_awarded(store: SqliteStore) -> None:
    outcomes = await store.apply(
        [delivery_of(finished_fact(7, duel("g1", "p_a", "p_b")))], now_ms=1
    )

    winner, loser = await store.profile("p_a"), await store.profile("p_b")
    assert [Outcome.SETTLED] == outcomes
    assert 7 == await store.cursor()
    assert (250, 1, 1) == (winner.standing.xp, winner.standing.games, winner.standing.wins)
    assert (40, 1, 0) == (loser.standing.xp, loser.standing.games, loser.standing.wins)
    assert "P_A" == winner.standing.name
    assert winner.ratings["classic"].mu > loser.ratings["classic"].mu
    assert (draw_card("g1", "p_a", 3),) == tuple(await store.cards("p_a"))  # 250 XP is level 3
    assert 1 == winner.cards


@pytest.mark.rule("XP-7")
async def test_xp_7_fact_delivered_twice_pays_once(store: SqliteStore) -> None:
    delivery = delivery_of(finished_fact(1, duel("g1", "p_a", "p_b")))
    again = delivery_of(finished_fact(2, duel("g1", "p_b", "p_a")))

    outcomes = await store.apply([delivery, delivery], now_ms=1)
    outcomes += await store.apply([delivery], now_ms=1)
    outcomes += await store.apply([again], now_ms=1)

    assert [Outcome.SETTLED, *[Outcome.KNOWN] * 3] == outcomes
    assert 250 == (await store.profile("p_a")).standing.xp
    assert 2 == len(await store.ledger(after=0, until=99))


@pytest.mark.rule("XP-7")
async def test_a_43_winner_of_the_guide_gets_200_and_one_card(store: SqliteStore) -> None:
    game = finished_game(person("p_a", 1), person("p_b", 2), scheme=Scheme.WINNER)

    for number in (1, 1, 2):
        await store.apply([delivery_of(finished_fact(number, game))], now_ms=1)

    profile = await store.profile("p_a")
    assert 200 == profile.standing.xp
    assert [draw_card("g1", "p_a", 0)] == await store.cards("p_a")


@pytest.mark.rule("XP-7")
async def test_xp_7_order_of_delivery_changes_no_sum(store: SqliteStore, tmp_path: Path) -> None:
    await store.apply(deliveries(), now_ms=1)
    shuffled = deliveries() * 2
    random.Random(7).shuffle(shuffled)

    async with open_store(tmp_path / "other.db") as other:
        for delivery in shuffled:
            await other.apply([delivery], now_ms=1)

        for player_id in PLAYERS:
            mine, theirs = await store.profile(player_id), await other.profile(player_id)
            assert mine.standing.xp == theirs.standing.xp
            assert mine.standing.games == theirs.standing.games
        assert 0 == (await audit(other)).drift
        assert await store.cursor() == await other.cursor()


@pytest.mark.rule("XP-7")
async def test_xp_7_voided_game_pays_nothing_even_if_it_finishes_later(store: SqliteStore) -> None:
    facts = [voided_fact(1, "g1"), finished_fact(2, duel("g1", "p_a", "p_b"))]

    outcomes = await store.apply([delivery_of(fact) for fact in facts], now_ms=1)

    assert [Outcome.VOIDED, Outcome.KNOWN] == outcomes
    assert 0 == (await store.profile("p_a")).standing.xp
    assert [] == await store.ledger(after=0, until=99)


async def test_short_game_is_in_the_ledger_with_its_reason(store: SqliteStore) -> None:
    game = duel("g1", "p_a", "p_b", ended_in=20)
    await store.apply([delivery_of(finished_fact(1, game))], now_ms=1)

    entry = (await store.awards("p_a", game_id="", before=0, limit=10))[0]

    assert (0, 1) == (entry.xp, entry.award.zero_reason)
    assert 1 == (await store.profile("p_a")).standing.games


async def test_senseless_fact_is_buried_and_blocks_no_other(store: SqliteStore) -> None:
    facts = [
        finished_fact(1, duel("g1", "p_a", "p_b")),
        senseless_fact(2, "g2"),
        finished_fact(3, duel("g3", "p_a", "p_b")),
    ]

    outcomes = await store.apply([delivery_of(fact) for fact in facts], now_ms=1)

    assert [Outcome.SETTLED, Outcome.BURIED, Outcome.SETTLED] == outcomes
    assert 500 == (await store.profile("p_a")).standing.xp
    letter = (await store.dead_letters(after=0, limit=10))[0]
    assert (2, facts[1].SerializeToString(deterministic=True)) == (letter.number, letter.raw)
    assert "xp_scheme" in letter.problem


async def test_fact_that_breaks_the_settlement_is_undone_and_buried(
    store: SqliteStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("bug")

    delivery = delivery_of(finished_fact(1, duel("g1", "p_a", "p_b")))
    with monkeypatch.context() as patched:
        patched.setattr("opolyx_progression.store.ledger.put_scores", broken)
        assert [Outcome.BURIED] == await store.apply([delivery], now_ms=1)
    assert 0 == (await store.profile("p_a")).standing.games
    assert 1 == await store.dead_letter_count()

    assert [Outcome.SETTLED] == await store.apply([delivery], now_ms=1)
    assert 0 == await store.dead_letter_count()


@pytest.mark.rule("XP-7")
async def test_xp_7_two_consumers_at_once_pay_once(tmp_path: Path) -> None:
    path = tmp_path / "shared.db"
    async with open_store(path) as one, open_store(path) as two:
        for delivery in deliveries():
            # Two connections to one file: SQLite orders the transactions.
            both = await asyncio.gather(
                one.apply([delivery], now_ms=1), two.apply([delivery], now_ms=1)
            )
            outcomes = sorted(outcome for applied in both for outcome in applied)
            assert outcomes != [Outcome.SETTLED, Outcome.SETTLED]
        report = await audit(two)
    assert (0, len(games()) + 1) == (report.drift, report.games)


async def test_reopened_store_has_everything(tmp_path: Path) -> None:
    path = tmp_path / "progression.db"
    async with open_store(path) as store:
        await store.apply(deliveries(), now_ms=1)
        await store.set_vip("p_a", vip=True, reason="test", operator="o_1", now_ms=1)
        before = await everything(store, PLAYERS)
    async with open_store(path) as store:
        assert before == await everything(store, PLAYERS)
        assert (await store.profile("p_a")).vip


async def test_vip_is_set_with_an_entry_for_the_audit(tmp_path: Path) -> None:
    async with SqliteFile(tmp_path / "p.db") as file:
        store = await SqliteStore.open(file)
        await store.set_vip("p_a", vip=True, reason="paid", operator="o_1", now_ms=1)
        await store.set_vip("p_a", vip=False, reason="refund", operator="o_2", now_ms=2)

        changes = await file.read(
            lambda connection: connection.execute(
                "SELECT vip, reason, operator, at_unix_ms FROM progression_entitlement_changes"
            ).fetchall()
        )
        assert not (await store.profile("p_a")).vip
    assert [(1, "paid", "o_1", 1), (0, "refund", "o_2", 2)] == changes


class Crash(BaseException):
    """The process is gone."""


class CrashingConnection:
    """A connection whose process dies instead of running its n-th statement."""

    def __init__(self, connection: sqlite3.Connection, statements: int) -> None:
        self._connection = connection
        self._left = statements

    def execute(self, *args: Any) -> Any:
        if self._left == 0:
            raise Crash
        self._left -= 1
        return self._connection.execute(*args)


def connect(path: Path) -> sqlite3.Connection:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = OFF")
    return connection


def transactions() -> Iterator[list[Delivery]]:
    """The history in the consumer's batches."""
    waiting = deliveries()
    while waiting:
        yield waiting[:2]
        waiting = waiting[2:]


@pytest.mark.rule("XP-7")
async def test_a_43_crash_before_any_statement_loses_and_doubles_nothing(tmp_path: Path) -> None:
    """Dies before the n-th statement, for every n, and goes on from the stored cursor."""
    path = tmp_path / "crashing.db"
    with closing(connect(path)) as connection:
        connection.execute("BEGIN")
        migrate(connection, COMPONENT, STEPS)
        connection.execute("COMMIT")

    crashes = 0
    for batch in transactions():
        statements = 0
        while not _survives(path, batch, statements):
            crashes += 1
            statements += 1
            await_first = batch[0].number - 1
            with closing(connect(path)) as connection:
                cursor = connection.execute("SELECT fact_number FROM progression_cursor")
                assert await_first == cursor.fetchone()[0]
    assert crashes > 300

    async with open_store(tmp_path / "smooth.db") as smooth, open_store(path) as crashed:
        await smooth.apply(deliveries(), now_ms=1)
        assert await everything(smooth, PLAYERS) == await everything(crashed, PLAYERS)
        assert 0 == (await audit(crashed)).drift


def _survives(path: Path, batch: list[Delivery], statements: int) -> bool:
    with closing(connect(path)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        try:
            apply_all(
                CrashingConnection(connection, statements),  # type: ignore[arg-type]
                batch,
                1,
                CURRENT,
            )
        except Crash:
            return False  # closed without a commit, as a killed process leaves it
        connection.execute("COMMIT")
    return True
