"""Questions about a state that several rules ask. Nothing here changes anything."""

from functools import cache

from opolyx_rules.content.boards import BUILD_COST, GROUP, GROUPS, PRICE, PROPERTIES
from opolyx_rules.ids import (
    LAST_PHASE,
    NOBODY,
    PHASE_AUCTION,
    PHASE_NONE,
    PHASE_PAYMENT,
    Seat,
    Square,
)
from opolyx_rules.ruleset import FINANCING_LOAN, FINANCING_NONE, Ruleset
from opolyx_rules.state import Debt, State


def side_of(state: State, seat: Seat) -> int:
    """The side of a seat; outside Team mode each seat is its own (TABLE-2)."""
    sides = state.ruleset.sides
    return seat % sides if sides else seat


def are_allies(state: State, one: Seat, other: Seat) -> bool:
    """Whether two different seats win together."""
    return one != other and side_of(state, one) == side_of(state, other)


def is_in(state: State, seat: Seat) -> bool:
    """Whether a seat is still in the game."""
    return state.out_order[seat] == 0


def seats_in(state: State) -> list[Seat]:
    """The seats still in, ascending."""
    return [seat for seat in range(state.seats) if state.out_order[seat] == 0]


def opponents_after(state: State, seat: Seat) -> list[Seat]:
    """Opponents still in, in seat order from the seat after `seat`; allies are none (CHANCE-6)."""
    found = []
    for step in range(1, state.seats):
        other = (seat + step) % state.seats
        if state.out_order[other] == 0 and not are_allies(state, seat, other):
            found.append(other)
    return found


def awaited_phase(state: State) -> int:
    """The kind of decision awaited; PHASE_NONE when the game is over."""
    if state.over or not state.stack:
        return PHASE_NONE
    phase = state.stack[-1][0]
    return phase if phase <= LAST_PHASE else PHASE_NONE


def awaited_seat(state: State) -> Seat:
    """The seat that is awaited; NOBODY when the game is over."""
    return state.stack[-1][1] if awaited_phase(state) else NOBODY


def current_step(state: State) -> int:
    """Names the step: a clock starts afresh whenever this changes (CLOCK-2)."""
    return state.stack[-1][3] if state.stack else 0


def step_seconds(state: State) -> int:
    """The clock of the current step, in seconds (CLOCK-1, AUCTION-6, DEBT-3)."""
    phase = awaited_phase(state)
    if phase == PHASE_AUCTION:
        return state.ruleset.auction_seconds
    if phase == PHASE_PAYMENT:
        return max(state.ruleset.turn_seconds, state.ruleset.payment_seconds)
    return state.ruleset.turn_seconds


def holds_group(state: State, seat: Seat, group: int) -> bool:
    """Whether every property of the group is the seat's."""
    owner = state.owner
    for square in GROUPS[group]:
        if owner[square] != seat:
            return False
    return True


def held_in_group(state: State, seat: Seat, group: int) -> int:
    """How many properties of the group are the seat's, mortgaged ones counted (RENT-3)."""
    owner = state.owner
    count = 0
    for square in GROUPS[group]:
        if owner[square] == seat:
            count += 1
    return count


def group_built(state: State, group: int) -> bool:
    """Whether any property of the group has a building."""
    for square in GROUPS[group]:
        if state.level[square]:
            return True
    return False


def group_mortgaged(state: State, group: int) -> bool:
    """Whether any property of the group is mortgaged."""
    for square in GROUPS[group]:
        if state.mortgaged[square]:
            return True
    return False


def full_colour_groups(state: State, seat: Seat) -> int:
    """How many of the eight colour groups are the seat's (END-5)."""
    return len(state.whole[seat])


def is_financed(state: State, square: Square) -> bool:
    """Whether the property is financed and not paid off (FIN-3)."""
    owner = state.owner[square]
    return owner != NOBODY and state.financed[owner] == square


