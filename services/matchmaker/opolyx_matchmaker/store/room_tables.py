"""SQL of rooms, placements and facts; each function runs inside a caller's transaction.

Who is placed follows from the room: a change compares whom the room kept busy before and after.
So a seat and its placement can't come apart, whatever the transition was.
"""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from opolyx_matchmaker.grants import SeatGrant
from opolyx_matchmaker.ids import new_code
from opolyx_matchmaker.peers import Fact, FactKind
from opolyx_matchmaker.room import Occupant, Room, RoomState, Seat
from opolyx_matchmaker.room_changes import end
from opolyx_matchmaker.room_refusal import RefusalKind, RoomRefusal
from opolyx_matchmaker.store.base import FactsApplied, Placement, Transition
from opolyx_matchmaker.store.rows import (
    ROOM_COLUMNS,
    grants_text,
    read_grants,
    read_room,
    room_body,
)

_SELECT = f"SELECT {ROOM_COLUMNS} FROM matchmaker_rooms "  # noqa: S608  # constants
_SELECT_ID = "SELECT room_id FROM matchmaker_rooms "
_HAS_CODE = "code = ? AND state IN (1, 2)"  # as in the index
_ENDED = f"WHERE (state = {int(RoomState.CLOSED)} OR over = 1) AND max(expires_ms, checked_ms) < ?"
_FORGET_ROOMS = "DELETE FROM matchmaker_rooms " + _ENDED  # noqa: S608  # constants
_FORGET_REQUESTS = f"DELETE FROM matchmaker_requests WHERE room_id IN ({_SELECT_ID + _ENDED})"  # noqa: S608
_CONSUMER = "engine_facts"


class _Refused(Exception):
    """Undoes the transaction's part that was done; never leaves this module."""

    def __init__(self, refusal: RoomRefusal) -> None:
        super().__init__(refusal.kind)
        self.refusal = refusal


def by_id(db: sqlite3.Connection, room_id: str) -> Room | None:
    """The room."""
    return _one(db, "WHERE room_id = ?", (room_id,))


def by_code(db: sqlite3.Connection, code: str) -> Room | None:
    """The open room of a code."""
    return _one(db, f"WHERE {_HAS_CODE} AND state = {int(RoomState.OPEN)}", (code,))


def by_game(db: sqlite3.Connection, game_id: str) -> Room | None:
    """The room of a game."""
    return _one(db, "WHERE game_id = ?", (game_id,))


def by_request(db: sqlite3.Connection, request: str) -> Room | None:
    """The room that a request made."""
    return _one(
        db,
        "WHERE room_id = (SELECT room_id FROM matchmaker_requests WHERE request = ?)",
        (request,),
    )


def create(db: sqlite3.Connection, room: Room, request: str) -> Room | RoomRefusal:
    """Keep a new room and place whoever is on its seats; idempotent by request."""
    if known := by_request(db, request):
        return known
    for seat in room.holds.values():
        if elsewhere := placements(db, seat.player_id):
            return _already_playing(elsewhere[0])
    while _is_taken(db, room.code):
        room = replace(room, code=new_code())
    db.execute(
        "INSERT INTO matchmaker_rooms (room_id, code, game_id, ruleset, public, state, over,"
        " open_seats, created_ms, expires_ms, checked_ms, revision, body)"
        " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
        (
            room.room_id,
            room.code,
            room.game_id,
            room.ruleset,
            room.public,
            int(room.state),
            room.over,
            room.open_seats,
            room.created_ms,
            room.expires_ms,
            room.created_ms,
            room.revision,
            room_body(room),
        ),
    )
    for number, seat in room.holds.items():
        _place(db, room, number, seat, 1)
    db.execute("INSERT INTO matchmaker_requests VALUES (?, ?)", (request, room.room_id))
    return room


