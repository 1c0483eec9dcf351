"""A game as others may look at it at any time: its table, its latest updates, who receives it."""

from opolyx_engine.frame_maker import FrameMaker
from opolyx_engine.hub import Hub
from opolyx_engine.store.base import RUNNING, VOID
from opolyx_engine.table import Step, Table
from opolyx_engine.update_ring import UpdateRing


class ShownGame:
    """What is shown of one game. Its table is replaced when something is stored, never changed."""

    def __init__(
        self, table: Table, frames: FrameMaker, recent_updates: int, *, deadlines_moved: bool
    ) -> None:
        """Show `table`, and keep so many updates.

        Args:
            table: the game as it is stored.
            frames: makes what is sent.
            recent_updates: how many of the latest updates are kept.
            deadlines_moved: whether the table's deadlines aren't those of its last update.
        """
        self.table = table
        """The game as it is stored."""
        self.ring = UpdateRing(recent_updates, table.seq)
        """The latest updates."""
        self.hub = Hub(lambda seats: frames.presence(table.header.game_id, seats))
        """Who receives the game."""
        self._frames = frames
        self._moved_at_seq = table.seq if deadlines_moved else -1

    @property
    def game_id(self) -> str:
        """The game's id."""
        return self.table.header.game_id

    @property
    def running(self) -> bool:
        """Whether the game goes on, here or elsewhere."""
        return self.table.life == RUNNING

    @property
    def updates_tell_all(self) -> bool:
        """Whether who has all updates knows how the game stands.

        Not so when it was ended as void, and not between an outage that moved its deadlines and
        the next update.
        """
        return self.table.life != VOID and self.table.seq != self._moved_at_seq

    def snapshot_frame(self, seat: int | None) -> bytes:
        """The game as it is now, and that this is all there is."""
        snapshot = self._frames.snapshot(self.table, seat, self.hub.connected)
        return snapshot + self.attached_frame()

    def attached_frame(self) -> bytes:
        """An attachment has everything up to now."""
        return self._frames.attached(self.game_id, self.table.seq)

    def _show_step(self, step: Step) -> None:
        """Show a stored step. The table first: should showing fail, it is what is stored."""
        before, self.table = self.table, self.table.after(step)
        frame = self._frames.update(before, step)
        self.ring.add(step.entry.seq, frame)
        self.hub.publish(frame)

    def _show_moved(self, table: Table) -> None:
        """Show a table that is the same but for its deadlines, which an outage moved."""
        self.table = table
        self._moved_at_seq = table.seq
        self.hub.refresh()

    def _show_void(self, table: Table) -> None:
        """Show that the game ended without a result."""
        self.table = table
        self.hub.refresh()