def levels_owned(state: State, seat: Seat) -> int:
    """Building levels on all of the seat's streets."""
    return sum([state.level[square] for square in state.held[seat]])


def mortgage_value(square: Square) -> int:
    """What mortgaging pays: half the list price (MORT-1)."""
    return PRICE[square] // 2


def redeem_cost(state: State, square: Square) -> int:
    """What redeeming costs (MORT-2)."""
    return redeem_costs(state.ruleset.mortgage_interest_bp)[square]


@cache
def redeem_costs(interest_bp: int) -> tuple[int, ...]:
    """What redeeming costs by square, at an interest in bp (MORT-2)."""
    halves = [price // 2 for price in PRICE]
    return tuple([half + half * interest_bp // 10_000 for half in halves])


def sale_value(square: Square) -> int:
    """What the bank pays for one level: half its cost (BUILD-4)."""
    return BUILD_COST[square] // 2


def liquidation_value(state: State, seat: Seat) -> int:
    """What selling and mortgaging everything would bring, without the cash (DEBT-4, FIN-3)."""
    total = 0
    financed = state.financed[seat]
    for square in state.held[seat]:
        total += state.level[square] * (BUILD_COST[square] // 2)
        if not state.mortgaged[square] and square != financed:
            total += PRICE[square] // 2
    return total


def financing_owed(state: State, seat: Seat) -> int:
    """What paying off the financed property costs now; 0 without one (FIN-1, FIN-2)."""
    square = state.financed[seat]
    if square == NOBODY:
        return 0
    return financing_price(state.ruleset, square, state.round - state.financed_round[seat])


def financing_price(ruleset: Ruleset, square: Square, elapsed: int) -> int:
    """What a financed property costs so many rounds later; 0 where nothing can be financed.

    Murabaha costs the whole surcharge from the start (FIN-1); a loan's grows evenly (FIN-2).
    """
    policy, rounds = ruleset.financing, ruleset.financing_rounds
    if policy == FINANCING_NONE:
        return 0
    grown = min(elapsed, rounds) if policy == FINANCING_LOAN else rounds
    return PRICE[square] + PRICE[square] * ruleset.financing_bp * grown // (rounds * 10_000)


def net_worth(state: State, seat: Seat) -> int:
    """What a seat is worth (END-3); 0 when it is out."""
    if state.out_order[seat]:
        return 0
    total = state.cash[seat] - financing_owed(state, seat)
    level, mortgaged = state.level, state.mortgaged
    for square in state.held[seat]:
        price = PRICE[square]
        total += price // 2 if mortgaged[square] else price
        if level[square]:
            total += level[square] * BUILD_COST[square]
    return total


def debt_of(state: State, seat: Seat) -> Debt | None:
    """The open debt of a seat."""
    for debt in state.debts:
        if debt[0] == seat:
            return debt
    return None


def debt_total(debt: Debt) -> int:
    """The sum of a debt's claims."""
    return sum([claim[1] for claim in debt[1]])


def next_bid(state: State) -> int:
    """The only amount that can be bid now (AUCTION-2)."""
    if state.auction_leader == NOBODY:
        return PRICE[state.auction_square]
    return state.auction_bid + state.ruleset.auction_step


def trade_value(state: State, cash: int, mask: int) -> int:
    """Worth of one side of a trade (TRADE-5)."""
    total = cash
    for square in PROPERTIES:
        if mask >> square & 1:
            total += PRICE[square] // 2 if state.mortgaged[square] else PRICE[square]
    return total


def lowest_level(state: State, group: int) -> int:
    """The lowest building level of a group."""
    level = state.level
    return min([level[square] for square in GROUPS[group]])


def highest_level(state: State, group: int) -> int:
    """The highest building level of a group."""
    level = state.level
    return max([level[square] for square in GROUPS[group]])


def group_of(square: Square) -> int:
    """The group of a property; NO_GROUP elsewhere."""
    return GROUP[square]
