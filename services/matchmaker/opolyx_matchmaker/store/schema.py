"""The matchmaker's tables in SQLite. Append steps; never edit one that was released."""

from typing import Final

COMPONENT: Final = "matchmaker"
"""Under this name the steps taken are recorded."""

STEPS: Final = (
    """
CREATE TABLE matchmaker_accounts (
    player_id TEXT PRIMARY KEY,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    owner_id TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX matchmaker_bots ON matchmaker_accounts (owner_id, name) WHERE owner_id <> '';

CREATE TABLE matchmaker_tokens (
    token_id TEXT PRIMARY KEY,
    player_id TEXT NOT NULL,
    expires_ms INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX matchmaker_tokens_by_expiry ON matchmaker_tokens (expires_ms);

CREATE TABLE matchmaker_revocations (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    token_id TEXT NOT NULL,
    player_id TEXT NOT NULL,
    before_ms INTEGER NOT NULL,
    until_ms INTEGER NOT NULL
) STRICT;

CREATE TABLE matchmaker_rooms (
    room_id TEXT PRIMARY KEY,
    code TEXT NOT NULL,
    game_id TEXT NOT NULL,
    ruleset TEXT NOT NULL,
    public INTEGER NOT NULL,
    state INTEGER NOT NULL,
    over INTEGER NOT NULL,
    open_seats INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    checked_ms INTEGER NOT NULL,
    revision INTEGER NOT NULL,
    body TEXT NOT NULL,
    grants TEXT
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX matchmaker_rooms_by_game ON matchmaker_rooms (game_id);
CREATE UNIQUE INDEX matchmaker_rooms_by_code ON matchmaker_rooms (code) WHERE state = 1;
CREATE INDEX matchmaker_rooms_open ON matchmaker_rooms (created_ms, room_id) WHERE state = 1;
CREATE INDEX matchmaker_rooms_starting ON matchmaker_rooms (room_id) WHERE state = 2;
CREATE INDEX matchmaker_rooms_running ON matchmaker_rooms (checked_ms) WHERE state = 3 AND over = 0;

CREATE TABLE matchmaker_requests (
    request TEXT PRIMARY KEY,
    room_id TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX matchmaker_requests_by_room ON matchmaker_requests (room_id);

-- Slot 0 is the only one a person has: the key is what keeps a person in one game.
CREATE TABLE matchmaker_placements (
    player_id TEXT NOT NULL,
    slot INTEGER NOT NULL CHECK (slot >= 0),
    room_id TEXT NOT NULL,
    game_id TEXT NOT NULL,
    seat INTEGER NOT NULL,
    PRIMARY KEY (player_id, slot)
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX matchmaker_placements_by_game ON matchmaker_placements (game_id, player_id);

CREATE TABLE matchmaker_cursors (
    name TEXT PRIMARY KEY,
    number INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
""",
    # A room that is STARTING may be OPEN again if the engine refuses: it keeps its code.
    """
DROP INDEX matchmaker_rooms_by_code;
CREATE UNIQUE INDEX matchmaker_rooms_by_code ON matchmaker_rooms (code) WHERE state IN (1, 2);
""",
    # Whether an account has a token that is good, and its revocation, are asked by the account.
    """
CREATE INDEX matchmaker_tokens_by_player ON matchmaker_tokens (player_id);
CREATE INDEX matchmaker_revocations_by_player ON matchmaker_revocations (player_id)
    WHERE player_id <> '';
""",
)
"""The scripts in order."""
