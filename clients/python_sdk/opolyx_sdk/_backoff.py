"""How long to wait before trying again: growing, with jitter, never less than the server says."""

import logging
import random
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from opolyx_sdk.errors import ConnectionLost
from opolyx_sdk.options import ClientOptions

_log = logging.getLogger(__name__)

STABLE_S: Final = 10.0
"""After so many seconds a stream counts as a success: one that flaps goes on to wait longer."""


@dataclass(slots=True)
class Backoff:
    """The waits of one row of failures. `reset` after a success."""

    first_s: float = 0.25
    """Longest first wait, seconds."""

    most_s: float = 3.0
    """Longest wait of all without a hint, seconds."""

    factor: float = 2.0
    """How much longer each next wait may be."""

    rng: random.Random = field(default_factory=random.Random, repr=False)
    """Where the jitter comes from."""

    _failures: int = field(default=0, init=False)

    def next_wait(self, hint_s: float | None = None) -> float:
        """Seconds to wait now: drawn evenly up to the bound, on top of the server's hint.

        All clients of a server that went away would come back at once without the jitter; those
        that got the same hint spread over as long a time again.
        """
        bound = min(self.most_s, self.first_s * self.factor**self._failures)
        self._failures = min(self._failures + 1, 32)
        hint = hint_s or 0.0
        bound = max(bound, min(hint, self.most_s))
        return hint + self.rng.uniform(bound / 10, bound)

    def reset(self) -> None:
        """Begin anew after a success."""
        self._failures = 0


class Outage:
    """When a stream connects again after each loss, and when it gives up."""

    def __init__(
        self,
        options: ClientOptions,
        *,
        backoff: Backoff | None = None,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self._options = options
        self._backoff = backoff or Backoff()
        self._monotonic = monotonic
        self._away_since = monotonic()
        self._opened_at = self._away_since

    def connecting(self) -> None:
        """A stream is being opened."""
        self._opened_at = self._monotonic()

    def lost(self, *, heard: bool, hint_s: float | None) -> float:
        """The stream is gone; seconds to wait before the next.

        Args:
            heard: it had brought something, so the outage begins only now.
            hint_s: when the server wants to be asked again.

        Raises:
            ConnectionLost: the outage has lasted for longer than the client's patience.
        """
        now = self._monotonic()
        if heard:
            self._away_since = now
            if now - self._opened_at >= STABLE_S:
                self._backoff.reset()
        away_s = now - self._away_since
        if away_s > self._options.patience_s:
            raise ConnectionLost(f"no server for {away_s:.0f} s")
        return self._backoff.next_wait(bounded_hint(hint_s, self._options.longest_hint_s))


def bounded_hint(hint_s: float | None, longest_s: float) -> float | None:
    """The server's hint, or `longest_s` if it asks for more; that is logged."""
    if hint_s is None or hint_s <= longest_s:
        return hint_s
    _log.warning("the server asks to wait for %.0f s: trying again after %g s", hint_s, longest_s)
    return longest_s
