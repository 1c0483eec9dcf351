"""Rent: what is owed, to whom, and what raises it (RENT)."""

import pytest

from opolyx_rules import State, actors, get_ruleset
from opolyx_rules import events as ev
from opolyx_rules.actions import PAY_DEBT_BY
from opolyx_rules.content.boards import GROUPS, KIND, PROPERTIES, RENTS, STREET
from opolyx_rules.ids import (
    BANK,
    CASH_RENT,
    CASH_RENT_TAX,
    GOD_MISFORTUNE,
    GOD_WEALTH,
    PHASE_PAYMENT,
    THIRD_BUS,
    THIRD_X,
)
from opolyx_rules.mechanics.rent import rent_due
from opolyx_rules.queries import awaited_phase
from opolyx_rules.ruleset import NEVER
from support_rules import (
    ALL,
    act,
    cash_moves,
    draw,
    found,
    roll,
    rules,
    rulesets_with,
    stop_on,
    table,
)

STREETS = [square for square in range(40) if KIND[square] == STREET]
STATIONS = (5, 15, 25, 35)
UTILITIES = (12, 28)


def owed(state: State, square: int, dice: tuple[int, int, int] = (1, 2, 0)) -> int:
    """Rent for the seat on turn that stops there by this roll; paid, if any."""
    log = stop_on(state, square, dice=dice)
    charged = found(log, ev.RENT_CHARGED)
    return charged[0][4] if charged else 0


@pytest.mark.rule("RENT-1")
@pytest.mark.statement("R098", "R105")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("square", [1, 5, 12, 39])
def test_another_s_property_owes_rent_and_mortgaged_does_not(name: str, square: int) -> None:
    free = table(name, owns={1: (square,)})
    mortgaged = table(name, owns={1: (square,)}, mortgaged=[square])

    assert owed(free, square) > 0
    assert PHASE_PAYMENT == awaited_phase(free)
    assert 0 == owed(mortgaged, square)
    assert ([1], 15_000) == (actors(mortgaged), mortgaged.cash[0])


@pytest.mark.rule("RENT-1")
@pytest.mark.statement("R058")
@pytest.mark.parametrize("name", ALL)
def test_one_s_own_property_owes_nothing(name: str) -> None:
    state = table(name, owns={0: (39,)})

    assert 0 == owed(state, 39)
    assert [1] == actors(state)


@pytest.mark.rule("RENT-2")
@pytest.mark.parametrize("square", STREETS)
def test_a_lone_street_charges_its_base_rent(square: int) -> None:
    assert RENTS[square][0] == owed(table(owns={1: (square,)}), square)


@pytest.mark.rule("RENT-2")
@pytest.mark.statement("R099")
@pytest.mark.parametrize("square", STREETS)
def test_a_street_charges_by_its_buildings(square: int) -> None:
    group = next(squares for squares in GROUPS if square in squares)
    for level in (1, 2, 3, 4, 5):
        state = table(owns={1: group}, levels=dict.fromkeys(group, level))
        assert RENTS[square][level] == owed(state, square)


@pytest.mark.rule("RENT-2")
@pytest.mark.statement("R100")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("group", GROUPS[:8])
def test_a_whole_unbuilt_group_doubles_the_base_rent(name: str, group: tuple[int, ...]) -> None:
    whole, lacking = table(name, owns={1: group}), table(name, owns={1: group[1:]})
    shared = table(name, owns={1: group[1:], 3: group[:1]})

    for square in group[1:]:
        assert 2 * RENTS[square][0] == owed(whole.clone(), square)
        assert RENTS[square][0] == owed(lacking.clone(), square)
        assert RENTS[square][0] == owed(shared.clone(), square)


@pytest.mark.rule("RENT-2")
@pytest.mark.parametrize("name", ALL)
def test_a_mortgage_elsewhere_in_the_group_keeps_the_double(name: str) -> None:
    state = table(name, owns={1: (6, 8, 9)}, mortgaged=[6])

    assert 0 == owed(state.clone(), 6)
    assert 120 == owed(state.clone(), 8)
    assert 160 == owed(state.clone(), 9)


@pytest.mark.rule("RENT-2")
@pytest.mark.parametrize("name", ALL)
def test_an_unbuilt_street_beside_a_built_one_keeps_the_double(name: str) -> None:
    state = table(name, owns={1: (6, 8, 9)}, levels={6: 1})

    assert (300, 120) == (owed(state.clone(), 6), owed(state.clone(), 8))


@pytest.mark.rule("RENT-3")
@pytest.mark.statement("R101", "R102")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("square", STATIONS)
def test_stations_charge_by_how_many_one_holds(name: str, square: int) -> None:
    others = [station for station in STATIONS if station != square]
    for held, rent in enumerate((250, 500, 1000, 2000)):
        state = table(name, owns={1: [square, *others[:held]]})
        assert rent == owed(state, square)


