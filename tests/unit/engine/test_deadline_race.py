"""A move and the clock at the same moment: exactly one of them has effect (CLOCK-5)."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence

import pytest

from opolyx_engine.command import DEADLINE_PASSED, STALE_DECISION, Answer, Command
from opolyx_engine.game_actor import GameActor, GameTools, Watcher
from opolyx_engine.header import PERSON, GameHeader, Holder
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import Append, Record
from opolyx_engine.table import Step, Table
from opolyx_engine.timers import Timers
from opolyx_rules import actions
from opolyx_rules.actions import KIND, TIME_OUT, Action
from opolyx_rules.engine import legal_actions
from opolyx_rules.ids import PHASE_ROLL
from opolyx_rules.queries import awaited_phase, awaited_seat
from opolyx_servicekit.tasks import TaskOwner

TRIES = 10_000
SEATS = 4
SAME_STEP = {
    actions.BUILD,
    actions.SELL_BUILDING,
    actions.MORTGAGE,
    actions.REDEEM,
    actions.PAY_BAIL,
    actions.PAY_OFF_FINANCING,
}


class HandClock:
    """A clock that shows what it was set to; nobody sleeps on it."""

    def __init__(self) -> None:
        self.ms = 1_000

    def now_ms(self) -> int:
        return self.ms

    def monotonic(self) -> float:
        return self.ms / 1000

    async def sleep_until(self, unix_ms: int) -> None:
        raise NotImplementedError


class LogStore:
    """A store that keeps logs in memory, and takes a turn of the loop for each append."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    async def append(self, append: Append) -> None:
        await asyncio.sleep(0)
        assert append.expected_seq == (self.records[-1].seq if self.records else 0)
        self.records.extend(append.records)


class NoFrames:
    """Frames for nobody."""

    def update(self, before: Table, step: Step) -> bytes:
        return b""

    def snapshot(self, table: Table, seat: int | None, connected: Sequence[int]) -> bytes:
        return b""

    def presence(self, game_id: str, connected: Sequence[int]) -> bytes:
        return b""

    def attached(self, game_id: str, seq: int) -> bytes:
        return b""

    def fault(self, game_id: str) -> bytes:
        return b""

    def lost(self, game_id: str) -> bytes:
        return b""

    def forget(self, game_id: str) -> None:
        """Nothing is kept."""


class House:
    """Actors of games that follow each other, for as many tries as are wanted."""

    def __init__(self, tasks: TaskOwner) -> None:
        self.clock = HandClock()
        self.timers = Timers(self.clock)
        self.tasks = tasks
        self.metrics = EngineMetrics()
        self.settings = EngineSettings()
        self._games = 0

    def new_game(self) -> GameActor:
        self._games += 1
        holders = tuple(Holder(f"p_{seat}", "", PERSON) for seat in range(SEATS))
        header = GameHeader(f"g_{self._games}", "classic@full", holders)
        table, _ = Table.begin(header, self._games.to_bytes(32), self.clock.ms)
        self.store = LogStore()
        tools = GameTools(
            store=self.store,  # type: ignore[arg-type]
            clock=self.clock,
            timers=self.timers,
            frames=NoFrames(),
            metrics=self.metrics,
            settings=self.settings,
            watchers=[Watcher()],
            tasks=self.tasks,
        )
        game = GameActor(table, tools)
        self.tasks.start(game.run(), name=game.game_id)
        return game


async def settled(game: GameActor, records: int, house: House) -> None:
    """Let the game do all that it can do now."""
    for _ in range(50):
        await asyncio.sleep(0)
        if len(house.store.records) > records and not game.waiting:
            await asyncio.sleep(0)
            return


@pytest.mark.timeout(300)
@pytest.mark.rule("CLOCK-5")
async def test_of_a_move_and_the_clock_exactly_one_takes_effect() -> None:
    """Case A-21: ten thousand times, a command and the timer in one tick, in any order."""
    chance = random.Random(7)
    outcomes: Counter[tuple[int, bool]] = Counter()
    async with TaskOwner("test", close_seconds=1) as tasks:
        house = House(tasks)
        game = house.new_game()
        await asyncio.sleep(0)
        for number in range(TRIES):
            if not game.running:
                game = house.new_game()
                await asyncio.sleep(0)
            outcomes[await race(house, game, number, chance)] += 1
        moved = {late_ms: outcomes[late_ms, True] for late_ms in (-1, 0, 1)}
        skipped = {late_ms: outcomes[late_ms, False] for late_ms in (-1, 0, 1)}
    assert TRIES == sum(outcomes.values())
    assert {0: 0, 1: 0} == {late_ms: moved[late_ms] for late_ms in (0, 1)}
    assert 0 == skipped[-1]
    assert min(moved[-1], skipped[0], skipped[1]) > TRIES // 5
    lag = house.metrics.registry.get_sample_value("opolyx_timer_lag_seconds_count")
    assert skipped[0] + skipped[1] == lag


def a_step(table: Table, seat: int, chance: random.Random) -> Action:
    """A legal action after which the clock starts afresh: building, say, does not (CLOCK-2)."""
    legal = legal_actions(table.state, seat)
    return chance.choice([action for action in legal if action[KIND] not in SAME_STEP])


async def race(
    house: House, game: GameActor, number: int, chance: random.Random
) -> tuple[int, bool]:
    """One try: how late the command came, and whether it took effect."""
    table = game.table
    seat, due_ms = awaited_seat(table.state), table.clocks.deadline_ms
    missed = table.state.missed[seat]
    before = len(house.store.records)
    late_ms = chance.choice((-1, 0, 1))
    answers: list[Answer] = []
    command = Command(
        command_id=f"c{number}",
        decision_id=f"d{table.state.decision}",
        seat=seat,
        action=a_step(table, seat, chance),
        arrived_ms=due_ms + late_ms,
        reply=answers.append,
    )
    # It came in at its time; the clock is looked at when the deadline is there, before or after.
    house.clock.ms = due_ms + max(late_ms, 0)
    if chance.random() < 0.5:
        house.timers._fire()
        for _ in range(chance.randrange(2) if late_ms >= 0 else 0):
            await asyncio.sleep(0)
        game.submit(command)
    else:
        game.submit(command)
        house.timers._fire()
    await settled(game, before, house)
    made = house.store.records[before:]
    (answer,) = answers
    accepted = answer.refusal is None
    assert not answer.retry_after_ms
    assert 1 == len(made), "exactly one of the two is in the log"
    assert accepted == bool(made[0].command_id)
    after = game.table
    assert after.seq == table.seq + 1
    if accepted:
        assert answer.seq == after.seq
    else:
        assert answer.refusal is not None
        if not after.state.out_order[seat] and game.running:
            assert answer.refusal.reason in (STALE_DECISION, DEADLINE_PASSED)
        skipped = awaited_phase(table.state) == PHASE_ROLL and not table.state.turn_missed
        if skipped and not after.state.out_order[seat] and game.running:
            assert missed + 1 == after.state.missed[seat], "the missed turn agrees with the log"
    assert (late_ms < 0) == accepted
    entry = made[0].body
    assert (f'"action":[{TIME_OUT},{seat}'.encode() in entry) != accepted
    return late_ms, accepted
