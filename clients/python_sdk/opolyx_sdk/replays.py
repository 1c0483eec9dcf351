"""What is known of a replay once it was verified."""

from dataclasses import dataclass

from opolyx_sdk.messages import catalogue


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

    def sentence(self, language: str = "en") -> str:
        """The verdict in one line; what differs first is told in English, for developers."""
        texts = catalogue(language)
        if self.fair:
            return texts.text("verify.fair", updates=self.updates)
        if self.ok:
            return texts.text("verify.partial", updates=self.updates)
        if self.update is None:
            return texts.text("verify.failed", problem=self.problem)
        key = "verify.failed_after" if self.updates > 0 else "verify.failed_at"
        return texts.text(key, update=self.update, problem=self.problem, before=self.updates)