@pytest.mark.rule("RENT-3")
@pytest.mark.parametrize("name", ALL)
def test_mortgaged_stations_count_and_others_stations_do_not(name: str) -> None:
    state = table(name, owns={1: (5, 15, 25), 3: (35,)}, mortgaged=[15, 25])

    assert 1000 == owed(state.clone(), 5)
    assert 0 == owed(state.clone(), 15)
    assert 250 == owed(state.clone(), 35)


@pytest.mark.rule("RENT-4")
@pytest.mark.statement("R103", "R104")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("square", UTILITIES)
def test_utilities_charge_the_dice_times_40_or_times_100(name: str, square: int) -> None:
    one, both = table(name, owns={1: (square,)}), table(name, owns={1: UTILITIES})

    assert 11 * 40 == owed(one.clone(), square, (5, 6, 0))
    assert 11 * 100 == owed(both.clone(), square, (5, 6, 0))
    assert 2 * 40 == owed(one.clone(), square, (1, 1, 0))


@pytest.mark.rule("RENT-4")
def test_the_roll_that_led_to_the_utility_counts() -> None:
    state = table(owns={1: (12,)}, at={0: 3})
    log = roll(state, 4, 5)

    assert [(ev.RENT_CHARGED, 0, 1, 12, 360, 0, 0)] == found(log, ev.RENT_CHARGED)


@pytest.mark.rule("RENT-4")
@pytest.mark.parametrize("name", [name for name in ALL if get_ruleset(name).third_die_from < NEVER])
@pytest.mark.parametrize(("face", "counted"), [(0, 1), (1, 2), (2, 3)])
def test_a_number_on_the_third_die_counts_as_dice(name: str, face: int, counted: int) -> None:
    state = table(name, owns={1: (12,)}, at={0: 12 - 9 - counted}, round_number=7)
    log = roll(state, 4, 5, third=[face])

    assert (12, (9 + counted) * 40) == (state.position[0], found(log, ev.RENT_CHARGED)[0][4])


@pytest.mark.rule("RENT-4")
@pytest.mark.parametrize("third", [THIRD_BUS, THIRD_X])
def test_the_third_die_s_bus_and_x_count_nothing(third: int) -> None:
    state = table("speed@full", owns={1: (12,)}, round_number=7)

    assert 9 * 40 == owed(state, 12, (4, 5, third))


@pytest.mark.rule("RENT-4")
@pytest.mark.parametrize("name", ALL)
def test_after_a_card_the_last_roll_counts(name: str) -> None:
    state = table(name, owns={1: (12,)}, at={0: 2}, deck=["nearest_utility"])
    log = roll(state, 1, 4)

    assert (12, 5 * 40) == (state.position[0], found(log, ev.RENT_CHARGED)[0][4])


@pytest.mark.rule("RENT-5")
@pytest.mark.statement("R106", "R107")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(("bonus", "rent"), [(300, 14_420), (800, 15_120), (1800, 16_520)])
def test_a_card_of_the_square_raises_its_rent_where_cards_count(
    name: str, bonus: int, rent: int
) -> None:
    state = table(name, owns={1: (37, 39)}, levels={37: 3, 39: 3}, cards={1: {39: bonus}})
    counts = get_ruleset(name).collection_bonus

    assert (rent if counts else 14_000) == owed(state.clone(), 39)
    assert 11_000 == owed(state.clone(), 37)


@pytest.mark.rule("RENT-5")
@pytest.mark.statement("R109", "R107")
def test_a_card_adds_no_more_than_a_third() -> None:
    legendary = table(owns={1: (39,)}, cards={1: {39: 3300}})
    beyond = table(owns={1: (39,)}, cards={1: {39: 9000}})

    assert (665, 665) == (owed(legendary, 39), owed(beyond, 39))


@pytest.mark.rule("RENT-5")
def test_only_the_owner_s_card_counts_and_it_goes_with_the_seat() -> None:
    state = table(owns={1: (39,)}, cards={0: {39: 3300}, 2: {39: 3300}})
    assert 500 == owed(state.clone(), 39)

    state.give(39, 2)
    assert 665 == owed(state, 39)


@pytest.mark.rule("RENT-5")
def test_the_tenant_pays_the_bonus_and_cards_never_change() -> None:
    held = {1: {39: 3300}}
    state = table(owns={1: (39,)}, cards=held)
    held[1][39] = 0
    stop_on(state, 39)
    act(state, PAY_DEBT_BY[0])

    assert [15_000 - 665, 15_000 + 665] == state.cash[:2]
    assert isinstance(state.cards, tuple)
    assert isinstance(state.cards[1], tuple)


