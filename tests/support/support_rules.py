"""Tables of the rules core for tests: any state in one call, scripted dice, sound after each step.

A table starts before the roll of `turn`, with the deck in the order of CHANCE-3:

```python
state = table("speed@full", seats=3, cash={0: 900}, owns={1: (5, 15)}, round_number=40)
events = roll(state, 2, 3)  # seat 0 walks from Start to square 5
assert [(1, 500)] == [(move[2], move[3]) for move in cash_moves(act(state, PAY_DEBT_BY[0]))]
```
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from opolyx_rules import (
    RULESETS,
    Action,
    Event,
    Refusal,
    Ruleset,
    ScriptedChance,
    State,
    actors,
    apply,
    check,
    get_ruleset,
    legal_actions,
    start,
)
from opolyx_rules import events as ev
from opolyx_rules.actions import (
    KIND,
    LAPSE_OFFER,
    PROPOSE_TRADE,
    ROLL_BY,
    SEAT,
    SURRENDER,
    TIME_OUT,
    TIME_OUT_BY,
)
from opolyx_rules.chance import PACKET, WAGER
from opolyx_rules.codec import encode
from opolyx_rules.content.boards import COLOUR_GROUPS, GROUP, GROUPS, PROPERTIES
from opolyx_rules.content.decks import CARD_IDS
from opolyx_rules.ids import (
    BANK,
    FRAME_LAND,
    FRAME_TURN,
    NOBODY,
    PHASE_JAIL,
    PHASE_ROLL,
)
from opolyx_rules.mechanics.turns import advance
from opolyx_rules.queries import awaited_phase, group_built, group_mortgaged

ALL: Final = sorted(RULESETS)
"""Name of every ruleset: what a test of a rule that holds everywhere is parametrised over."""

UNLISTED: Final = (PROPOSE_TRADE, SURRENDER, TIME_OUT, LAPSE_OFFER)
"""Kinds of actions that are legal without being on the list of legal actions."""


def rulesets_with(**fields: object) -> list[str]:
    """Names of the rulesets in which each of these fields has this value."""
    return [
        name
        for name in ALL
        if all(getattr(RULESETS[name], field) == value for field, value in fields.items())
    ]


def rules(name: str = "classic@full", **changes: Any) -> Ruleset:
    """A ruleset with some fields changed, for numbers that no preset has."""
    return replace(get_ruleset(name), **changes)


def table(
    ruleset: str | Ruleset = "classic@full",
    *,
    seats: int = 4,
    cash: int | Mapping[int, int] | Sequence[int] = 15_000,
    owns: Mapping[int, Collection[int]] | None = None,
    levels: Mapping[int, int] | None = None,
    mortgaged: Collection[int] | Mapping[int, int] = (),
    at: Mapping[int, int] | None = None,
    jailed: Mapping[int, int] | None = None,
    out: Sequence[int] = (),
    round_number: int = 1,
    turn: int = 0,
    first: int = 0,
    deck: Sequence[str] = (),
    cards: dict[int, dict[int, int]] | None = None,
    vip: tuple[int, ...] = (),
) -> State:
    """A game in which `turn` is to roll.

    Args:
        ruleset: Name of a ruleset, or one that `rules` made.
        seats: Number of seats.
        cash: Of all seats, of each seat, or of some by seat (the others have 15,000).
        owns: Squares owned, by seat.
        levels: Building levels by square; the squares are owned by whom `owns` says.
        mortgaged: Squares mortgaged in this round, or the round of each by square.
        at: Square of the token by seat; Start otherwise.
        jailed: Failed attempts of the seats in jail.
        out: Seats that are out, the first to go first.
        round_number: Round.
        turn: Seat on turn.
        first: Seat that had the first turn.
        deck: Ids of the next cards, drawn before the others.
        cards: Bonus of collection cards in bp, by seat, by square.
        vip: Seats that may finance.
    """
    made = get_ruleset(ruleset) if isinstance(ruleset, str) else ruleset
    state = start(made, seats, ScriptedChance(), cards=cards, vip=vip)
    state.round, state.first_seat, state.turn_seat = round_number, first, turn
    _set_cash(state, cash)
    for seat, squares in (owns or {}).items():
        for square in squares:
            state.give(square, seat)
    for square, level in (levels or {}).items():
        state.level[square] = level
    rounds = mortgaged if isinstance(mortgaged, Mapping) else dict.fromkeys(mortgaged, round_number)
    for square, since in rounds.items():
        state.mortgaged[square] = since
    for seat, square in (at or {}).items():
        state.position[seat] = square
    for seat, attempts in (jailed or {}).items():
        state.position[seat], state.jailed[seat], state.attempts[seat] = 10, 1, attempts
    for order, seat in enumerate(out, start=1):
        state.out_order[seat], state.outs, state.cash[seat] = order, order, 0
    stack_deck(state, *deck)
    state.stack.clear()
    state.push(FRAME_TURN, turn)
    state.push(PHASE_JAIL if state.jailed[turn] else PHASE_ROLL, turn)
    return state


def _set_cash(state: State, cash: int | Mapping[int, int] | Sequence[int]) -> None:
    if isinstance(cash, int):
        state.cash = [cash] * state.seats
    elif isinstance(cash, Mapping):
        state.cash = [cash.get(seat, 15_000) for seat in range(state.seats)]
    else:
        state.cash = list(cash)


def stack_deck(state: State, *ids: str) -> None:
    """Make these the next cards, the others after them in the order of CHANCE-3."""
    chosen = [card(name) for name in ids]
    state.deck = chosen + [number for number in range(len(CARD_IDS)) if number not in chosen]
    state.deck_at = 0


def card(name: str) -> int:
    """Number of the card of this id."""
    return CARD_IDS.index(name)


def act(
    state: State,
    action: Action,
    *,
    dice: Sequence[int] = (),
    third: Sequence[int] = (),
    wager: int | None = None,
    packet: Sequence[int] = (),
) -> list[Event]:
    """Apply an action with scripted chance; the events. Money is conserved, the table is sound.

    Args:
        state: Changed in place.
        action: Must be legal.
        dice: Faces of the white dice, in the order rolled.
        third: Faces of the third die as drawn: 0..5 for 1, 2, 3, bus, X, X.
        wager: Face of the wager's die.
        packet: Cuts of a red packet.
    """
    assert action[KIND] in UNLISTED or action in legal_actions(state, action[SEAT])
    other = {PACKET: list(packet), WAGER: [] if wager is None else [wager - 1]}
    before, decision = sum(state.cash), state.decision
    log = apply(state, action, ScriptedChance(list(dice), list(third), other))
    bank = sum(amount if payer == BANK else 0 for _, payer, _, amount, _ in cash_moves(log))
    bank -= sum(amount if payee == BANK else 0 for _, _, payee, amount, _ in cash_moves(log))
    assert before + bank == sum(state.cash), "cash moved without an event"
    assert state.decision in (decision, decision + 1)
    assert_sound(state)
    return log


def roll(state: State, *dice: int, third: Sequence[int] = ()) -> list[Event]:
    """The awaited seat rolls these dice."""
    return act(state, ROLL_BY[actors(state)[0]], dice=dice, third=third)


def time_out(state: State) -> list[Event]:
    """The awaited seat's clock runs out."""
    return act(state, TIME_OUT_BY[actors(state)[0]])


