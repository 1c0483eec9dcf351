"""How fast the rules core is, by CPU time: `make bench ARGS="--only core"`, or a row alone.

classic@full, four seats. Random players and the games of steady bots stand for two kinds of play: the
first wander through all phases, the second build and trade up to an end. Steady's thinking is not
counted where its games are played back: what is measured there is the engine.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Final

from opolyx_rules import (
    Action,
    Chance,
    RecordingChance,
    SeededChance,
    State,
    actors,
    apply,
    apply_checked,
    compiled,
    get_ruleset,
    legal_actions,
    start,
    state_digest,
)
from opolyx_rules.chance import DICE
from opolyx_rules.codec import encode
from opolyx_rules.policies.random import choose_randomly
from opolyx_rules.policies.steady import choose_steadily
from opolyx_rules.replay import make_record, record_line
from results import note

RULESET: Final = get_ruleset("classic@full")
SEATS: Final = 4
_KEY: Final = b"bench"
_LONGEST: Final = 3_000
"""Steps of a game that is played back."""

Measure = Callable[[float], tuple[int, float]]
"""Works for about so many seconds; how often it did its work, and in how many seconds of CPU."""

Step = Callable[[State, Action, Chance], object]


@dataclass(frozen=True, slots=True)
class Row:
    """One measure, and the goals of `interpreted` and `compiled`."""

    part: str
    name: str
    measure: Measure
    unit: str
    goals: tuple[float, float] | None = None


def play_randomly(seconds: float) -> tuple[int, float]:
    """Random players, the legal list at each step, no events kept, nothing checked twice."""
    return _play(seconds, choose_randomly, _carry_out)


def play_back(seconds: float) -> tuple[int, float]:
    """Games of steady bots, the legal list at each step."""
    return _play_back(seconds, _list_and_carry_out, SeededChance)


def record_randomly(seconds: float) -> tuple[int, float]:
    """Random players, with events, the replay's bytes and the running digest."""
    return _play(seconds, choose_randomly, _Recorder().step, RecordingChance(SeededChance(_KEY)))


def record_back(seconds: float) -> tuple[int, float]:
    """Games of steady bots, recorded likewise."""
    recorder = _Recorder()

    def step(state: State, action: Action, chance: Chance) -> None:
        legal_actions(state, actors(state)[0])
        recorder.step(state, action, chance)

    return _play_back(seconds, step, lambda key: RecordingChance(SeededChance(key)))


def digest_each_step(seconds: float) -> tuple[int, float]:
    """Random players, and the digest of the whole state after each step."""

    def step(state: State, action: Action, chance: Chance) -> None:
        apply_checked(state, action, chance, [])
        state_digest(state)

    return _play(seconds, choose_randomly, step)


def play_through_the_api(seconds: float) -> tuple[int, float]:
    """A bot that is interpreted even where the core isn't, through the public API, which checks."""
    return _play(seconds, _any_action, apply)


def play_back_through_the_api(seconds: float) -> tuple[int, float]:
    """Games of steady bots through the public API."""

    def step(state: State, action: Action, chance: Chance) -> None:
        legal_actions(state, actors(state)[0])
        apply(state, action, chance)

    return _play_back(seconds, step, SeededChance)


def play_steadily(seconds: float) -> tuple[int, float]:
    """Steady bots through the public API; most of the time is their thinking."""
    return _play(seconds, choose_steadily, apply)


def list_legal_actions(seconds: float) -> tuple[int, float]:
    """The awaited seat's list."""
    return _each_state(seconds, lambda state: legal_actions(state, actors(state)[0]))


def clone_states(seconds: float) -> tuple[int, float]:
    """An independent copy."""
    return _each_state(seconds, State.clone)


def digest_states(seconds: float) -> tuple[int, float]:
    """The digest of the public state."""
    return _each_state(seconds, state_digest)


def encode_states(seconds: float) -> tuple[int, float]:
    """The bytes of a snapshot."""
    return _each_state(seconds, encode)


def roll_dice(seconds: float) -> tuple[int, float]:
    """Verifiable dice, one by one."""
    draw, done, begun = SeededChance(_KEY).draw, 0, time.process_time()
    while time.process_time() - begun < seconds:
        for _ in range(10_000):
            draw(DICE, 6)
        done += 10_000
    return done, time.process_time() - begun


_LISTED: Final = (100_000.0, 1_000_000.0)
_RECORDED: Final = (60_000.0, 500_000.0)
_VALIDATED: Final = (60_000.0, 300_000.0)

