"""One game of a scripted server."""

import hashlib
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol, TypeVar

from opolyx_sdk._digest import state_digest
from opolyx_sdk._frames import (
    Accepted,
    Attach,
    Attached,
    AuctionPart,
    Command,
    CommandResult,
    DebtsPart,
    Detached,
    Frame,
    FrameKind,
    GameDelta,
    OffersPart,
    Retry,
    Snapshot,
    UpdateFrame,
)
from opolyx_sdk.actions import Roll
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import DetachReason, EndCause, GameState, Phase, RefusalReason, SeatKind
from opolyx_sdk.events import Event
from opolyx_sdk.refusals import Refusal
from opolyx_sdk.seats import Seat
from opolyx_sdk.testing.answers import Accept, Answer, Refuse, RetryAfter, Silence
from opolyx_sdk.testing.tables import Awaited, awaited, awaiting_view, opening_view, with_turn
from opolyx_sdk.views import GameView, ResultView, SeatResult

T = TypeVar("T")


class Stage(Protocol):
    """What a game needs of its server."""

    def do(self, work: Callable[[], T]) -> T:
        """Do `work` in the server's thread."""
        ...

    def send(self, game_id: str, frame: Frame) -> None:
        """Send to every stream that is attached to the game."""
        ...

    @property
    def ahead_s(self) -> float:
        """By how much the server's clock is ahead."""
        ...


