"""A game at one moment: what is stored of it, and what the next step would make of it.

Tables are replaced, never changed: who holds one may read it at any time, and a step whose append
fails leaves nothing behind.
"""

import json
from dataclasses import dataclass, replace
from typing import Self

from opolyx_engine.clocks import Clocks
from opolyx_engine.facts import game_finished, seat_released
from opolyx_engine.fair_dice import Dice
from opolyx_engine.gifts import NONE, Gifts, gifts_after
from opolyx_engine.header import KIND_NAMES, GameHeader
from opolyx_engine.record import Entry, decode_clocks, encode_clocks
from opolyx_engine.store.base import (
    FINISHED,
    RUNNING,
    VOID,
    Append,
    NewFact,
    StoredSnapshot,
)
from opolyx_rules import codec, engine, replay
from opolyx_rules.actions import Action
from opolyx_rules.chance import LABELS, RecordingChance, commitment_of
from opolyx_rules.editions import get_ruleset
from opolyx_rules.events import SURRENDERED, Event
from opolyx_rules.ruleset import Ruleset
from opolyx_rules.state import State
from opolyx_rules.views import state_digest


class LogMismatch(RuntimeError):
    """A stored record doesn't follow from those before it."""


@dataclass(slots=True)
class Step:
    """What one input makes of a table, before it is stored. Never changed."""

    entry: Entry
    """The record."""

    state: State
    """The state after it."""

    events: list[Event]
    """What happened."""

    places: tuple[int, ...]
    """Where chance stands after it."""


