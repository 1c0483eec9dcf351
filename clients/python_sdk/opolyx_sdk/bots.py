"""Bots: a class with one method. The same class plays live games, simulations and arenas."""

import random
from abc import ABC, abstractmethod
from typing import Final

from opolyx_sdk import actions
from opolyx_sdk.actions import Action
from opolyx_sdk.board import GROUPS, SQUARES
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import Phase
from opolyx_sdk.updates import GameInfo, Update
from opolyx_sdk.views import GameView


class Bot(ABC):
    """A player. One object plays one seat of one game."""

    def on_start(self, info: GameInfo) -> None:  # noqa: B027 - a hook, not a duty
        """The game is known, and nothing has been decided yet."""

    def on_update(self, update: Update) -> None:  # noqa: B027 - a hook, not a duty
        """Something happened, whoever did it."""

    def on_end(self, update: Update) -> None:  # noqa: B027 - a hook, not a duty
        """The game is over; `update.view.result` is None if it was void."""

    @abstractmethod
    def decide(self, view: GameView, decision: Decision) -> Action:
        """What to do.

        Args:
            view: the public state.
            decision: what is awaited from seat `decision.seat`: one of `legal_actions`, a trade
                within `trade_template`, or `Surrender()`.
        """


class RandomBot(Bot):
    """Takes any legal action, but prefers the game to go on; reproducible by its seed."""

    def __init__(self, seed: int = 0) -> None:
        self._rng = random.Random(seed)  # noqa: S311 - a bot's whim, no secret

    def decide(self, view: GameView, decision: Decision) -> Action:
        """Any legal action."""
        return self._rng.choice(decision.legal_actions)


class SteadyBot(Bot):
    """Buys with a reserve, builds what it can afford, pays, bids to a limit, accepts good trades."""

    def __init__(self, reserve: int = 1500) -> None:
        self._reserve = reserve
        """Cash that it doesn't spend of its own will, in k."""

    def decide(self, view: GameView, decision: Decision) -> Action:
        """The first sensible thing."""
        match decision.phase:
            case Phase.BUY:
                return self._buy(view, decision)
            case Phase.AUCTION:
                return self._bid(view, decision)
            case Phase.PAYMENT:
                return _raise_cash(view, decision)
            case Phase.OFFER:
                return _answer_offer(view, decision)
            case Phase.ROLL | Phase.JAIL:
                return self._before_roll(view, decision)
        return fallback_action(decision)

    def _buy(self, view: GameView, decision: Decision) -> Action:
        seat = decision.seat
        player = view.player(seat)
        price = SQUARES[player.position].price
        keep = self._reserve // 3 if _completes(view, seat, player.position) else self._reserve
        buy = actions.Buy()
        if decision.allows(buy) and player.cash - price >= keep:
            return buy
        return _first(decision, actions.DeclinePurchase) or fallback_action(decision)

    def _bid(self, view: GameView, decision: Decision) -> Action:
        auction, seat = view.auction, decision.seat
        bid = _first(decision, actions.Bid)
        if auction is not None and bid is not None:
            price = SQUARES[auction.square].price
            limit = price * (8 if _completes(view, seat, auction.square) else 5) // 4
            if (
                auction.next_bid <= limit
                and view.player(seat).cash - auction.next_bid >= self._reserve
            ):
                return bid
        return _first(decision, actions.PassBid) or fallback_action(decision)

    def _before_roll(self, view: GameView, decision: Decision) -> Action:
        cash = view.player(decision.seat).cash
        builds = [
            one
            for one in decision.legal_actions
            if isinstance(one, actions.Build)
            and cash - SQUARES[one.square].build_cost >= self._reserve
        ]
        if builds:
            return max(builds, key=lambda one: (_build_gain(view, one.square), -one.square))
        redeems = [
            one
            for one in decision.legal_actions
            if isinstance(one, actions.Redeem) and cash - SQUARES[one.square].price >= self._reserve
        ]
        if redeems:
            return redeems[0]
        bail = _first(decision, actions.PayBail)
        if bail is not None and cash >= self._reserve and _is_early(view):
            return bail
        return fallback_action(decision)


_EARLY_GAME_FREE: Final = 8
_SAFE: Final[tuple[type[Action], ...]] = (
    actions.PayDebt,
    actions.DeclinePurchase,
    actions.PassBid,
    actions.DeclineWager,
    actions.DeclineTrade,
    actions.Roll,
    actions.StayInJail,
    actions.ChooseBus,
    actions.ChooseSquare,
    actions.SellBuilding,
    actions.Mortgage,
    actions.DeclareBankruptcy,
)


def fallback_action(decision: Decision) -> Action:
    """A legal action that commits to nothing and moves the game on."""
    by_kind = {type(one): one for one in reversed(decision.legal_actions)}
    for kind in _SAFE:
        if kind in by_kind:
            return by_kind[kind]
    return decision.legal_actions[0]


def _is_early(view: GameView) -> bool:
    """Whether there is still property to be bought, so that sitting in jail costs."""
    return sum(1 for one in view.properties if one.owner is None) > _EARLY_GAME_FREE


def _first(decision: Decision, kind: type[Action]) -> Action | None:
    for one in decision.legal_actions:
        if isinstance(one, kind):
            return one
    return None


def _completes(view: GameView, seat: int, square: int) -> bool:
    """Whether `seat` would own the whole group with `square`."""
    for other in GROUPS.get(SQUARES[square].group, ()):
        one = view.property_at(other)
        if other != square and (one is None or one.owner != seat):
            return False
    return True


def _build_gain(view: GameView, square: int) -> int:
    """How much the rent grows for each k spent, in basis points."""
    current = view.property_at(square)
    level = current.level if current else 0
    spec = SQUARES[square]
    return (spec.rents[level + 1] - spec.rents[level]) * 10_000 // spec.build_cost


def _raise_cash(view: GameView, decision: Decision) -> Action:
    """Pay, else mortgage the cheapest, else sell a building, else give up."""
    pay = _first(decision, actions.PayDebt)
    if pay is not None:
        return pay
    mortgages = [one for one in decision.legal_actions if isinstance(one, actions.Mortgage)]
    if mortgages:
        return min(
            mortgages,
            key=lambda one: (
                _holds_group(view, decision.seat, one.square),
                SQUARES[one.square].price,
                one.square,
            ),
        )
    return fallback_action(decision)


def _holds_group(view: GameView, seat: int, square: int) -> bool:
    return _completes(view, seat, square)


def _answer_offer(view: GameView, decision: Decision) -> Action:
    """Accept what brings clearly more than it costs and completes nobody else's group."""
    offer = view.offer(decision.offer_id)
    accept = actions.AcceptTrade(decision.offer_id)
    if offer is not None and decision.allows(accept):
        gets = offer.give_cash + _worth(view, offer.give_squares)
        gives = offer.want_cash + _worth(view, offer.want_squares)
        breaks = any(_completes(view, offer.proposer, square) for square in offer.want_squares)
        if gets >= gives * 5 // 4 and not breaks:
            return accept
    return fallback_action(decision)


def _worth(view: GameView, squares: tuple[int, ...]) -> int:
    total = 0
    for square in squares:
        current = view.property_at(square)
        half = current is not None and current.mortgaged
        total += SQUARES[square].price // (2 if half else 1)
    return total
