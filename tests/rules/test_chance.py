"""The Chance deck and what its cards do (CHANCE)."""

import pytest

from opolyx_rules import RULESETS, ScriptedChance, SeededChance, actors, get_ruleset, start
from opolyx_rules.actions import (
    BID_BY,
    BUY_BY,
    DECLARE_BANKRUPTCY_BY,
    MORTGAGE_BY,
    PAY_DEBT_BY,
    ROLL_BY,
    SURRENDER,
)
from opolyx_rules.chance import DECK
from opolyx_rules.content.boards import CHANCE, KIND
from opolyx_rules.content.decks import (
    CARD_IDS,
    COLLECT,
    DECKS,
    MISFORTUNE_GOD,
    PAY,
    RED_PACKET,
    STANDARD,
    WEALTH_GOD,
)
from opolyx_rules.events import (
    CARD_DRAWN,
    DEBT_OPENED,
    ELIMINATED,
    GOD_ARRIVED,
    JAILED,
    PACKET_OPENED,
    TOKEN_MOVED,
)
from opolyx_rules.ids import (
    BANK,
    CASH_CARD,
    CASH_FORFEIT,
    CASH_RENT,
    CASH_RENT_TAX,
    CASH_SALARY,
    CASH_TAX,
    GOD_MISFORTUNE,
    GOD_WEALTH,
    MOVE_CARD_BACK,
    MOVE_CARD_FORWARD,
    NOBODY,
    PHASE_AUCTION,
    PHASE_BUY,
    PHASE_PAYMENT,
    PHASE_ROLL,
)
from opolyx_rules.queries import awaited_phase, step_seconds
from support_rules import (
    ALL,
    act,
    card,
    cash_moves,
    draw,
    found,
    is_legal,
    paid,
    roll,
    rules,
    rulesets_with,
    stop_on,
    table,
    time_out,
)

FORTUNE = rulesets_with(deck="fortune")
PLAIN = [name for name in ALL if RULESETS[name].deck != "fortune"]


def opponents(ruleset: str) -> list[int]:
    """Opponents of seat 0 among four, in order."""
    return [1, 3] if RULESETS[ruleset].sides else [1, 2, 3]


# The deck


@pytest.mark.rule("CHANCE-1", "CHANCE-3")
@pytest.mark.statement("R147")
@pytest.mark.parametrize("ruleset", ALL)
def test_deck_has_sixteen_cards_each_once(ruleset: str) -> None:
    state = start(get_ruleset(ruleset), 4, SeededChance(b"deck"))

    assert 16 == len(CARD_IDS) == len(DECKS[RULESETS[ruleset].deck])
    assert list(range(16)) == sorted(state.deck)


@pytest.mark.rule("CHANCE-1")
@pytest.mark.statement("R148")
@pytest.mark.parametrize("ruleset", rulesets_with(deck_shuffled=False))
def test_fixed_deck_lies_in_the_order_of_the_table(ruleset: str) -> None:
    for key in (b"one", b"two", b"three"):
        assert list(range(16)) == start(get_ruleset(ruleset), 3, SeededChance(key)).deck


@pytest.mark.rule("CHANCE-1")
@pytest.mark.parametrize("ruleset", rulesets_with(deck_shuffled=True))
def test_shuffled_deck_is_shuffled_once_at_the_start(ruleset: str) -> None:
    """Each card changes places with one of those up to itself, from the last down."""
    chance = ScriptedChance(other={DECK: [0] * 15})
    state = start(get_ruleset(ruleset), 4, chance)

    assert [*range(1, 16), 0] == state.deck
    decks = {
        tuple(start(get_ruleset(ruleset), 4, SeededChance(bytes([key]))).deck) for key in range(5)
    }
    assert 5 == len(decks)


