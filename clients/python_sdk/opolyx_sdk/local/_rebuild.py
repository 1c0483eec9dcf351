"""The rules' state behind a view: everything that decides how a game goes on is public.

Hidden are only the order of the deck and the dice to come. Three things are history rather than
state, and stay open: earlier bids of an auction (they count if its leader surrenders in it), which
numbers offers and steps had, and whether the turn was counted as missed. A test plays states and
what is rebuilt from their views on, side by side.
"""

from functools import lru_cache

from opolyx_rules import RULESETS
from opolyx_rules.actions import mask_of
from opolyx_rules.ids import (
    BANK,
    CASH_BAIL,
    CASH_FINANCING,
    FRAME_LEAVE_JAIL,
    FRAME_TURN,
    NOBODY,
    PHASE_AUCTION,
    PHASE_BUY,
    PHASE_JAIL,
    PHASE_JAIL_BAIL,
    PHASE_PAYMENT,
    PHASE_ROLL,
)
from opolyx_rules.replay import with_options
from opolyx_rules.ruleset import LAST_PAY_AND_MOVE, Ruleset
from opolyx_rules.state import Debt, Offer, State, new_state
from opolyx_sdk.enums import Phase
from opolyx_sdk.updates import GameInfo, HouseRules
from opolyx_sdk.views import DebtView, GameView, OfferView


def rules_of(info: GameInfo) -> Ruleset:
    """The rules of a game.

    Raises:
        ValueError: this machine doesn't have them.
    """
    return _known_rules(info.ruleset, info.ruleset_hash, info.house)


@lru_cache(maxsize=64)  # a bot asks at each decision, and the digest takes its time
def _known_rules(name: str, digest: str, house: HouseRules) -> Ruleset:
    if name not in RULESETS:
        raise ValueError(f"no ruleset {name!r} on this machine")
    rules = with_options(RULESETS[name], house.given())
    if rules.digest() != digest:
        raise ValueError(
            f"the game isn't played by {name} as it is here:"
            " install the rules of the server's version"
        )
    return rules


def rebuild(rules: Ruleset, info: GameInfo, view: GameView) -> State:
    """A state with this view; its deck is in the order of the cards' numbers."""
    cards = {one.seat: {card.square: card.bonus_bp for card in one.cards} for one in info.seats}
    vip = tuple(one.seat for one in info.seats if one.vip)
    state = new_state(rules, len(view.players), cards, vip)
    _set_players(state, view)
    for one in view.properties:
        if one.owner is not None:
            state.give(one.square, one.owner)
        state.level[one.square] = one.level
        state.mortgaged[one.square] = one.mortgaged_round
        state.built[one.square] = one.built_this_turn
    _set_turn(state, view)
    if view.result is not None:
        state.over = True
        state.end_cause = int(view.result.cause)
        return state
    _set_auction(state, view)
    state.debts = [_debt(one) for one in reversed(view.debts)]
    state.offers = [_offer(state, one) for one in view.offers]
    state.last_offer = max((one.offer_id for one in view.offers), default=0)
    _set_stack(state, view)
    state.decision = 1
    return state


def _set_players(state: State, view: GameView) -> None:
    for one in view.players:
        seat = one.seat
        state.cash[seat] = one.cash
        state.position[seat] = one.position
        state.jailed[seat] = int(one.in_jail)
        state.attempts[seat] = one.jail_attempts
        state.missed[seat] = one.missed_turns
        state.god[seat] = int(one.god)
        state.god_until[seat] = one.god_until_round
        state.out_order[seat] = one.out_order
        if one.financed_square is not None:
            state.financed[seat] = one.financed_square
            due = one.financed_due_round
            state.financed_round[seat] = due - state.ruleset.financing_rounds
    state.outs = max(state.out_order)


def _set_turn(state: State, view: GameView) -> None:
    turn = view.turn
    state.round = turn.round
    state.first_seat = turn.first_seat
    state.turn_seat = turn.seat
    state.turn_number = turn.turn_number
    state.doubles = turn.doubles
    state.rolls_again = int(turn.rolls_again)
    state.jump_due = int(turn.jump_due)
    state.dice = [*turn.dice, 0, 0, 0][:3]


def _set_auction(state: State, view: GameView) -> None:
    auction = view.auction
    if auction is None:
        return
    state.auction_square = auction.square
    state.auction_queue = list(auction.bidders)
    if auction.leader is not None:
        state.auction_bid = auction.bid
        state.auction_leader = auction.leader
        state.auction_bids = [(auction.leader, auction.bid)]


def _debt(view: DebtView) -> Debt:
    claims = [
        (BANK if one.creditor is None else one.creditor, one.amount, int(one.cause))
        for one in view.claims
    ]
    return view.debtor, tuple(claims)


def _offer(state: State, view: OfferView) -> Offer:
    squares = (*view.give_squares, *view.want_squares)
    mortgaged = mask_of(tuple(square for square in squares if state.mortgaged[square]))
    return (
        view.offer_id,
        view.proposer,
        view.recipient,
        view.give_cash,
        mask_of(view.give_squares),
        view.want_cash,
        mask_of(view.want_squares),
        mortgaged,
    )


def _set_stack(state: State, view: GameView) -> None:
    """What is to be resolved: the turn, what debts hold up, the debts, or what is awaited."""
    turn = view.turn
    state.push(FRAME_TURN, turn.seat)
    if turn.phase is Phase.PAYMENT:
        _push_held_up(state, view.debts)
        for one in reversed(view.debts):
            state.push(PHASE_PAYMENT, one.debtor)
        return
    seat = NOBODY if turn.awaited_seat is None else turn.awaited_seat
    phase, argument = int(turn.phase), 0
    if phase == PHASE_BUY:
        argument = state.position[seat]
    elif phase == PHASE_AUCTION:
        argument = state.auction_square
    elif phase == PHASE_JAIL_BAIL:
        argument = state.dice[0] + state.dice[1]
    state.push(phase, seat, argument)


def _push_held_up(state: State, debts: tuple[DebtView, ...]) -> None:
    """A forced bail holds up leaving jail; financing that is called in holds up the roll."""
    for debt in debts:
        causes = {int(claim.cause) for claim in debt.claims}
        if CASH_BAIL in causes:
            moves = state.ruleset.last_attempt == LAST_PAY_AND_MOVE
            steps = state.dice[0] + state.dice[1] if moves else 0
            state.push(FRAME_LEAVE_JAIL, debt.debtor, steps)
        elif CASH_FINANCING in causes:
            state.push(PHASE_JAIL if state.jailed[debt.debtor] else PHASE_ROLL, debt.debtor)
