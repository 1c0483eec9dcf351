"""Collection cards: XP-3, XP-6, RENT-5."""

from collections import Counter

import pytest

from opolyx_progression.cards import (
    BONUS_BP,
    PROPERTY_SQUARES,
    Card,
    Rarity,
    best_bonuses,
    draw_card,
    dropping_levels,
)
from opolyx_progression.games import Scheme
from opolyx_progression.levels import from_xp
from opolyx_progression.settlement import Standing, settle
from support_progression import finished_game, person


@pytest.mark.rule("XP-6")
def test_xp_6_same_game_player_and_level_drop_the_same_card() -> None:
    card = draw_card("g1", "p_a", 3)

    assert card == draw_card("g1", "p_a", 3)
    others = [draw_card("g2", "p_a", 3), draw_card("g1", "p_b", 3), draw_card("g1", "p_a", 6)]
    assert 4 == len({card.card_id for card in [card, *others]})


@pytest.mark.rule("XP-6")
def test_xp_6_draw_is_frozen() -> None:
    """Stored cards must be recomputable: this draw never changes."""
    drawn = [draw_card("g1", "p_a", level) for level in (0, 3, 30)]

    assert FROZEN == [(card.card_id, card.square, card.rarity) for card in drawn]


@pytest.mark.rule("XP-6")
@pytest.mark.statement("R202")
def test_xp_6_rarities_are_70_20_8_2_and_squares_even() -> None:
    cards = [draw_card(f"g{number}", "p_a", 3) for number in range(20_000)]

    rarities = Counter(card.rarity for card in cards)
    squares = Counter(card.square for card in cards)

    for rarity, share in zip(Rarity, (0.70, 0.20, 0.08, 0.02), strict=True):
        assert share == pytest.approx(rarities[rarity] / len(cards), abs=0.01)
    assert set(PROPERTY_SQUARES) == set(squares)
    assert min(squares.values()) > 0.8 * len(cards) / 28


@pytest.mark.rule("XP-6")
@pytest.mark.parametrize("level", [30, 60])
def test_xp_6_levels_30_and_60_drop_at_least_epic(level: int) -> None:
    drawn = {draw_card(f"g{number}", "p_a", level).rarity for number in range(2000)}

    assert {Rarity.EPIC, Rarity.LEGENDARY} == drawn


@pytest.mark.rule("XP-6")
@pytest.mark.statement("R200")
def test_xp_6_every_level_passed_drops_its_card() -> None:
    assert [3, 6, 9] == dropping_levels(2, 9)
    assert [] == dropping_levels(3, 5)
    assert [] == dropping_levels(9, 9)


@pytest.mark.rule("XP-6")
def test_xp_6_settlement_drops_the_card_of_the_level_reached() -> None:
    game = finished_game(person("p_a", 1, survived=True), person("p_b", 2))
    before = Standing(player_id="p_a", xp=from_xp(6) - 1)

    settlement = settle(game, {"p_a": before}, {})

    assert (draw_card("g1", "p_a", 6),) == settlement.cards


@pytest.mark.rule("XP-3")
@pytest.mark.statement("R200")
def test_xp_3_winner_gets_one_card_past_round_20() -> None:
    seats = (person("p_a", 1, survived=True), person("p_b", 2))

    paid = settle(finished_game(*seats, scheme=Scheme.WINNER, ended_in=21), {}, {})
    short = settle(finished_game(*seats, scheme=Scheme.WINNER, ended_in=20), {}, {})

    assert (draw_card("g1", "p_a", 0),) == paid.cards
    assert () == short.cards


@pytest.mark.rule("RENT-5")
@pytest.mark.statement("R108", "R202")
def test_rent_5_only_the_best_card_of_a_square_counts() -> None:
    def card(square: int, rarity: Rarity) -> Card:
        return Card(
            card_id=f"{square}{rarity}",
            player_id="p_a",
            square=square,
            rarity=rarity,
            game_id="g",
            level=3,
        )

    cards = [
        card(39, Rarity.COMMON),
        card(1, Rarity.EPIC),
        card(1, Rarity.RARE),
        card(5, Rarity.LEGENDARY),
    ]

    assert {1: 1800, 5: 3300, 39: 300} == best_bonuses(cards)
    assert [300, 800, 1800, 3300] == [BONUS_BP[rarity] for rarity in Rarity]


def test_properties_are_the_28_of_the_board() -> None:
    others = {0, 2, 4, 7, 10, 17, 20, 22, 30, 33, 36, 38}

    assert sorted(set(range(40)) - others) == list(PROPERTY_SQUARES)


FROZEN = [
    ("c_cbf17783953db751fcaf7040e7a87dc9", 35, Rarity.COMMON),
    ("c_86d649c99eb0c969891765c34f34ff69", 19, Rarity.RARE),
    ("c_42a627ec2e2723fa30b01373a9eb16d7", 5, Rarity.EPIC),
]
