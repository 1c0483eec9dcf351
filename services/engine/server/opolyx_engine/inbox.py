"""The commands of one game that wait for it, in the order in which they came."""

from collections import Counter, deque

from opolyx_engine.command import Command


class Inbox:
    """Bounded for every seat by itself, so that one that floods keeps no other out."""

    __slots__ = ("_commands", "_most_a_seat", "_of_seat")

    def __init__(self, most_a_seat: int) -> None:
        """Empty; at most `most_a_seat` commands of a seat may wait."""
        self._most_a_seat = most_a_seat
        self._commands: deque[Command] = deque()
        self._of_seat: Counter[int | None] = Counter()

    def __len__(self) -> int:
        """How many commands wait."""
        return len(self._commands)

    def put(self, command: Command) -> bool:
        """Let a command wait; False, and it doesn't, if too many of its seat do."""
        if self._of_seat[command.seat] >= self._most_a_seat:
            return False
        self._of_seat[command.seat] += 1
        self._commands.append(command)
        return True

    def first_arrived_ms(self) -> int:
        """When the command that is next came in; raises IndexError if none waits."""
        return self._commands[0].arrived_ms

    def take(self) -> Command:
        """The next command, which waits no longer; raises IndexError if none waits."""
        command = self._commands.popleft()
        self._of_seat[command.seat] -= 1
        return command