@pytest.mark.rule("CHANCE-1", "CHANCE-2")
@pytest.mark.statement("R148", "R149", "R159")
@pytest.mark.parametrize("ruleset", ALL)
def test_cards_come_in_order_cycle_and_are_named(ruleset: str) -> None:
    order = [card("scratch_win"), card("dividend"), card("birthday")]
    state = table(ruleset)
    state.deck = order

    log = [event for _ in range(6) for event in stop_on(state, 7)]

    expected = [(CARD_DRAWN, turn % 4, order[turn % 3]) for turn in range(6)]
    assert expected == found(log, CARD_DRAWN)


@pytest.mark.rule("CHANCE-3", "BOARD-1")
@pytest.mark.statement("R057", "R149")
@pytest.mark.parametrize("square", [2, 7, 17, 22, 33, 36])
@pytest.mark.parametrize("ruleset", ALL)
def test_each_of_six_squares_draws(ruleset: str, square: int) -> None:
    state = table(ruleset, deck=["dividend"])

    log = stop_on(state, square)

    assert [(CARD_DRAWN, 0, card("dividend"))] == found(log, CARD_DRAWN)
    assert 6 == KIND.count(CHANCE)


# Cards of the bank


@pytest.mark.rule("CHANCE-3")
@pytest.mark.statement("R150")
@pytest.mark.parametrize(
    ("name", "amount"), [("year_end_bonus", 2_000), ("scratch_win", 1_000), ("dividend", 1_500)]
)
@pytest.mark.parametrize("ruleset", PLAIN)
def test_card_collects_from_the_bank(ruleset: str, name: str, amount: int) -> None:
    state = table(ruleset)

    log = draw(state, name)

    assert 15_000 + amount == state.cash[0]
    assert amount == paid(log, CASH_CARD)
    assert [1] == actors(state)


@pytest.mark.rule("CHANCE-3", "CHANCE-5", "DEBT-1")
@pytest.mark.statement("R151", "R161")
@pytest.mark.parametrize(("name", "amount"), [("medical_bill", 500), ("tax_audit", 2_500)])
@pytest.mark.parametrize("ruleset", PLAIN)
def test_card_charges_through_the_pause(ruleset: str, name: str, amount: int) -> None:
    state = table(ruleset)

    log = draw(state, name)
    assert [(DEBT_OPENED, 0, amount)] == found(log, DEBT_OPENED)
    assert [] == cash_moves(log)
    log = act(state, PAY_DEBT_BY[0])

    assert [(7, 0, BANK, amount, CASH_CARD)] == cash_moves(log)
    assert 15_000 - amount == state.cash[0]


@pytest.mark.rule("CHANCE-3")
@pytest.mark.statement("R150", "R151")
def test_amounts_of_bank_cards_keep_to_the_range_of_the_guide() -> None:
    collected = [amount for effect, amount in STANDARD if effect == COLLECT]
    charged = [amount for effect, amount in STANDARD if effect == PAY]

    assert (1_000, 2_000) == (min(collected), max(collected))
    assert (500, 2_500) == (min(charged), max(charged))


@pytest.mark.rule("CHANCE-3")
@pytest.mark.statement("R153")
@pytest.mark.parametrize("ruleset", ALL)
def test_repairs_cost_250_for_each_level(ruleset: str) -> None:
    state = table(ruleset, owns={0: (1, 3, 5), 1: (37, 39)}, levels={1: 2, 3: 1, 37: 5, 39: 5})

    draw(state, "repairs")
    act(state, PAY_DEBT_BY[0])

    assert 15_000 - 3 * 250 == state.cash[0]


@pytest.mark.rule("CHANCE-3")
@pytest.mark.parametrize("ruleset", ALL)
def test_repairs_without_a_building_open_no_pause(ruleset: str) -> None:
    state = table(ruleset)

    draw(state, "repairs")

    assert [1] == actors(state)


# Cards of the players


@pytest.mark.rule("CHANCE-3", "CHANCE-5", "CHANCE-6")
@pytest.mark.statement("R152")
@pytest.mark.parametrize("ruleset", ALL)
def test_birthday_takes_200_from_every_opponent_at_once(ruleset: str) -> None:
    state = table(ruleset)

    log = draw(state, "birthday")

    assert [(7, other, 0, 200, CASH_CARD) for other in opponents(ruleset)] == cash_moves(log)
    assert [1] == actors(state)


