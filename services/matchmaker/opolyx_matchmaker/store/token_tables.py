"""SQL of accounts, tokens and revocations; each function runs inside a caller's transaction."""

import sqlite3
from dataclasses import replace

from opolyx_matchmaker.accounts import Account, Revocation

_ACCOUNT = "SELECT player_id, name, role, owner_id FROM matchmaker_accounts "


def insert_account(db: sqlite3.Connection, account: Account, now_ms: int) -> None:
    """Keep a new account."""
    db.execute(
        "INSERT INTO matchmaker_accounts VALUES (?, ?, ?, ?, ?)",
        (account.player_id, account.name, account.role, account.owner_id, now_ms),
    )


def account(db: sqlite3.Connection, player_id: str) -> Account | None:
    """The account, if there is one."""
    row = db.execute(_ACCOUNT + "WHERE player_id = ?", (player_id,)).fetchone()
    return Account(*row) if row else None


def take_bot(db: sqlite3.Connection, wanted: Account, now_ms: int, most: int) -> Account | None:
    """The owner's bot of this name, made if absent; None if the owner has `most` already."""
    row = db.execute(
        _ACCOUNT + "WHERE owner_id = ? AND name = ?",
        (wanted.owner_id, wanted.name),
    ).fetchone()
    if row:
        return Account(*row)
    (owned,) = db.execute(
        "SELECT count(*) FROM matchmaker_accounts WHERE owner_id = ?", (wanted.owner_id,)
    ).fetchone()
    if owned >= most:
        return None
    insert_account(db, wanted, now_ms)
    return wanted


def insert_token(db: sqlite3.Connection, token_id: str, player_id: str, expires_ms: int) -> None:
    """Remember whose token it is."""
    db.execute("INSERT INTO matchmaker_tokens VALUES (?, ?, ?)", (token_id, player_id, expires_ms))


def token_holder(db: sqlite3.Connection, token_id: str) -> tuple[Account, int] | None:
    """Whose token it is and when it expires."""
    row = db.execute(
        "SELECT a.player_id, a.name, a.role, a.owner_id, t.expires_ms FROM matchmaker_tokens t"
        " JOIN matchmaker_accounts a USING (player_id) WHERE t.token_id = ?",
        (token_id,),
    ).fetchone()
    return (Account(*row[:4]), row[4]) if row else None


def insert_revocation(db: sqlite3.Connection, revocation: Revocation) -> Revocation:
    """Keep a revocation in place of the account's last one; returns it with its number."""
    if revocation.player_id:
        db.execute(
            "DELETE FROM matchmaker_revocations WHERE player_id = ?", (revocation.player_id,)
        )
    done = db.execute(
        "INSERT INTO matchmaker_revocations (token_id, player_id, before_ms, until_ms)"
        " VALUES (?, ?, ?, ?)",
        (
            revocation.token_id,
            revocation.player_id,
            revocation.before_ms,
            revocation.until_ms,
        ),
    )
    return replace(revocation, number=done.lastrowid or 0)


def revocations(db: sqlite3.Connection, after: int, now_ms: int, limit: int) -> list[Revocation]:
    """The first revocations with a higher number that still matter, in order."""
    rows = db.execute(
        "SELECT token_id, player_id, before_ms, until_ms, number FROM matchmaker_revocations"
        " WHERE number > ? AND until_ms > ? ORDER BY number LIMIT ?",
        (after, now_ms, limit),
    )
    return [Revocation(*row) for row in rows]


def remove_expired(db: sqlite3.Connection, now_ms: int) -> None:
    """Remove tokens that expired, and revocations that no token is left for."""
    db.execute("DELETE FROM matchmaker_tokens WHERE expires_ms < ?", (now_ms,))
    db.execute("DELETE FROM matchmaker_revocations WHERE until_ms < ?", (now_ms,))


_DEAD = """
SELECT player_id FROM matchmaker_accounts a
WHERE player_id > ? AND player_id <= ? AND created_ms < ?
AND NOT EXISTS (SELECT 1 FROM matchmaker_tokens t WHERE t.player_id = a.player_id)
AND NOT EXISTS (SELECT 1 FROM matchmaker_placements p WHERE p.player_id = a.player_id)
AND CASE WHEN owner_id = ''
    THEN NOT EXISTS (SELECT 1 FROM matchmaker_accounts b
        WHERE b.owner_id <> '' AND b.owner_id = a.player_id)
    ELSE NOT EXISTS (SELECT 1 FROM matchmaker_accounts o WHERE o.player_id = a.owner_id)
END
"""


def remove_accounts(
    db: sqlite3.Connection, after: str, before_ms: int, limit: int
) -> tuple[str, int]:
    """Remove accounts that nobody can use or meet any more, among the next; see the store."""
    seen = db.execute(
        "SELECT player_id FROM matchmaker_accounts WHERE player_id > ? ORDER BY player_id LIMIT ?",
        (after, limit),
    ).fetchall()
    if not seen:
        return "", 0
    last = seen[-1][0]
    dead = db.execute(_DEAD, (after, last, before_ms)).fetchall()
    db.executemany("DELETE FROM matchmaker_accounts WHERE player_id = ?", dead)
    return last if len(seen) == limit else "", len(dead)
