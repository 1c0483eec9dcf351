"""One engine among several on the same store."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Replica:
    """A running engine process as the others know it."""

    replica_id: str
    """Its id, made anew with every start of the process."""

    address: str
    """Host and port that the others reach it by; empty if it can't be reached."""

    fingerprints: frozenset[str] = frozenset()
    """The fingerprints of the rules that it plays, see `rules_fit.py`."""

    draining: bool = False
    """Whether it goes away: it takes no game any more."""
