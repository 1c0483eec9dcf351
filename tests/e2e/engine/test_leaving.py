"""Case A-19: losing the link, staying away and surrendering, in every phase, over real channels."""

import asyncio
import sqlite3
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1 import action_pb2, decision_pb2
from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.clocks import Clocks
from opolyx_engine.header import GameHeader
from opolyx_engine.table import Table
from opolyx_rules.actions import BID, DECLINE_PURCHASE, propose_trade
from opolyx_rules.state import State
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import START_MS, Engine, awaited, people, running_engine
from support_rules import act, draw, roll, stop_on, table

SEATS = 4
SECOND = 1
"""The seat that leaves."""

STREET, STATION, CORNER = 6, 5, 20
Check = Callable[[pb.Snapshot], object]


def in_auction() -> State:
    state = table(turn=0)
    stop_on(state, STREET)
    act(state, (DECLINE_PURCHASE, 0))
    return state


def leading() -> State:
    state = in_auction()
    act(state, (BID, SECOND))
    return state


def stopped(square: int, **fields: Any) -> State:
    state = table(turn=SECOND, **fields)
    stop_on(state, square)
    return state


def owing_rent() -> State:
    """1000 to seat 2, with 400 and a station of 2000."""
    return stopped(STATION, cash={SECOND: 400}, owns={2: (5, 15, 25), SECOND: (35,)})


def owing_a_present() -> State:
    """200 to seat 0, on whose turn it is, with 50 and a street of 600."""
    state = table(turn=0, cash={SECOND: 50}, owns={SECOND: (1,)})
    draw(state, "birthday")
    return state


def offered() -> State:
    state = table(turn=0)
    act(state, propose_trade(0, SECOND, give_cash=1_000, want_cash=1_000))
    return state


def rolled(*dice: int, third: Sequence[int] = (), **fields: Any) -> State:
    state = table(turn=SECOND, **fields)
    roll(state, *dice, third=third)
    return state


def speed(*dice: int, third: int) -> State:
    return rolled(*dice, third=[third], ruleset="speed@full", round_number=7)


# What is right afterwards. `me` is the seat that left.


def me(game: pb.Snapshot) -> Any:
    return game.view.players[SECOND]


def next_to_roll(game: pb.Snapshot) -> bool:
    decision = awaited(game.decisions)
    return (decision.seat, decision.phase) == (2, decision_pb2.PHASE_ROLL)


def next_bids(game: pb.Snapshot) -> bool:
    decision = awaited(game.decisions)
    return (decision.seat, decision.phase) == (2, decision_pb2.PHASE_AUCTION)


def next_bids_without_me(game: pb.Snapshot) -> bool:
    return next_bids(game) and SECOND not in game.view.auction.bidders


def owner_of(game: pb.Snapshot, square: int) -> int | None:
    (found,) = [one for one in game.view.properties if one.square == square]
    return found.owner if found.HasField("owner") else None


def missed(game: pb.Snapshot, turns: int = 1) -> bool:
    return bool(me(game).in_game) and me(game).missed_turns == turns


@dataclass
class Phase:
    """One row of the table."""

    make: Callable[[], State]
    gone: Check
    """What holds once the clock of the one who stays away has ended."""
    left: Check
    """What holds once it has surrendered."""
    ruleset: str = "classic@full"


PHASES: dict[str, Phase] = {
    "before the roll": Phase(
        lambda: table(turn=SECOND), lambda game: missed(game) and next_to_roll(game), next_to_roll
    ),
    "buy or decline": Phase(
        lambda: stopped(STREET), lambda game: missed(game) and next_bids(game), next_bids_without_me
    ),
    "own auction prompt": Phase(
        in_auction,
        lambda game: missed(game, 0) and next_bids_without_me(game),
        next_bids_without_me,
    ),
    "auction leader": Phase(
        leading,
        lambda game: (owner_of(game, STREET), me(game).cash) == (SECOND, 14_000),
        lambda game: owner_of(game, STREET) is None and game.view.auction.leader != SECOND,
    ),
    "payment on the own turn": Phase(
        owing_rent,
        lambda game: (
            (me(game).cash, game.view.players[2].cash) == (400, 16_000) and next_to_roll(game)
        ),
        lambda game: game.view.players[2].cash == 16_000 and next_to_roll(game),
    ),
    "payment on another's turn": Phase(
        owing_a_present,
        lambda game: missed(game, 0) and me(game).cash == 150 and not game.view.debts,
        lambda game: game.view.players[0].cash == 15_600 and not game.view.debts,
    ),
    "an incoming offer": Phase(
        offered,
        lambda game: missed(game, 0) and not game.view.offers,
        lambda game: not game.view.offers and awaited(game.decisions).seat == 0,
    ),
    "jail": Phase(
        lambda: table(turn=SECOND, jailed={SECOND: 1}),
        lambda game: missed(game) and me(game).jail_attempts == 1 and next_to_roll(game),
        next_to_roll,
    ),
    "wager": Phase(
        lambda: stopped(CORNER),
        lambda game: missed(game) and me(game).cash == 15_000 and next_to_roll(game),
        next_to_roll,
    ),
    "bus": Phase(
        lambda: speed(1, 2, third=3),
        lambda game: missed(game) and me(game).position == 3,
        next_to_roll,
        ruleset="speed@full",
    ),
    "triple": Phase(
        lambda: speed(1, 1, third=0),
        lambda game: missed(game) and me(game).position == 0,
        next_to_roll,
        ruleset="speed@full",
    ),
    "between rolls of a double": Phase(
        lambda: rolled(2, 2, at={SECOND: 6}),
        lambda game: missed(game) and me(game).position == 10 and next_to_roll(game),
        next_to_roll,
    ),
}


