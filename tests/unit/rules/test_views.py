"""What everybody sees: the fields as published, in their order, and nothing else."""

import hashlib
import json
import re
from pathlib import Path
from typing import Any, Final

import pytest

from opolyx_rules import RULESETS, State, get_ruleset, state_digest
from opolyx_rules.actions import (
    BUY_BY,
    DECLINE_PURCHASE_BY,
    FINANCE_PURCHASE_BY,
    PASS_BID_BY,
    SURRENDER_BY,
    propose_trade,
)
from opolyx_rules.content.boards import PROPERTIES
from opolyx_rules.ids import (
    BANK,
    CASH_CARD,
    CASH_RENT,
    CASH_RENT_TAX,
    NOBODY,
    PHASE_AUCTION,
    PHASE_NONE,
    PHASE_ROLL,
)
from opolyx_rules.views import (
    PLAYER_FIELDS,
    PROPERTY_FIELDS,
    TURN_FIELDS,
    auction_view,
    debts_view,
    offer_view,
    player_view,
    property_view,
    public_view,
    turn_view,
)
from support_playout import Playout, random_states
from support_rules import act, draw, roll, table

PAGE: Final = Path(__file__).resolve().parents[3] / "docs" / "digests.md"


def player(state: State, seat: int) -> dict[str, int]:
    """A player's view by name."""
    return dict(zip(PLAYER_FIELDS, player_view(state, seat), strict=True))


def turn(state: State) -> dict[str, int]:
    """The turn's view by name."""
    return dict(zip(TURN_FIELDS, turn_view(state), strict=True))


@pytest.mark.parametrize(
    ("title", "fields"),
    [
        ("A player is", PLAYER_FIELDS),
        ("A property is", PROPERTY_FIELDS),
        ("The turn is", TURN_FIELDS),
    ],
)
def test_the_fields_are_published_in_their_order(title: str, fields: tuple[str, ...]) -> None:
    found = re.search(title + r" `\[([^\]]+)\]`", PAGE.read_text())

    assert found is not None
    assert list(fields) == re.split(r",\s+", found[1])


def test_the_view_has_its_seven_parts() -> None:
    state = table(seats=3)
    view: list[Any] = public_view(state)

    assert 7 == len(view)
    assert [0, 1, 2] == [row[0] for row in view[0]]
    assert list(PROPERTIES) == [row[0] for row in view[1]]
    assert [turn_view(state), (), [], [], 0] == view[2:]


def test_the_digest_is_the_hash_of_the_view_as_compact_json() -> None:
    for state in random_states(get_ruleset("speed@full"), 4, "digest", 30):
        text = json.dumps(public_view(state), separators=(",", ":"))

        assert " " not in text
        assert hashlib.sha256(text.encode()).digest() == state_digest(state)


@pytest.mark.parametrize("name", sorted(RULESETS))
def test_a_view_holds_whole_numbers_and_lists_of_them_only(name: str) -> None:
    """No flags, no names, and above all nothing of the dice's key or the deck."""
    for state in random_states(RULESETS[name], 4, "numbers", 40):
        assert {int} == set(types_in(public_view(state)))


def types_in(value: object) -> list[type]:
    """The types of the single values in nested lists and tuples."""
    if isinstance(value, list | tuple):
        return [one for part in value for one in types_in(part)]
    return [type(value)]


def test_a_player_at_the_start() -> None:
    assert (2, 15_000, 0, 1, 0, 0, 0, 0, 0, NOBODY, 0, 0, 15_000, 0) == player_view(table(), 2)


def test_a_player_in_jail_shows_the_attempts() -> None:
    shown = player(table(jailed={1: 2}), 1)

    assert (10, 1, 2) == (shown["position"], shown["in_jail"], shown["jail_attempts"])


def test_a_player_who_is_out_shows_when_and_is_worth_nothing() -> None:
    state = table(owns={1: (39,)})
    act(state, SURRENDER_BY[1])
    shown = player(state, 1)

    assert (0, 1, 0, 0) == tuple(
        shown[name] for name in ("in_game", "out_order", "cash", "net_worth")
    )


def test_a_god_shows_with_its_last_round() -> None:
    state = table("fortune@full", round_number=7)
    draw(state, "year_end_bonus")
    shown = player(state, 0)

    assert (1, 10) == (shown["god"], shown["god_until_round"])


