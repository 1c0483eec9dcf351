"""Positions: made of what a seat may see, played on alike, taken apart by chance in full."""

import functools
import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Final

import pytest

from opolyx_rules import (
    RULESETS,
    RecordingChance,
    Ruleset,
    SeededChance,
    State,
    apply,
    get_ruleset,
    legal_actions,
    start,
)
from opolyx_rules.actions import KIND, LAPSE_OFFER, SURRENDER, TIME_OUT
from opolyx_rules.chance import RecordedChance
from opolyx_rules.ids import CASH_BAIL, CASH_FINANCING, LAST_PHASE
from opolyx_rules.views import public_view
from opolyx_sdk import (
    Action,
    Bot,
    Decision,
    GameInfo,
    GameView,
    HouseRules,
    Refused,
    Seat,
    SeatCard,
    SteadyBot,
    Update,
    actions,
)
from opolyx_sdk.enums import Phase, SeatKind
from opolyx_sdk.events import CardDrawn
from opolyx_sdk.local import Outcome, Position, TableOptions, simulate
from opolyx_sdk.local._core_actions import sdk_action
from opolyx_sdk.local._core_views import ViewMaker
from support_playout import TABLES, Playout, house_rules, random_states

digest_of = functools.cache(Ruleset.digest)


def info_of(state: State) -> GameInfo:
    rules = state.ruleset
    return GameInfo(
        game_id="g_test",
        ruleset=rules.name,
        ruleset_hash=digest_of(rules),
        seats=tuple(
            Seat(
                seat=seat,
                player_id="",
                name="",
                kind=SeatKind.BOT,
                side=seat % rules.sides if rules.sides else seat,
                policy="",
                cards=tuple(
                    SeatCard(square, bonus)
                    for square, bonus in enumerate(state.cards[seat])
                    if bonus
                ),
                vip=state.vip[seat],
            )
            for seat in range(state.seats)
        ),
        commitment=b"",
        your_seat=0,
        house=HouseRules(start_cash=rules.start_cash, round_cap=rules.round_cap),
    )


def position_of(state: State) -> Position:
    return Position.of(info_of(state), ViewMaker().view(state))


HISTORY: Final = (SURRENDER, TIME_OUT, LAPSE_OFFER)
"""What asks for more than the view: who led an auction before, whether the turn was missed."""


@pytest.mark.parametrize(("name", "seats"), TABLES[1::2])
def test_what_is_rebuilt_from_a_view_plays_on_as_the_game_itself(name: str, seats: int) -> None:
    for state in random_states(get_ruleset(name), seats, "rebuilt", 60):
        rebuilt = position_of(state).state
        assert public_view(state) == public_view(rebuilt)
        assert [legal_actions(state, seat) for seat in range(seats)] == [
            legal_actions(rebuilt, seat) for seat in range(seats)
        ]
        real = state.clone()
        rebuilt.deck, rebuilt.deck_at = real.deck[:], real.deck_at
        luck, chance = random.Random(f"{name} {seats}"), RecordingChance(SeededChance(b"on"))
        for _ in range(12):
            if real.over:
                break
            choices = [action for seat in range(seats) for action in legal_actions(real, seat)]
            action = luck.choice(choices)
            assert action[KIND] not in HISTORY
            expected = apply(real, action, chance)
            assert expected == apply(rebuilt, action, RecordedChance(chance.take()))
            assert public_view(real) == public_view(rebuilt)


def test_a_forced_bail_holds_up_the_walk_out_of_jail() -> None:
    found = 0
    for state in random_states(get_ruleset("classic@full"), 2, "bail", 3_000):
        if any(claim[2] == CASH_BAIL for debt in state.debts for claim in debt[1]):
            found += 1
            ours = [frame[:3] for frame in position_of(state).state.stack]
            assert [frame[:3] for frame in state.stack] == ours
    assert found


def test_financing_that_is_called_in_holds_up_the_roll() -> None:
    found = 0
    for state in random_states(get_ruleset("halal@full"), 3, "financing", 3_000):
        if any(claim[2] == CASH_FINANCING for debt in state.debts for claim in debt[1]):
            found += 1
            ours = [frame[:3] for frame in position_of(state).state.stack]
            assert [frame[:3] for frame in state.stack] == ours
    assert found


