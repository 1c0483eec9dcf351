"""Counters and histograms for what happens with every move: plain numbers, read when scraped.

prometheus_client's own take a lock and some checks at each count, which is a tenth of a move's time
once the caches are cold. These are for one thread that counts; the one that scrapes may see a count
a moment before its sum.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.utils import floatToGoString


class TalliedCounter:
    """A counter with labels."""

    def __init__(
        self, name: str, documentation: str, labels: Sequence[str], registry: CollectorRegistry
    ) -> None:
        """Register it, at first without a value."""
        self.name = name
        self.labels = tuple(labels)
        self._documentation = documentation
        self._counts: dict[tuple[str, ...], int] = {}
        registry.register(self)

    def inc(self, *values: str) -> None:
        """Count one, by the values of its labels."""
        self._counts[values] = self._counts.get(values, 0) + 1

    def collect(self) -> Iterator[CounterMetricFamily]:
        """For the registry."""
        family = CounterMetricFamily(self.name, self._documentation, labels=self.labels)
        for values, count in list(self._counts.items()):
            family.add_metric(values, count)
        yield family


class TalliedHistogram:
    """A histogram, with a label or without."""

    def __init__(
        self,
        name: str,
        documentation: str,
        bounds: Sequence[float],
        registry: CollectorRegistry,
        label: str | None = None,
    ) -> None:
        """Register it; one without a label is shown from the start."""
        self.name = name
        self.labels = () if label is None else (label,)
        self._documentation = documentation
        self._bounds = tuple(bounds)
        self._tallies: dict[str, tuple[list[int], list[float]]] = {}
        if label is None:
            self._tally("")
        registry.register(self)

    def observe(self, amount: float, value: str = "") -> None:
        """Count an amount, by the value of its label if it has one."""
        counts, total = self._tallies.get(value) or self._tally(value)
        counts[bisect_left(self._bounds, amount)] += 1
        total[0] += amount

    def collect(self) -> Iterator[HistogramMetricFamily]:
        """For the registry."""
        family = HistogramMetricFamily(self.name, self._documentation, labels=self.labels)
        names = [*map(floatToGoString, self._bounds), "+Inf"]
        for value, (counts, total) in list(self._tallies.items()):
            buckets, reached = [], 0
            for name, count in zip(names, list(counts), strict=True):
                reached += count
                buckets.append((name, float(reached)))
            family.add_metric([value] if self.labels else [], buckets, total[0])
        yield family

    def _tally(self, value: str) -> tuple[list[int], list[float]]:
        return self._tallies.setdefault(value, ([0] * (len(self._bounds) + 1), [0.0]))
