"""The queue of one stream, and what happens to readers that are too slow."""

import asyncio

import grpc
import pytest
from prometheus_client import CollectorRegistry

from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.outbox import Outbox
from opolyx_servicekit.errors import ServiceError, Unauthenticated, Unavailable


class Subscription:
    def __init__(self, name: str = "s") -> None:
        self.lagging = False
        self.name = name
        self.snapshots = 0

    def snapshot_frame(self) -> bytes:
        self.snapshots += 1
        return f"<{self.name}>".encode()


def new_outbox(most_frames: int = 4, most_bytes: int = 1_000) -> Outbox:
    return Outbox(most_frames, most_bytes, EngineMetrics(CollectorRegistry()))


async def test_what_waits_is_taken_as_one_piece_in_order() -> None:
    outbox, subscription = new_outbox(), Subscription()
    outbox.publish(b"1", subscription)
    outbox.put(b"2")
    outbox.publish(b"3", subscription)
    assert b"123" == await outbox.take()


async def test_a_taker_waits_for_the_next_frame() -> None:
    outbox = new_outbox()
    taking = asyncio.create_task(outbox.take())
    await asyncio.sleep(0)
    assert not taking.done()
    outbox.put(b"1")
    assert b"1" == await taking


async def test_a_reader_that_fell_behind_gets_answers_and_one_snapshot_a_game() -> None:
    outbox, one, other = new_outbox(), Subscription("one"), Subscription("other")
    outbox.put(b"!")
    for number in range(4):
        outbox.publish(b"%d" % number, one if number % 2 else other)
    outbox.publish(b"5", one)
    assert b"!<other><one>" == await outbox.take()
    outbox.publish(b"6", one)
    assert b"6" == await outbox.take()
    assert (1, 1) == (one.snapshots, other.snapshots)


async def test_a_reader_that_never_takes_is_ended() -> None:
    outbox, subscription = new_outbox(), Subscription()
    failures: list[str] = []
    outbox.on_failure(lambda: failures.append("now"))
    for _ in range(20):
        outbox.publish(b"x", subscription)
    assert ["now"] == failures
    assert 0 == outbox.waiting
    with pytest.raises(ServiceError) as caught:
        await outbox.take()
    assert grpc.StatusCode.RESOURCE_EXHAUSTED is caught.value.code
    assert "SLOW_READER" == caught.value.reason


async def test_progress_forgives() -> None:
    outbox, subscription = new_outbox(), Subscription()
    for _ in range(5):
        for _ in range(8):
            outbox.publish(b"x", subscription)
        assert b"<s>" == await outbox.take()


async def test_bytes_are_bounded_too() -> None:
    outbox, subscription = new_outbox(100, 10), Subscription()
    outbox.publish(b"x" * 6, subscription)
    outbox.publish(b"x" * 6, subscription)
    assert b"<s>" == await outbox.take()


async def test_unread_answers_end_the_stream() -> None:
    outbox = new_outbox()
    for _ in range(5):
        outbox.put(b"answer")
    with pytest.raises(ServiceError):
        await outbox.take()


async def test_what_a_subscription_begins_with_is_sent_whatever_its_size() -> None:
    outbox, subscription = new_outbox(4, 10), Subscription()
    outbox.prime([b"12345678", b"12345678"], subscription)
    assert b"1234567812345678" == await outbox.take()


async def test_attaching_again_and_again_without_reading_stays_in_bounds() -> None:
    outbox = new_outbox(4, 100)
    subscription = Subscription()
    for number in range(1_000):
        outbox.forget(subscription)
        subscription = Subscription(f"s{number}")
        outbox.prime([b"x" * 30], subscription)
        outbox.prime([b"y" * 30], Subscription("other"))
        assert outbox.waiting <= 4
    assert (await outbox.take()).endswith(b"<s999>") or outbox.waiting == 0


async def test_who_is_forgotten_gets_nothing_more() -> None:
    outbox, gone, other = new_outbox(), Subscription("gone"), Subscription("other")
    outbox.publish(b"1", gone)
    outbox.publish(b"2", other)
    outbox.forget(gone)
    assert b"2" == await outbox.take()
    for _ in range(5):
        outbox.publish(b"x", gone)
    outbox.publish(b"3", other)
    outbox.forget(gone)
    outbox.put(b"4")
    assert b"34" == await outbox.take()


async def test_a_stream_to_which_nothing_is_owed_goes_on() -> None:
    outbox, subscription = new_outbox(), Subscription()
    outbox.publish(b"1", subscription)
    taking = asyncio.create_task(outbox.take())
    outbox.forget(subscription)
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not taking.done()
    outbox.put(b"2")
    assert b"2" == await taking


async def test_an_ended_stream_sends_what_waits_and_then_its_error() -> None:
    outbox = new_outbox()
    outbox.put(b"bye")
    outbox.end(Unavailable("DRAINING", "the server is draining"))
    outbox.put(b"late")
    assert b"bye" == await outbox.take()
    with pytest.raises(Unavailable):
        await outbox.take()


async def test_a_stream_that_ends_well_gives_nothing() -> None:
    outbox = new_outbox()
    outbox.end()
    assert b"" == await outbox.take()


async def test_a_stream_that_fails_ends_at_once_and_sends_nothing_more() -> None:
    outbox = new_outbox()
    failures: list[str] = []
    outbox.on_failure(lambda: failures.append("told"))
    outbox.put(b"a")
    outbox.fail(Unauthenticated("TOKEN_REVOKED", "token is revoked"))
    outbox.put(b"b")
    with pytest.raises(Unauthenticated):
        await outbox.take()
    assert ["told"] == failures
    outbox.fail(Unauthenticated("TOKEN_EXPIRED", "token is expired"))
    assert outbox.error is not None
    assert ("TOKEN_REVOKED", ["told"]) == (outbox.error.reason, failures)


async def test_no_snapshot_follows_the_last_frame_of_a_subscription() -> None:
    """Neither one that was owed before, nor one that would be because the queue overflows later."""
    behind, queued = Subscription("behind"), Subscription("queued")
    outbox = new_outbox()
    for _ in range(6):
        outbox.publish(b".", behind)
    outbox.release(behind, b"(behind left)")
    outbox.publish(b"1", queued)
    outbox.release(queued, b"(queued left)")
    other = Subscription("other")
    for _ in range(2):
        outbox.publish(b".", other)
    assert b"(behind left)1(queued left)<other>" == await outbox.take()
    assert (0, 0) == (behind.snapshots, queued.snapshots)
