"""A built-in bot answers the decision it is asked for, whatever else is open to its seat."""

from opolyx_engine.bots import _state_for
from opolyx_rules import SeededChance, get_ruleset, start
from opolyx_rules.policies import POLICIES


def test_an_open_offer_does_not_keep_a_bot_from_its_own_decision() -> None:
    state = start(get_ruleset("classic@full"), 3, SeededChance(b"key"))
    seat = state.stack[-1][1]
    proposer, other = (seat + 1) % 3, (seat + 2) % 3
    # (id, proposer, recipient, give cash, give, want cash, want, mortgaged): a gift of 100.
    gift = (1, proposer, seat, 100, 0, 90, 0, 0)
    elsewhere = (2, proposer, other, 100, 0, 90, 0, 0)
    state.offers = [gift, elsewhere]

    own = _state_for(state, f"d{state.decision}")
    answer = _state_for(state, "o1")

    assert [elsewhere] == own.offers
    assert [gift] == answer.offers
    assert [gift, elsewhere] == state.offers
    for name, policy in POLICIES.items():
        action = policy(own, seat, SeededChance(name.encode()))
        assert len(action) == 2 or action[2] != 1, name
