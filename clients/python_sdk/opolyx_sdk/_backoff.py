"""How long to wait before trying again: growing, with jitter, never less than the server says."""

import random
from dataclasses import dataclass, field


@dataclass(slots=True)
class Backoff:
    """The waits of one row of failures. `reset` after a success."""

    first_s: float = 0.05
    """Longest first wait, seconds."""

    most_s: float = 3.0
    """Longest wait of all, seconds."""

    factor: float = 2.0
    """How much longer each next wait may be."""

    rng: random.Random = field(default_factory=random.Random, repr=False)
    """Where the jitter comes from."""

    _failures: int = field(default=0, init=False)

    def next_wait(self, hint_s: float | None = None) -> float:
        """Seconds to wait now: drawn evenly up to the bound, on top of the server's hint.

        All clients of a server that went away would come back at once without the jitter.
        """
        bound = min(self.most_s, self.first_s * self.factor**self._failures)
        self._failures = min(self._failures + 1, 32)
        return (hint_s or 0.0) + self.rng.uniform(bound / 10, bound)

    def reset(self) -> None:
        """Begin anew after a success."""
        self._failures = 0