def test_financed_property_shows_what_it_costs_and_when() -> None:
    state = table("halal@full", vip=(0,), round_number=4)
    roll(state, 1, 2)
    act(state, FINANCE_PURCHASE_BY[0])
    shown = player(state, 0)

    assert (3, 720, 19) == tuple(
        shown[name] for name in ("financed_square", "financed_price", "financed_due_round")
    )


def test_a_property_shows_owner_level_and_mortgage() -> None:
    state = table(owns={2: (1, 3, 5)}, levels={1: 2, 3: 1}, mortgaged={5: 9}, round_number=11)

    assert (1, 2, 2, 0, 0, 0) == property_view(state, 1)
    assert (5, 2, 0, 1, 9, 0) == property_view(state, 5)
    assert (39, NOBODY, 0, 0, 0, 0) == property_view(state, 39)


def test_the_turn_before_the_first_roll_shows_no_dice() -> None:
    state = table(turn=2, first=1, round_number=3)

    assert (3, 2, 1, state.turn_number, PHASE_ROLL, 2, 0, 0, 0, 0, 0, 0) == turn_view(state)


def test_the_turn_shows_the_dice_and_that_the_seat_rolls_again() -> None:
    state = table("speed@full", round_number=7)
    roll(state, 3, 3, third=(4,))  # the face X: the jump waits for the turn's end
    shown = turn(state)

    assert (3, 3, 5) == (shown["die1"], shown["die2"], shown["third"])
    assert (1, 1, 1) == (shown["doubles"], shown["rolls_again"], shown["jump_due"])


def test_an_auction_shows_bid_leader_minimum_and_who_is_asked_next() -> None:
    state = table()
    roll(state, 1, 2)
    act(state, DECLINE_PURCHASE_BY[0])
    assert (3, 0, NOBODY, 600, 1, 2, 3, 0) == auction_view(state)
    assert (PHASE_AUCTION, 1) == (turn(state)["phase"], turn(state)["awaited_seat"])

    act(state, (5, 1))
    act(state, PASS_BID_BY[2])
    assert (3, 600, 1, 700, 3, 0, 1) == auction_view(state)


def test_without_an_auction_there_is_none() -> None:
    state = table()
    roll(state, 1, 2)
    act(state, BUY_BY[0])

    assert () == auction_view(state)


def test_a_debt_shows_every_claim() -> None:
    state = table(owns={1: (39, 37)}, at={0: 34}, round_number=150)
    roll(state, 1, 4)
    rent, rate = 1_000, 9_900 * 51 // 101
    withheld = rent * rate // 10_000

    assert [(0, 1, rent - withheld, CASH_RENT, BANK, withheld, CASH_RENT_TAX)] == debts_view(state)


def test_debts_show_in_the_order_in_which_they_are_awaited() -> None:
    state = table(cash={1: 100, 2: 15_000, 3: 150}, owns={1: (39,), 3: (37,)})
    draw(state, "birthday")

    assert [(1, 0, 200, CASH_CARD), (3, 0, 200, CASH_CARD)] == debts_view(state)
    assert 1 == turn(state)["awaited_seat"]


def test_an_offer_shows_both_sides() -> None:
    state = table(owns={0: (5, 39), 2: (37,)})
    act(state, propose_trade(0, 2, give_cash=10, give_squares=(39, 5), want_squares=(37,)))

    assert (1, 0, 2, 10, 0, [5, 39], [37]) == offer_view(state.offers[0])


def test_a_game_that_is_over_awaits_nobody() -> None:
    state = table(seats=2)
    act(state, SURRENDER_BY[0])
    shown = turn(state)

    assert (PHASE_NONE, NOBODY) == (shown["phase"], shown["awaited_seat"])
    assert state.end_cause == public_view(state)[6] != 0


@pytest.mark.parametrize("name", sorted(RULESETS))
def test_every_step_is_seen_in_the_digest(name: str) -> None:
    playout = Playout(get_ruleset(name), 4, "seen")
    before = state_digest(playout.state)
    for _ in range(100):
        playout.step()
        after = state_digest(playout.state)

        assert before != after
        before = after