def test_a_position_of_a_game_that_is_over_is_over() -> None:
    playout = Playout(house_rules(get_ruleset("blitz@full"), 1), 3, "over")
    while not playout.state.over:
        playout.step()
    position = position_of(playout.state)

    assert position.over
    assert position.seat is None
    assert () == position.legal_actions
    assert ViewMaker().view(playout.state) == position.view
    with pytest.raises(Refused):
        position.play(actions.Roll(), random.Random(1))
    with pytest.raises(ValueError, match="over"):
        _ = position.decision


def test_a_position_holds_nothing_of_the_deck_or_the_dice_to_come() -> None:
    rules = get_ruleset("classic@full")
    one, other = (start(rules, 4, SeededChance(key)) for key in (b"one", b"other"))
    other.first_seat = other.turn_seat = one.first_seat
    other.stack = one.stack[:]

    assert one.deck != other.deck
    assert position_of(one).state.deck == position_of(other).state.deck


def test_clones_are_independent() -> None:
    for state in random_states(get_ruleset("fortune@full"), 4, "clones", 40):
        position = position_of(state)
        before, deck = public_view(position.state), position.state.deck[:]
        copy = position.clone()
        copy.play(copy.legal_actions[0], random.Random(1))
        copy.play_out(random.Random(2), rounds=1)

        assert before == public_view(position.state)
        assert deck == position.state.deck


@pytest.mark.parametrize("name", RULESETS)
def test_outcomes_have_odds_that_sum_to_one_and_change_nothing(name: str) -> None:
    for number, state in enumerate(random_states(get_ruleset(name), 4, "odds", 12)):
        position = position_of(state)
        before = public_view(position.state), position.state.deck[:]
        for action in position.legal_actions[:: 1 + number % 3]:
            outcomes = position.outcomes(action)
            assert 1 == sum(Fraction(1, round(1 / one.odds)) for one in outcomes)
            assert len(outcomes) == len({(one.draws, one.cards) for one in outcomes})
        assert before == (public_view(position.state), position.state.deck)


def fresh(name: str = "classic@full", seats: int = 4) -> Position:
    return position_of(start(get_ruleset(name), seats, SeededChance(b"fresh")))


def test_a_first_roll_has_all_rolls_and_all_cards() -> None:
    position = fresh()
    outcomes = position.outcomes(actions.Roll())

    by_dice: Counter[tuple[int, ...]] = Counter()
    for one in outcomes:
        by_dice[one.dice] += 1
        assert one.exact
        assert one.dice == tuple(one.position.state.dice[:2])
    assert 36 == len(by_dice)
    square_2 = [one for one in outcomes if (1, 1) == one.dice]
    cards = len(position.state.deck)
    assert cards <= len(square_2)
    assert set(range(cards)) == {one.cards[0] for one in square_2}
    assert 1 / 36 == pytest.approx(sum(one.odds for one in square_2))
    plain = [one for one in outcomes if (1, 4) == one.dice]
    assert [()] == [one.cards for one in plain]
    assert 1 / 36 == pytest.approx(plain[0].odds)


def test_the_third_die_multiplies_the_outcomes() -> None:
    position = fresh("speed@full")
    position.state.round = position.state.ruleset.third_die_from

    outcomes = position.outcomes(actions.Roll())
    assert 216 == len({one.draws for one in outcomes})


def test_a_decision_without_chance_has_one_outcome() -> None:
    position = fresh()
    position.state.position[0] = 0
    outcome = next(
        one
        for one in position.outcomes(actions.Roll())
        if one.position.view.turn.phase is Phase.BUY
    )
    (bought,) = outcome.position.outcomes(actions.Buy())

    assert (1.0, (), ()) == (bought.odds, bought.draws, bought.cards)
    seat = outcome.position.seat
    assert seat is not None
    assert bought.position.net_worth(seat) == outcome.position.net_worth(seat)
    assert bought.position.cash(seat) < outcome.position.cash(seat)


