"""What is known of a replay once it was verified."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Verification:
    """What a verification found; made by `opolyx_sdk.local.verify`."""

    ok: bool
    """Whether everything in the file follows from its header, its secret and its actions."""

    complete: bool
    """Whether the game is finished and its secret shown; else the dice could not be checked."""

    updates: int
    """Updates that were found right."""

    problem: str
    """What differs first; empty when nothing does."""

    update: int | None
    """The first update that differs; None when none does, or when the first or last line does."""

    game_id: str
    """The game; empty when the first line can't be read."""

    ruleset: str
    """The ruleset; empty as above."""

    seats: tuple[str, ...]
    """Names in seat order."""

    places: tuple[int, ...]
    """Places in seat order; empty unless the replay is complete and right."""

    rounds: int
    """Round of the end; 0 as above."""

    log_digest: str
    """Running digest after the last update that was found right, hex."""

    @property
    def fair(self) -> bool:
        """Whether all is right, the dice included."""
        return self.ok and self.complete

    def sentence(self) -> str:
        """The verdict in one line."""
        if self.fair:
            return f"verified: {self.updates} updates, every die, card and digest, and the result"
        if self.ok:
            return (
                f"partial replay: {self.updates} updates are right, the dice can't be checked yet"
            )
        if self.update is None:
            return f"not verified: {self.problem}"
        before = f" ({self.updates} updates before it are right)" if self.updates > 0 else ""
        return f"not verified: update {self.update}: {self.problem}{before}"
