"""The pieces of the rules core that are guarded."""

from collections.abc import Callable
from typing import Final

STEPS: Final = 300
"""Of each slice: some milliseconds, which are often left alone even on a busy machine."""

_STATES: Final = 30
"""Of a game, looked at again and again: few, so that caches hold them wherever they lie in memory."""

Work = Callable[[], object]


def works_of_imported_core() -> dict[str, Work]:
    """The works, done by the rules core that is imported as `opolyx_rules` at this moment."""
    import opolyx_rules as rules
    from opolyx_rules.policies.random import choose_randomly
    from opolyx_rules.policies.steady import choose_steadily
    from opolyx_rules.replay import make_record, record_line

    ruleset = rules.get_ruleset("classic@full")

    def begin() -> tuple[rules.State, rules.SeededChance, rules.SeededChance]:
        chance = rules.SeededChance(b"guard")
        return rules.start(ruleset, 4, chance), chance, rules.SeededChance(b"players")

    def random_play() -> None:
        state, chance, luck = begin()
        for _ in range(STEPS):
            if state.over:
                state = rules.start(ruleset, 4, chance)
            action = choose_randomly(state, rules.actors(state)[0], luck)
            rules.apply_checked(state, action, chance, [])

    def steady_play() -> None:
        state, chance, luck = begin()
        for _ in range(STEPS):
            if state.over:
                state = rules.start(ruleset, 4, chance)
            rules.apply(state, choose_steadily(state, rules.actors(state)[0], luck), chance)

    states = []
    state, chance, luck = begin()
    for number in range(STEPS):
        rules.apply(state, choose_randomly(state, rules.actors(state)[0], luck), chance)
        if number % (STEPS // _STATES) == 0:
            states.append(state.clone())

    def lists() -> None:
        for _ in range(STEPS // _STATES):
            for state in states:
                rules.legal_actions(state, rules.actors(state)[0])

    def clones() -> None:
        for _ in range(3 * STEPS // _STATES):
            for state in states:
                state.clone()

    def records() -> None:
        digest = bytes(32)
        for seq in range(STEPS):
            record = make_record(digest, seq=seq, at_unix_ms=seq, action=(11, 2, 39), draws=(3, 5))
            record_line(record)
            digest = bytes.fromhex(record.log_digest)

    return {
        "random play": random_play,
        "steady play": steady_play,
        "legal lists": lists,
        "clones": clones,
        "records": records,
    }
