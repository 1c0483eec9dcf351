"""How long clients wait for their next update: what a rolling restart looks like from their chairs."""

import time


class Pauses:
    """The longest pause of each client between two updates, while it is counted.

    Games of bots that answer at once have an update every few milliseconds, so that a pause is the
    server's and not a player's.
    """

    def __init__(self) -> None:
        """Count from now on."""
        self._last: dict[str, float] = {}
        self._longest: dict[str, float] = {}

    def __call__(self, client: str) -> None:
        """A client has received an update."""
        now = time.monotonic()
        if (last := self._last.get(client)) is not None:
            self._longest[client] = max(self._longest.get(client, 0.0), now - last)
        self._last[client] = now

    def longest(self) -> list[float]:
        """The longest pause of each client that received at least two, rising, seconds."""
        return sorted(self._longest.values())


def percentile(rising: list[float], share: float) -> float:
    """A value that so large a share of them doesn't exceed; 0 of none."""
    return rising[min(len(rising) - 1, int(len(rising) * share))] if rising else 0.0