def test_what_happens_is_among_the_outcomes() -> None:
    for number, state in enumerate(random_states(get_ruleset("classic@full"), 3, "among", 40)):
        position = position_of(state)
        action = position.legal_actions[0]
        after = position.clone()
        after.play(action, random.Random(number))
        views = [public_view(one.position.state) for one in position.outcomes(action)]
        assert public_view(after.state) in views


def test_play_draws_outcomes_as_often_as_their_odds_say() -> None:
    position, luck, tries = fresh(), random.Random(11), 20_000
    expected: Counter[tuple[int, ...]] = Counter()
    for one in position.outcomes(actions.Roll()):
        expected[(one.position.cash(position.seat or 0),)] += one.odds  # type: ignore[assignment]
    counted: Counter[tuple[int, ...]] = Counter()
    seat = position.seat or 0
    for _ in range(tries):
        copy = position.clone()
        copy.play(actions.Roll(), luck)
        counted[(copy.cash(seat),)] += 1

    assert set(counted) <= set(expected)
    for cash, odds in expected.items():
        assert odds == pytest.approx(counted[cash] / tries, abs=0.012)


def card_place(position: Position) -> Position:
    """The position with the awaited seat two squares before a card."""
    position.state.position[position.seat or 0] = 0
    return position


def test_cards_that_were_drawn_do_not_come_again_before_the_deck_is_through() -> None:
    state = start(get_ruleset("classic@full"), 4, SeededChance(b"deck"))
    info, view, size = info_of(state), ViewMaker().view(state), len(state.deck)

    def next_cards(drawn: list[int]) -> set[int]:
        position = card_place(Position.of(info, view, drawn=drawn))
        outcomes = position.outcomes(actions.Roll())
        return {one.cards[0] for one in outcomes if (1, 1) == one.dice}

    assert set(range(size)) == next_cards([])
    assert set(range(size)) - {3, 5} == next_cards([3, 5])
    order = list(reversed(range(size)))
    assert {order[-1]} == next_cards(order[:-1])
    assert {order[0]} == next_cards(order)
    assert {order[2]} == next_cards([*order, *order[:2]])


def test_a_search_does_not_draw_a_card_twice() -> None:
    luck = random.Random(5)
    position = fresh("blitz@full")
    cards: list[int] = []
    while not position.over and len(cards) < len(position.state.deck):
        at = position.state.deck_at
        position.play(luck.choice(position.legal_actions), luck)
        deck = position.state.deck
        while at != position.state.deck_at:
            cards.append(deck[at])
            at = (at + 1) % len(deck)
    first = cards[: len(position.state.deck)]
    assert len(first) == len(set(first)) > 5


def test_a_red_packet_is_cut_evenly_and_says_so() -> None:
    found: list[Outcome] = []
    position = card_place(fresh("fortune@full"))
    for outcome in position.outcomes(actions.Roll()):
        if not outcome.exact:
            found.append(outcome)
    assert found
    debts = [one.position.view.debts for one in found if one.position.view.debts]
    for (debt,) in debts:
        amounts = {claim.amount for claim in debt.claims}
        assert 3 == len(debt.claims)
        assert max(amounts) - min(amounts) <= 1


def test_what_the_rules_refuse_is_refused() -> None:
    position = fresh()
    before = public_view(position.state)

    for action in (actions.Buy(), actions.Wager((9,)), actions.AcceptTrade(3)):
        with pytest.raises(Refused):
            position.play(action, random.Random(1))
        with pytest.raises(Refused):
            position.outcomes(action)
    assert before == public_view(position.state)


def test_trades_can_be_thought_through() -> None:
    position, luck = fresh(), random.Random(3)
    state = position.state
    seat = position.seat
    assert seat is not None
    other = (seat + 1) % 4
    state.give(1, seat)
    state.give(3, other)
    position.play(actions.ProposeTrade(other, 0, (1,), 0, (3,)), luck)

    assert other == position.seat
    assert (actions.AcceptTrade(1), actions.DeclineTrade(1)) == position.legal_actions
    assert Phase.OFFER is position.decision.phase
    withdrawn, accepted = position.clone(), position.clone()
    withdrawn.play(actions.WithdrawTrade(1), luck)
    accepted.play(actions.AcceptTrade(1), luck)
    assert (seat, seat) == (withdrawn.state.owner[1], accepted.state.owner[3])
    assert seat == accepted.seat


