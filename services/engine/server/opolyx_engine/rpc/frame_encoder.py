"""Makes the frames of games: the `FrameMaker` of this wire."""

from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.rpc.convert_decisions import add_decisions, decisions_of
from opolyx_engine.rpc.convert_events import event_field
from opolyx_engine.rpc.convert_seats import house_to_proto, seats_to_proto
from opolyx_engine.rpc.convert_views import fill_delta, game_view
from opolyx_engine.rpc.frames import (
    attached_frame,
    detached_frame,
    field,
    packed,
    presence_frame,
    tag_of,
    update_frame,
)
from opolyx_engine.rpc.shown import Shown
from opolyx_engine.store.base import RUNNING
from opolyx_engine.table import Step, Table
from opolyx_rules.actions import SEAT, TIME_OUT
from opolyx_rules.views import state_digest
from opolyx_servicekit.wall_clock import Clock

_DECISIONS: Final = tag_of(pb.Update, "decisions")
_MOST_SHOWN: Final = 4_096  # games whose last views are kept


class FrameEncoder:
    """Frames of snapshots and updates."""

    def __init__(self, clock: Clock) -> None:
        """Put `clock`'s time into snapshots."""
        self._clock = clock
        self._shown: OrderedDict[str, Shown] = OrderedDict()

    def _shown_of(self, table: Table) -> Shown:
        """What is shown of a table: mostly what was made for its last step."""
        known = self._shown.get(table.header.game_id)
        if known is not None and known.state is table.state:
            return known
        return Shown(table.state)

    def _keep(self, game_id: str, shown: Shown) -> None:
        self._shown[game_id] = shown
        self._shown.move_to_end(game_id)
        if len(self._shown) > _MOST_SHOWN:
            self._shown.popitem(last=False)

    def update(self, before: Table, step: Step) -> bytes:
        """What a step changed."""
        entry, state, game_id = step.entry, step.state, before.header.game_id
        earlier = self._shown_of(before)
        shown = Shown(state, earlier)
        self._keep(game_id, shown)
        update = pb.Update(
            seq=entry.seq,
            at_unix_ms=entry.at_ms,
            state_digest=entry.state_digest,
            log_digest=entry.log_digest,
            command_id=entry.command_id,
            state=pb.GAME_STATE_FINISHED if state.over else pb.GAME_STATE_RUNNING,
        )
        fill_delta(update.delta, earlier, shown, entry.clocks)
        if entry.action[0] < TIME_OUT:
            update.actor = entry.action[SEAT]
        # The rest is joined as bytes: of it most was serialised for an earlier update.
        parts = [update.SerializeToString()]
        parts += [event_field(event) for event in step.events]
        parts += [field(_DECISIONS, body) for body in decisions_of(shown, entry.clocks)]
        return update_frame(game_id, b"".join(parts))

    def snapshot(self, table: Table, seat: int | None, connected: Sequence[int]) -> bytes:
        """The whole game."""
        message = self.snapshot_message(table, seat, connected)
        return packed(pb.Frame(game_id=table.header.game_id, snapshot=message))

    def snapshot_message(
        self, table: Table, seat: int | None, connected: Sequence[int]
    ) -> pb.Snapshot:
        """The whole game as the holder of `seat`, or a spectator, sees it."""
        message = pb.Snapshot(
            seq=table.seq,
            ruleset=table.header.ruleset,
            ruleset_hash=table.ruleset.digest(),
            seats=seats_to_proto(table.header, table.ruleset),
            view=game_view(table.state, table.clocks),
            now_unix_ms=self._clock.now_ms(),
            state_digest=state_digest(table.state),
            log_digest=table.log_digest,
            commitment=table.commitment,
            connected_seats=connected,
            state=pb.GameState.ValueType(table.life),
            house=house_to_proto(table.header.options),
        )
        if table.life == RUNNING:
            add_decisions(message.decisions, self._shown_of(table), table.clocks)
        if seat is not None:
            message.your_seat = seat
        return message

    def presence(self, game_id: str, connected: Sequence[int]) -> bytes:
        """Who is connected."""
        return presence_frame(game_id, connected)

    def attached(self, game_id: str, seq: int) -> bytes:
        """An attachment is up to date."""
        return attached_frame(game_id, seq)

    def fault(self, game_id: str) -> bytes:
        """The game was ended because of a fault."""
        message = "the game was ended because of a fault in the server"
        return detached_frame(game_id, pb.DETACH_REASON_FAULT, message)

    def lost(self, game_id: str) -> bytes:
        """The game isn't run here any more."""
        message = "the game has moved, attach again"
        return detached_frame(game_id, pb.DETACH_REASON_UNAVAILABLE, message)

    def forget(self, game_id: str) -> None:
        """Keep nothing of a game."""
        self._shown.pop(game_id, None)
