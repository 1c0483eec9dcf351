"""The watchdog on a real engine: quiet while all is well, and it notices each thing that is wrong."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from opolyx_engine.game_actor import GameActor
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.base import GameStore, Record
from opolyx_engine.watchdog import MOST_RECORDS, Watchdog, cash_after
from opolyx_rules.events import CASH_MOVED
from opolyx_rules.ids import BANK
from opolyx_servicekit.errors import StoreUnavailable
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import Engine, awaited, people, running_engine


class OddStore:
    """The store, whose records may be changed on their way out."""

    def __init__(self, store: GameStore) -> None:
        self._store = store
        self.change: Any = lambda records: records
        self.reads: list[int] = []

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    async def records(self, game_id: str, after_seq: int, limit: int) -> list[Record]:
        self.reads.append(limit)
        return list(self.change(await self._store.records(game_id, after_seq, limit)))


class Watched:
    """An engine with one game and a watchdog that looks when it is told."""

    def __init__(self, engine: Engine, game: GameActor, store: OddStore) -> None:
        self.engine, self.game, self.store = engine, game, store
        service = engine.service
        self.watchdog = Watchdog(
            service.registry,
            store,
            EngineSettings(watchdog_games=1),
            ManualClock(),
            service.metrics,
        )
        self._moves = 0

    async def move(self, times: int = 1) -> None:
        """Let whoever is awaited do the first thing possible."""
        for _ in range(times):
            reader = await self.engine.caller("p_0")
            decision = awaited((await reader.game(self.game.game_id)).decisions)
            mover = await self.engine.caller(f"p_{decision.seat}")
            kind = decision.legal_actions[0].WhichOneof("kind")
            assert kind is not None
            self._moves += 1
            action = {kind: getattr(decision.legal_actions[0], kind)}
            await mover.submit(self.game.game_id, f"c{self._moves}", decision.decision_id, **action)

    def found(self) -> dict[str, float]:
        """How often each invariant was broken."""
        counter = self.engine.service.metrics.watchdog_violations
        return {
            sample.labels["invariant"]: sample.value
            for family in counter.collect()
            for sample in family.samples
            if sample.name.endswith("_total") and sample.value
        }


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    async with running_engine(tmp_path, watchdog_games=0) as engine:
        made = await running_game(engine)
        yield Watched(engine, made, OddStore(engine.store))


async def running_game(engine: Engine) -> GameActor:
    game = engine.service.registry.find_running(await engine.new_game(people(2)))
    assert game is not None
    return game


async def test_a_game_that_is_right_is_looked_at_and_followed(watched: Watched) -> None:
    for _ in range(3):
        await watched.watchdog.look()
        await watched.move(2)
    await watched.watchdog.look()

    assert watched.found() == {}
    assert watched.store.reads == [2, 2, 2]
    assert watched.engine.service.metrics.watchdog_checks._value.get() == 4


async def test_cash_that_changed_in_memory_is_noticed(watched: Watched) -> None:
    await watched.watchdog.look()
    await watched.move()
    watched.game.table.state.cash[1] += 1

    await watched.watchdog.look()

    assert watched.found() == {"digest": 1}


async def test_an_awaited_seat_that_can_do_nothing_is_noticed(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("opolyx_engine.watchdog.legal_actions", lambda state, seat: [])

    await watched.watchdog.look()

    assert watched.found() == {"legal_action": 1}


async def test_cash_that_no_event_accounts_for_is_noticed(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    await watched.watchdog.look()
    await watched.move()
    monkeypatch.setattr("opolyx_engine.watchdog.cash_after", lambda cash, events: [0, 0])

    await watched.watchdog.look()

    assert watched.found() == {"money": 1}


@pytest.mark.parametrize(
    "change",
    [
        lambda records: [],
        lambda records: [
            Record(one.seq, one.at_ms, one.command_id, b"x" + one.body) for one in records
        ],
        lambda records: [
            Record(
                one.seq,
                one.at_ms,
                one.command_id,
                one.body.replace(b'"at_unix_ms":1', b'"at_unix_ms":2'),
            )
            for one in records
        ],
    ],
    ids=["gone", "broken", "changed"],
)
async def test_a_log_that_leads_elsewhere_is_noticed(watched: Watched, change: Any) -> None:
    await watched.watchdog.look()
    await watched.move()
    watched.store.change = change

    await watched.watchdog.look()

    assert watched.found() == {"log": 1}


async def test_a_long_way_is_followed_for_a_bounded_stretch_only(watched: Watched) -> None:
    await watched.watchdog.look()
    await watched.move(MOST_RECORDS + 3)

    await watched.watchdog.look()

    assert watched.store.reads == [MOST_RECORDS]
    assert watched.found() == {}


async def test_a_store_that_is_away_is_no_violation(watched: Watched) -> None:
    def away(_: object) -> None:
        raise StoreUnavailable("STORE_UNAVAILABLE", "away")

    await watched.watchdog.look()
    await watched.move()
    watched.store.change = away

    with pytest.raises(StoreUnavailable):
        await watched.watchdog.look()

    watched.store.change = lambda records: records
    await watched.watchdog.look()
    assert watched.found() == {}


async def test_games_are_looked_at_in_turn_a_few_at_a_time(tmp_path: Path) -> None:
    async with running_engine(tmp_path, watchdog_games=0) as engine:
        for _ in range(5):
            await running_game(engine)
        service = engine.service
        dog = Watchdog(
            service.registry,
            engine.store,
            EngineSettings(watchdog_games=2),
            ManualClock(),
            service.metrics,
        )

        seen = [{game.game_id for game in dog._next_games()} for _ in range(3)]

    assert [len(each) for each in seen] == [2, 2, 1]
    assert len(set.union(*seen)) == 5


def test_cash_follows_from_payments() -> None:
    events = [(CASH_MOVED, BANK, 0, 200, 0), (CASH_MOVED, 0, 1, 50, 0), (CASH_MOVED, 1, BANK, 5, 0)]

    assert cash_after([10, 10], events) == [160, 55]
