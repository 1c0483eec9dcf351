"""The decisions that are open in a state of the rules, as the SDK's values."""

import time
from typing import Final

from opolyx_rules.actions import ACCEPT_TRADE, DECLINE_TRADE, KIND
from opolyx_rules.actions import Action as CoreAction
from opolyx_rules.engine import check, legal_actions
from opolyx_rules.ids import PHASE_PAYMENT
from opolyx_rules.mechanics.offers import (
    may_propose,
    offers_by,
    tradable_squares,
    trade_partners,
)
from opolyx_rules.queries import are_allies, awaited_phase, awaited_seat, debt_of, debt_total
from opolyx_rules.state import Offer, State
from opolyx_sdk.actions import Action
from opolyx_sdk.decisions import Decision, PartnerSquares, TradeTemplate
from opolyx_sdk.enums import Phase
from opolyx_sdk.local._core_actions import sdk_action
from opolyx_sdk.local._core_views import PHASES
from opolyx_sdk.local._game_clock import GameClock
from opolyx_sdk.local._quick import quick_maker

ANSWERS: Final = frozenset({ACCEPT_TRADE, DECLINE_TRADE})
"""Kinds that answer an offer, and no other decision."""

_make_decision: Final = quick_maker(Decision)
_make_template: Final = quick_maker(TradeTemplate)
_make_partner: Final = quick_maker(PartnerSquares)


class DecisionMaker:
    """Makes the decisions of one game; what may be traded is worked out once for each board."""

    __slots__ = ("_board", "_listed", "_partners", "_tradable")

    def __init__(self) -> None:
        self._board: list[list[int]] = []
        self._tradable: dict[int, tuple[int, ...]] = {}
        self._partners: dict[int, list[tuple[int, tuple[int, ...], bool]]] = {}
        self._listed: list[CoreAction] = []

    def all_open(self, state: State, clock: GameClock) -> tuple[Decision, ...]:
        """All decisions: the awaited seat's, then each offer's by ascending id."""
        if state.over:
            return ()
        offers = [offered_decision(state, offer, clock) for offer in state.offers]
        return (self.awaited(state, clock), *offers)

    def awaited(self, state: State, clock: GameClock) -> Decision:
        """What the table waits for."""
        seat, phase = awaited_seat(state), awaited_phase(state)
        owed = 0
        if phase == PHASE_PAYMENT and (debt := debt_of(state, seat)) is not None:
            owed = debt_total(debt)
        self._listed = awaited_actions(state, seat)
        return _make_decision(
            f"d{state.decision}",
            seat,
            PHASES[phase],
            clock.deadline_ms,
            tuple(map(sdk_action, self._listed)),
            self._template(state, seat) if may_propose(state, seat) else None,
            0,
            owed,
            clock.now_ms - int(time.time() * 1000),
        )

    def listed(self, decision: Decision, action: Action) -> CoreAction | None:
        """The rules' form of one of the actions listed by the last awaited decision, that very object.

        What the rules have just listed needs no check. None for anything else, equal ones too.
        """
        for place, one in enumerate(decision.legal_actions):
            if one is action:
                return self._listed[place]
        return None

    def _template(self, state: State, seat: int) -> TradeTemplate | None:
        """As the core's `trade_template`; a test compares it with the server's."""
        ruleset = state.ruleset
        offers_left = ruleset.max_offers - (offers_by(state, seat) if state.offers else 0)
        board = [state.owner, state.level, state.financed, state.out_order]
        if not ruleset.trade_mortgaged:
            board.append(state.mortgaged)
        if board != self._board:
            self._board = [part[:] for part in board]
            self._tradable = {}
            self._partners = {}
        partners = self._partners.get(seat)
        if partners is None:
            partners = self._partners[seat] = [
                (partner, self._squares(state, partner), are_allies(state, seat, partner))
                for partner in trade_partners(state, seat)
            ]
        if offers_left <= 0 or not partners:
            return None
        cash = state.cash
        return _make_template(
            tuple([partner for partner, _, _ in partners]),
            self._squares(state, seat),
            tuple(
                [
                    _make_partner(partner, squares, cash[partner], allied)
                    for partner, squares, allied in partners
                ]
            ),
            cash[seat],
            ruleset.trade_fairness_bp,
            offers_left,
        )

    def _squares(self, state: State, seat: int) -> tuple[int, ...]:
        found = self._tradable.get(seat)
        if found is None:
            found = self._tradable[seat] = tuple(tradable_squares(state, seat))
        return found


def offered_decision(state: State, offer: Offer, clock: GameClock) -> Decision:
    """The answer to an offer."""
    offer_id, recipient = offer[0], offer[2]
    return _make_decision(
        f"o{offer_id}",
        recipient,
        Phase.OFFER,
        clock.offer_deadline_ms(offer_id),
        tuple([sdk_action(action) for action in offer_answers(state, offer)]),
        None,
        offer_id,
        0,
        clock.now_ms - int(time.time() * 1000),
    )


def awaited_actions(state: State, seat: int) -> list[CoreAction]:
    """What the awaited seat may do, answers to offers apart: those are decisions of their own."""
    actions = legal_actions(state, seat)
    if state.offers:
        actions = [action for action in actions if action[KIND] not in ANSWERS]
    return actions


def offer_answers(state: State, offer: Offer) -> list[CoreAction]:
    """What the recipient of an offer may answer."""
    answers = [(kind, offer[2], offer[0]) for kind in (ACCEPT_TRADE, DECLINE_TRADE)]
    return [answer for answer in answers if check(state, answer) is None]
