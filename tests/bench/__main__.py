"""How fast the rules core, the server, the stores and the leaderboards are: `make bench`, or `make bench-quick`.

Prints a table and asserts nothing: figures of two machines, or of two hours of a busy one, can't be
compared. Compare lines of one run, or two commits measured in turn.
"""

import argparse
import platform
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import bench_audit
import bench_flood
import bench_idle_streams
import bench_leaderboards
import bench_metrics
import bench_recovery
import bench_rooms
import bench_seats
import bench_stores
from opolyx_rules import (
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
from results import note, write

RULESET: Final = get_ruleset("classic@full")
SEATS: Final = 4

Measure = Callable[[float], tuple[int, float]]
"""Runs for about so many seconds; how often it did its work, and in how many seconds."""


def play_randomly(seconds: float) -> tuple[int, float]:
    """Random players, the legal list at each step, actions from it not checked again."""
    return _play(seconds, _any_action, _apply_listed)


def play_randomly_validated(seconds: float) -> tuple[int, float]:
    """The same through the public `apply`, which checks."""
    return _play(seconds, _any_action, apply)


def play_steadily(seconds: float) -> tuple[int, float]:
    """Steady bots, through the public `apply`; most of the time is theirs."""
    return _play(seconds, choose_steadily, apply)


def record_games(seconds: float) -> tuple[int, float]:
    """Random players, with the bytes and the running digest of the replay's records."""
    chance, luck = RecordingChance(SeededChance(b"bench")), SeededChance(b"players")
    state, digest = start(RULESET, SEATS, chance), bytes(32)
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        for _ in range(200):
            if state.over:
                state = start(RULESET, SEATS, chance)
                chance.take()
            action = _any_action(state, actors(state)[0], luck)
            apply_checked(state, action, chance, [])
            record = make_record(
                digest, seq=done, at_unix_ms=0, action=action, draws=tuple(chance.take())
            )
            record_line(record)
            digest = bytes.fromhex(record.log_digest)
            done += 1
    return done, time.perf_counter() - begun


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
    chance, done, begun = SeededChance(b"bench"), 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        for _ in range(10_000):
            chance.draw(DICE, 6)
        done += 10_000
    return done, time.perf_counter() - begun


MEASURES: Final[tuple[tuple[str, Measure, str], ...]] = (
    ("random play, list at each step", play_randomly, "100,000 /s"),
    ("random play, validated", play_randomly_validated, "60,000 /s"),
    ("random play, recorded and digested", record_games, "60,000 /s"),
    ("steady play, validated", play_steadily, ""),
    ("legal list", list_legal_actions, ""),
    ("clone", clone_states, "6 µs"),
    ("digest of the state", digest_states, ""),
    ("encoded state", encode_states, ""),
    ("die", roll_dice, "0.5 µs"),
)
"""What is measured, how, and the goal where there is one."""


def main() -> None:
    """Measure everything, and print the table."""
    parser = argparse.ArgumentParser(prog="make bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="seconds instead of a minute")
    parser.add_argument("--json", type=Path, help="where to write all figures too")
    parser.add_argument("--only", default="", help="measures whose name holds this")
    chosen = parser.parse_args()
    seconds, runs = (0.2, 3) if chosen.quick else (1.5, 5)
    python = f"{platform.python_implementation()} {platform.python_version()}"
    core = "compiled" if compiled else "interpreted"
    print(f"{RULESET.name}, {SEATS} seats; {python}; {core} rules; median of {runs} runs")
    print(f"{'':38}{'a second':>12}{'µs each':>12}{'goal':>14}")
    for name, measure, goal in MEASURES:
        if chosen.only in name:
            rate = statistics.median(_rate(measure, seconds) for _ in range(runs))
            _note(name, rate, goal)
            print(f"{name:38}{rate:12,.0f}{1e6 / rate:12.2f}{goal:>14}", flush=True)
    if chosen.only in "rooms":
        bench_rooms.run(quick=chosen.quick)
    if chosen.only in "leaderboards":
        bench_leaderboards.run(quick=chosen.quick)
    if chosen.only == "audit":  # minutes of its own, so only when it is asked for
        bench_audit.run(quick=chosen.quick)
    if chosen.only in "stores":
        bench_stores.run(quick=chosen.quick)
    if chosen.only in "flood":
        bench_flood.run(quick=chosen.quick)
    if chosen.only in "seats":
        bench_seats.run(quick=chosen.quick)
    if chosen.only in "metrics":
        bench_metrics.run(quick=chosen.quick)
    if chosen.only in "idle streams":
        bench_idle_streams.run(quick=chosen.quick)
    if chosen.only in "recovery":
        bench_recovery.run(quick=chosen.quick)
    if chosen.json:
        write(chosen.json, quick=chosen.quick)


def _note(name: str, rate: float, goal: str) -> None:
    """A figure of the core: a rate where the goal is one, else microseconds."""
    number = float(goal.split(maxsplit=1)[0].replace(",", "")) if goal else None
    if goal.endswith("µs"):
        note("core", name, 1e6 / rate, "µs", goal=number, less=True)
    else:
        note("core", name, rate, "/s", goal=number)


def _rate(measure: Measure, seconds: float) -> float:
    done, took = measure(seconds)
    return done / took


def _play(
    seconds: float,
    choose: Callable[[State, int, SeededChance], tuple[int, ...]],
    carry_out: Callable[[State, tuple[int, ...], SeededChance], object],
) -> tuple[int, float]:
    chance, luck = SeededChance(b"bench"), SeededChance(b"players")
    state = start(RULESET, SEATS, chance)
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        for _ in range(200):
            if state.over:
                state = start(RULESET, SEATS, chance)
            carry_out(state, choose(state, actors(state)[0], luck), chance)
        done += 200
    return done, time.perf_counter() - begun


def _any_action(state: State, seat: int, luck: SeededChance) -> tuple[int, ...]:
    return choose_randomly(state, seat, luck)


def _apply_listed(state: State, action: tuple[int, ...], chance: SeededChance) -> None:
    apply_checked(state, action, chance, [])


def _each_state(seconds: float, work: Callable[[State], object]) -> tuple[int, float]:
    """Do the work for states of a whole game in turn."""
    states = _states()
    done, begun = 0, time.perf_counter()
    while time.perf_counter() - begun < seconds:
        for state in states:
            work(state)
        done += len(states)
    return done, time.perf_counter() - begun


def _states() -> list[State]:
    chance, luck = SeededChance(b"states"), SeededChance(b"players")
    state = start(RULESET, SEATS, chance)
    states = []
    for step in range(3_000):
        if state.over:
            break
        if step % 30 == 0:
            states.append(state.clone())
        apply(state, _any_action(state, actors(state)[0], luck), chance)
    return states


if __name__ == "__main__":
    main()