class ScriptedGame:
    """A game without rules: it says what the test lets it say. Made by `ScriptedServer.game`.

    May be used from any thread, also from `on_command`.
    """

    def __init__(
        self,
        stage: Stage,
        game_id: str,
        *,
        seats: Sequence[str],
        your_seat: int | None,
        ruleset: str,
    ) -> None:
        self._stage = stage
        self.game_id = game_id
        """The game."""
        self.your_seat = your_seat
        """The seat of whoever attaches as a player; None: nobody has one."""
        self.ruleset = ruleset
        """The ruleset that it claims to be."""
        self.seats = tuple(
            Seat(number, f"p_{name}", name, SeatKind.PERSON, number, "", (), False)
            for number, name in enumerate(seats)
        )
        """Who sits where."""
        self.view = opening_view(len(seats))
        """The state now."""
        self.awaits: tuple[Awaited, ...] = (awaited(0, Phase.ROLL, Roll()),)
        """What is awaited now: at first, that seat 0 rolls."""
        self.seq = 0
        """Number of the last update."""
        self.state = GameState.RUNNING
        """Whether the game is running, finished or void."""
        self.commands: list[Command] = []
        """Every command that came, those sent again included: `command_id`, `action` and more."""
        self.attaches: list[Attach] = []
        """Every attach that came, with the update that the client had."""
        self.on_command: Callable[[Command], Answer] | None = None
        """Answers what `answer_next` has nothing for; when absent, everything is accepted."""
        self.oldest_kept = 0
        """A client that has less than this update gets a snapshot."""
        self._answers: deque[Answer] = deque()
        self._updates: dict[int, UpdateFrame] = {}
        self._results: dict[str, CommandResult] = {}
        self._decisions: tuple[Decision, ...] = self._decide()
        self._lost = 0
        self._doubled = 0

    # --- The script -----------------------------------------------------------------------------

    def update(
        self,
        *events: Event,
        view: GameView | None = None,
        awaits: Sequence[Awaited] | None = None,
        actor: int | None = None,
        command_id: str = "",
    ) -> int:
        """Make the next update and send it to whoever is attached; its number.

        Args:
            events: what happened.
            view: the state after it; as before when absent.
            awaits: what is awaited then; the same, under a new id, when absent.
            actor: the seat that acted.
            command_id: the command that caused it.
        """
        return self._stage.do(lambda: self._update(events, view, awaits, actor, command_id))

    def finish(self, places: Sequence[int] | None = None) -> int:
        """End the game; `places` in seat order, the seats' own order when absent."""
        return self._stage.do(lambda: self._finish(places))

    def void(self) -> None:
        """End the game without a result, as an operator can."""
        self._stage.do(self._void)

    def close(self, reason: DetachReason, message: str = "") -> None:
        """Detach everybody."""
        self._stage.do(lambda: self._send(Detached(reason, message)))

    def answer_next(self, *answers: Answer) -> None:
        """Answer the next commands so, in this order."""
        self._stage.do(lambda: self._answers.extend(answers))

    def lose_next(self, updates: int = 1) -> None:
        """Don't send the next updates: the client finds the hole and asks for them."""
        self._lost = updates

    def repeat_next(self, updates: int = 1) -> None:
        """Send the next updates twice."""
        self._doubled = updates

    def send_wrong_digest(self) -> None:
        """Send an update whose digest is not that of its state."""
        self._stage.do(self._update_wrongly)

    # --- What the server asks, in its thread ----------------------------------------------------

    def attach(self, attach: Attach) -> list[FrameKind]:
        """What a client gets that begins to receive the game."""
        self.attaches.append(attach)
        after = attach.after_seq
        frames: list[FrameKind] = []
        if after is None or after > self.seq or after < self.oldest_kept:
            frames.append(self.snapshot(attach.spectator))
        else:
            frames += [self._updates[seq] for seq in range(after + 1, self.seq + 1)]
        return [*frames, Attached(self.seq)]

    def snapshot(self, spectator: bool = False) -> Snapshot:
        """The whole game."""
        return Snapshot(
            seq=self.seq,
            ruleset=self.ruleset,
            ruleset_hash="",
            seats=self.seats,
            view=self.view,
            decisions=self._decisions,
            now_unix_ms=self._now_ms(),
            state_digest=state_digest(self.view),
            log_digest=self._log_digest(),
            commitment=b"",
            your_seat=None if spectator else self.your_seat,
            connected_seats=(),
            state=self.state,
            house=None,
        )

    def command(self, command: Command) -> CommandResult | None:
        """The answer to a command; None is silence."""
        self.commands.append(command)
        if (known := self._results.get(command.command_id)) is not None:
            return known
        over = self.state is not GameState.RUNNING
        answer = Refuse(RefusalReason.GAME_OVER) if over else self._next_answer(command)
        result = self._answer(command, answer)
        if result is not None and result.retry is None:
            self._results[command.command_id] = result
        return result

    # --- Helpers --------------------------------------------------------------------------------

    def _next_answer(self, command: Command) -> Answer:
        if self._answers:
            return self._answers.popleft()
        return self.on_command(command) if self.on_command else Accept()

    def _answer(self, command: Command, answer: Answer) -> CommandResult | None:
        command_id = command.command_id
        match answer:
            case Refuse(reason, rule_id, message, numbers):
                refusal = Refusal(reason, rule_id, message, numbers)
                return CommandResult(command_id, refusal=refusal)
            case RetryAfter(seconds):
                return CommandResult(command_id, retry=Retry(round(seconds * 1000)))
            case Silence(takes_effect):
                if takes_effect:
                    self._lost += 1
                    self._results[command_id] = self._accept(command, Accept())
                return None
            case Accept():
                return self._accept(command, answer)

    def _accept(self, command: Command, answer: Accept) -> CommandResult:
        actor = self.your_seat
        if answer.ends:
            seq = self._finish(None, answer.events, answer.view, command.command_id)
        else:
            seq = self._update(answer.events, answer.view, answer.awaits, actor, command.command_id)
        return CommandResult(command.command_id, accepted=Accepted(seq))

    def _update(
        self,
        events: Sequence[Event],
        view: GameView | None,
        awaits: Sequence[Awaited] | None,
        actor: int | None,
        command_id: str,
    ) -> int:
        before = self.view
        self.awaits = self.awaits if awaits is None else tuple(awaits)
        self.view = awaiting_view(view or before, self.awaits)
        self.seq += 1
        self._decisions = self._decide()
        frame = UpdateFrame(
            seq=self.seq,
            at_unix_ms=self._now_ms(),
            events=tuple(events),
            delta=delta_between(before, self.view),
            decisions=self._decisions,
            state_digest=state_digest(self.view),
            log_digest=self._log_digest(),
            actor=actor,
            command_id=command_id,
            state=self.state,
        )
        self._updates[self.seq] = frame
        if self._lost:
            self._lost -= 1
            return self.seq
        self._send(frame)
        if self._doubled:
            self._doubled -= 1
            self._send(frame)
        return self.seq

    def _finish(
        self,
        places: Sequence[int] | None,
        events: Sequence[Event] = (),
        view: GameView | None = None,
        command_id: str = "",
    ) -> int:
        self.state = GameState.FINISHED
        before = view or self.view
        order = places or range(1, len(self.seats) + 1)
        seats = tuple(
            SeatResult(one.seat, order[one.seat], one.in_game, one.net_worth, 0)
            for one in before.players
        )
        result = ResultView(EndCause.ROUND_CAP, before.turn.round, seats)
        ended = with_turn(before, phase=Phase.UNSPECIFIED, awaited_seat=None)
        return self._update(events, replace(ended, result=result), (), None, command_id)

    def _void(self) -> None:
        self.state = GameState.VOID
        self.awaits, self._decisions = (), ()
        self._send(self.snapshot())

    def _update_wrongly(self) -> None:
        self._lost += 1
        self._update((), None, None, None, "")
        self._send(replace(self._updates[self.seq], state_digest=hashlib.sha256().digest()))

    def _decide(self) -> tuple[Decision, ...]:
        now_ms = self._now_ms()
        return tuple(
            Decision(
                decision_id=f"o{one.offer_id}" if one.phase is Phase.OFFER else f"d{self.seq}",
                seat=one.seat,
                phase=one.phase,
                deadline_unix_ms=now_ms + round(one.seconds * 1000),
                legal_actions=one.legal_actions,
                trade_template=one.trade_template,
                offer_id=one.offer_id,
                amount_owed=one.amount_owed,
            )
            for one in self.awaits
        )

    def _send(self, kind: FrameKind) -> None:
        self._stage.send(self.game_id, Frame(self.game_id, kind))

    def _now_ms(self) -> int:
        return round((time.time() + self._stage.ahead_s) * 1000)

    def _log_digest(self) -> bytes:
        return hashlib.sha256(f"{self.game_id}/{self.seq}".encode()).digest()


def delta_between(old: GameView, new: GameView) -> GameDelta:
    """What makes the new view of the old one."""
    return GameDelta(
        players=tuple(b for a, b in zip(old.players, new.players, strict=True) if a != b),
        properties=tuple(b for a, b in zip(old.properties, new.properties, strict=True) if a != b),
        turn=new.turn if new.turn != old.turn else None,
        auction=AuctionPart(new.auction) if new.auction != old.auction else None,
        debts=DebtsPart(new.debts) if new.debts != old.debts else None,
        offers=OffersPart(new.offers) if new.offers != old.offers else None,
        result=new.result,
    )
