"""Commands that wait for their game."""

from opolyx_engine.command import Command
from opolyx_engine.inbox import Inbox
from opolyx_rules.actions import ROLL_BY


def command(seat: int, number: int) -> Command:
    return Command(f"c{number}", "d1", seat, ROLL_BY[seat], number, lambda answer: None)


def test_commands_come_out_in_the_order_they_came_in() -> None:
    inbox = Inbox(3)
    for number, seat in enumerate((1, 0, 1)):
        assert inbox.put(command(seat, number))
    assert 0 == inbox.first_arrived_ms()
    assert ["c0", "c1", "c2"] == [inbox.take().command_id for _ in range(3)]
    assert not inbox


def test_a_full_share_of_one_seat_leaves_the_others_theirs() -> None:
    inbox = Inbox(2)
    assert [True, True, False] == [inbox.put(command(0, number)) for number in range(3)]
    assert inbox.put(command(1, 3))
    inbox.take()
    assert inbox.put(command(0, 4))
