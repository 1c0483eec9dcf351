"""Who can't act because the replica through which they came is gone gets time; nobody else does."""

import socket
from collections.abc import AsyncIterator, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from opolyx_engine.game_actor import GameActor
from opolyx_engine.replica import Replica
from opolyx_engine.rpc.hops import HOPS
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import START_MS, Engine, Stream, awaited, people, running_engine
from support_replicas import ScriptedOwner, scripted_owner
from support_waiting import until

TURN_MS = 75_000
GRACE_MS = 10_000


@pytest.fixture
def silent() -> Iterator[Replica]:
    """A replica that stands still: its machine still takes connections."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield Replica("silent", f"127.0.0.1:{listener.getsockname()[1]}")


@pytest.fixture
async def scripted() -> AsyncIterator[ScriptedOwner]:
    """A replica that answers."""
    async with scripted_owner() as owner:
        yield owner


@dataclass
class House:
    """One game of two, its clock moved by hand, and whose stream comes how."""

    engine: Engine
    clock: ManualClock
    game: GameActor
    seat: int

    def knows(self, *replicas: Replica) -> None:
        """From now on these count among the living."""
        living = {replica.replica_id: replica for replica in replicas}
        self.engine.service.membership._living = living

    async def enter(self, way: str, seat: int | None = None) -> Stream:
        """The stream of a seat, the awaited one's if none is named, sent on by `way`."""
        caller = await self.engine.caller(f"p_{self.seat if seat is None else seat}")
        caller.metadata += ((HOPS, way),)  # type: ignore[assignment]
        stream = await caller.play(self.game.game_id)
        await stream.next("snapshot")
        return stream

    @property
    def deadline_ms(self) -> int:
        return self.game.table.clocks.deadline_ms - START_MS

    @property
    def missed(self) -> int:
        """Turns that the player lost."""
        return self.game.table.state.missed[self.seat]


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    clock = ManualClock(START_MS)
    async with running_engine(tmp_path, clock=clock, restart_grace_ms=GRACE_MS) as engine:
        await engine.new_game(people(2))
        game = engine.service.registry.running()[0]
        snapshot = await (await engine.caller("p_0")).game(game.game_id)
        yield House(engine, clock, game, awaited(snapshot.decisions).seat)


def me(house: House) -> str:
    """The id of the engine itself."""
    return house.engine.service.membership.me.replica_id


async def loses_the_turn(house: House) -> None:
    """The clock runs out, and the clock acts."""
    await house.clock.advance(TURN_MS)
    await until(lambda: house.game.table.seq == 1)
    assert 1 == house.missed


@pytest.mark.rule("CLOCK-5")
async def test_a_player_behind_a_replica_that_stands_still_gets_time_once(
    house: House, silent: Replica
) -> None:
    house.knows(silent)
    stream = await house.enter("silent")
    await house.clock.advance(TURN_MS)
    await until(lambda: house.deadline_ms > TURN_MS)
    assert (TURN_MS + GRACE_MS, 0) == (house.deadline_ms, house.game.table.seq)
    told = awaited((await stream.next("snapshot")).decisions)
    assert house.deadline_ms == told.deadline_unix_ms - START_MS
    await house.clock.advance(GRACE_MS)
    await until(lambda: house.game.table.seq == 1)
    assert 1 == house.missed


@pytest.mark.rule("CLOCK-5")
async def test_a_player_whose_replica_died_gets_time_though_the_stream_ended_with_it(
    house: House, scripted: ScriptedOwner
) -> None:
    house.knows(scripted.replica)
    stream = await house.enter(scripted.replica.replica_id)
    await scripted.stop()
    stream.call.cancel()
    await until(lambda: not len(house.game.hub))
    await house.clock.advance(TURN_MS)
    await until(lambda: house.deadline_ms > TURN_MS)
    assert 0 == house.game.table.seq


@pytest.mark.rule("CLOCK-5")
async def test_a_replica_that_nobody_counts_among_the_living_needs_not_be_asked(
    house: House, scripted: ScriptedOwner
) -> None:
    house.knows(scripted.replica)
    await house.enter(scripted.replica.replica_id)
    house.knows()
    await house.clock.advance(TURN_MS)
    await until(lambda: house.deadline_ms > TURN_MS)
    assert 0 == house.game.table.seq


@pytest.mark.rule("CLOCK-5")
async def test_a_player_behind_a_replica_that_answers_is_late_as_anybody(
    house: House, scripted: ScriptedOwner
) -> None:
    house.knows(scripted.replica)
    await house.enter(scripted.replica.replica_id)
    await loses_the_turn(house)


@pytest.mark.rule("CLOCK-5")
async def test_who_has_come_again_by_itself_is_late_as_anybody(
    house: House, silent: Replica
) -> None:
    house.knows(silent)
    await house.enter("silent")
    await house.enter("")
    await loses_the_turn(house)


@pytest.mark.rule("CLOCK-5")
async def test_another_players_replica_is_no_excuse(house: House, silent: Replica) -> None:
    house.knows(silent)
    await house.enter("")
    await house.enter("silent", seat=1 - house.seat)
    await loses_the_turn(house)


@pytest.mark.rule("CLOCK-5")
@pytest.mark.parametrize("claim", ["1", "nobody", "x" * 1_000, me])
async def test_a_client_that_claims_to_come_through_a_replica_gets_no_time(
    house: House, claim: str | Callable[[House], str]
) -> None:
    await house.enter(claim if isinstance(claim, str) else claim(house))
    await loses_the_turn(house)
