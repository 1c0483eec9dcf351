"""The state of one client's stream, without any I/O: frames in, requests and signals out.

```
             outgoing requests                       signals
connected() ───────────────► stream    receive() ───────────────► games, waiting commands
```

What it promises, whatever the connection does:
- a game's updates are signalled in order of seq, each once; what came twice is dropped;
- a hole in the order asks for the missing updates, and never shows what comes after it before;
- after a reconnect every game resumes after the last update that was signalled;
- a command that was not answered is sent again with the same id;
- the mirror's digest is the server's, or a fresh snapshot replaces the mirror.
"""

import uuid
from collections import deque
from dataclasses import dataclass
from typing import Final, TypeAlias

from opolyx_sdk._frames import (
    Accepted,
    Attach,
    Attached,
    Command,
    CommandResult,
    Detach,
    Detached,
    Draining,
    Frame,
    Ping,
    Pong,
    Presence,
    Request,
    Snapshot,
    UpdateFrame,
)
from opolyx_sdk._mirror import Mirror
from opolyx_sdk._server_clock import ServerClock
from opolyx_sdk.actions import Action
from opolyx_sdk.enums import DetachReason, RefusalReason
from opolyx_sdk.errors import GameClosed, GameError, MirrorBroken
from opolyx_sdk.refusals import Refusal
from opolyx_sdk.updates import Update


@dataclass(frozen=True, slots=True)
class Opened:
    """A game's first snapshot is here: its mirror can be read."""

    game_id: str


@dataclass(frozen=True, slots=True)
class Updated:
    """A game has a next update."""

    update: Update


@dataclass(frozen=True, slots=True)
class Changed:
    """A game has changed without an update, as its mirror shows: a deadline moved, or it is void.

    An operator can end a game, and a server that was away gives whoever is awaited more time.
    """

    game_id: str


@dataclass(frozen=True, slots=True)
class Closed:
    """A game is no longer received, because of `error`."""

    game_id: str
    error: GameError


@dataclass(frozen=True, slots=True)
class Answered:
    """A command is answered: with the update it caused, or with a refusal."""

    command_id: str
    seq: int = 0
    refusal: Refusal | None = None


@dataclass(frozen=True, slots=True)
class RetryLater:
    """Something must be asked again after a while: call `again(key)` then."""

    key: str
    after_ms: int


@dataclass(frozen=True, slots=True)
class Drained:
    """The server goes away: connect again after a while."""

    after_ms: int


_MOST_UNSERVED: Final = 3
_NO_HINT_MS: Final = 500
_SOONEST_MS: Final = 50

Signal: TypeAlias = Opened | Updated | Changed | Closed | Answered | RetryLater | Drained


@dataclass(slots=True)
class _Attachment:
    game_id: str
    spectator: bool
    mirror: Mirror | None = None
    asked: bool = False
    """An attach is under way: what doesn't follow the mirror is on its way again."""
    distrusted: bool = False
    """The digest didn't match: the next snapshot replaces the mirror, or ends the game."""
    unserved: int = 0
    """Attaches in a row after which the game was still not up to date."""

    def attach(self) -> Attach:
        known = self.mirror is not None and not self.distrusted
        after = self.mirror.seq if known and self.mirror is not None else None
        return Attach(self.game_id, after, self.spectator)