@asynccontextmanager
async def at_every_phase(
    directory: Path, clock: ManualClock
) -> AsyncIterator[tuple[Engine, dict[str, str]]]:
    """An engine with a game in each phase, by its name."""
    async with running_engine(directory, clock=clock) as engine:
        ids = {
            name: await engine.new_game(people(SEATS), phase.ruleset)
            for name, phase in PHASES.items()
        }
        stored = {name: await engine.store.game(game_id) for name, game_id in ids.items()}
    with sqlite3.connect(directory / "engine.db") as db:
        for name, phase in PHASES.items():
            game = stored[name]
            assert game is not None
            begun, _ = Table.begin(GameHeader.decode(game.header), game.secret, game.started_ms)
            state = phase.make()
            made = replace(begun, state=state, clocks=Clocks().after(state, clock.now_ms()))
            db.execute(
                "INSERT INTO engine_snapshots (game_id, seq, body) VALUES (?, 0, ?)",
                (ids[name], made.to_snapshot().body),
            )
    db.close()
    async with running_engine(directory, clock=clock) as engine:
        yield engine, ids


async def snapshot_of(engine: Engine, game_id: str) -> pb.Snapshot:
    return await (await engine.caller("p_3")).game(game_id)


def check_goes_on(name: str, game: pb.Snapshot) -> None:
    """Never a freeze: somebody who is in the game is asked, has a choice and has time."""
    assert pb.GAME_STATE_RUNNING == game.state, name
    decision = awaited(game.decisions)
    assert game.view.players[decision.seat].in_game, name
    assert decision.legal_actions, name
    assert decision.deadline_unix_ms > game.now_unix_ms, name


async def test_who_loses_the_link_comes_back_to_the_same_prompt_and_the_time_left(
    tmp_path: Path,
) -> None:
    clock = ManualClock(START_MS)
    async with at_every_phase(tmp_path, clock) as (engine, ids):
        caller = await engine.caller(f"p_{SECOND}")
        before = {}
        for name, game_id in ids.items():
            stream = await caller.play(game_id)
            before[name] = await stream.next("snapshot")
            stream.call.cancel()
        await clock.advance(5_000)
        for name, game_id in ids.items():
            stream = await caller.play(game_id)
            after = await stream.next("snapshot")
            assert before[name].decisions == after.decisions, name
            assert (0, SECOND) == (after.seq, after.your_seat), name
            assert before[name].view == after.view, name
            assert START_MS + 5_000 == after.now_unix_ms
            check_goes_on(name, after)
            stream.call.cancel()


async def test_who_stays_away_is_played_for_when_the_clock_ends(tmp_path: Path) -> None:
    clock = ManualClock(START_MS)
    async with at_every_phase(tmp_path, clock) as (engine, ids):
        registry = engine.service.registry
        caller = await engine.caller(f"p_{SECOND}")
        until_ms = {}
        for name, game_id in ids.items():
            stream = await caller.play(game_id)
            snapshot = await stream.next("snapshot")
            mine = [one.deadline_unix_ms for one in snapshot.decisions if one.seat == SECOND]
            until_ms[name] = min(mine, default=START_MS + 30_000)
            stream.call.cancel()
        assert {10, 30, 45, 60, 75} == {(one - START_MS) // 1_000 for one in until_ms.values()}
        for _ in range(15):
            await clock.advance(5_000)
            await acted(registry.running(), clock)
            for name in [name for name, at_ms in until_ms.items() if at_ms <= clock.now_ms()]:
                del until_ms[name]
                after = await snapshot_of(engine, ids[name])
                assert PHASES[name].gone(after), f"{name}: {after}"
                assert me(after).in_game, f"{name}: losing the link is not surrender"
                check_goes_on(name, after)
        assert not until_ms


async def acted(games: Sequence[Any], clock: ManualClock) -> None:
    """Wait until every clock that is due has acted; the store works in real time."""
    for _ in range(2_000):
        due = [game for game in games if game.next_due_ms and game.next_due_ms <= clock.now_ms()]
        if not due:
            return
        await asyncio.sleep(0.005)
    raise AssertionError("a clock doesn't act")


async def test_who_surrenders_is_out_at_once_and_the_game_goes_on(tmp_path: Path) -> None:
    clock = ManualClock(START_MS)
    async with at_every_phase(tmp_path, clock) as (engine, ids):
        caller = await engine.caller(f"p_{SECOND}")
        for name, game_id in ids.items():
            watcher = await (await engine.caller("p_3")).play(game_id)
            await watcher.next("attached")
            result = await caller.submit(game_id, "s", "", surrender=action_pb2.Surrender())
            assert 1 == result.accepted.seq, name
            assert 1 == (await watcher.next("update")).seq, "the next prompt is up with it"
            after = await snapshot_of(engine, game_id)
            assert (False, 0) == (me(after).in_game, me(after).cash), name
            assert SECOND not in [
                one.owner for one in after.view.properties if one.HasField("owner")
            ], name
            assert PHASES[name].left(after), f"{name}: {after}"
            check_goes_on(name, after)
            watcher.call.cancel()


@pytest.mark.parametrize("name", list(PHASES))
def test_every_row_is_in_its_phase(name: str) -> None:
    state = PHASES[name].make()
    assert PHASES[name].ruleset == f"{state.ruleset.mode}@{state.ruleset.edition}"
    assert not state.over
