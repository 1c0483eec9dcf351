"""What clients under fire were told, and what was found wrong."""

import collections
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from opolyx_sdk._mirror import Mirror


@dataclass
class Ledger:
    """What the clients of one game were told."""

    acknowledged: dict[str, tuple[int, int]] = field(default_factory=dict)
    """By command id: the seat that sent it, and the update that it was told it caused."""

    digests: dict[int, str] = field(default_factory=dict)
    """Digest of the log at each update that some client saw."""

    seats: dict[int, str] = field(default_factory=dict)
    """Whose seat it is."""

    over: bool = False
    """Whether every client saw the end."""


@dataclass
class Summary:
    """What happened, and what was found wrong."""

    counts: collections.Counter[str] = field(default_factory=collections.Counter)
    """How often what happened."""

    problems: list[str] = field(default_factory=list)
    """What must not be; empty if all is well."""

    running_at_kills: list[int] = field(default_factory=list)
    """Games that ran, at each kill."""

    blows: list[tuple[float, str]] = field(default_factory=list)
    """When each blow was, Unix seconds, and what it was."""

    took_s: float = 0.0
    """How long it took."""

    def wrong(self, problem: str) -> None:
        """Note a broken promise."""
        self.problems.append(problem)

    def blows_before(self, at_s: float, within_s: float) -> str:
        """The blows in the seconds before a time, each with how long before it was."""
        return ", ".join(
            f"{what} -{at_s - when:.0f} s"
            for when, what in self.blows
            if 0 <= at_s - when <= within_s
        )

    def table(self) -> str:
        """All of it, as lines."""
        running = self.running_at_kills or [0]
        rows = [
            ("seconds", f"{self.took_s:,.0f}"),
            ("games running at a kill, least", f"{min(running):,}"),
            *((name, f"{count:,}") for name, count in sorted(self.counts.items())),
            ("broken promises", f"{len(self.problems):,}"),
        ]
        lines = [f"{name:44}{value:>12}" for name, value in rows]
        return "\n".join(lines + self.problems[:20])


@contextlib.contextmanager
def watched_mirrors(ledgers: dict[str, Ledger], summary: Summary) -> Iterator[None]:
    """Make the SDK's mirrors loud: note what each was told, and each digest that didn't match."""
    old_init, old_apply, old_matches = Mirror.__init__, Mirror.apply, Mirror.matches

    def saw(mirror: Mirror) -> None:
        digests = ledgers[mirror.info.game_id].digests
        digest = mirror.log_digest.hex()
        if digest and digests.setdefault(mirror.seq, digest) != digest:
            summary.wrong(f"{mirror.info.game_id}: two histories at update {mirror.seq}")

    def init(mirror: Mirror, *arguments: Any) -> None:
        old_init(mirror, *arguments)
        saw(mirror)

    def apply(mirror: Mirror, *arguments: Any) -> Any:
        update = old_apply(mirror, *arguments)
        saw(mirror)
        return update

    def matches(mirror: Mirror, digest: bytes) -> bool:
        fits = old_matches(mirror, digest)
        summary.counts["mirrors compared with a digest"] += bool(digest)
        if not fits:
            summary.wrong(f"{mirror.info.game_id}: a mirror differs at update {mirror.seq}")
        return fits

    Mirror.__init__, Mirror.apply, Mirror.matches = init, apply, matches  # type: ignore[assignment,method-assign]
    try:
        yield
    finally:
        Mirror.__init__, Mirror.apply, Mirror.matches = old_init, old_apply, old_matches  # type: ignore[method-assign]