class Session:
    """All games and commands of one stream, across its reconnects."""

    def __init__(self, clock: ServerClock | None = None) -> None:
        self.clock = clock or ServerClock()
        """The server's clock."""
        self.outgoing: deque[Request] = deque()
        """Requests to send, in order; the stream takes them out. Emptied by `disconnected`."""
        self._attachments: dict[str, _Attachment] = {}
        self._commands: dict[str, Command] = {}
        self._accepted: dict[str, tuple[str, int]] = {}
        self._connected = False
        self._pings: dict[int, float] = {}
        self._ping_count = 0

    # --- What the client asks -------------------------------------------------------------------

    @property
    def idle(self) -> bool:
        """Whether nothing needs the stream."""
        return not self._attachments and not self._commands and not self._accepted

    def mirror(self, game_id: str) -> Mirror | None:
        """A game's mirror, once it is opened."""
        attachment = self._attachments.get(game_id)
        return attachment.mirror if attachment else None

    def attach(self, game_id: str, *, spectator: bool = False) -> None:
        """Begin to receive a game; signals `Opened` or `Closed`.

        Raises:
            ValueError: the game is received already.
        """
        if game_id in self._attachments:
            raise ValueError(f"game {game_id} is open already")
        attachment = _Attachment(game_id, spectator)
        self._attachments[game_id] = attachment
        self._ask(attachment)

    def detach(self, game_id: str) -> list[Signal]:
        """Stop receiving a game; what was accepted in it is answered, as no update will come."""
        if self._attachments.pop(game_id, None) is not None:
            self._send(Detach(game_id))
        return self._release_all(game_id)

    def submit(
        self,
        game_id: str,
        decision_id: str,
        action: Action,
        command_id: str | None = None,
        traceparent: str = "",
    ) -> str:
        """Send a command until it is answered; returns its id, which `Answered` will carry."""
        command_id = command_id or uuid.uuid4().hex
        command = Command(game_id, command_id, decision_id, action, traceparent)
        self._commands[command_id] = command
        self._send(command)
        return command_id

    def forget(self, command_id: str) -> None:
        """Stop waiting for a command's answer; it may take effect nevertheless."""
        self._commands.pop(command_id, None)
        self._accepted.pop(command_id, None)

    def ping(self) -> None:
        """Measure the server's clock."""
        if self._connected:
            self._ping_count += 1
            self._pings[self._ping_count] = self.clock.now_ms()
            self._send(Ping(self._ping_count))

    # --- What the stream tells ------------------------------------------------------------------

    def connected(self) -> None:
        """A new stream is open: ask for every game from where it is, repeat every command."""
        self._connected = True
        self.outgoing.clear()
        self._pings.clear()
        self.clock.forget()
        self.ping()
        for attachment in self._attachments.values():
            self._ask(attachment)
        for command in self._commands.values():
            self._send(command)

    def disconnected(self) -> None:
        """The stream is gone; nothing is lost but the requests not yet sent, which repeat."""
        self._connected = False
        self.outgoing.clear()

    def again(self, key: str) -> None:
        """The time of a `RetryLater` has come."""
        if (command := self._commands.get(key)) is not None:
            self._send(command)
        elif (attachment := self._attachments.get(key)) is not None:
            self._ask(attachment)

    def receive(self, frame: Frame) -> list[Signal]:
        """Take in a frame; what follows from it, in order."""
        kind = frame.kind
        match kind:
            case CommandResult():
                return self._answer(kind)
            case Pong(nonce, now_unix_ms):
                sent = self._pings.pop(nonce, None)
                if sent is not None:
                    self.clock.saw_round_trip(sent, now_unix_ms)
                return []
            case Draining(retry_after_ms):
                return [Drained(retry_after_ms)]
            case _:
                attachment = self._attachments.get(frame.game_id)
                return self._receive_of_game(attachment, kind) if attachment else []

    def _receive_of_game(
        self,
        attachment: _Attachment,
        kind: Snapshot | UpdateFrame | Detached | Presence | Attached,
    ) -> list[Signal]:
        match kind:
            case UpdateFrame():
                return self._update(attachment, kind)
            case Snapshot():
                return self._snapshot(attachment, kind)
            case Attached(seq):
                return self._attached(attachment, seq)
            case Presence(connected_seats):
                if attachment.mirror is not None:
                    attachment.mirror.connected_seats = connected_seats
                return []
            case Detached():
                return self._detached(attachment, kind)

    # --- Games ----------------------------------------------------------------------------------

    def _update(self, attachment: _Attachment, frame: UpdateFrame) -> list[Signal]:
        mirror = attachment.mirror
        if mirror is None or attachment.distrusted or frame.seq <= mirror.seq:
            return []
        if frame.seq != mirror.seq + 1:
            if not attachment.asked:
                self._ask(attachment)
            return []
        self.clock.saw(frame.at_unix_ms)
        update = mirror.apply(frame, self.clock.ahead_ms)
        if not mirror.matches(frame.state_digest):
            attachment.distrusted = True
            self._ask(attachment)
        return [Updated(update), *self._release(mirror)]

    def _snapshot(self, attachment: _Attachment, snapshot: Snapshot) -> list[Signal]:
        self.clock.saw(snapshot.now_unix_ms)
        old = attachment.mirror
        mirror = Mirror(attachment.game_id, snapshot, self.clock.ahead_ms)
        if not mirror.matches(snapshot.state_digest):
            return self._break(attachment, snapshot.seq)
        repaired = attachment.distrusted
        attachment.mirror = mirror
        attachment.distrusted = False
        if old is None:
            return [Opened(attachment.game_id), *self._release(mirror)]
        if old.seq == snapshot.seq and not repaired:
            return [Changed(attachment.game_id)]
        missed = max(0, snapshot.seq - old.seq)
        update = mirror.as_update(snapshot.now_unix_ms, missed)
        return [Updated(update), *self._release(mirror)]

    def _attached(self, attachment: _Attachment, seq: int) -> list[Signal]:
        attachment.asked = False
        mirror = attachment.mirror
        if mirror is not None and not attachment.distrusted and mirror.seq >= seq:
            attachment.unserved = 0
            return []
        attachment.unserved += 1
        if attachment.unserved > _MOST_UNSERVED:
            return self._break(attachment, seq)
        if attachment.unserved > 1:
            # What should have come did not, twice: only a fresh snapshot can help.
            attachment.distrusted = mirror is not None
        self._ask(attachment)
        return []

    def _detached(self, attachment: _Attachment, detached: Detached) -> list[Signal]:
        if detached.reason is DetachReason.REQUESTED:
            return []  # of an attachment before this one
        if detached.reason is DetachReason.UNAVAILABLE:
            return [RetryLater(attachment.game_id, _polite(detached.retry_after_ms))]
        error = GameClosed(attachment.game_id, detached.reason, detached.message)
        return self._close(attachment, error)

    def _break(self, attachment: _Attachment, seq: int) -> list[Signal]:
        """No snapshot helps: the server, which still sends the game, is told to stop."""
        self._send(Detach(attachment.game_id))
        return self._close(attachment, MirrorBroken(attachment.game_id, seq))

    def _close(self, attachment: _Attachment, error: GameError) -> list[Signal]:
        self._attachments.pop(attachment.game_id, None)
        return [Closed(attachment.game_id, error), *self._release_all(attachment.game_id)]

    def _ask(self, attachment: _Attachment) -> None:
        attachment.asked = True
        self._send(attachment.attach())

    # --- Commands -------------------------------------------------------------------------------

    def _answer(self, result: CommandResult) -> list[Signal]:
        command = self._commands.get(result.command_id)
        if command is None:
            return []
        if result.retry is not None:
            return [RetryLater(result.command_id, _polite(result.retry.retry_after_ms))]
        if after_ms := _wait_of(result.refusal):
            return [RetryLater(result.command_id, _polite(after_ms))]
        if result.accepted is None and result.refusal is None:
            return []  # of a kind that is newer than this SDK: the outcome stays unknown
        del self._commands[result.command_id]
        if result.accepted is None:
            return [Answered(result.command_id, refusal=result.refusal)]
        return self._accept(command, result.accepted)

    def _accept(self, command: Command, accepted: Accepted) -> list[Signal]:
        """The answer waits for the update, so that who gets it sees the update's effect."""
        attachment = self._attachments.get(command.game_id)
        mirror = attachment.mirror if attachment else None
        if attachment is None or mirror is None or mirror.seq >= accepted.seq:
            return [Answered(command.command_id, accepted.seq)]
        self._accepted[command.command_id] = (command.game_id, accepted.seq)
        if not attachment.asked:
            self._ask(attachment)  # updates come before answers: this one is missing
        return []

    def _release(self, mirror: Mirror) -> list[Signal]:
        ready = [
            Answered(command_id, seq)
            for command_id, (game_id, seq) in self._accepted.items()
            if game_id == mirror.info.game_id and seq <= mirror.seq
        ]
        for one in ready:
            del self._accepted[one.command_id]
        return list(ready)

    def _release_all(self, game_id: str) -> list[Signal]:
        ready = [
            Answered(command_id, seq)
            for command_id, (of_game, seq) in self._accepted.items()
            if of_game == game_id
        ]
        for one in ready:
            del self._accepted[one.command_id]
        return list(ready)

    def _send(self, request: Request) -> None:
        if self._connected:
            self.outgoing.append(request)


def _wait_of(refusal: Refusal | None) -> int:
    """When a command that came too fast is to be sent again, in ms; 0 for any other refusal."""
    if refusal is None or refusal.reason is not RefusalReason.TOO_FAST:
        return 0
    return max(0, refusal.numbers.get("retry_after_ms", 0))


def _polite(after_ms: int) -> int:
    """The server's hint in ms; a server that says none, or next to none, is not asked at once."""
    return max(after_ms, _SOONEST_MS) if after_ms > 0 else _NO_HINT_MS
