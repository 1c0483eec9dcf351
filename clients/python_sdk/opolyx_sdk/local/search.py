"""Looking ahead: a game as a seat may see it, to be copied, played on and taken apart by chance.

```python
from opolyx_sdk import Bot
from opolyx_sdk.local import Position


class Greedy(Bot):
    def on_start(self, info):
        self.info = info

    def decide(self, view, decision):
        position = Position.of(self.info, view)

        def worth(action):
            return sum(
                outcome.odds * outcome.position.net_worth(decision.seat)
                for outcome in position.outcomes(action)
            )

        return max(decision.legal_actions, key=worth)
```

A position is made of a view and nothing else, so it works live as in the simulator. It can't know
what is to come: dice are drawn anew by whoever plays it on, and so is every card that has not been
seen.
"""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from opolyx_rules import engine, queries
from opolyx_rules.actions import Action as CoreAction
from opolyx_rules.chance import Chance
from opolyx_rules.content.decks import DECKS
from opolyx_rules.policies import POLICIES
from opolyx_rules.reasons import Refusal as CoreRefusal
from opolyx_rules.state import State
from opolyx_sdk import actions
from opolyx_sdk.actions import Action
from opolyx_sdk.decisions import Decision
from opolyx_sdk.errors import Refused
from opolyx_sdk.local._branching import branches
from opolyx_sdk.local._core_actions import core_action, sdk_action, sdk_refusal
from opolyx_sdk.local._core_decisions import (
    DecisionMaker,
    awaited_actions,
    offer_answers,
    offered_decision,
)
from opolyx_sdk.local._core_views import ViewMaker
from opolyx_sdk.local._game_clock import GameClock
from opolyx_sdk.local._rebuild import rebuild, rules_of
from opolyx_sdk.updates import GameInfo
from opolyx_sdk.views import GameView

_MOST_CARDS: Final = 3
"""No action draws more cards: only a card that leads to another square of cards draws again."""


