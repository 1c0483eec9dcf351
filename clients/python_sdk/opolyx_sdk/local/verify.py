"""Verifies replays: key, every die and card, every digest and the result, recomputed here."""

from pathlib import Path
from typing import Final

from opolyx_rules import verification
from opolyx_sdk.replays import Verification

_LARGEST: Final = 256 << 20
"""No game fills so many bytes; more of a file is not read."""


def verify_replay(data: bytes) -> Verification:
    """Recompute a replay; never raises for what is in it."""
    verdict = verification.verify(data)
    header, outcome = verdict.header, verdict.result
    return Verification(
        ok=verdict.ok,
        complete=verdict.complete,
        updates=verdict.updates,
        problem=verdict.problem,
        update=verdict.update,
        game_id=header.game_id if header else "",
        ruleset=header.ruleset if header else "",
        seats=tuple(seat.name for seat in header.seats) if header else (),
        places=tuple(seat.place for seat in outcome.seats) if outcome else (),
        rounds=outcome.round if outcome else 0,
        log_digest=verdict.log_digest,
    )


def verify_file(path: Path) -> Verification:
    """As `verify_replay`, of a file.

    Raises:
        OSError: it can't be read.
    """
    data = read_replay(path)
    return _too_large() if len(data) > _LARGEST else verify_replay(data)


def read_replay(path: Path) -> bytes:
    """The bytes of a replay file; of one that is too large for a game, no more than shows that.

    Raises:
        OSError: it can't be read.
    """
    with path.open("rb") as file:
        return file.read(_LARGEST + 1)


def _too_large() -> Verification:
    return Verification(
        ok=False,
        complete=False,
        updates=0,
        problem=f"the file has more than {_LARGEST >> 20} MiB",
        update=None,
        game_id="",
        ruleset="",
        seats=(),
        places=(),
        rounds=0,
        log_digest="",
    )
