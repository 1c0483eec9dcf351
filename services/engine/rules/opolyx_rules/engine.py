"""The whole interface of the rules: start, who may act, what is legal, apply, result.

`check` decides and changes nothing; after it `apply` can't fail. Surrendering and proposing trades
are always possible where `check` says so, but `legal_actions` does not list them: surrender is open
to every seat at any time, and trades are too many (`trade_template` bounds them).
"""

from opolyx_rules.actions import (
    ACCEPT_TRADE,
    ARGUMENT,
    ARGUMENTS,
    DECLINE_TRADE,
    KIND,
    LAPSE_OFFER,
    PROPOSE_TRADE,
    SEAT,
    SURRENDER,
    TIME_OUT,
    WITHDRAW_TRADE,
    Action,
)
from opolyx_rules.chance import DECK, FIRST_SEAT, Chance
from opolyx_rules.events import GAME_STARTED, ROUND_STARTED, Event, Log
from opolyx_rules.ids import (
    BANK,
    CASH_START,
    OFFER_ACCEPTED,
    OFFER_DECLINED,
    OFFER_LAPSED,
    OFFER_WITHDRAWN,
    SQUARES,
    SURRENDER_CHOICE,
    Seat,
)
from opolyx_rules.mechanics.bankruptcy import surrender
from opolyx_rules.mechanics.cash import move_cash
from opolyx_rules.mechanics.clock import count_missed_turn
from opolyx_rules.mechanics.ending import Result, result_of
from opolyx_rules.mechanics.offers import (
    accept,
    close_changed_offers,
    close_offer,
    find_offer,
    list_answers,
    propose,
    refuse_answer,
    refuse_proposal,
    required_offer,
)
from opolyx_rules.mechanics.turns import advance, begin_turn
from opolyx_rules.phases.registry import PHASES
from opolyx_rules.queries import awaited_phase, current_step
from opolyx_rules.reasons import (
    GAME_OVER,
    INVALID_ACTION,
    NOT_AWAITED,
    OFFER_CLOSED,
    OUT_OF_GAME,
    IllegalAction,
    Refusal,
)
from opolyx_rules.ruleset import Ruleset
from opolyx_rules.state import State, new_state

_ANSWERS = {
    ACCEPT_TRADE: OFFER_ACCEPTED,
    DECLINE_TRADE: OFFER_DECLINED,
    WITHDRAW_TRADE: OFFER_WITHDRAWN,
    LAPSE_OFFER: OFFER_LAPSED,
}


def start(
    ruleset: Ruleset,
    seats: int,
    chance: Chance,
    *,
    cards: dict[int, dict[int, int]] | None = None,
    vip: tuple[int, ...] = (),
    log: Log | None = None,
) -> State:
    """Set up a game: cash, deck, first player; the first seat is awaited (TABLE-5, TABLE-7).

    Args:
        ruleset: The rules.
        seats: Number of seats, one of `ruleset.seat_counts()`.
        chance: Where the first player and the deck's order come from.
        cards: By seat, by square, the bonus of the collection card in bp (RENT-5).
        vip: The seats that may finance (FIN-1).
        log: Receives the events.

    Raises:
        ValueError: The ruleset can't be played by so many, or its fields are wrong.
    """
    wrong = ruleset.validate()
    if wrong:
        raise ValueError("; ".join(wrong))
    if seats not in ruleset.seat_counts():
        counts = ", ".join([str(count) for count in ruleset.seat_counts()])
        raise ValueError(f"{ruleset.name} is for {counts} seats, not {seats}")
    events: Log = [] if log is None else log
    state = new_state(ruleset, seats, cards, vip)
    state.first_seat = chance.draw(FIRST_SEAT, seats)
    if ruleset.deck_shuffled:
        _shuffle_deck(state, chance)
    events.append((GAME_STARTED, state.first_seat))
    for seat in range(seats):
        move_cash(state, BANK, seat, ruleset.start_cash, CASH_START, events)
    events.append((ROUND_STARTED, state.round))
    begin_turn(state, state.first_seat, events)
    advance(state, chance, events)
    state.decision = 1
    return state


def actors(state: State) -> list[Seat]:
    """The seat that is awaited, as a list; empty when the game is over."""
    return [] if state.over else [state.stack[-1][1]]


