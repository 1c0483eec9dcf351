"""The latest updates of a game as frames, for clients that come back soon."""

from collections import deque


class UpdateRing:
    """At most so many frames, of consecutive updates."""

    __slots__ = ("_frames", "_last_seq")

    def __init__(self, size: int, last_seq: int) -> None:
        """Empty, the next update being `last_seq` + 1."""
        self._frames: deque[bytes] = deque(maxlen=size)
        self._last_seq = last_seq

    @property
    def last_seq(self) -> int:
        """The last update there was."""
        return self._last_seq

    @property
    def first_seq(self) -> int:
        """The oldest update kept; `last_seq` + 1 if none is."""
        return self._last_seq - len(self._frames) + 1

    def add(self, seq: int, frame: bytes) -> None:
        """Keep the next update."""
        if seq != self._last_seq + 1:
            raise ValueError(f"update {seq} does not follow {self._last_seq}")
        self._frames.append(frame)
        self._last_seq = seq

    def add_older(self, last_seq: int, frames: list[bytes]) -> None:
        """Keep updates up to `last_seq` that were read back, if they adjoin and as far as they fit."""
        if last_seq != self.first_seq - 1 or self._frames.maxlen is None:
            return
        room = self._frames.maxlen - len(self._frames)
        for frame in frames[::-1][:room]:
            self._frames.appendleft(frame)

    def after(self, seq: int) -> list[bytes] | None:
        """All updates after `seq`, in order; None if one isn't kept, or `seq` is in the future."""
        if not self.first_seq - 1 <= seq <= self._last_seq:
            return None
        missed = self._last_seq - seq
        return list(self._frames)[len(self._frames) - missed :]
