"""What every store of progression must do: each game once, whatever happens; XP-7, case A-43."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from opolyx_progression.audit import audit
from opolyx_progression.cards import best_bonuses, draw_card
from opolyx_progression.deliveries import Outcome, Unreadable
from opolyx_progression.games import Scheme
from opolyx_progression.leaderboards import XP_BOARD, Score, rating_board, scores_of
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.settlement import Settlement
from opolyx_progression.store.base import Store
from opolyx_progression.store.opening import open_store
from support_history import PLAYERS, deliveries, games
from support_progression import (
    duel,
    everything,
    finished_fact,
    finished_game,
    person,
    released_fact,
    senseless_fact,
    voided_fact,
)


@pytest.fixture
async def other(tmp_path: Path) -> AsyncIterator[Store]:
    """Another store to compare with."""
    async with open_store(
        ProgressionSettings(store_url=f"sqlite:///{tmp_path / 'o.db'}")
    ) as opened:
        yield opened


async def test_unknown_player_has_an_empty_profile(store: Store) -> None:
    profile = await store.profile("p_nobody")

    assert (0, 0, 0) == (profile.standing.xp, profile.standing.games, profile.standing.wins)
    assert (0, {}, False) == (profile.cards, profile.ratings, profile.vip)


async def test_finished_game_is_awarded(store: Store) -> None:
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
async def test_xp_7_fact_delivered_twice_pays_once(store: Store) -> None:
    delivery = delivery_of(finished_fact(1, duel("g1", "p_a", "p_b")))
    again = delivery_of(finished_fact(2, duel("g1", "p_b", "p_a")))

    outcomes = await store.apply([delivery, delivery], now_ms=1)
    outcomes += await store.apply([delivery], now_ms=1)
    outcomes += await store.apply([again], now_ms=1)

    assert [Outcome.SETTLED, *[Outcome.KNOWN] * 3] == outcomes
    assert 250 == (await store.profile("p_a")).standing.xp
    assert 2 == len(await store.ledger(after=0, until=99))


@pytest.mark.rule("XP-7")
async def test_a_43_winner_of_the_guide_gets_200_and_one_card(store: Store) -> None:
    game = finished_game(person("p_a", 1), person("p_b", 2), scheme=Scheme.WINNER)

    for number in (1, 1, 2):
        await store.apply([delivery_of(finished_fact(number, game))], now_ms=1)

    profile = await store.profile("p_a")
    assert 200 == profile.standing.xp
    assert [draw_card("g1", "p_a", 0)] == await store.cards("p_a")


@pytest.mark.rule("XP-7")
async def test_xp_7_order_of_delivery_changes_no_sum(store: Store, other: Store) -> None:
    await other.apply(deliveries(), now_ms=1)
    shuffled = deliveries() * 2
    random.Random(7).shuffle(shuffled)

    for delivery in shuffled:
        await store.apply([delivery], now_ms=1)

    for player_id in PLAYERS:
        mine, theirs = await store.profile(player_id), await other.profile(player_id)
        assert mine.standing.xp == theirs.standing.xp
        assert mine.standing.games == theirs.standing.games
    assert 0 == (await audit(store, count_boards=True)).drift
    assert await store.cursor() == await other.cursor()


async def test_every_store_makes_the_same_of_the_same_facts(store: Store, other: Store) -> None:
    for each in (store, other):
        outcomes = await each.apply(deliveries(), now_ms=1)
        assert [Outcome.PASSED, *[Outcome.SETTLED] * len(games())] == outcomes[:-3]
        assert [Outcome.BURIED, Outcome.VOIDED, Outcome.SETTLED] == outcomes[-3:]

    assert await everything(other, PLAYERS) == await everything(store, PLAYERS)
    assert await other.grants(PLAYERS) == await store.grants(PLAYERS)
    results = await store.results(after=0, limit=99)
    assert await other.results(after=0, limit=99) == results
    assert [*games(), duel("last", "p_d", "p_c")] == [result.game for result in results]
    for mode in ("classic", "team"):
        for bots in (False, True):
            board = rating_board(mode, bots=bots)
            assert await other.top(board, 9) == await store.top(board, 9)


@pytest.mark.rule("XP-7")
async def test_xp_7_voided_game_pays_nothing_even_if_it_finishes_later(store: Store) -> None:
    facts = [voided_fact(1, "g1"), finished_fact(2, duel("g1", "p_a", "p_b"))]

    outcomes = await store.apply([delivery_of(fact) for fact in facts], now_ms=1)

    assert [Outcome.VOIDED, Outcome.KNOWN] == outcomes
    assert 0 == (await store.profile("p_a")).standing.xp
    assert [] == await store.ledger(after=0, until=99)


async def test_short_game_is_in_the_ledger_with_its_reason(store: Store) -> None:
    game = duel("g1", "p_a", "p_b", ended_in=20)
    await store.apply([delivery_of(finished_fact(1, game))], now_ms=1)

    entry = (await store.awards("p_a", game_id="", before=0, limit=10))[0]

    assert (0, 1) == (entry.xp, entry.award.zero_reason)
    assert 1 == (await store.profile("p_a")).standing.games


async def test_senseless_fact_is_buried_and_blocks_no_other(store: Store) -> None:
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


@pytest.mark.rule("XP-7")
async def test_xp_7_two_consumers_at_once_pay_once(settings: ProgressionSettings) -> None:
    async with open_store(settings) as one, open_store(settings) as two:
        for delivery in deliveries():
            both = await asyncio.gather(
                one.apply([delivery], now_ms=1), two.apply([delivery], now_ms=1)
            )
            outcomes = sorted(outcome for applied in both for outcome in applied)
            assert outcomes != [Outcome.SETTLED, Outcome.SETTLED]
        report = await audit(two, count_boards=True)
    assert (0, len(games()) + 1) == (report.drift, report.games)


@pytest.mark.rule("XP-7")
async def test_xp_7_consumers_whose_batches_overlap_pay_once(store: Store) -> None:
    told = deliveries()
    parts = [told[first : first + 6] for first in range(0, len(told), 3)]

    applied = await asyncio.gather(*(store.apply(part, now_ms=1) for part in parts))

    settled = [
        delivery.game_id
        for part, outcomes in zip(parts, applied, strict=True)
        for delivery, outcome in zip(part, outcomes, strict=True)
        if outcome is Outcome.SETTLED
    ]
    assert sorted([*(game.game_id for game in games()), "last"]) == sorted(settled)
    assert told[-1].number == await store.cursor()
    assert 0 == (await audit(store, count_boards=True)).drift


async def test_reopened_store_has_everything(settings: ProgressionSettings) -> None:
    async with open_store(settings) as store:
        await store.apply(deliveries(), now_ms=1)
        await store.set_vip("p_a", vip=True, reason="test", operator="o_1", now_ms=1)
        before = await everything(store, PLAYERS)
    async with open_store(settings) as store:
        assert before == await everything(store, PLAYERS)
        assert (await store.profile("p_a")).vip


async def test_cursor_never_goes_back(store: Store) -> None:
    for number in (5, 3, 9, 8):
        await store.apply([delivery_of(released_fact(number, "g1", "p_a"))], now_ms=1)
    assert 9 == await store.cursor()
    assert [] == await store.apply([], now_ms=1)
    assert 9 == await store.cursor()


async def test_a_bug_undoes_its_own_fact_alone_and_the_retry_mends_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = [
        delivery_of(finished_fact(number, duel(f"g{number}", "p_a", "p_b"))) for number in (1, 2, 3)
    ]

    def scores_but_for_g2(settlement: Settlement, mode: str) -> list[Score]:
        if settlement.awards[0].game_id == "g2":
            raise ZeroDivisionError("bug")
        return scores_of(settlement, mode)

    with monkeypatch.context() as patched:
        for module in ("ledger", "redis_ledger"):
            patched.setattr(f"opolyx_progression.store.{module}.scores_of", scores_but_for_g2)
        outcomes = await store.apply(told, now_ms=1)
    assert [Outcome.SETTLED, Outcome.BURIED, Outcome.SETTLED] == outcomes
    assert 2 == (await store.profile("p_a")).standing.games
    assert ["ZeroDivisionError('bug')"] == [
        letter.problem for letter in await store.dead_letters(after=0, limit=9)
    ]
    assert 0 == (await audit(store, count_boards=True)).drift

    assert [Outcome.SETTLED] == await store.apply([told[1]], now_ms=2)
    assert [] == await store.dead_letters(after=0, limit=9)
    assert 3 == (await store.profile("p_a")).standing.games
    assert 3 == await store.cursor()


async def test_dead_letters_come_in_order_and_in_pages(store: Store) -> None:
    told = [delivery_of(senseless_fact(number, f"g{number}")) for number in (4, 1, 12, 9)]
    await store.apply(told, now_ms=10)

    assert 4 == await store.dead_letter_count()
    assert [1, 4] == [letter.number for letter in await store.dead_letters(after=0, limit=2)]
    assert [9, 12] == [letter.number for letter in await store.dead_letters(after=4, limit=9)]
    letter = await store.dead_letter(12)
    assert letter is not None
    assert ("g12", 10, told[2].raw) == (letter.game_id, letter.at_unix_ms, letter.raw)
    assert await store.dead_letter(2) is None


async def test_dead_letter_keeps_its_first_time_and_its_last_problem(store: Store) -> None:
    delivery = delivery_of(senseless_fact(1, "g1"))
    for now_ms, problem in ((10, "before"), (20, "x" * 2_000)):
        again = replace(delivery, effect=Unreadable(problem), raw=b"\x00\xff raw")
        assert [Outcome.BURIED] == await store.apply([again], now_ms=now_ms)

    letter = await store.dead_letter(1)
    assert letter is not None
    assert (10, "x" * 500, b"\x00\xff raw") == (letter.at_unix_ms, letter.problem, letter.raw)
    assert 1 == await store.dead_letter_count()


async def test_fact_that_makes_sense_now_is_no_dead_letter_any_more(store: Store) -> None:
    delivery = delivery_of(finished_fact(1, duel("g1", "p_a", "p_b")))
    for later in (Outcome.SETTLED, Outcome.KNOWN):
        await store.apply([replace(delivery, effect=Unreadable("too new"))], now_ms=1)
        assert 1 == await store.dead_letter_count()
        assert [later] == await store.apply([delivery], now_ms=2)
        assert 0 == await store.dead_letter_count()
        assert await store.dead_letter(1) is None


async def test_buried_and_mended_in_one_batch_it_is_no_dead_letter(store: Store) -> None:
    delivery = delivery_of(finished_fact(1, duel("g1", "p_a", "p_b")))
    buried = replace(delivery, effect=Unreadable("too new"))

    assert [Outcome.BURIED, Outcome.SETTLED] == await store.apply([buried, delivery], now_ms=1)
    assert [] == await store.dead_letters(after=0, limit=9)


async def test_awards_come_newest_first_in_pages_and_by_game(store: Store) -> None:
    for number in range(1, 8):
        others = ("p_b", "p_a") if number % 2 else ("p_a", "p_c")
        fact = finished_fact(number, duel(f"g{number}", *others))
        await store.apply([delivery_of(fact)], now_ms=1)

    async def numbers(
        player_id: str, *, game_id: str = "", before: int = 0, limit: int = 99
    ) -> list[int]:
        found = await store.awards(player_id, game_id=game_id, before=before, limit=limit)
        assert {player_id or "p_b", "p_a"} >= {entry.award.player_id for entry in found}
        return [entry.sequence for entry in found]

    assert [7, 6, 5, 4, 3, 2, 1] == await numbers("p_a")
    assert [7, 6, 5] == await numbers("p_a", limit=3)
    assert [4, 3, 2] == await numbers("p_a", before=5, limit=3)
    assert [3, 1] == await numbers("p_b", before=5)
    assert [] == await numbers("p_a", before=1)
    assert [3] == await numbers("p_a", game_id="g3")
    assert [] == await numbers("p_a", game_id="g3", before=3)
    assert [] == await numbers("p_c", game_id="g3")
    assert [3, 3] == await numbers("", game_id="g3")
    assert [] == await numbers("p_a", game_id="g99")
    whole = await store.awards("", game_id="g2", before=0, limit=7)
    assert [(0, "p_a"), (1, "p_c")] == [(one.award.seat, one.award.player_id) for one in whole]
    with_card = await store.awards("p_a", game_id="g2", before=0, limit=1)
    assert with_card[0].cards == tuple(await store.cards("p_a"))[:1] != ()


async def test_voided_game_has_no_awards_to_show(store: Store) -> None:
    await store.apply([delivery_of(voided_fact(1, "g1"))], now_ms=1)
    assert [] == await store.awards("", game_id="g1", before=0, limit=6)
    assert 0 == await store.last_sequence()


async def test_entitlements_are_set_with_an_entry_each(store: Store) -> None:
    said = [("p_a", True), ("p_b", True), ("p_a", False), ("p_c", True), ("p_a", True)]
    for number, (player_id, vip) in enumerate(said, 1):
        await store.set_vip(
            player_id, vip=vip, reason=f"why {number}", operator=f"o_{number}", now_ms=number
        )

    everybodys = await store.entitlement_changes("", before=0, limit=9)
    assert said[::-1] == [(change.player_id, change.vip) for change in everybodys]
    assert [(5, "why 5", "o_5", 5)] == [
        (change.number, change.reason, change.operator, change.at_unix_ms)
        for change in everybodys[:1]
    ]
    assert everybodys[2:4] == await store.entitlement_changes("", before=4, limit=2)
    assert [5, 3, 1] == [
        one.number for one in await store.entitlement_changes("p_a", before=0, limit=9)
    ]
    assert [3] == [one.number for one in await store.entitlement_changes("p_a", before=5, limit=1)]
    assert [] == await store.entitlement_changes("p_d", before=0, limit=9)
    grants = await store.grants(["p_a", "p_d", "p_c"])
    assert [("p_a", True), ("p_d", False), ("p_c", True)] == [
        (one.player_id, one.vip) for one in grants
    ]
    assert [] == await store.grants([])
    assert [] == await store.strayed_entitlements()


async def test_operators_who_speak_at_once_are_all_heard(store: Store) -> None:
    await asyncio.gather(
        *(
            store.set_vip("p_a", vip=bool(number % 2), reason="r", operator="o", now_ms=number)
            for number in range(20)
        )
    )
    changes = await store.entitlement_changes("p_a", before=0, limit=99)
    assert list(range(20, 0, -1)) == [change.number for change in changes]
    assert set(range(20)) == {change.at_unix_ms for change in changes}
    assert changes[0].vip == (await store.profile("p_a")).vip
    assert [] == await store.strayed_entitlements()


async def test_large_pages_hold_everybody_once(store: Store) -> None:
    """More players and games than any page or block of a store holds."""
    duels = [duel(f"g{number}", f"p_{number}", f"p_x{number}") for number in range(560)]
    facts = [delivery_of(finished_fact(number, game)) for number, game in enumerate(duels, 1)]
    for first in range(0, len(facts), 200):
        await store.apply(facts[first : first + 200], now_ms=1)
    everybody = sorted(seat.player_id for game in duels for seat in game.seats)

    standings = [row async for page in store.standings() for row in page]
    ratings = [row async for page in store.ratings() for row in page]
    scores = {row.score async for page in store.scores() for row in page}
    assert everybody == sorted(row.player_id for row in standings)
    assert everybody == sorted(row.player_id for row in ratings)
    assert everybody == sorted(one.player_id for one in scores if one.board == XP_BOARD)
    assert 2 * len(everybody) == len(scores)
    results = await store.results(after=3, limit=520)
    assert list(range(4, 524)) == [result.sequence for result in results]
    assert duels[3:523] == [result.game for result in results]
    assert list(range(524, 561)) == [
        one.sequence for one in await store.results(after=523, limit=99)
    ]
    ledger = await store.ledger(after=240, until=260)
    assert [(sequence, seat) for sequence in range(241, 261) for seat in (0, 1)] == [
        (entry.sequence, entry.award.seat) for entry in ledger
    ]
    report = await audit(store, count_boards=True)
    assert (560, 1120, 1120, 0) == (report.games, report.awards, report.players, report.drift)


async def test_grants_hold_the_best_card_of_a_square(store: Store) -> None:
    for number in range(1, 60):
        game = finished_game(
            person("p_a", 1), person("p_b", 2), scheme=Scheme.WINNER, game_id=f"g{number}"
        )
        await store.apply([delivery_of(finished_fact(number, game))], now_ms=1)

    cards = await store.cards("p_a")
    assert len(cards) == (await store.profile("p_a")).cards > 59
    assert [card.game_id for card in cards if not card.level] == [f"g{n}" for n in range(1, 60)]
    grant = (await store.grants(["p_a"]))[0]
    assert best_bonuses(cards) == grant.bonuses
    assert list(grant.bonuses) == sorted(grant.bonuses)
