"""The tables in SQLite. Steps are append only: never edit one that was released."""

from typing import Final

COMPONENT: Final = "progression"
"""The name these tables are migrated under."""

STEPS: Final = (
    """
    -- What was settled, in the order it was settled in. All else but entitlements follows from it.
    CREATE TABLE progression_results (
        sequence INTEGER PRIMARY KEY AUTOINCREMENT,
        game_id TEXT NOT NULL UNIQUE,
        fact_number INTEGER NOT NULL,
        table_version INTEGER NOT NULL,
        result TEXT NOT NULL
    ) STRICT;

    CREATE TABLE progression_voids (
        game_id TEXT PRIMARY KEY,
        fact_number INTEGER NOT NULL,
        reason TEXT NOT NULL
    ) STRICT, WITHOUT ROWID;

    -- The ledger: one award a seat of a game, never changed.
    CREATE TABLE progression_awards (
        game_id TEXT NOT NULL,
        seat INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        player_id TEXT NOT NULL,
        xp INTEGER NOT NULL CHECK (xp >= 0),
        terms TEXT NOT NULL,
        zero_reason INTEGER NOT NULL,
        ruleset TEXT NOT NULL,
        table_version INTEGER NOT NULL,
        at_unix_ms INTEGER NOT NULL,
        place INTEGER NOT NULL,
        PRIMARY KEY (game_id, seat)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX progression_awards_by_player ON progression_awards (player_id, sequence);
    CREATE INDEX progression_awards_by_sequence ON progression_awards (sequence, seat);

    CREATE TABLE progression_players (
        player_id TEXT PRIMARY KEY,
        name TEXT NOT NULL,
        person INTEGER NOT NULL,
        xp INTEGER NOT NULL,
        games INTEGER NOT NULL,
        wins INTEGER NOT NULL,
        sequence INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE progression_cards (
        card_id TEXT PRIMARY KEY,
        player_id TEXT NOT NULL,
        square INTEGER NOT NULL,
        rarity INTEGER NOT NULL,
        game_id TEXT NOT NULL,
        level INTEGER NOT NULL,
        sequence INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX progression_cards_by_player ON progression_cards (player_id, sequence, level);
    CREATE INDEX progression_cards_by_game ON progression_cards (game_id, player_id, level);

    CREATE TABLE progression_ratings (
        player_id TEXT NOT NULL,
        mode TEXT NOT NULL,
        mu REAL NOT NULL,
        sigma REAL NOT NULL,
        games INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        PRIMARY KEY (player_id, mode)
    ) STRICT, WITHOUT ROWID;

    -- Leaderboards: scores, and how many players have a score in each bucket of width 2^shift.
    CREATE TABLE progression_scores (
        board TEXT NOT NULL,
        player_id TEXT NOT NULL,
        score INTEGER NOT NULL,
        PRIMARY KEY (board, player_id)
    ) STRICT, WITHOUT ROWID;
    CREATE INDEX progression_scores_ranked
        ON progression_scores (board, score DESC, player_id);
    CREATE TABLE progression_score_counts (
        board TEXT NOT NULL,
        shift INTEGER NOT NULL,
        bucket INTEGER NOT NULL,
        players INTEGER NOT NULL,
        PRIMARY KEY (board, shift, bucket)
    ) STRICT, WITHOUT ROWID;

    CREATE TABLE progression_entitlements (
        player_id TEXT PRIMARY KEY,
        vip INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE progression_entitlement_changes (
        number INTEGER PRIMARY KEY AUTOINCREMENT,
        player_id TEXT NOT NULL,
        vip INTEGER NOT NULL,
        reason TEXT NOT NULL,
        operator TEXT NOT NULL,
        at_unix_ms INTEGER NOT NULL
    ) STRICT;

    CREATE TABLE progression_cursor (
        only INTEGER PRIMARY KEY CHECK (only = 1),
        fact_number INTEGER NOT NULL
    ) STRICT;
    INSERT INTO progression_cursor VALUES (1, 0);

    CREATE TABLE progression_dead_letters (
        fact_number INTEGER PRIMARY KEY,
        game_id TEXT NOT NULL,
        at_unix_ms INTEGER NOT NULL,
        problem TEXT NOT NULL,
        raw BLOB NOT NULL
    ) STRICT;
    """,
    """
    CREATE INDEX progression_entitlement_changes_by_player
        ON progression_entitlement_changes (player_id, number);
    """,
)
"""Each brings the tables one step further."""
