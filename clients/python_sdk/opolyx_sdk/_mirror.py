"""One game as the client knows it: a snapshot, and every update since, applied by key."""

from dataclasses import replace
from typing import Final

from opolyx_sdk._digest import state_digest
from opolyx_sdk._frames import GameDelta, Snapshot, UpdateFrame
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import GameState
from opolyx_sdk.updates import GameInfo, HouseRules, Update
from opolyx_sdk.views import GameView

ENDED: Final = frozenset({GameState.FINISHED, GameState.VOID})
"""States in which a game has no further updates."""


class Mirror:
    """The public state of one game. No rule is known here: parts replace their counterparts."""

    __slots__ = ("connected_seats", "decisions", "info", "log_digest", "seq", "state", "view")

    def __init__(self, game_id: str, snapshot: Snapshot, server_ahead_ms: int) -> None:
        self.info = GameInfo(
            game_id=game_id,
            ruleset=snapshot.ruleset,
            ruleset_hash=snapshot.ruleset_hash,
            seats=snapshot.seats,
            commitment=snapshot.commitment,
            your_seat=snapshot.your_seat,
            house=snapshot.house or HouseRules(),
        )
        self.seq = snapshot.seq
        self.view = snapshot.view
        self.decisions = _timed(snapshot.decisions, server_ahead_ms)
        self.state = snapshot.state
        self.log_digest = snapshot.log_digest
        self.connected_seats = snapshot.connected_seats

    @property
    def ended(self) -> bool:
        """Whether the game has no further updates."""
        return self.state in ENDED

    def apply(self, frame: UpdateFrame, server_ahead_ms: int) -> Update:
        """Take in the next update, whose `seq` must be one more than the mirror's."""
        self.view = apply_delta(self.view, frame.delta)
        self.seq = frame.seq
        self.decisions = _timed(frame.decisions, server_ahead_ms)
        self.state = frame.state or self.state
        self.log_digest = frame.log_digest
        return Update(
            game_id=self.info.game_id,
            seq=frame.seq,
            at_unix_ms=frame.at_unix_ms,
            events=frame.events,
            view=self.view,
            decisions=self.decisions,
            actor=frame.actor,
            command_id=frame.command_id,
            state=self.state,
        )

    def as_update(self, at_unix_ms: int, missed: int) -> Update:
        """An update without events that stands for `missed` ones: the game as it is now."""
        return Update(
            game_id=self.info.game_id,
            seq=self.seq,
            at_unix_ms=at_unix_ms,
            events=(),
            view=self.view,
            decisions=self.decisions,
            actor=None,
            command_id="",
            state=self.state,
            missed=missed,
        )

    def matches(self, digest: bytes) -> bool:
        """Whether the mirrored state has this digest; an absent digest says nothing."""
        return not digest or digest == state_digest(self.view)


def apply_delta(view: GameView, delta: GameDelta) -> GameView:
    """The view after the changes; the old one stays as it was."""
    players = {one.seat: one for one in view.players}
    players.update((one.seat, one) for one in delta.players)
    properties = {one.square: one for one in view.properties}
    properties.update((one.square, one) for one in delta.properties)
    return GameView(
        players=tuple(players[seat] for seat in sorted(players)),
        properties=tuple(properties[square] for square in sorted(properties)),
        turn=delta.turn or view.turn,
        auction=view.auction if delta.auction is None else delta.auction.auction,
        debts=view.debts if delta.debts is None else delta.debts.debts,
        offers=view.offers if delta.offers is None else delta.offers.offers,
        result=delta.result or view.result,
    )


def _timed(decisions: tuple[Decision, ...], server_ahead_ms: int) -> tuple[Decision, ...]:
    if not server_ahead_ms:
        return decisions
    return tuple(replace(one, server_ahead_ms=server_ahead_ms) for one in decisions)