@pytest.mark.rule("RENT-6")
@pytest.mark.statement("R021")
@pytest.mark.parametrize("name", rulesets_with(sides=2))
@pytest.mark.parametrize("square", PROPERTIES)
def test_allies_owe_each_other_nothing(name: str, square: int) -> None:
    ally, rival = table(name, owns={2: (square,)}), table(name, owns={1: (square,)})

    assert 0 == owed(ally, square)
    assert ([1], 15_000) == (actors(ally), ally.cash[0])
    assert owed(rival, square) > 0


@pytest.mark.rule("RENT-6")
@pytest.mark.parametrize("name", rulesets_with(sides=0))
def test_without_sides_everybody_owes_everybody(name: str) -> None:
    assert 500 == owed(table(name, owns={2: (39,)}), 39)


@pytest.mark.rule("RENT-7")
@pytest.mark.parametrize(
    ("card_bp", "wealth", "misfortune", "rent"),
    [
        (0, False, False, 20),
        (800, False, False, 21),  # 21.6
        (0, True, False, 30),
        (0, False, True, 30),
        (0, True, True, 40),  # not 45: boosts add
        (3300, True, True, 46),  # 46.6
        (300, True, False, 30),  # 30.6
    ],
)
def test_boosts_add_up_and_round_down_once(
    card_bp: int, wealth: bool, misfortune: bool, rent: int
) -> None:
    state = table("fortune@full", owns={1: (1,)}, cards={1: {1: card_bp}})
    state.god[1] = GOD_WEALTH if wealth else GOD_MISFORTUNE  # the owner's misfortune adds nothing
    state.god[0] = GOD_MISFORTUNE if misfortune else GOD_WEALTH  # the tenant's wealth neither

    assert rent == rent_due(state, 1, 0)
    assert rent == owed(state, 1)


@pytest.mark.rule("RENT-7")
def test_the_double_of_a_whole_group_is_boosted_like_any_rent() -> None:
    state = table("fortune@full", owns={1: (1, 3)}, cards={1: {3: 1800}})
    state.god[1] = GOD_WEALTH

    assert 80 * 16_800 // 10_000 == owed(state, 3)


@pytest.mark.rule("RENT-8")
@pytest.mark.parametrize("name", ALL)
def test_an_owner_in_jail_collects(name: str) -> None:
    state = table(name, owns={1: (39,)}, jailed={1: 1})
    stop_on(state, 39)
    act(state, PAY_DEBT_BY[0])

    assert 15_500 == state.cash[1]


@pytest.mark.rule("RENT-9")
@pytest.mark.parametrize("name", ALL)
def test_rent_is_a_debt_and_nothing_is_taken_before_it_is_paid(name: str) -> None:
    state = table(name, owns={1: (39,)})
    log = stop_on(state, 39)

    assert [(ev.DEBT_OPENED, 0, 500)] == found(log, ev.DEBT_OPENED)
    assert [15_000] * 4 == state.cash
    log = act(state, PAY_DEBT_BY[0])
    assert [(ev.CASH_MOVED, 0, 1, 500, CASH_RENT)] == cash_moves(log)
    assert [14_500, 15_500] == state.cash[:2]


@pytest.mark.rule("RENT-9")
@pytest.mark.statement("R183")
@pytest.mark.parametrize("name", rulesets_with(rent_tax_from=100))
def test_what_is_withheld_leaves_the_game(name: str) -> None:
    state = table(name, owns={1: (37, 39)}, levels={37: 3, 39: 3}, round_number=150)
    log = stop_on(state, 39)
    assert [(ev.RENT_CHARGED, 0, 1, 39, 14_000, 0, 4999)] == found(log, ev.RENT_CHARGED)

    log = act(state, PAY_DEBT_BY[0])
    withheld = 14_000 * 4999 // 10_000
    assert [
        (ev.CASH_MOVED, 0, 1, 14_000 - withheld, CASH_RENT),
        (ev.CASH_MOVED, 0, BANK, withheld, CASH_RENT_TAX),
    ] == cash_moves(log)
    assert [1000, 15_000 + 14_000 - withheld] == state.cash[:2]


@pytest.mark.rule("RENT-9")
def test_a_card_that_sends_to_a_station_charges_its_plain_rent() -> None:
    state = table(owns={1: (15,)})
    log = draw(state, "nearest_station")

    assert 250 == found(log, ev.RENT_CHARGED)[0][4]


@pytest.mark.rule("RENT-9")
def test_a_tax_of_all_leaves_the_owner_nothing() -> None:
    """A house may set the height to 100 %: then the whole rent leaves the game."""
    ruleset = rules(rent_tax_from=1, rent_tax_full=1, rent_tax_max_bp=10_000)
    state = table(ruleset, owns={1: (1,)})
    stop_on(state, 1)
    log = act(state, PAY_DEBT_BY[0])

    assert [(ev.CASH_MOVED, 0, BANK, 20, CASH_RENT_TAX)] == cash_moves(log)