def legal_actions(state: State, seat: Seat) -> list[Action]:
    """Every action of the seat that `check` accepts now, surrender and new trades apart.

    Empty for a seat that is not awaited and has no offer to answer or to withdraw. The awaited
    seat's list is never empty.
    """
    out: list[Action] = []
    if state.over or state.out_order[seat]:
        return out
    frame = state.stack[-1]
    if frame[1] == seat:
        PHASES[frame[0]].list_actions(state, seat, out)
    if state.offers:
        list_answers(state, seat, out)
    return out


def check(state: State, action: Action) -> Refusal | None:
    """Why the action is not allowed now; None when it is. Never changes the state."""
    malformed = _refuse_malformed(state, action)
    if malformed is not None:
        return malformed
    kind, seat = action[KIND], action[SEAT]
    if state.over:
        return Refusal(GAME_OVER, "END-1")
    if kind == LAPSE_OFFER:
        known = find_offer(state, action[ARGUMENT]) is not None
        return None if known else Refusal(OFFER_CLOSED, "TRADE-6")
    if state.out_order[seat]:
        return Refusal(OUT_OF_GAME, "DEBT-7", (("seat", seat),))
    if kind == SURRENDER:
        return None
    if kind == PROPOSE_TRADE:
        return refuse_proposal(state, action)
    if kind in _ANSWERS:
        return refuse_answer(state, action)
    phase, awaited, _, _ = state.stack[-1]
    if awaited != seat:
        return Refusal(NOT_AWAITED, "TURN-1", (("awaited", awaited), ("seat", seat)))
    if kind == TIME_OUT:
        return None
    return PHASES[phase].refuse(state, action)


def apply(state: State, action: Action, chance: Chance) -> list[Event]:
    """Carry out an action and all that follows by itself, up to the next decision.

    Args:
        state: Changed in place.
        action: Checked first.
        chance: Where dice and draws come from.

    Returns:
        What happened, in order.

    Raises:
        IllegalAction: `check` refuses the action; nothing was changed.
    """
    refusal = check(state, action)
    if refusal is not None:
        raise IllegalAction(refusal)
    log: Log = []
    apply_checked(state, action, chance, log)
    return log


def apply_checked(state: State, action: Action, chance: Chance, log: Log) -> None:
    """`apply` for an action that `check` has just accepted; appends the events to `log`."""
    kind, seat = action[KIND], action[SEAT]
    phase, awaited, _, step = state.stack[-1]
    by_player = kind < TIME_OUT
    if by_player:
        state.missed[seat] = 0
    if kind == SURRENDER:
        surrender(state, seat, SURRENDER_CHOICE, log)
    elif kind == PROPOSE_TRADE:
        propose(state, action, log)
    elif kind in _ANSWERS:
        _answer_offer(state, action, log)
    elif kind == TIME_OUT:
        if not count_missed_turn(state, seat, log):
            PHASES[phase].take_default(state, seat, chance, log)
    else:
        PHASES[phase].take(state, action, chance, log)
    advance(state, chance, log)
    if state.offers:
        close_changed_offers(state, log)
    if (by_player and awaited == seat) or current_step(state) != step:
        state.decision += 1


def default_action(state: State, seat: Seat) -> Action:
    """What the game plays for the awaited seat when its clock runs out (CLOCK-3).

    An ordinary action where there is one; else the clock's own `time_out`. The clock itself always
    applies `time_out`, which counts the missed turn and then plays this.
    """
    return PHASES[awaited_phase(state)].default(state, seat)


def result(state: State) -> Result:
    """The result of a game that is over (END-5)."""
    return result_of(state)


def _answer_offer(state: State, action: Action, log: Log) -> None:
    kind, offer_id = action[KIND], action[ARGUMENT]
    if kind == ACCEPT_TRADE:
        accept(state, offer_id, OFFER_ACCEPTED, log)
        return
    close_offer(state, required_offer(state, offer_id), _ANSWERS[kind], log)


def _refuse_malformed(state: State, action: Action) -> Refusal | None:
    names = ARGUMENTS.get(action[KIND]) if action else None
    if names is None or len(action) != 2 + len(names) or not 0 <= action[SEAT] < state.seats:
        return Refusal(INVALID_ACTION, "TURN-1")
    if names == ("square",) and not 0 <= action[ARGUMENT] < SQUARES:
        return Refusal(INVALID_ACTION, "BOARD-1", (("square", action[ARGUMENT]),))
    return None


def _shuffle_deck(state: State, chance: Chance) -> None:
    """Shuffle from the top down: card i changes places with one of 0..i (CHANCE-1)."""
    deck = state.deck
    for index in range(len(deck) - 1, 0, -1):
        other = chance.draw(DECK, index + 1)
        deck[index], deck[other] = deck[other], deck[index]
