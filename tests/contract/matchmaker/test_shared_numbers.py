"""What the matchmaker says again is what the other parts say, which it can't import."""

from opolyx_engine.bots import POLICIES as ENGINE_POLICIES
from opolyx_matchmaker.bots import POLICIES
from opolyx_matchmaker.peers import NEWCOMER_RATING
from opolyx_matchmaker.settings import RULESETS, MatchmakerSettings
from opolyx_progression.ratings import NEWCOMER
from opolyx_rules import RULESETS as RULES


def test_rulesets_are_those_of_the_rules() -> None:
    assert sorted(RULES) == sorted(RULESETS)


def test_policies_are_those_of_the_engine() -> None:
    assert set(ENGINE_POLICIES) == set(POLICIES)
    assert MatchmakerSettings().match_bot_policy in POLICIES


def test_newcomers_are_rated_as_progression_rates_them() -> None:
    assert NEWCOMER.ordinal == NEWCOMER_RATING
