"""Levels can't be farmed: quick surrenders in real games pay nothing, and the ledger says why.

Case A-44, played by the rules, told as the engine tells it, and looked up in the ledger.
"""

from pathlib import Path
from typing import Any

import pytest

from opolyx_engine.facts import game_finished
from opolyx_engine.header import GameHeader, Holder, HouseOptions
from opolyx_engine.rpc.convert_facts import fact_to_proto
from opolyx_engine.store.base import StoredFact
from opolyx_progression.audit import audit
from opolyx_progression.awards import Term, TermKind, ZeroReason
from opolyx_progression.deliveries import Outcome
from opolyx_progression.games import SeatKind
from opolyx_progression.rpc.convert import delivery_of
from opolyx_progression.store.base import LedgerEntry
from opolyx_progression.store.sqlite import SqliteStore
from opolyx_rules import actors
from opolyx_rules.actions import SURRENDER_BY
from opolyx_rules.state import State
from support_progression import open_store
from support_rules import act, idle_turn, idle_until, table, time_out

PAYING = ["classic@full", "classic@guide"]


@pytest.fixture
async def store(tmp_path: Path) -> Any:
    async with open_store(tmp_path / "p.db") as opened:
        yield opened


def ended_by_surrender(ruleset: str, round_number: int, *, seats: int = 2) -> State:
    """All seats but the first surrender in this round."""
    state = table(ruleset, seats=seats)
    idle_until(state, seats - 1, round_number)
    for seat in range(1, seats):
        act(state, SURRENDER_BY[seat])
    assert state.over
    return state


def ended_by_idling(ruleset: str) -> State:
    """The second seat lets its clock run out until it is surrendered."""
    state = table(ruleset, seats=2)
    while not state.over:
        if actors(state) == [1]:
            time_out(state)
        else:
            idle_turn(state)
    return state


async def settled(
    store: SqliteStore, state: State, *, game_id: str = "g1", number: int = 1
) -> list[LedgerEntry]:
    """The ledger's entries of the game, by seat."""
    header = GameHeader(
        game_id=game_id,
        ruleset=state.ruleset.name,
        holders=tuple(
            Holder(player_id=f"p_{seat}", name=f"Seat {seat}", kind=SeatKind.PERSON)
            for seat in range(state.seats)
        ),
        options=HouseOptions(),
        watchable=True,
    )
    fact = game_finished(header, state, b"\x07" * 32, 1_700_000_000_000 + number)
    delivery = delivery_of(fact_to_proto(StoredFact(number=number, game_id=game_id, fact=fact)))
    assert [Outcome.SETTLED] == await store.apply([delivery], now_ms=1)
    return await store.awards("", game_id=game_id, before=0, limit=10)


@pytest.mark.rule("XP-2")
@pytest.mark.parametrize("ruleset", PAYING)
async def test_a_44_fifty_surrenders_in_round_3_pay_nobody(
    store: SqliteStore, ruleset: str
) -> None:
    """Case A-44: a helper who gives up at once, again and again."""
    state = ended_by_surrender(ruleset, 3)

    for number in range(1, 51):
        entries = await settled(store, state, game_id=f"g{number}", number=number)
        assert [(0, ZeroReason.SHORT_GAME, ())] * 2 == [
            (entry.xp, entry.award.zero_reason, entry.cards) for entry in entries
        ]

    for player_id in ("p_0", "p_1"):
        profile = await store.profile(player_id)
        assert (0, 50, 0) == (profile.standing.xp, profile.standing.games, profile.cards)
    assert 0 == (await audit(store)).drift


@pytest.mark.rule("XP-2", "CLOCK-4")
@pytest.mark.parametrize("ruleset", PAYING)
async def test_a_44_who_idles_until_surrendered_pays_nobody(
    store: SqliteStore, ruleset: str
) -> None:
    """Case A-44: a helper who does nothing, until the clock gives up."""
    state = ended_by_idling(ruleset)

    entries = await settled(store, state)

    assert state.round <= state.ruleset.missed_turns + 1
    assert [(0, ZeroReason.SHORT_GAME, ())] * 2 == [
        (entry.xp, entry.award.zero_reason, entry.cards) for entry in entries
    ]


@pytest.mark.rule("XP-2", "XP-3")
async def test_a_44_guide_s_winner_is_paid_from_round_21_only(store: SqliteStore) -> None:
    early = await settled(store, ended_by_surrender("classic@guide", 20), game_id="g20", number=1)
    late = await settled(store, ended_by_surrender("classic@guide", 21), game_id="g21", number=2)

    assert [(0, ZeroReason.SHORT_GAME, 0)] * 2 == [
        (entry.xp, entry.award.zero_reason, len(entry.cards)) for entry in early
    ]
    winner, loser = late
    assert (200, (Term(TermKind.WIN, 200),)) == (winner.xp, winner.award.terms)
    assert [0] == [card.level for card in winner.cards if card.level == 0]
    assert (0, ZeroReason.NOT_WINNER, ()) == (loser.xp, loser.award.zero_reason, loser.cards)


@pytest.mark.rule("XP-1", "XP-2")
async def test_a_44_each_seat_is_paid_from_round_21_only(store: SqliteStore) -> None:
    early = await settled(store, ended_by_surrender("classic@full", 20), game_id="g20", number=1)
    late = await settled(store, ended_by_surrender("classic@full", 21), game_id="g21", number=2)

    assert [0, 0] == [entry.xp for entry in early]
    assert [250, 40] == [entry.xp for entry in late]


@pytest.mark.rule("XP-1")
async def test_a_44_four_of_five_who_surrender_in_round_21_get_their_place_alone(
    store: SqliteStore,
) -> None:
    entries = await settled(store, ended_by_surrender("classic@full", 21, seats=5))

    assert [250, 40, 80, 120, 160] == [entry.xp for entry in entries]
    assert [5, 4, 3, 2] == [entry.award.place for entry in entries[1:]]
    assert {(TermKind.PLACE,)} == {
        tuple(term.kind for term in entry.award.terms) for entry in entries[1:]
    }


async def test_a_44_origins_pay_nobody_however_long(store: SqliteStore) -> None:
    entries = await settled(store, ended_by_surrender("classic@origins", 21))

    assert [(0, ZeroReason.SCHEME, ())] * 2 == [
        (entry.xp, entry.award.zero_reason, entry.cards) for entry in entries
    ]
