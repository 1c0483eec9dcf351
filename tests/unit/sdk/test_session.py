"""The session core without any I/O, against everything a network can do to a stream."""

import dataclasses

from hypothesis import given, settings
from hypothesis import strategies as st

from opolyx_sdk import _frames
from opolyx_sdk._convert import read
from opolyx_sdk._session import Answered, Changed, Closed, Opened, Session, Signal, Updated
from opolyx_sdk.actions import Roll
from opolyx_sdk.enums import GameState
from opolyx_sdk.updates import Update
from support_sdk import ScriptedGame


class Wire:
    """A server and a network in one: keeps what was sent, and loses or repeats what it is told."""

    def __init__(self) -> None:
        self.session = Session()
        self.game = ScriptedGame("g", seed=3)
        self.applied: dict[str, int] = {}
        self.coming: list[_frames.Frame] = []
        self.attached = False
        self.seen: list[Update] = []
        self.signals: list[Signal] = []

    def connect(self) -> None:
        self.coming.clear()
        self.attached = False
        self.session.disconnected()
        self.session.connected()
        self.serve()

    def serve(self) -> None:
        while self.session.outgoing:
            request = self.session.outgoing.popleft()
            if isinstance(request, _frames.Attach):
                self._attach(request)
            elif isinstance(request, _frames.Command):
                self._command(request)

    def _attach(self, attach: _frames.Attach) -> None:
        self.attached = True
        after = attach.after_seq
        if after is None or after > self.game.seq:
            self.send(read(self.game.snapshot(), _frames.Snapshot))
        else:
            for seq in range(after + 1, self.game.seq + 1):
                self.send(read(self.game.updates[seq], _frames.UpdateFrame))
        self.send(_frames.Attached(self.game.seq))

    def _command(self, command: _frames.Command) -> None:
        if command.command_id not in self.applied:
            self.advance(command.command_id)
            self.applied[command.command_id] = self.game.seq
        seq = self.applied[command.command_id]
        self.send(_frames.CommandResult(command.command_id, accepted=_frames.Accepted(seq)))

    def advance(self, command_id: str = "") -> None:
        update = self.game.advance(command_id=command_id)
        if self.attached:
            self.send(read(update, _frames.UpdateFrame))

    def send(self, kind: _frames.FrameKind) -> None:
        self.coming.append(_frames.Frame("g", kind))

    def deliver(self, count: int) -> None:
        for _ in range(min(count, len(self.coming))):
            signals = self.session.receive(self.coming.pop(0))
            self.signals += signals
            self.seen += [one.update for one in signals if isinstance(one, Updated)]
            self.serve()


STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("advance"), st.integers(1, 3)),
        st.tuples(st.just("deliver"), st.integers(1, 8)),
        st.tuples(st.just("lose"), st.integers(0, 5)),
        st.tuples(st.just("double"), st.integers(0, 5)),
        st.tuples(st.just("corrupt"), st.integers(0, 5)),
        st.tuples(st.just("cut"), st.just(0)),
        st.tuples(st.just("submit"), st.just(0)),
    ),
    max_size=40,
)


@given(STEPS)
@settings(max_examples=150, deadline=None)
def test_whatever_the_network_does_updates_come_in_order_each_once(
    steps: list[tuple[str, int]],
) -> None:
    wire = Wire()
    wire.session.attach("g")
    wire.connect()
    wire.deliver(10)
    corrupted = False
    commands = []
    for step, number in steps:
        if step == "advance":
            for _ in range(number):
                wire.advance()
        elif step == "deliver":
            wire.deliver(number)
        elif step == "cut":
            wire.connect()
        elif step == "submit":
            commands.append(wire.session.submit("g", "d0", Roll()))
            wire.serve()
        elif number < len(wire.coming):
            frame = wire.coming[number]
            if step == "double":
                wire.coming.insert(number, frame)
            elif isinstance(frame.kind, _frames.UpdateFrame):
                if step == "lose":
                    del wire.coming[number]
                else:
                    corrupted = True
                    wrong = dataclasses.replace(frame.kind, state_digest=b"wrong")
                    wire.coming[number] = _frames.Frame("g", wrong)
    wire.advance()
    wire.connect()
    wire.deliver(10_000)
    numbers = [update.seq for update in wire.seen]
    mirror = wire.session.mirror("g")

    assert mirror is not None
    assert wire.game.seq == mirror.seq
    assert read(wire.game.snapshot(), _frames.Snapshot).view == mirror.view
    assert numbers == sorted(numbers)
    if not corrupted:
        assert list(range(1, wire.game.seq + 1)) == numbers
        assert not [update for update in wire.seen if update.missed]
    answered = {one.command_id: one.seq for one in wire.signals if isinstance(one, Answered)}
    assert wire.applied == answered
    assert set(commands) == set(answered)


