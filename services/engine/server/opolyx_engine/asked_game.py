"""A game of which is known since when nobody has asked for it, so that it may rest."""

from collections.abc import Iterator
from contextlib import contextmanager

from opolyx_engine.frame_maker import FrameMaker
from opolyx_engine.shown_game import ShownGame
from opolyx_engine.table import Table
from opolyx_servicekit.wall_clock import Clock


class AskedGame(ShownGame):
    """Remembers who asks for it."""

    def __init__(
        self,
        table: Table,
        frames: FrameMaker,
        recent_updates: int,
        clock: Clock,
        *,
        deadlines_moved: bool,
        quiet_since_ms: int | None,
    ) -> None:
        """Show `table`, as `ShownGame` does.

        Args:
            table: see `ShownGame`.
            frames: see `ShownGame`.
            recent_updates: see `ShownGame`.
            clock: the time.
            deadlines_moved: see `ShownGame`.
            quiet_since_ms: since when nobody asked for the game, Unix milliseconds; now if absent.
        """
        super().__init__(table, frames, recent_updates, deadlines_moved=deadlines_moved)
        self._clock = clock
        self._quiet_since_ms = clock.now_ms() if quiet_since_ms is None else quiet_since_ms
        self._attaching = 0

    @property
    def quiet_since_ms(self) -> int:
        """Since when nobody has asked for the game, Unix milliseconds."""
        return self._quiet_since_ms

    def touch(self) -> None:
        """Somebody asks for the game, or receives it."""
        self._quiet_since_ms = self._clock.now_ms()

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Let the game not rest meanwhile: somebody is about to receive it."""
        self._attaching += 1
        try:
            yield
        finally:
            self._attaching -= 1
            self.touch()
