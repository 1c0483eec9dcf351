"""What holds for any state of any game.

Clones are independent, bytes lose nothing, hidden things stay hidden, and equal input gives an
equal game.
"""

import random
from collections.abc import Iterator

import pytest

from opolyx_rules import (
    RULESETS,
    RecordedChance,
    RecordingChance,
    Ruleset,
    SeededChance,
    State,
    actors,
    apply,
    check,
    get_ruleset,
    legal_actions,
    state_digest,
    trade_template,
)
from opolyx_rules.actions import KIND, PROPOSE_TRADE
from opolyx_rules.chance import DICE, LABELS
from opolyx_rules.codec import decode, encode
from opolyx_rules.policies import POLICIES
from opolyx_rules.views import public_view
from support_playout import TABLES, Playout, house_rules, random_states

STEPS = 12
"""How far a copy is played on beside its original."""


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_a_clone_shares_nothing_that_changes(name: str, seats: int) -> None:
    for state in random_states(get_ruleset(name), seats, "clone", 25):
        before = encode(state)
        clone = state.clone()
        assert before == encode(clone)

        played_on = list(play_on(clone, "clone"))

        assert before == encode(state)
        assert played_on == list(play_on(state.clone(), "clone"))


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_a_state_survives_its_bytes(name: str, seats: int) -> None:
    """Decoded, it is the same to every question and plays on the same way."""
    for state in random_states(get_ruleset(name), seats, "codec", 25):
        again = decode(encode(state), state.ruleset)

        assert encode(state) == encode(again)
        for slot in State.__slots__:
            assert getattr(state, slot) == getattr(again, slot)
            assert type(getattr(state, slot)) is type(getattr(again, slot))
        assert state_digest(state) == state_digest(again)
        assert list(play_on(state.clone(), "codec")) == list(play_on(again, "codec"))


@pytest.mark.rule("CHANCE-1")
@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_nothing_public_depends_on_the_order_of_the_cards_to_come(name: str, seats: int) -> None:
    """Neither what is shown, nor what may be done, nor what a built-in bot decides."""
    luck = random.Random("deck")
    for state in random_states(get_ruleset(name), seats, "deck", 25):
        other = with_other_deck(state, luck)
        assert encode(state) != encode(other)

        assert public_view(state) == public_view(other)
        assert state_digest(state) == state_digest(other)
        for seat in range(seats):
            assert legal_actions(state, seat) == legal_actions(other, seat)
            assert (trade_template(state, seat) is None) == (trade_template(other, seat) is None)
            for choose in POLICIES.values() if legal_actions(state, seat) else ():
                draws = [SeededChance(b"policy"), SeededChance(b"policy")]
                assert choose(state, seat, draws[0]) == choose(other, seat, draws[1])


@pytest.mark.parametrize("policy", sorted(POLICIES))
@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_a_policy_gives_a_legal_action_and_changes_nothing(
    name: str, seats: int, policy: str
) -> None:
    for state in random_states(get_ruleset(name), seats, f"policy {policy}", 25):
        before = encode(state)
        for seat in range(seats):
            actions = legal_actions(state, seat)
            if actions:
                action = POLICIES[policy](state, seat, SeededChance(b"policy"))
                # Proposals are too many to be listed.
                assert action in actions or action[KIND] == PROPOSE_TRADE
                assert check(state, action) is None
        assert before == encode(state)


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_equal_seeds_give_equal_games(name: str, seats: int) -> None:
    ruleset = house_rules(RULESETS[name], 1)

    assert list(digests(ruleset, seats, "one")) == list(digests(ruleset, seats, "one"))
    assert list(digests(ruleset, seats, "one")) != list(digests(ruleset, seats, "two"))


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_recorded_draws_replay_a_step(name: str, seats: int) -> None:
    for state in random_states(get_ruleset(name), seats, "draws", 25):
        recording = RecordingChance(SeededChance(b"draws"))
        played, replayed = state.clone(), state.clone()
        action = legal_actions(state, actors(state)[0])[0]
        log = apply(played, action, recording)
        recorded = RecordedChance(recording.take())

        assert log == apply(replayed, action, recorded)
        assert encode(played) == encode(replayed)
        assert recorded.rest() == 0


@pytest.mark.parametrize(("name", "seats"), TABLES)
def test_a_game_goes_on_from_the_places_of_its_streams(name: str, seats: int) -> None:
    """The key and the bytes consumed are all that a restarted server needs of the dice."""
    chance = SeededChance(b"places")
    playout = Playout(RULESETS[name], seats, "places", chance=chance)
    for _ in range(60):
        if playout.state.over:
            break
        playout.step()
    again = SeededChance(b"places", chance.places())

    draws = [label for label in range(len(LABELS)) for _ in range(70)]
    assert [chance.draw(label, 6) for label in draws] == [again.draw(label, 6) for label in draws]


def play_on(state: State, seed: str) -> Iterator[tuple[object, ...]]:
    """Some steps of random play: actions, events and the state after each."""
    chance, players = SeededChance(seed.encode()), SeededChance(b"players " + seed.encode())
    for _ in range(STEPS):
        if state.over:
            return
        actions = legal_actions(state, actors(state)[0])
        action = actions[players.draw(DICE, len(actions))]
        yield action, apply(state, action, chance), encode(state)


def with_other_deck(state: State, luck: random.Random) -> State:
    """A clone whose cards are in another order, those to be drawn next first of all."""
    other = state.clone()
    while other.deck == state.deck:
        luck.shuffle(other.deck)
    other.deck_at = luck.randrange(len(other.deck))
    return other


def digests(ruleset: Ruleset, seats: int, seed: str) -> Iterator[bytes]:
    """The digest after each of the first steps."""
    playout = Playout(ruleset, seats, seed)
    for _ in range(80):
        if playout.state.over:
            return
        playout.step()
        yield state_digest(playout.state)