@dataclass(slots=True)
class Table:
    """A game as it is stored. Never changed, but not frozen: one is made for every step."""

    header: GameHeader
    """What is fixed."""

    ruleset: Ruleset
    """The rules, with the house's options."""

    dice: Dice
    """The game's chance."""

    commitment: bytes
    """SHA-256 of the secret of the dice."""

    started_ms: int
    """When it started, Unix milliseconds."""

    state: State
    """The state; never changed."""

    seq: int
    """The last record contained."""

    clocks: Clocks
    """The deadlines that run."""

    log_digest: bytes
    """Running digest of the log."""

    places: tuple[int, ...]
    """Where chance stands."""

    life: int = RUNNING
    """RUNNING, FINISHED or VOID."""

    end_reason: str = ""
    """Why it is void."""

    gifts: Gifts = NONE
    """What seats gave each other in trades beyond what they got."""

    @classmethod
    def begin(cls, header: GameHeader, secret: bytes, at_ms: int) -> tuple[Self, Entry]:
        """A game at its start, and the record of that; the same again from the same arguments.

        Raises:
            KeyError: the ruleset isn't known.
        """
        ruleset = ruleset_of(header)
        dice = Dice(secret, header)
        commitment = commitment_of(secret)
        chance = dice.at([0] * len(LABELS))
        recording = RecordingChance(chance)
        fixed = replay_header(header, commitment, at_ms)
        state = fixed.start(recording)
        line = replay.make_record(
            replay.first_digest(fixed, secret),
            seq=0,
            at_unix_ms=at_ms,
            action=(),
            draws=tuple(recording.take()),
        )
        entry = Entry(line, "", Clocks().after(state, at_ms))
        table = cls(
            header=header,
            ruleset=ruleset,
            dice=dice,
            commitment=commitment,
            started_ms=at_ms,
            state=state,
            seq=0,
            clocks=entry.clocks,
            log_digest=entry.log_digest,
            places=tuple(chance.places()),
        )
        return table, entry

    def plan(self, action: Action, command_id: str, at_ms: int) -> Step:
        """What `action` would make of the table.

        Raises:
            IllegalAction: the rules refuse it; ask `check` before.
        """
        state = self.state.clone()
        chance = self.dice.at(self.places)
        recording = RecordingChance(chance)
        events = engine.apply(state, action, recording)
        line = replay.make_record(
            self.log_digest,
            seq=self.seq + 1,
            at_unix_ms=at_ms,
            action=action,
            draws=tuple(recording.take()),
            turn_digest=state_digest(state) if replay.ends_turn(events) else b"",
        )
        entry = Entry(line, command_id, self.clocks.after(state, at_ms))
        return Step(entry, state, events, tuple(chance.places()))

    def replayed(self, entry: Entry) -> Step:
        """The step that a stored record was; its clocks are the stored ones.

        Raises:
            LogMismatch: it doesn't come out as stored.
        """
        step = self.plan(entry.action, entry.command_id, entry.at_ms)
        if step.entry.line != entry.line:
            raise LogMismatch(f"record {entry.seq} of {self.header.game_id} differs")
        return replace(step, entry=entry)

    def after(self, step: Step) -> Self:
        """The table once `step` is stored."""
        return type(self)(
            self.header,
            self.ruleset,
            self.dice,
            self.commitment,
            self.started_ms,
            step.state,
            step.entry.seq,
            step.entry.clocks,
            step.entry.log_digest,
            step.places,
            FINISHED if step.state.over else RUNNING,
            gifts=gifts_after(self.gifts, self.state, step.events)
            if self.state.offers
            else self.gifts,
        )

    def voided(self, reason: str) -> Self:
        """The table once the game is ended as void."""
        return replace(self, life=VOID, end_reason=reason, clocks=Clocks())

    def with_grace(self, now_ms: int, grace_ms: int) -> Self:
        """The table taken up again after an outage (CLOCK-5)."""
        return replace(self, clocks=self.clocks.with_grace(now_ms, grace_ms))

    def players_in(self) -> list[str]:
        """Accounts whose seats are still in the game."""
        return [
            holder.player_id
            for seat, holder in enumerate(self.header.holders)
            if holder.player_id and not self.state.out_order[seat]
        ]

    def append_of(self, step: Step, *, with_snapshot: bool, epoch: int = 0) -> Append:
        """What the store must take for `step` of the owner: its record, and the facts it makes."""
        snapshot = self.after(step).to_snapshot() if with_snapshot else None
        over = step.state.over
        return Append(
            game_id=self.header.game_id,
            expected_seq=self.seq,
            records=(step.entry.encode(),),
            facts=self._facts(step),
            snapshot=snapshot,
            ends_as=FINISHED if over else RUNNING,
            at_ms=step.entry.at_ms if over else 0,
            epoch=epoch,
        )

    def _facts(self, step: Step) -> list[NewFact]:
        surrendered = {event[1] for event in step.events if event[0] == SURRENDERED}
        at_ms, over = step.entry.at_ms, step.state.over
        facts = [
            seat_released(self.header, seat, surrendered=seat in surrendered, at_ms=at_ms)
            for seat in range(step.state.seats)
            if not self.state.out_order[seat] and (over or step.state.out_order[seat])
        ]
        if over:
            gifts = gifts_after(self.gifts, self.state, step.events)
            digest = step.entry.log_digest
            facts.append(game_finished(self.header, step.state, digest, at_ms, gifts))
        return facts

    def to_snapshot(self) -> StoredSnapshot:
        """The stored form of all that changes."""
        document = {
            "state": codec.encode(self.state).decode(),
            "clocks": encode_clocks(self.clocks),
            "log_digest": self.log_digest.hex(),
            "places": self.places,
            "gifts": self.gifts,
        }
        return StoredSnapshot(self.seq, json.dumps(document, separators=(",", ":")).encode())

    def at_snapshot(self, snapshot: StoredSnapshot) -> Self:
        """The table as it was at `snapshot`."""
        document = json.loads(snapshot.body)
        return replace(
            self,
            state=codec.decode(document["state"].encode(), self.ruleset),
            seq=snapshot.seq,
            clocks=decode_clocks(document["clocks"]),
            log_digest=bytes.fromhex(document["log_digest"]),
            places=tuple(document["places"]),
            gifts=tuple(tuple(gift) for gift in document.get("gifts", ())),
            life=RUNNING,
        )


def ruleset_of(header: GameHeader) -> Ruleset:
    """The ruleset of a game, with the house's options.

    Raises:
        KeyError: no ruleset has this name.
        ValueError: an option is out of bounds.
    """
    return replay.with_options(get_ruleset(header.ruleset), header.options.given())


def replay_header(header: GameHeader, commitment: bytes, started_ms: int) -> replay.Header:
    """What the replay holds of a game's header: no accounts, and no secret."""
    return replay.Header(
        game_id=header.game_id,
        ruleset=header.ruleset,
        ruleset_digest=ruleset_of(header).digest(),
        options=header.options.given(),
        seats=tuple(
            replay.SeatRecord(
                name=holder.name,
                kind=KIND_NAMES[holder.kind],
                policy=holder.policy,
                nonce=holder.nonce.hex(),
                cards={str(square): bonus for square, bonus in holder.cards},
                vip=holder.vip,
            )
            for holder in header.holders
        ),
        commitment=commitment.hex(),
        started_unix_ms=started_ms,
    )