ROWS: Final = (
    Row("core-list", "random play, list at each step, no events", play_randomly, "/s", _LISTED),
    Row("core-list", "steady's games, list at each step, no events", play_back, "/s", _LISTED),
    Row(
        "core-recorded",
        "random play, with events, log bytes and running digest",
        record_randomly,
        "/s",
        _RECORDED,
    ),
    Row(
        "core-recorded",
        "steady's games, with events, log bytes and running digest",
        record_back,
        "/s",
        _RECORDED,
    ),
    Row("core-digested", "random play, state digest at each step", digest_each_step, "/s"),
    Row(
        "core-validated",
        "random bot, interpreted, through the public API, validated",
        play_through_the_api,
        "/s",
        _VALIDATED,
    ),
    Row(
        "core-validated",
        "steady's games, through the public API, validated",
        play_back_through_the_api,
        "/s",
        _VALIDATED,
    ),
    Row("core-steady", "steady play, its thinking counted", play_steadily, "/s"),
    Row("core-legal", "legal list", list_legal_actions, "µs"),
    Row("core-clone", "clone", clone_states, "µs", (6.0, 1.2)),
    Row("core-digest", "digest of the state", digest_states, "µs"),
    Row("core-encode", "encoded state", encode_states, "µs"),
    Row("core-die", "a verifiable die", roll_dice, "µs", (0.5, 0.25)),
)
"""What is measured, and the goals where there are any."""


def run(part: str, *, quick: bool) -> None:
    """Measure the rows of a part, each the median of some runs, and print them."""
    seconds, runs = (0.1, 3) if quick else (0.4, 5)
    for row in ROWS:
        if row.part != part:
            continue
        rate = statistics.median(_rate(row.measure, seconds) for _ in range(runs))
        goal = row.goals[compiled] if row.goals else None
        value = rate if row.unit == "/s" else 1e6 / rate
        note(row.part, row.name, value, row.unit, goal=goal, less=row.unit == "µs")
        shown = "" if goal is None else f"{goal:,g} {row.unit}"
        print(f"{row.name:60}{rate:12,.0f} /s{1e6 / rate:10.2f} µs{shown:>14}", flush=True)


def _rate(measure: Measure, seconds: float) -> float:
    done, took = measure(seconds)
    return done / took


def _play(
    seconds: float,
    choose: Callable[[State, int, Chance], Action],
    step: Step,
    chance: Chance | None = None,
) -> tuple[int, float]:
    """Let everybody choose, game after game."""
    chance, luck = chance or SeededChance(_KEY), SeededChance(b"players")
    state = start(RULESET, SEATS, chance)
    done, begun = 0, time.process_time()
    while time.process_time() - begun < seconds:
        for _ in range(200):
            if state.over:
                state = start(RULESET, SEATS, chance)
            step(state, choose(state, actors(state)[0], luck), chance)
        done += 200
    return done, time.process_time() - begun


def _play_back(
    seconds: float, step: Step, chance_of: Callable[[bytes], Chance]
) -> tuple[int, float]:
    """Do again what steady bots did in some games."""
    games = _steady_games()
    done, begun = 0, time.process_time()
    while time.process_time() - begun < seconds:
        for key, actions in games:
            chance = chance_of(key)
            state = start(RULESET, SEATS, chance)
            for action in actions:
                step(state, action, chance)
            done += len(actions)
    return done, time.process_time() - begun


def _carry_out(state: State, action: Action, chance: Chance) -> None:
    apply_checked(state, action, chance, [])


def _list_and_carry_out(state: State, action: Action, chance: Chance) -> None:
    legal_actions(state, actors(state)[0])
    apply_checked(state, action, chance, [])


def _any_action(state: State, seat: int, luck: Chance) -> Action:
    actions = legal_actions(state, seat)
    return actions[luck.draw(DICE, len(actions))]


class _Recorder:
    """Carries out, and records as the server's log does."""

    def __init__(self) -> None:
        self._digest = bytes(32)
        self._seq = 0

    def step(self, state: State, action: Action, chance: Chance) -> None:
        assert isinstance(chance, RecordingChance)
        apply_checked(state, action, chance, [])
        record = make_record(
            self._digest, seq=self._seq, at_unix_ms=0, action=action, draws=tuple(chance.take())
        )
        record_line(record)
        self._digest = bytes.fromhex(record.log_digest)
        self._seq += 1


@cache
def _steady_games() -> list[tuple[bytes, list[Action]]]:
    """Keys of the dice and actions of a few games between steady bots."""
    games = []
    for number in range(3):
        key = b"steady %d" % number
        chance, luck = SeededChance(key), SeededChance(b"players")
        actions: list[Action] = []
        state = start(RULESET, SEATS, chance)
        while not state.over and len(actions) < _LONGEST:
            actions.append(choose_steadily(state, actors(state)[0], luck))
            apply(state, actions[-1], chance)
        games.append((key, actions))
    return games


def _each_state(seconds: float, work: Callable[[State], object]) -> tuple[int, float]:
    """Do the work for states of a whole game in turn."""
    states = _states()
    done, begun = 0, time.process_time()
    while time.process_time() - begun < seconds:
        for state in states:
            work(state)
        done += len(states)
    return done, time.process_time() - begun


@cache
def _states() -> list[State]:
    chance, luck = SeededChance(b"states"), SeededChance(b"players")
    state = start(RULESET, SEATS, chance)
    states = []
    for number in range(3_000):
        if state.over:
            break
        if number % 30 == 0:
            states.append(state.clone())
        apply(state, choose_randomly(state, actors(state)[0], luck), chance)
    return states