@pytest.mark.rule("CHANCE-3", "CHANCE-5", "CHANCE-6")
@pytest.mark.statement("R152", "R161")
@pytest.mark.parametrize("ruleset", PLAIN)
def test_charity_pays_500_to_every_opponent_through_the_pause(ruleset: str) -> None:
    state = table(ruleset)
    owed = 500 * len(opponents(ruleset))

    log = draw(state, "charity_dinner")
    assert [(DEBT_OPENED, 0, owed)] == found(log, DEBT_OPENED)
    log = act(state, PAY_DEBT_BY[0])

    assert [(7, 0, other, 500, CASH_CARD) for other in opponents(ruleset)] == cash_moves(log)


@pytest.mark.rule("CHANCE-5", "DEBT-1")
@pytest.mark.parametrize("end", ["pays", "clock", "bankrupt"])
@pytest.mark.parametrize("ruleset", ALL)
def test_birthday_pauses_on_who_has_not_the_cash(ruleset: str, end: str) -> None:
    """Case A-07: one is out, one is short, one pays at once; the short one has its own pause."""
    owns = {} if end == "bankrupt" else {1: (1,)}
    state = table(ruleset, seats=6 if RULESETS[ruleset].sides else 4, cash={1: 50}, owns=owns)
    payer, gone = (5, 3) if RULESETS[ruleset].sides else (2, 3)
    state.out_order[gone], state.outs, state.cash[gone] = 1, 1, 0

    log = draw(state, "birthday")
    assert [(7, payer, 0, 200, CASH_CARD)] == cash_moves(log)
    assert (PHASE_PAYMENT, [1]) == (awaited_phase(state), actors(state))
    assert 75 <= step_seconds(state)
    assert 0 == state.turn_seat
    if end == "pays":
        act(state, MORTGAGE_BY[1][1])
        act(state, PAY_DEBT_BY[1])
    elif end == "clock":
        time_out(state)
    else:
        log = act(state, DECLARE_BANKRUPTCY_BY[1])
        assert [(ELIMINATED, 1, 2)] == found(log, ELIMINATED)

    assert (0 if end == "bankrupt" else 150) == state.cash[1]
    assert 15_000 + 200 + (50 if end == "bankrupt" else 200) == state.cash[0]
    assert 0 == state.missed[1]
    assert [2 if end == "bankrupt" else 1] == actors(state)


@pytest.mark.rule("CHANCE-5")
@pytest.mark.parametrize("ruleset", ALL)
def test_two_short_payers_are_awaited_in_seat_order(ruleset: str) -> None:
    state = table(ruleset, cash={1: 150, 3: 100}, owns={1: (1,), 3: (3,)})

    draw(state, "birthday")
    assert [1] == actors(state)
    time_out(state)
    assert [3] == actors(state)
    time_out(state)

    assert [1] == actors(state)
    assert PHASE_ROLL == awaited_phase(state)


@pytest.mark.rule("CHANCE-5")
@pytest.mark.parametrize(("cash", "pauses"), [(200, False), (199, True)])
@pytest.mark.parametrize("ruleset", ALL)
def test_exactly_the_amount_is_taken_at_once(ruleset: str, cash: int, pauses: bool) -> None:
    state = table(ruleset, cash={1: cash}, owns={1: (1,)})

    draw(state, "birthday")

    assert pauses == (PHASE_PAYMENT == awaited_phase(state))
    assert (cash if pauses else 0) == state.cash[1]


