"""Accounts whose commands are refused again and again: read ever more slowly, then not taken."""

import asyncio

import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import error_pb2, refusal_pb2
from opolyx_engine.command import BUSY, MOVED, STORE_AWAY
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.rpc.patience import Patience
from opolyx_engine.settings import EngineSettings
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import ResourceExhausted
from opolyx_servicekit.wall_clock import ManualClock

BURST = 5
REFUSED = pb.CommandResult(refusal=refusal_pb2.Refusal())
ACCEPTED = pb.CommandResult(accepted=pb.Accepted(seq=1))
FLOODER, PLAYER = Principal("p_flooder", "player"), Principal("p_player", "player")
HOLDS_MS = [50, 100, 200, 400, 800, 1_600, 3_200, 6_400]


class Given:
    """Some patience, and its clock."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        settings = EngineSettings(refused_commands_per_second=1, refused_command_burst=BURST)
        self.patience = Patience(settings, EngineMetrics(), self.clock)

    def refuse(self, count: int = 1, who: Principal = FLOODER) -> None:
        for _ in range(count):
            self.patience.note(who, REFUSED)

    async def held_ms(self, who: Principal = FLOODER) -> int:
        """How long a stream isn't read now, out of what it may be."""
        began_ms = self.clock.now_ms()
        held = asyncio.create_task(self.patience.hold(who))
        await asyncio.sleep(0)
        for hold_ms in HOLDS_MS:
            if held.done():
                break
            await self.clock.advance(began_ms + hold_ms - 1 - self.clock.now_ms())
            assert not held.done()
            await self.clock.advance(1)
        await held
        return self.clock.now_ms() - began_ms

    async def use_up(self) -> list[int]:
        """Be refused and held until nothing more is held; how long, each time."""
        held = []
        for _ in HOLDS_MS:
            self.refuse(20)
            held.append(await self.held_ms())
        return held


@pytest.fixture
def given() -> Given:
    return Given()


async def test_within_the_budget_nobody_is_held(given: Given) -> None:
    given.refuse(BURST)
    assert 0 == await given.held_ms()
    await given.clock.advance(1_000)
    given.refuse()
    assert 0 == await given.held_ms()


async def test_each_hold_is_twice_as_long_as_the_last(given: Given) -> None:
    given.refuse(BURST)
    assert HOLDS_MS == await given.use_up()
    assert 0 == await given.held_ms(PLAYER)


async def test_what_comes_while_an_account_is_held_makes_it_no_longer(given: Given) -> None:
    given.refuse(BURST + 500)
    assert HOLDS_MS[0] == await given.held_ms()


@pytest.mark.parametrize(("reason", "held_ms"), [(MOVED, 0), (STORE_AWAY, 0), (BUSY, 50)])
async def test_what_is_to_be_sent_again_counts_only_if_the_account_crowds(
    given: Given, reason: str, held_ms: int
) -> None:
    wire = error_pb2.ErrorReason.Value(f"ERROR_REASON_{reason}")
    again = pb.CommandResult(retry=pb.Retry(retry_after_ms=200, reason=wire))
    for _ in range(BURST + 1):
        given.patience.note(FLOODER, again)
    assert held_ms == await given.held_ms()


async def test_a_command_that_is_accepted_begins_anew(given: Given) -> None:
    given.refuse(BURST + 1)
    await given.held_ms()
    given.refuse()
    given.patience.note(FLOODER, ACCEPTED)
    await given.clock.advance(HOLDS_MS[1])
    given.refuse()
    assert HOLDS_MS[0] == await given.held_ms()


async def test_who_goes_on_is_shut_out_ever_longer(given: Given) -> None:
    given.refuse(BURST)
    waits_s = []
    for _ in range(9):
        await given.use_up()
        given.refuse(20)
        with pytest.raises(ResourceExhausted) as caught:
            await given.patience.hold(FLOODER)
        assert "refused_commands_per_second" == caught.value.metadata["what"]
        waits_s.append((caught.value.retry_after_ms or 0) // 1_000)
        with pytest.raises(ResourceExhausted):
            given.patience.admit(FLOODER)
        with pytest.raises(ResourceExhausted):
            await given.patience.hold(FLOODER)
        await given.clock.advance(caught.value.retry_after_ms or 0)
        given.patience.admit(FLOODER)
        given.patience.admit(PLAYER)
    assert [5, 10, 20, 40, 80, 160, 320, 320, 320] == waits_s


async def test_shutting_out_is_forgiven_after_a_while(given: Given) -> None:
    given.refuse(BURST)
    for _ in range(2):
        await given.use_up()
        given.refuse(20)
        with pytest.raises(ResourceExhausted) as caught:
            await given.patience.hold(FLOODER)
        assert 5_000 == caught.value.retry_after_ms
        await given.clock.advance(605_001)


async def test_single_commands_and_new_streams_are_refused_while_streams_are_held(
    given: Given,
) -> None:
    given.refuse(BURST)
    given.patience.admit(FLOODER)
    given.refuse()
    with pytest.raises(ResourceExhausted) as caught:
        given.patience.admit(FLOODER)
    assert HOLDS_MS[0] == caught.value.retry_after_ms
    given.patience.admit(PLAYER)
    await given.clock.advance(HOLDS_MS[0])
    given.patience.admit(FLOODER)


async def test_accounts_that_were_never_refused_anything_are_not_kept(given: Given) -> None:
    given.patience.note(PLAYER, ACCEPTED)
    await given.patience.hold(PLAYER)
    assert not given.patience._accounts