def stop_on(state: State, square: int, *, dice: tuple[int, int, int] = (1, 2, 0)) -> list[Event]:
    """The seat that is to roll stops on `square` by this roll, without walking: no salary."""
    frame = state.stack.pop()
    assert frame[0] in (PHASE_ROLL, PHASE_JAIL), "no roll is awaited"
    state.dice = list(dice)
    state.position[frame[1]] = square
    state.push(FRAME_LAND, frame[1])
    log: list[Event] = []
    advance(state, ScriptedChance(), log)
    assert_sound(state)
    return log


def draw(state: State, name: str, *, square: int = 7) -> list[Event]:
    """The seat that is to roll stops on a Chance square and draws this card."""
    stack_deck(state, name)
    return stop_on(state, square)


def idle_turn(state: State) -> list[Event]:
    """The awaited seat has a turn in which nothing happens: it ends as a visitor in jail."""
    seat = actors(state)[0]
    if state.jailed[seat]:
        return roll(state, 1, 2)
    third = [0] if state.round >= state.ruleset.third_die_from else []
    state.position[seat] = 7 - len(third)
    return roll(state, 1, 2, third=third)


def idle_until(state: State, seat: int, round_number: int | None = None) -> list[Event]:
    """Idle turns until `seat` is to roll, in this round if one is named; all their events."""
    log: list[Event] = []
    while not (actors(state) == [seat] and round_number in (None, state.round)):
        assert round_number is None or state.round <= round_number
        log += idle_turn(state)
    return log


