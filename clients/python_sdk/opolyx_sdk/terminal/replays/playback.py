"""Where a replay is, and how fast it goes on. Knows no clock: it is told the time."""

from typing import Final

from opolyx_sdk.terminal.tape import Tape

SPEEDS: Final = (1, 2, 4, 8, 16, 32, 64)
"""Steps a second."""


class Playback:
    """A position on a tape that can move by itself."""

    def __init__(self, tape: Tape) -> None:
        """Begin at the start, standing still."""
        self.tape = tape
        """What is played."""
        self.at = 0
        """The step that is shown."""
        self.playing = False
        """Whether it moves."""
        self._speed = 1
        self._since = 0.0
        self._from = 0

    @property
    def speed(self) -> int:
        """Steps a second."""
        return SPEEDS[self._speed]

    def press(self, key: str, now: float) -> bool:
        """Take a key; whether it was for this.

        Args:
            key: the key.
            now: seconds by any clock that goes on evenly.
        """
        round_now = self.tape.round_at(self.at)
        match key:
            case "space":
                self._play(not self.playing and self.at < self.tape.last, now)
            case "right":
                self.go(self.at + 1)
            case "left":
                self.go(self.at - 1)
            case "down" | "pagedown":
                target = self.tape.start_of(round_now + 1)
                self.go(target if round_now < self.tape.rounds else self.tape.last)
            case "up" | "pageup":
                start = self.tape.start_of(round_now)
                self.go(start if start < self.at else self.tape.start_of(round_now - 1))
            case "home":
                self.go(0)
            case "end":
                self.go(self.tape.last)
            case "+" | "=" | "plus":
                self._hurry(1, now)
            case "-" | "minus":
                self._hurry(-1, now)
            case _:
                return False
        return True

    def go(self, step: int) -> None:
        """Stand still at a step; at the nearest one that there is."""
        self.at = min(max(step, 0), self.tape.last)
        self.playing = False

    def tick(self, now: float) -> bool:
        """Time has gone by; whether the position has moved."""
        if not self.playing:
            return False
        before = self.at
        due = self._from + int((now - self._since) * self.speed)
        self.at = min(max(due, self.at), self.tape.last)
        if self.at == self.tape.last:
            self.playing = False
        return self.at != before

    def _play(self, playing: bool, now: float) -> None:
        self.playing = playing
        self._since, self._from = now, self.at

    def _hurry(self, step: int, now: float) -> None:
        self.tick(now)
        self._speed = min(max(self._speed + step, 0), len(SPEEDS) - 1)
        self._since, self._from = now, self.at
