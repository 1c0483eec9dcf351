"""Whose calls are refused again and again is closed; who makes a mistake now and then isn't."""

import asyncio
from collections.abc import Collection
from types import SimpleNamespace

import grpc
import pytest

from opolyx_servicekit.refused_calls import RefusedCalls

BURST = 40
PORT = 7701
CODES = grpc.StatusCode


class Closed:
    """Notes who was closed, and the time."""

    def __init__(self, per_second: int = 1) -> None:
        self.peers: list[set[str]] = []
        self.count = 0
        self.now_s = 0.0
        self.refused = RefusedCalls(
            per_second,
            BURST,
            on_closed=self._told,
            close=self._close,
            gather_seconds=0,
            monotonic=lambda: self.now_s,
        )
        self.refused.ports = (PORT,)

    def _close(self, peers: Collection[str], ports: Collection[int]) -> int:
        assert (PORT,) == ports
        self.peers.append(set(peers))
        return len(peers)

    def _told(self, count: int) -> None:
        self.count += count

    async def after(self, peer: str, *codes: grpc.StatusCode) -> list[set[str]]:
        """Who was closed once calls of `peer` ended so."""
        for code in codes:
            self.refused.note(SimpleNamespace(peer=lambda: peer), code)
        for _ in range(5):
            await asyncio.sleep(0)
        await asyncio.to_thread(int)  # closing is another thread's work
        for _ in range(5):
            await asyncio.sleep(0)
        found, self.peers = self.peers, []
        return found


A, B, C = (f"ipv4:192.0.2.7:{port}" for port in range(1, 4))
ELSEWHERE = "ipv4:192.0.2.8:1"


async def test_a_connection_is_closed_once_its_budget_is_used_up() -> None:
    closed = Closed()

    assert [] == await closed.after(A, *[CODES.UNAUTHENTICATED] * BURST)
    assert [] == await closed.after(B, *[CODES.RESOURCE_EXHAUSTED] * BURST)
    assert [{A}] == await closed.after(A, CODES.UNIMPLEMENTED)
    assert 1 == closed.count


async def test_the_budget_fills_again() -> None:
    closed = Closed()
    await closed.after(A, *[CODES.RESOURCE_EXHAUSTED] * BURST)
    closed.now_s = 1.0

    assert [] == await closed.after(A, CODES.RESOURCE_EXHAUSTED)
    assert [{A}] == await closed.after(A, CODES.RESOURCE_EXHAUSTED)


async def test_who_was_closed_is_closed_at_once_for_calls_that_make_no_sense() -> None:
    closed = Closed()
    await closed.after(A, *[CODES.UNAUTHENTICATED] * (BURST + 1))

    assert [] == await closed.after(B, CODES.RESOURCE_EXHAUSTED, CODES.INVALID_ARGUMENT)
    assert [] == await closed.after(ELSEWHERE, CODES.UNAUTHENTICATED)
    assert [{B}] == await closed.after(B, CODES.UNAUTHENTICATED)
    assert [{C}] == await closed.after(C, *[CODES.RESOURCE_EXHAUSTED] * 3)
    closed.now_s = 61.0
    assert [] == await closed.after(B, CODES.UNAUTHENTICATED)


async def test_connections_share_the_budget_of_their_address() -> None:
    closed = Closed()
    for port in range(10, 20):  # 8 calls each: within what each may, and what two may together
        assert [] == await closed.after(f"ipv4:192.0.2.7:{port}", *[CODES.UNAUTHENTICATED] * 8)
    assert [] == await closed.after(ELSEWHERE, CODES.UNAUTHENTICATED)
    assert [{A}] == await closed.after(A, CODES.UNAUTHENTICATED)


async def test_calls_on_a_connection_that_is_being_closed_are_left_unanswered() -> None:
    closed = Closed()
    doomed, other = SimpleNamespace(peer=lambda: A), SimpleNamespace(peer=lambda: ELSEWHERE)
    for _ in range(BURST):
        closed.refused.note(doomed, CODES.UNAUTHENTICATED)
    await closed.refused.leave_unanswered(doomed)
    closed.refused.note(doomed, CODES.UNAUTHENTICATED)
    left = asyncio.create_task(closed.refused.leave_unanswered(doomed))
    await closed.refused.leave_unanswered(other)
    assert not left.done()
    assert [{A}] == await closed.after(ELSEWHERE)
    assert not left.done(), "it ends with its connection"
    left.cancel()
    await closed.refused.leave_unanswered(doomed)


async def test_many_are_closed_together() -> None:
    closed = Closed()
    await closed.after(A, *[CODES.UNAUTHENTICATED] * (BURST + 1))
    peers = [f"ipv4:192.0.2.7:{port}" for port in range(10, 60)]
    for peer in peers:
        closed.refused.note(SimpleNamespace(peer=lambda peer=peer: peer), CODES.UNAUTHENTICATED)

    assert [set(peers)] == await closed.after("unix:", CODES.UNAUTHENTICATED)


@pytest.mark.parametrize(
    "code", [CODES.OK, CODES.NOT_FOUND, CODES.UNAVAILABLE, CODES.CANCELLED, CODES.INTERNAL]
)
async def test_calls_that_were_served_count_for_nothing(code: grpc.StatusCode) -> None:
    assert [] == await Closed().after(A, *[code] * 50)


async def test_who_comes_by_a_unix_socket_is_never_closed() -> None:
    assert [] == await Closed().after("unix:", *[CODES.UNAUTHENTICATED] * 50)


async def test_without_a_limit_nobody_is_closed() -> None:
    assert [] == await Closed(per_second=0).after(A, *[CODES.UNAUTHENTICATED] * 50)