def test_an_answer_waits_until_its_update_was_seen() -> None:
    wire = Wire()
    wire.session.attach("g")
    wire.connect()
    wire.deliver(10)
    command_id = wire.session.submit("g", "d0", Roll())
    early = _frames.CommandResult(command_id, accepted=_frames.Accepted(1))

    assert [] == wire.session.receive(_frames.Frame("g", early))
    update = read(wire.game.advance(), _frames.UpdateFrame)
    first, second = wire.session.receive(_frames.Frame("g", update))
    assert isinstance(first, Updated)
    assert Answered(command_id, 1) == second


def test_an_accepted_command_is_answered_when_its_game_is_left() -> None:
    wire = Wire()
    wire.session.attach("g")
    wire.connect()
    wire.deliver(10)
    command_id = wire.session.submit("g", "d0", Roll())
    early = _frames.CommandResult(command_id, accepted=_frames.Accepted(1))
    wire.session.receive(_frames.Frame("g", early))

    assert [Answered(command_id, 1)] == wire.session.detach("g")
    assert wire.session.idle


def test_a_server_that_never_serves_what_it_promises_ends_the_game() -> None:
    session = Session()
    session.attach("g")
    session.connected()
    for _ in range(3):
        assert [] == session.receive(_frames.Frame("g", _frames.Attached(5)))
    session.outgoing.clear()
    (closed,) = session.receive(_frames.Frame("g", _frames.Attached(5)))

    assert isinstance(closed, Closed)
    assert session.idle
    assert [_frames.Detach("g")] == list(session.outgoing)


def test_frames_of_games_not_open_are_nothing() -> None:
    wire = Wire()
    wire.session.connected()
    snapshot = read(wire.game.snapshot(), _frames.Snapshot)

    assert [] == wire.session.receive(_frames.Frame("other", snapshot))
    wire.session.attach("g")
    assert [Opened("g")] == wire.session.receive(_frames.Frame("g", snapshot))


def test_a_game_that_became_void_is_told_without_repeating_an_update() -> None:
    wire = Wire()
    wire.session.attach("g")
    wire.connect()
    wire.deliver(10)
    snapshot = read(wire.game.snapshot(), _frames.Snapshot)
    void = dataclasses.replace(snapshot, state=GameState.VOID)

    assert [Changed("g")] == wire.session.receive(_frames.Frame("g", void))
    mirror = wire.session.mirror("g")
    assert mirror is not None
    assert mirror.ended


def test_a_deadline_that_moved_is_known_without_repeating_an_update() -> None:
    wire = Wire()
    wire.session.attach("g")
    wire.connect()
    wire.deliver(10)
    snapshot = read(wire.game.snapshot(), _frames.Snapshot)
    (decision, *others) = snapshot.decisions
    later = dataclasses.replace(decision, deadline_unix_ms=decision.deadline_unix_ms + 10_000)
    moved = dataclasses.replace(snapshot, decisions=(later, *others))

    assert [Changed("g")] == wire.session.receive(_frames.Frame("g", moved))
    mirror = wire.session.mirror("g")
    assert mirror is not None
    assert later.deadline_unix_ms == mirror.decisions[0].deadline_unix_ms
