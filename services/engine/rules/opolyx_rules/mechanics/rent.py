"""Rent and the rent tax (RENT, RTAX)."""

from opolyx_rules.content.boards import GROUP, KIND, RENTS, STATION, STREET
from opolyx_rules.ids import GOD_MISFORTUNE, GOD_WEALTH, NOBODY, THIRD_BUS, Seat, Square
from opolyx_rules.queries import are_allies, held_in_group, holds_group
from opolyx_rules.state import State


def rent_due(state: State, square: Square, tenant: Seat) -> int:
    """Rent that `tenant` owes for stopping on `square`, in k, before tax.

    0 if it is unowned, mortgaged, the tenant's own or an ally's. Card and gods add up and are
    rounded down once, at the end. Rules RENT-1 to RENT-8, GOD-1.
    """
    owner = state.owner[square]
    if owner in (NOBODY, tenant) or state.mortgaged[square]:
        return 0
    if are_allies(state, owner, tenant):
        return 0
    share = 10_000 + card_bonus(state, square) + _god_bonus(state, owner, tenant)
    return base_rent(state, square) * share // 10_000


def base_rent(state: State, square: Square) -> int:
    """Rent of an owned property without card and gods, in k (RENT-2 to RENT-4)."""
    owner = state.owner[square]
    group = GROUP[square]
    kind = KIND[square]
    if kind == STREET:
        level = state.level[square]
        rent = RENTS[square][level]
        return rent * 2 if level == 0 and holds_group(state, owner, group) else rent
    held = held_in_group(state, owner, group)
    if kind == STATION:
        return RENTS[square][held - 1]
    return RENTS[square][held - 1] * dice_total(state)


def dice_total(state: State) -> int:
    """The last roll's sum; a number on the third die counts (RENT-4)."""
    third = state.dice[2]
    return state.dice[0] + state.dice[1] + (third if third < THIRD_BUS else 0)


def card_bonus(state: State, square: Square) -> int:
    """What the owner's best collection card for this square adds, in bp (RENT-5)."""
    ruleset = state.ruleset
    if not ruleset.collection_bonus:
        return 0
    return min(state.cards[state.owner[square]][square], ruleset.collection_cap_bp)


def rent_tax_rate(state: State) -> int:
    """Share of rents that is withheld in this round, in bp (RTAX-1)."""
    ruleset = state.ruleset
    first, full = ruleset.rent_tax_from, ruleset.rent_tax_full
    if state.round < first:
        return 0
    reached = min(state.round, full) - first + 1
    return ruleset.rent_tax_max_bp * reached // (full - first + 1)


def _god_bonus(state: State, owner: Seat, tenant: Seat) -> int:
    bonus = 0
    if state.god[owner] == GOD_WEALTH:
        bonus += state.ruleset.god_bp
    if state.god[tenant] == GOD_MISFORTUNE:
        bonus += state.ruleset.god_bp
    return bonus