class Position:
    """A state of a game without anything hidden. Changed in place by `play`; `clone` is cheap."""

    __slots__ = ("_deck_unknown", "_state")

    def __init__(self, state: State, *, deck_unknown: bool) -> None:
        """Wrap a state of the rules; `of` is the usual way.

        Args:
            state: is this position's from now on.
            deck_unknown: whether its deck, from the next card on, is in no known order.
        """
        self._state = state
        self._deck_unknown = deck_unknown

    @classmethod
    def of(
        cls,
        info: GameInfo,
        view: GameView,
        *,
        drawn: Sequence[int] | None = None,
    ) -> "Position":
        """The position of a view.

        Args:
            info: what `on_start` was told.
            view: the public state.
            drawn: numbers of all cards drawn since the start of the game, in order, out of the
                `CardDrawn` events; then those can't come again before the deck is through. Without
                it, any card may come next.

        Raises:
            ValueError: the rules aren't known here, or aren't those that the game is played by.
        """
        rules = rules_of(info)
        state = rebuild(rules, info, view)
        size = len(DECKS[rules.deck])
        known = list(drawn or ())
        if drawn is not None and not rules.deck_shuffled:
            state.deck_at = len(known) % size
            return cls(state, deck_unknown=False)
        if len(known) >= size:
            state.deck = known[:size]
            state.deck_at = len(known) % size
            return cls(state, deck_unknown=False)
        state.deck = known + [card for card in range(size) if card not in known]
        state.deck_at = len(known)
        return cls(state, deck_unknown=True)

    @property
    def state(self) -> State:
        """The rules' own state, for who wants to be faster than this class (`opolyx_rules`)."""
        return self._state

    @property
    def over(self) -> bool:
        """Whether the game is over."""
        return self._state.over

    @property
    def seat(self) -> int | None:
        """Whose answer is wanted: the recipient of the first offer, else the awaited seat's."""
        if self._state.over:
            return None
        offers = self._state.offers
        return offers[0][2] if offers else queries.awaited_seat(self._state)

    @property
    def legal_actions(self) -> tuple[Action, ...]:
        """What `seat` may do, trades and surrender apart; empty when the game is over."""
        state = self._state
        if state.over:
            return ()
        if state.offers:
            found = offer_answers(state, state.offers[0])
        else:
            found = awaited_actions(state, queries.awaited_seat(state))
        return tuple([sdk_action(action) for action in found])

    @property
    def view(self) -> GameView:
        """The public state."""
        return ViewMaker().view(self._state)

    @property
    def decision(self) -> Decision:
        """What a bot on `seat` would be asked, with the whole of its time.

        Raises:
            ValueError: the game is over.
        """
        state = self._state
        if state.over:
            raise ValueError("the game is over: nothing is asked")
        if state.offers:
            return offered_decision(state, state.offers[0], GameClock(state))
        return DecisionMaker().awaited(state, GameClock(state))

    @property
    def round(self) -> int:
        """The round."""
        return self._state.round

    def cash(self, seat: int) -> int:
        """Cash of a seat in k."""
        return self._state.cash[seat]

    def net_worth(self, seat: int) -> int:
        """Net worth of a seat in k (END-3); 0 when it is out."""
        return queries.net_worth(self._state, seat)

    def places(self) -> tuple[int, ...]:
        """Places in seat order, as though the game ended now."""
        return tuple([part.place for part in engine.result(self._state).seats])

    def clone(self) -> "Position":
        """An independent copy."""
        return Position(self._state.clone(), deck_unknown=self._deck_unknown)

    def play(self, action: Action, luck: random.Random) -> None:
        """Carry out what `seat` does, with dice and unseen cards of `luck`.

        An answer to an offer, or taking one back, is done by the seat that the offer names.

        Raises:
            Refused: the rules don't allow it; nothing has changed.
        """
        self._apply(self._checked(action), luck)

    def outcomes(self, action: Action) -> "list[Outcome]":
        """All that can come of what `seat` does, with the odds, which sum to 1; nothing changes.

        A roll has 36 outcomes, 216 with the third die, and more where it leads to a card.

        Raises:
            Refused: the rules don't allow it.
        """
        state, found = self._state, self._checked(action)
        return [
            Outcome(
                odds=one.odds,
                position=Position(one.state, deck_unknown=self._still_unknown(one.state)),
                draws=one.draws,
                cards=one.cards,
                exact=one.exact,
            )
            for one in branches(state, found, deck_unknown=self._deck_unknown)
        ]

    def play_out(
        self, luck: random.Random, *, policy: str = "steady", rounds: int | None = None
    ) -> None:
        """Let a built-in bot play all seats until the game is over.

        Args:
            luck: where dice, unseen cards and the bot's own luck come from.
            policy: name of the built-in bot.
            rounds: stop earlier, once so many more rounds have begun.

        Raises:
            ValueError: there is no such bot.
        """
        if policy not in POLICIES:
            raise ValueError(f"no built-in bot {policy!r}; there are {', '.join(POLICIES)}")
        state, choose, chance = self._state, POLICIES[policy], _Luck(luck)
        last = state.ruleset.round_cap if rounds is None else state.round + rounds
        while not state.over and (rounds is None or state.round < last):
            seat = state.offers[0][2] if state.offers else queries.awaited_seat(state)
            self._apply(choose(state, seat, chance), luck)

    def _checked(self, action: Action) -> CoreAction:
        found = core_action(action, self._doer(action))
        refusal = found if isinstance(found, CoreRefusal) else engine.check(self._state, found)
        if refusal is not None or isinstance(found, CoreRefusal):
            assert refusal is not None  # noqa: S101 - one of the two is there
            raise Refused(sdk_refusal(refusal))
        return found

    def _doer(self, action: Action) -> int:
        state = self._state
        if isinstance(action, actions.AcceptTrade | actions.DeclineTrade | actions.WithdrawTrade):
            role = 1 if isinstance(action, actions.WithdrawTrade) else 2
            for offer in state.offers:
                if offer[0] == action.offer_id:
                    return offer[role]
        return max(queries.awaited_seat(state), 0)

    def _apply(self, action: CoreAction, luck: random.Random) -> None:
        state = self._state
        if self._deck_unknown:
            _shuffle_next(state, luck)
        at = state.deck_at
        engine.apply_checked(state, action, _Luck(luck), [])
        if state.deck_at < at:
            self._deck_unknown = False

    def _still_unknown(self, after: State) -> bool:
        return self._deck_unknown and after.deck_at >= self._state.deck_at


@dataclass(frozen=True, slots=True)
class Outcome:
    """One thing that can come of an action."""

    odds: float
    """How likely it is, 0..1."""

    position: Position
    """The position after it."""

    draws: tuple[int, ...]
    """What chance gave in order: for each die its face less one."""

    cards: tuple[int, ...]
    """Numbers of the cards drawn."""

    exact: bool
    """False where a red packet was cut into even parts, in place of the many ways it can be."""

    @property
    def dice(self) -> tuple[int, ...]:
        """Faces of the white dice, of an action that rolls them; the third die is in `draws`."""
        return tuple(value + 1 for value in self.draws[:2])


class _Luck(Chance):
    """Chance out of Python's generator."""

    __slots__ = ("_random",)

    def __init__(self, luck: random.Random) -> None:
        self._random = luck.random

    def draw(self, label: int, sides: int) -> int:
        """See `Chance.draw`."""
        return int(self._random() * sides)


def _shuffle_next(state: State, luck: random.Random) -> None:
    """Draw anew which cards come next, out of those that have not been seen."""
    deck, end = state.deck, len(state.deck)
    for place in range(state.deck_at, min(state.deck_at + _MOST_CARDS, end)):
        other = place + int(luck.random() * (end - place))
        deck[place], deck[other] = deck[other], deck[place]