def change(
    db: sqlite3.Connection, room_id: str, transition: Transition, capacity: int
) -> Room | RoomRefusal:
    """Apply a transition, and place or free whoever came or went."""
    before = by_id(db, room_id)
    if before is None:
        return RoomRefusal(RefusalKind.ROOM_NOT_FOUND)
    after = transition(before)
    if isinstance(after, RoomRefusal) or after == before:
        return after
    db.execute("SAVEPOINT change_room")
    try:
        _move(db, before, after, capacity)  # first, as it is what may be refused
        _write(db, before, after)
    except _Refused as refused:
        db.execute("ROLLBACK TO change_room")
        return refused.refusal
    finally:
        db.execute("RELEASE change_room")
    return after


def keep_grants(
    db: sqlite3.Connection, room_id: str, grants: Sequence[SeatGrant]
) -> list[SeatGrant]:
    """Fix what the seats bring to the game; returns what was fixed first."""
    db.execute(
        "UPDATE matchmaker_rooms SET grants = ? WHERE room_id = ? AND grants IS NULL",
        (grants_text(grants), room_id),
    )
    row = db.execute("SELECT grants FROM matchmaker_rooms WHERE room_id = ?", (room_id,)).fetchone()
    return read_grants(row[0]) if row else list(grants)


def listed(
    db: sqlite3.Connection, ruleset: str, after: tuple[int, str], limit: int, now_ms: int
) -> list[Room]:
    """Public open rooms with an open seat, oldest first."""
    where = (
        f"WHERE state = {int(RoomState.OPEN)} AND public = 1 AND open_seats > 0"
        " AND expires_ms > ? AND (created_ms, room_id) > (?, ?)"
    )
    values: tuple[Any, ...] = (now_ms, *after)
    if ruleset:
        where += " AND ruleset = ?"
        values = (*values, ruleset)
    return _many(db, f"{where} ORDER BY created_ms, room_id LIMIT ?", (*values, limit))


def placements(db: sqlite3.Connection, player_id: str) -> list[Placement]:
    """Where the player is."""
    rows = db.execute(
        "SELECT player_id, room_id, game_id, seat FROM matchmaker_placements"
        " WHERE player_id = ? ORDER BY slot",
        (player_id,),
    )
    return [Placement(*row) for row in rows]


def to_expire(db: sqlite3.Connection, now_ms: int, limit: int) -> list[str]:
    """Open rooms whose time is up."""
    return _ids(db, f"state = {int(RoomState.OPEN)} AND expires_ms <= ?", (now_ms, limit))


def starting(db: sqlite3.Connection, limit: int) -> list[str]:
    """Rooms whose start began and did not end."""
    return _ids(db, f"state = {int(RoomState.STARTING)}", (limit,))


def to_check(db: sqlite3.Connection, before_ms: int, now_ms: int, limit: int) -> list[Room]:
    """Started rooms last checked before `before_ms`, oldest first; marked as checked now."""
    rooms = _many(
        db,
        f"WHERE state = {int(RoomState.STARTED)} AND over = 0 AND checked_ms < ?"
        " ORDER BY checked_ms LIMIT ?",
        (before_ms, limit),
    )
    db.executemany(
        "UPDATE matchmaker_rooms SET checked_ms = ? WHERE room_id = ?",
        [(now_ms, room.room_id) for room in rooms],
    )
    return rooms


def cursor(db: sqlite3.Connection) -> int:
    """Number of the last fact that was taken."""
    row = db.execute(
        "SELECT number FROM matchmaker_cursors WHERE name = ?", (_CONSUMER,)
    ).fetchone()
    return row[0] if row else 0


def apply_facts(db: sqlite3.Connection, facts: Sequence[Fact]) -> FactsApplied:
    """Free whom the facts free and remember the last number."""
    reached = cursor(db)
    released: list[Placement] = []
    for fact in facts:
        if fact.number <= reached:
            continue
        reached = fact.number
        released += _apply_fact(db, fact)
    db.execute(
        "INSERT INTO matchmaker_cursors VALUES (?, ?)"
        " ON CONFLICT (name) DO UPDATE SET number = excluded.number",
        (_CONSUMER, reached),
    )
    return FactsApplied(reached, tuple(released))


def remove_ended(db: sqlite3.Connection, before_ms: int) -> int:
    """Remove rooms that ended, and were last due, before `before_ms`; returns how many."""
    db.execute(_FORGET_REQUESTS, (before_ms,))
    return db.execute(_FORGET_ROOMS, (before_ms,)).rowcount