def refused(state: State, action: Action) -> Refusal:
    """The refusal of an action, which changes nothing and is not on the list."""
    before = encode(state)
    refusal = check(state, action)
    assert refusal is not None, f"{action} is legal"
    assert before == encode(state), "check changed the state"
    seat = action[SEAT] if len(action) > SEAT else NOBODY
    assert not 0 <= seat < state.seats or action not in legal_actions(state, seat)
    return refusal


def why(state: State, action: Action) -> tuple[int, str]:
    """Reason and rule of a refusal."""
    refusal = refused(state, action)
    return refusal.reason, refusal.rule


def is_legal(state: State, action: Action) -> bool:
    """Whether `check` lets the action pass; the list of legal actions agrees."""
    legal = check(state, action) is None
    listed = action in legal_actions(state, action[SEAT])
    assert legal == listed or action[KIND] in UNLISTED
    return legal


def kinds(state: State, seat: int) -> set[int]:
    """Kinds of the seat's legal actions."""
    return {action[KIND] for action in legal_actions(state, seat)}


def found(log: Sequence[Event], kind: int) -> list[Event]:
    """The events of a kind, in order."""
    return [event for event in log if event[0] == kind]


def names(log: Sequence[Event]) -> list[str]:
    """Names of the events, in order."""
    return [ev.NAMES[event[0]] for event in log]


def cash_moves(log: Sequence[Event]) -> list[Event]:
    """(kind, payer, payee, amount, cause) of every payment, in order."""
    return found(log, ev.CASH_MOVED)


def paid(log: Sequence[Event], cause: int) -> int:
    """Sum of the payments of a cause."""
    return sum(amount for _, _, _, amount, why_paid in cash_moves(log) if why_paid == cause)


def owned(state: State, seat: int) -> list[int]:
    """The seat's properties, ascending."""
    return [square for square in PROPERTIES if state.owner[square] == seat]


def assert_holdings_follow(state: State) -> None:
    """The holdings that are kept are those of the owners, and buildings stand on whole groups."""
    kept = state.held[:], state.whole[:]
    state.find_holdings()
    assert kept == (state.held, state.whole)
    for square, level in enumerate(state.level):
        if level:
            assert GROUP[square] in state.whole[state.owner[square]]


def assert_sound(state: State) -> None:
    """What holds after every step: solvent tables, lawful buildings, one seat that can act."""
    assert min(state.cash) >= 0
    assert_holdings_follow(state)
    for group in range(COLOUR_GROUPS):
        levels = [state.level[square] for square in GROUPS[group]]
        assert not state.ruleset.even_build or max(levels) - min(levels) <= 1
        assert not (group_built(state, group) and group_mortgaged(state, group))
    for seat in range(state.seats):
        if state.out_order[seat]:
            assert state.cash[seat] == 0
            assert not owned(state, seat)
            assert all(seat not in (offer[1], offer[2]) for offer in state.offers)
    if state.over:
        assert actors(state) == []
        return
    assert awaited_phase(state)
    (awaited,) = actors(state)
    assert not state.out_order[awaited]
    assert legal_actions(state, awaited)
