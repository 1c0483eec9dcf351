"""Whole games played by players who try everything, and what must hold after each of their steps.

```python
playout = Playout(get_ruleset("classic@full"), seats=4, seed="1")
while not playout.state.over:
    action, events = playout.step()
```
"""

import random
from collections.abc import Iterator
from typing import Final

from opolyx_rules import (
    RULESETS,
    Action,
    Chance,
    Event,
    Ruleset,
    SeededChance,
    State,
    apply,
    check,
    legal_actions,
    start,
    trade_template,
)
from opolyx_rules.actions import (
    ARGUMENTS,
    LAPSE_OFFER,
    PROPOSE_TRADE,
    SURRENDER_BY,
    TIME_OUT_BY,
    mask_of,
    propose_trade,
)
from opolyx_rules.content.boards import PRICE, PROPERTIES
from opolyx_rules.ids import SQUARES, Seat
from opolyx_rules.policies.steady import choose_steadily
from opolyx_rules.queries import awaited_seat, seats_in
from opolyx_rules.replay import with_options

TABLES: Final = [
    (name, seats) for name, ruleset in sorted(RULESETS.items()) for seats in ruleset.seat_counts()
]
"""Every ruleset with every number of seats that can play it."""

MOST_ACTIONS: Final = 200_000
"""More than any game takes: a game that reaches it goes round in circles."""

_TRADE: Final = 0.08
_ANSWER: Final = 0.35
_SURRENDER: Final = 0.0004
_SURRENDER_IN_TROUBLE: Final = 0.006  # with a debt or an auction open, where leaving matters most
_TIME_OUT: Final = 0.01
_TIME_OUT_AGAIN: Final = 0.2  # of who has just missed a turn
_CAPS: Final = (6, 10, 15, 25, 40, 60, 110)
_CASH: Final = (15_000, 15_000, 15_000, 8_000, 4_000, 30_000)


class Players:
    """Everybody at a table, and the clock: they try everything, each in a style of their own.

    Args:
        seats: Number of seats.
        seed: Of all that they do.
    """

    def __init__(self, seats: int, seed: str) -> None:
        self.luck = random.Random(seed)
        self.styles = [self.luck.choice(("any", "first", "steady")) for _ in range(seats)]
        self._own = SeededChance(seed.encode())

    def choose(self, state: State) -> Action:
        """What some player, or the clock, does next: an action that is accepted."""
        luck, awaited = self.luck, awaited_seat(state)
        trouble = state.debts or state.auction_queue
        if luck.random() < (_SURRENDER_IN_TROUBLE if trouble else _SURRENDER):
            return SURRENDER_BY[luck.choice(seats_in(state))]
        if luck.random() < (_TIME_OUT_AGAIN if state.missed[awaited] else _TIME_OUT):
            return TIME_OUT_BY[awaited]
        if state.offers and luck.random() < _ANSWER:
            return self._close_an_offer(state)
        if luck.random() < _TRADE:
            trade = random_trade(state, awaited, luck)
            if check(state, trade) is None:
                return trade
        return self._decide(state, awaited)

    def _close_an_offer(self, state: State) -> Action:
        """An answer, a withdrawal or the offer's own clock."""
        offer = self.luck.choice(state.offers)
        if self.luck.random() < 0.1:
            return (LAPSE_OFFER, offer[1], offer[0])
        answers = [
            action
            for seat in (offer[1], offer[2])
            for action in legal_actions(state, seat)
            if len(action) == 3 and action[0] > PROPOSE_TRADE and action[2] == offer[0]
        ]
        return self.luck.choice(answers)

    def _decide(self, state: State, seat: Seat) -> Action:
        if self.styles[seat] == "steady":
            return choose_steadily(state, seat, self._own)
        actions = legal_actions(state, seat)
        if self.styles[seat] == "first" and self.luck.random() < 0.7:
            return actions[0]
        return self.luck.choice(actions)


class Playout:
    """One game. Equal arguments give equal games.

    Args:
        ruleset: The rules.
        seats: Number of seats.
        seed: Of the dice, of the seats' cards and VIPs, and of what the players do.
        chance: Other dice.
    """

    def __init__(
        self, ruleset: Ruleset, seats: int, seed: str, *, chance: Chance | None = None
    ) -> None:
        whole_seed = f"{ruleset.name}/{seats}/{seed}"
        self.players = Players(seats, whole_seed)
        self.chance = SeededChance(whole_seed.encode()) if chance is None else chance
        luck = self.players.luck
        cards = {seat: _some_cards(luck) for seat in range(seats)}
        vip = tuple(seat for seat in range(seats) if luck.random() < 0.6)
        self.events: list[Event] = []
        self.state = start(ruleset, seats, self.chance, cards=cards, vip=vip, log=self.events)
        self.actions = 0

    def step(self) -> tuple[Action, list[Event]]:
        """One accepted action, and its events."""
        self.actions += 1
        assert self.actions < MOST_ACTIONS, "the game never ends"
        action = self.players.choose(self.state)
        return action, apply(self.state, action, self.chance)