@pytest.mark.rule("CHANCE-5", "DEBT-9")
@pytest.mark.parametrize("ruleset", ALL)
def test_debtor_who_waits_behind_another_may_leave(ruleset: str) -> None:
    """Its pause goes, and that of the one who is asked stays."""
    state = table(ruleset, cash={1: 150, 3: 100}, owns={1: (1,), 3: (3,)})
    draw(state, "birthday")

    act(state, (SURRENDER, 3))

    assert (PHASE_PAYMENT, [1]) == (awaited_phase(state), actors(state))
    time_out(state)
    assert [] == state.debts
    assert (PHASE_ROLL, [1]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("CHANCE-6", "RENT-6")
@pytest.mark.statement("R152")
@pytest.mark.parametrize("ruleset", rulesets_with(sides=2))
def test_allies_neither_give_nor_get_by_cards(ruleset: str) -> None:
    state = table(ruleset, seats=6)

    draw(state, "birthday")

    assert [15_600, 14_800, 15_000, 14_800, 15_000, 14_800] == state.cash


# Cards that move


@pytest.mark.rule("CHANCE-3", "CHANCE-4", "TURN-5")
@pytest.mark.statement("R064", "R154")
@pytest.mark.parametrize("ruleset", ALL)
def test_card_moves_to_start_and_is_paid_for_stopping(ruleset: str) -> None:
    state = table(ruleset)

    log = draw(state, "advance_start")

    assert 0 == state.position[0]
    assert 17_000 + RULESETS[ruleset].start_landing_bonus == state.cash[0]
    assert (TOKEN_MOVED, 0, 7, 0, MOVE_CARD_FORWARD) == found(log, TOKEN_MOVED)[-1]


@pytest.mark.rule("CHANCE-3", "CHANCE-4")
@pytest.mark.statement("R064", "R155")
@pytest.mark.parametrize(
    ("name", "square", "origin", "salary"),
    [
        ("to_square_24", 24, 7, 0),
        ("to_square_24", 24, 33, 2_000),
        ("to_square_11", 11, 7, 0),
        ("to_square_11", 11, 22, 2_000),
        ("to_square_39", 39, 36, 0),
    ],
)
@pytest.mark.parametrize("ruleset", ALL)
def test_card_moves_forward_to_a_square_and_is_paid_for_passing_start(
    ruleset: str, name: str, square: int, origin: int, salary: int
) -> None:
    state = table(ruleset)

    log = draw(state, name, square=origin)

    assert square == state.position[0]
    assert salary == paid(log, CASH_SALARY)
    assert (PHASE_BUY, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("CHANCE-3", "CHANCE-4")
@pytest.mark.statement("R157")
@pytest.mark.parametrize(
    ("name", "origin", "square"),
    [
        ("nearest_station", 2, 5),
        ("nearest_station", 7, 15),
        ("nearest_station", 17, 25),
        ("nearest_station", 33, 35),
        ("nearest_station", 36, 5),
        ("nearest_utility", 7, 12),
        ("nearest_utility", 17, 28),
        ("nearest_utility", 33, 12),
    ],
)
@pytest.mark.parametrize("ruleset", ALL)
def test_card_moves_forward_to_the_nearest(
    ruleset: str, name: str, origin: int, square: int
) -> None:
    state = table(ruleset)

    log = draw(state, name, square=origin)

    assert square == state.position[0]
    assert (2_000 if square < origin else 0) == paid(log, CASH_SALARY)


@pytest.mark.rule("CHANCE-4", "RENT-3", "RENT-4", "RENT-1")
@pytest.mark.parametrize("ruleset", ALL)
def test_nearest_owes_the_usual_rent_and_no_double(ruleset: str) -> None:
    """Case A-13: three stations owe 1000, both utilities the roll just made times 100."""
    owns = {1: (5, 15, 25, 12, 28)}

    state = table(ruleset, cash={0: 3_000}, owns=owns, deck=["nearest_station"], at={0: 31})
    roll(state, 3, 2)
    log = act(state, PAY_DEBT_BY[0])
    assert 1_000 == paid(log, CASH_RENT)
    assert 4_000 == state.cash[0]

    state = table(ruleset, owns=owns, deck=["nearest_utility"], at={0: 8})
    roll(state, 4, 5)
    assert 900 == paid(act(state, PAY_DEBT_BY[0]), CASH_RENT)

    state = table(ruleset, owns=owns, deck=["nearest_station"], mortgaged=(25,))
    assert 0 == paid(stop_on(state, 17), CASH_RENT)
    assert [1] == actors(state)

    state = table(ruleset, owns={0: (25,)}, deck=["nearest_station"])
    assert [] == cash_moves(stop_on(state, 17))
    assert [1] == actors(state)

    state = table(ruleset, deck=["nearest_station"])
    assert [] == cash_moves(stop_on(state, 17))
    assert (PHASE_BUY, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("CHANCE-3", "CHANCE-4", "TURN-5", "DEBT-1")
@pytest.mark.statement("R156")
@pytest.mark.parametrize("ruleset", ALL)
def test_card_goes_back_three_onto_the_tax_and_the_double_rolls_again(ruleset: str) -> None:
    """Case A-12: from 7 back onto the tax of 2000, reached by a double."""
    state = table(ruleset, cash={0: 2_500}, at={0: 3}, deck=["back_three"])

    log = roll(state, 2, 2)
    assert (TOKEN_MOVED, 0, 7, 4, MOVE_CARD_BACK) == found(log, TOKEN_MOVED)[-1]
    log = act(state, PAY_DEBT_BY[0])

    assert 2_000 == paid(log, CASH_TAX)
    assert 500 == state.cash[0]
    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("CHANCE-4", "TURN-5")
@pytest.mark.statement("R156")
@pytest.mark.parametrize("ruleset", ALL)
def test_going_back_over_start_pays_nothing(ruleset: str) -> None:
    """Case A-12, variant: from 2 back onto 39."""
    state = table(ruleset)

    log = draw(state, "back_three", square=2)

    assert 39 == state.position[0]
    assert [] == cash_moves(log)
    assert (PHASE_BUY, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("CHANCE-4")
@pytest.mark.parametrize("ruleset", ALL)
def test_going_back_onto_chance_draws_again_and_onto_30_jails(ruleset: str) -> None:
    state = table(ruleset, deck=["back_three", "repairs"])
    log = stop_on(state, 36)
    assert [card("back_three"), card("repairs")] == [event[2] for event in found(log, CARD_DRAWN)]
    assert 33 == state.position[0]

    state = table(ruleset, deck=["back_three"])
    log = stop_on(state, 33)
    assert 1 == len(found(log, JAILED))
    assert 10 == state.position[0]


# Decks of modes


@pytest.mark.rule("CHANCE-7")
@pytest.mark.statement("R030")
def test_halal_keeps_every_effect() -> None:
    assert STANDARD == DECKS["halal"]
    assert ["full"] == [RULESETS[name].edition for name in rulesets_with(deck="halal")]


@pytest.mark.rule("CHANCE-8")
@pytest.mark.statement("R034")
def test_fortune_replaces_three_cards() -> None:
    changed = {
        CARD_IDS[number]: DECKS["fortune"][number][0]
        for number in range(16)
        if DECKS["fortune"][number] != STANDARD[number]
    }

    assert {
        "year_end_bonus": WEALTH_GOD,
        "charity_dinner": RED_PACKET,
        "tax_audit": MISFORTUNE_GOD,
    } == changed


@pytest.mark.rule("CHANCE-8", "GOD-1")
@pytest.mark.statement("R037", "R038")
@pytest.mark.parametrize(
    ("name", "god"), [("year_end_bonus", GOD_WEALTH), ("tax_audit", GOD_MISFORTUNE)]
)
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_cards_bring_gods_in_place_of_money(ruleset: str, name: str, god: int) -> None:
    state = table(ruleset, round_number=4)

    log = draw(state, name)

    assert [(GOD_ARRIVED, 0, god, 7)] == found(log, GOD_ARRIVED)
    assert [] == cash_moves(log)
    assert [1] == actors(state)


@pytest.mark.rule("CHANCE-8", "CHANCE-5")
@pytest.mark.statement("R040")
@pytest.mark.parametrize(
    ("cuts", "shares"),
    [
        ([400, 1_100], [400, 700, 400]),
        ([1_100, 400], [400, 700, 400]),
        ([0, 1_500], [0, 1_500, 0]),
        ([1, 2], [1, 1, 1_498]),
    ],
)
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_red_packet_splits_the_same_total_at_drawn_points(
    ruleset: str, cuts: list[int], shares: list[int]
) -> None:
    state = table(ruleset, deck=["charity_dinner"], at={0: 4})

    log = act(state, ROLL_BY[0], dice=(1, 2), packet=cuts)
    assert [1_500] == [event[2] for event in found(log, DEBT_OPENED)]
    assert shares == [event[3] for event in found(log, PACKET_OPENED)]
    act(state, PAY_DEBT_BY[0])

    assert [13_500, *[15_000 + share for share in shares]] == state.cash


@pytest.mark.rule("CHANCE-8", "DEBT-5")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_red_packet_beyond_ones_means_is_shared_by_its_drawn_claims(ruleset: str) -> None:
    """Of 1500 owed as 400, 700 and 400, the 901 at hand give three fifths, and one to the bank."""
    state = table(ruleset, deck=["charity_dinner"], at={0: 4}, cash={0: 901})
    act(state, ROLL_BY[0], dice=(1, 2), packet=[400, 1_100])

    log = act(state, DECLARE_BANKRUPTCY_BY[0])

    assert [0, 15_240, 15_420, 15_240] == state.cash
    assert 1 == paid(log, CASH_FORFEIT)
    assert 1 == state.out_order[0]


@pytest.mark.rule("CHANCE-8")
@pytest.mark.statement("R040")
@pytest.mark.parametrize("ruleset", FORTUNE)
def test_red_packet_of_two_goes_whole_to_the_other(ruleset: str) -> None:
    state = table(ruleset, seats=2)

    log = draw(state, "charity_dinner")

    assert [(PACKET_OPENED, 0, 1, 500)] == found(log, PACKET_OPENED)


@pytest.mark.rule("CHANCE-5", "RTAX-2")
@pytest.mark.statement("R188")
@pytest.mark.parametrize("ruleset", ALL)
def test_card_money_is_never_rent_taxed(ruleset: str) -> None:
    late = min(250, RULESETS[ruleset].round_cap)
    state = table(ruleset, round_number=late)
    draw(state, "birthday")
    assert 15_000 + 200 * len(opponents(ruleset)) == state.cash[0]

    state = table(ruleset, round_number=late)
    log = draw(state, "charity_dinner")
    log += act(state, PAY_DEBT_BY[0])

    assert 500 * len(opponents(ruleset)) == paid(log, CASH_CARD)
    assert 0 == paid(log, CASH_RENT_TAX)


@pytest.mark.rule("CHANCE-4", "BUY-1")
@pytest.mark.parametrize("ruleset", ALL)
def test_square_reached_by_card_is_bought_as_usual(ruleset: str) -> None:
    state = table(ruleset)
    draw(state, "to_square_11")

    act(state, BUY_BY[0])

    assert 0 == state.owner[11]
    assert 13_600 == state.cash[0]


@pytest.mark.rule("CHANCE-4", "BUY-2")
@pytest.mark.parametrize("ruleset", ALL)
def test_square_reached_by_card_is_auctioned_to_who_can_pay(ruleset: str) -> None:
    state = table(ruleset, cash={0: 100})

    draw(state, "to_square_11")

    assert PHASE_AUCTION == awaited_phase(state)
    assert NOBODY == state.owner[11]
    assert is_legal(state, BID_BY[1])


@pytest.mark.rule("CHANCE-1")
def test_deck_of_a_made_up_ruleset_is_cycled() -> None:
    state = table(rules("classic@guide"), deck=["dividend"])
    state.deck_at = 15

    stop_on(state, 7)

    assert 0 == state.deck_at