def test_play_out_ends_the_game_or_stops_after_rounds() -> None:
    position = fresh("blitz@full")
    a_while, to_the_end = position.clone(), position.clone()
    a_while.play_out(random.Random(1), rounds=2)
    to_the_end.play_out(random.Random(1), policy="random")

    assert 3 == a_while.round
    assert not a_while.over
    assert to_the_end.over
    assert {1, 2, 3, 4} == set(to_the_end.places())
    with pytest.raises(ValueError, match="no built-in bot 'x'; there are random, steady, trader"):
        position.play_out(random.Random(1), policy="x")


def test_other_rules_than_here_are_refused() -> None:
    state = start(get_ruleset("classic@full"), 4, SeededChance(b"x"))
    view, info = ViewMaker().view(state), info_of(state)

    with pytest.raises(ValueError, match="install the rules of the server's version"):
        Position.of(replace(info, house=HouseRules(round_cap=7)), view)
    unknown = GameInfo("g", "chess@full", "", info.seats, b"", 0)
    with pytest.raises(ValueError, match="no ruleset 'chess@full'"):
        Position.of(unknown, view)


class Prophet(SteadyBot):
    """Looks ahead wherever it is asked, and checks that it sees what comes."""

    def __init__(self) -> None:
        super().__init__()
        self.info: GameInfo | None = None
        self.drawn: list[int] = []
        self.foreseen: list[GameView] = []
        self.checked = 0

    def on_start(self, info: GameInfo) -> None:
        self.info = info

    def on_update(self, update: Update) -> None:
        self.drawn += [one.card for one in update.events if isinstance(one, CardDrawn)]
        if self.foreseen:
            assert update.view in self.foreseen
            self.checked += 1
            self.foreseen = []

    def decide(self, view: GameView, decision: Decision) -> Action:
        assert self.info is not None
        action = super().decide(view, decision)
        if decision.phase is Phase.AUCTION:
            return action
        position = Position.of(self.info, view, drawn=self.drawn)
        assert decision.legal_actions == position.legal_actions
        assert decision.seat == position.seat
        self.foreseen = [one.position.view for one in position.outcomes(action)]
        return action


@pytest.mark.parametrize("name", ["classic@full", "halal@full", "speed@guide"])
def test_a_bot_foresees_what_comes_of_its_moves(name: str) -> None:
    prophet = Prophet()
    options = TableOptions(house={"round_cap": 15}, vip=frozenset({0}))
    record = simulate(name, [prophet, "steady", "random"], 8, options=options, strict=True)

    assert [] == record.reports[0].failures
    assert prophet.checked > 15


@pytest.mark.timeout(120)
@pytest.mark.parametrize("name", ["classic@full", "fortune@full"])
def test_every_listed_action_can_be_played_and_no_die_or_card_is_listed(name: str) -> None:
    """Case A-38."""
    playable = set(actions.ACTION_TYPES)
    count = 0
    for seed in range(4):
        for state in random_states(get_ruleset(name), 3, f"listed {seed}", 1_250):
            count += 1
            position = position_of(state)
            listed = position.legal_actions
            assert listed
            assert len(listed) == len(set(listed))
            assert {type(action) for action in listed} <= playable
            assert state.stack[-1][0] <= LAST_PHASE
            for action in listed if count % 5 == 0 else listed[:1]:
                copy = position.clone()
                copy.play(action, random.Random(count))
                assert public_view(copy.state) != public_view(position.state)
    assert 5_000 == count


def test_listed_actions_are_those_of_the_rules() -> None:
    for state in random_states(get_ruleset("team@full"), 4, "same", 300):
        seat = state.stack[-1][1]
        position = position_of(state)
        if not state.offers:
            expected = tuple(sdk_action(action) for action in legal_actions(state, seat))
            assert expected == position.legal_actions


def test_a_bot_can_play_inside_a_search() -> None:
    bot: Bot = SteadyBot()
    position, luck = fresh("blitz@full", 3), random.Random(2)
    while not position.over:
        position.play(bot.decide(position.view, position.decision), luck)
    assert position.places()