def house_rules(ruleset: Ruleset, seed: int) -> Ruleset:
    """The ruleset with a start cash and a cap that a house may set: short games of every sort."""
    luck = random.Random(f"house {seed}")
    cap = min(luck.choice(_CAPS), ruleset.round_cap)
    return with_options(ruleset, {"round_cap": cap, "start_cash": luck.choice(_CASH)})


def random_states(ruleset: Ruleset, seats: int, seed: str, count: int) -> Iterator[State]:
    """States of running games, from the first rounds to the last, a few steps apart.

    Each is the game's own: look at it and go on, or clone it.
    """
    games = 0
    while count:
        rules = house_rules(ruleset, games) if games % 4 else ruleset
        playout = Playout(rules, seats, f"{seed}.{games}")
        games += 1
        steps = random.Random(f"{seed}.{games}")
        wait = 0
        while not playout.state.over and count:
            if wait == 0:
                yield playout.state
                count -= 1
                wait = steps.randrange(1, 14)
            wait -= 1
            playout.step()


def random_trade(state: State, seat: Seat, luck: random.Random) -> Action:
    """A trade that the seat may or may not propose: fair ones, unfair ones, impossible ones."""
    template = trade_template(state, seat)
    partners = template.partners if template else []
    if template is None or not partners or luck.random() < 0.15:
        return _wild_trade(state, seat, luck)
    partner, theirs, most, _ = luck.choice(partners)
    give = _some(template.own_squares, luck)
    want = _some(theirs, luck)
    lacking = sum(PRICE[square] for square in want) - sum(PRICE[square] for square in give)
    paid = abs(lacking) * luck.randrange(0, 25) // 10
    give_cash = min(paid, template.max_give_cash) if lacking > 0 else 0
    want_cash = min(paid, most) if lacking < 0 else 0
    return propose_trade(
        seat,
        partner,
        give_cash=give_cash,
        give_squares=give,
        want_cash=want_cash,
        want_squares=want,
    )


def _wild_trade(state: State, seat: Seat, luck: random.Random) -> Action:
    cash = (0, 0, 1, -5, 500, 5_000, 10**7)
    give, want = _some(list(PROPERTIES), luck), _some(list(range(SQUARES)), luck)
    recipient = luck.randrange(-1, state.seats + 1)
    give_mask, want_mask = mask_of(give), mask_of(want)
    return (
        PROPOSE_TRADE,
        seat,
        recipient,
        luck.choice(cash),
        give_mask,
        luck.choice(cash),
        want_mask,
    )


def fits_template(state: State, trade: Action) -> bool:
    """Whether a proposal lies within the template that its seat was given."""
    _, seat, recipient, give_cash, give, want_cash, want = trade
    template = trade_template(state, seat)
    if template is None:
        return False
    for partner, theirs, most, ally in template.partners:
        if partner == recipient:
            fits = (
                0 <= give_cash <= template.max_give_cash
                and 0 <= want_cash <= most
                and give & ~mask_of(tuple(template.own_squares)) == 0
                and want & ~mask_of(tuple(theirs)) == 0
                and bool(give or want or give_cash or want_cash)
            )
            one, other = _worth(state, give_cash, give), _worth(state, want_cash, want)
            fair = min(one, other) * 10_000 >= max(one, other) * template.fairness_bp
            return fits and (ally or fair)
    return False


def candidate_actions(seats: int) -> list[Action]:
    """Every action of every kind for every seat, trades apart; wrong arguments among them."""
    arguments: dict[tuple[str, ...], list[int]] = {
        ("square",): list(range(-1, SQUARES + 1)),
        ("numbers",): list(range(-1, 130)),
        ("move",): list(range(-1, 6)),
    }
    found: list[Action] = []
    for kind, names in ARGUMENTS.items():
        for seat in range(seats):
            if not names:
                found.append((kind, seat))
            found += [(kind, seat, value) for value in arguments.get(names, [])]
    return found


def candidate_answers(state: State) -> list[Action]:
    """Every seat's accepting, declining, withdrawing and lapsing of every offer, and of no offer."""
    offers = [offer[0] for offer in state.offers]
    return [
        (kind, seat, offer)
        for kind, names in ARGUMENTS.items()
        if names == ("offer_id",)
        for seat in range(state.seats)
        for offer in (*offers, -1, 0, state.last_offer + 1)
    ]


def _worth(state: State, cash: int, mask: int) -> int:
    worth = cash
    for square in PROPERTIES:
        if mask >> square & 1:
            worth += PRICE[square] // 2 if state.mortgaged[square] else PRICE[square]
    return worth


def _some(squares: list[int], luck: random.Random) -> tuple[int, ...]:
    return tuple(luck.sample(squares, luck.randrange(0, min(len(squares), 2) + 1)))


def _some_cards(luck: random.Random) -> dict[int, int]:
    squares = luck.sample(PROPERTIES, 5)
    return {square: luck.choice((300, 800, 1_800, 3_300, 9_000)) for square in squares}
