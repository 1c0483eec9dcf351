"""What the session does when a server says that something comes too often: it waits that long."""

from opolyx_sdk._frames import Attach, Command, CommandResult, Detached, Frame
from opolyx_sdk._session import Answered, RetryLater, Session
from opolyx_sdk.actions import Roll
from opolyx_sdk.enums import DetachReason, RefusalReason
from opolyx_sdk.refusals import Refusal


def connected() -> Session:
    session = Session()
    session.attach("g")
    session.connected()
    session.outgoing.clear()
    return session


def too_fast(**numbers: int) -> Refusal:
    return Refusal(RefusalReason.TOO_FAST, "", "", numbers)


def test_a_command_that_came_too_fast_is_sent_again_with_its_id_after_the_wait() -> None:
    session = connected()
    session.submit("g", "d1", Roll(), "c")
    session.outgoing.clear()
    answer = Frame("g", CommandResult("c", refusal=too_fast(retry_after_ms=70)))
    assert [RetryLater("c", 70)] == session.receive(answer)
    assert not session.outgoing
    session.again("c")
    assert [Command("g", "c", "d1", Roll())] == list(session.outgoing)


def test_a_refusal_that_names_no_wait_is_an_answer() -> None:
    session = connected()
    session.submit("g", "d1", Roll(), "c")
    refusal = too_fast()
    assert [Answered("c", refusal=refusal)] == session.receive(
        Frame("g", CommandResult("c", refusal=refusal))
    )


def test_who_attaches_too_often_attaches_again_after_the_wait() -> None:
    session = connected()
    detached = Detached(DetachReason.UNAVAILABLE, "too often", retry_after_ms=1_234)
    assert [RetryLater("g", 1_234)] == session.receive(Frame("g", detached))
    session.again("g")
    assert [Attach("g", None, False)] == list(session.outgoing)


def test_a_game_that_cannot_be_had_now_is_asked_for_again_soon() -> None:
    session = connected()
    detached = Detached(DetachReason.UNAVAILABLE, "away")
    assert [RetryLater("g", 500)] == session.receive(Frame("g", detached))
