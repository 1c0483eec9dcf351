"""Tables brought up to date step by step; several components share one file."""

import hashlib
import sqlite3
import time
from collections.abc import Iterator, Sequence
from typing import Final

_TABLE: Final = """
CREATE TABLE IF NOT EXISTS schema_steps (
    component TEXT NOT NULL,
    step INTEGER NOT NULL,
    sha256 TEXT NOT NULL,
    applied_unix_ms INTEGER NOT NULL,
    PRIMARY KEY (component, step)
) STRICT
"""


class SchemaMismatch(RuntimeError):
    """The file was made by a newer program, or a step that it has taken was edited."""


def migrate(connection: sqlite3.Connection, component: str, steps: Sequence[str]) -> None:
    """Take the steps that the file hasn't taken yet, inside the caller's transaction.

    Args:
        connection: in a transaction.
        component: whose tables they are; each component counts its own steps.
        steps: SQL scripts in order; append only, never edit one that was released.

    Raises:
        SchemaMismatch: the file has more steps than these, or other ones.
    """
    connection.execute(_TABLE)
    taken = [
        str(row[0])
        for row in connection.execute(
            "SELECT sha256 FROM schema_steps WHERE component = ? ORDER BY step", (component,)
        )
    ]
    digests = [hashlib.sha256(step.encode()).hexdigest() for step in steps]
    if taken != digests[: len(taken)]:
        raise SchemaMismatch(f"schema of {component} is not the one this program knows")
    for number in range(len(taken), len(steps)):
        for statement in _statements(steps[number]):
            connection.execute(statement)
        connection.execute(
            "INSERT INTO schema_steps VALUES (?, ?, ?, ?)",
            (component, number + 1, digests[number], time.time_ns() // 1_000_000),
        )


def _statements(script: str) -> Iterator[str]:
    """Split by hand: `executescript` would commit the caller's transaction first."""
    statement = ""
    for part in script.split(";"):
        statement += part + ";"
        if sqlite3.complete_statement(statement):
            yield statement
            statement = ""
    if statement.strip(" \n;"):
        yield statement