def _is_taken(db: sqlite3.Connection, code: str) -> bool:
    """Whether a room that is open, or may be again, has the code."""
    return db.execute(f"{_SELECT_ID}WHERE {_HAS_CODE}", (code,)).fetchone() is not None


def _one(db: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> Room | None:
    row = db.execute(_SELECT + where, values).fetchone()
    return read_room(row) if row else None


def _many(db: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> list[Room]:
    return [read_room(row) for row in db.execute(_SELECT + where, values)]


def _ids(db: sqlite3.Connection, where: str, values: tuple[Any, ...]) -> list[str]:
    rows = db.execute(f"{_SELECT_ID}WHERE {where} LIMIT ?", values)
    return [row[0] for row in rows]


def _write(db: sqlite3.Connection, before: Room, after: Room) -> None:
    """Store `after` in place of `before`; a room that is open again has no fixed grants."""
    done = db.execute(
        "UPDATE matchmaker_rooms SET state = ?, over = ?, open_seats = ?, expires_ms = ?,"
        " revision = ?, body = ?, grants = CASE WHEN ? THEN NULL ELSE grants END"
        " WHERE room_id = ? AND revision = ?",
        (
            int(after.state),
            after.over,
            after.open_seats,
            after.expires_ms,
            after.revision,
            room_body(after),
            after.state is RoomState.OPEN,
            after.room_id,
            before.revision,
        ),
    )
    if done.rowcount != 1:
        raise RuntimeError(f"room {after.room_id} changed inside a transaction")


def _move(db: sqlite3.Connection, before: Room, after: Room, capacity: int) -> None:
    """Free whom the room let go and place whom it took in."""
    had = {seat.player_id for seat in before.holds.values()}
    has = {seat.player_id for seat in after.holds.values()}
    for player_id in had - has:
        _release(db, after.game_id, player_id)
    for number, seat in after.holds.items():
        if seat.player_id not in had:
            _place(db, after, number, seat, capacity)


def _place(db: sqlite3.Connection, room: Room, number: int, seat: Seat, capacity: int) -> None:
    slot = 0
    if seat.occupant is Occupant.BOT:
        taken = _slots(db, seat.player_id)
        if len(taken) >= capacity:
            raise _Refused(RoomRefusal(RefusalKind.BOT_UNAVAILABLE, seat=number))
        slot = next(free for free in range(len(taken) + 1) if free not in taken)
    try:
        db.execute(
            "INSERT INTO matchmaker_placements VALUES (?, ?, ?, ?, ?)",
            (seat.player_id, slot, room.room_id, room.game_id, number),
        )
    except sqlite3.IntegrityError:
        raise _Refused(_already_playing(placements(db, seat.player_id)[0])) from None


def _slots(db: sqlite3.Connection, player_id: str) -> set[int]:
    rows = db.execute("SELECT slot FROM matchmaker_placements WHERE player_id = ?", (player_id,))
    return {row[0] for row in rows}


def _release(db: sqlite3.Connection, game_id: str, player_id: str) -> list[Placement]:
    rows = db.execute(
        "DELETE FROM matchmaker_placements WHERE game_id = ? AND player_id = ?"
        " RETURNING player_id, room_id, game_id, seat",
        (game_id, player_id),
    ).fetchall()
    return [Placement(*row) for row in rows]


def _already_playing(placement: Placement) -> RoomRefusal:
    return RoomRefusal(
        RefusalKind.ALREADY_PLAYING, room_id=placement.room_id, game_id=placement.game_id
    )


def _apply_fact(db: sqlite3.Connection, fact: Fact) -> list[Placement]:
    if fact.kind is FactKind.SEAT_RELEASED:
        return _release(db, fact.game_id, fact.player_id)
    room = by_game(db, fact.game_id)
    if fact.kind is not FactKind.GAME_OVER or room is None:
        return []
    released = [
        placement
        for seat in room.holds.values()
        for placement in _release(db, room.game_id, seat.player_id)
    ]
    change(db, room.room_id, end, 1)
    return released
