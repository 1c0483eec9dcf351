"""Metrics kept in plain numbers show what prometheus_client's own would."""

import pytest
from prometheus_client import CollectorRegistry, Counter, Histogram, generate_latest

from opolyx_servicekit.tallies import TalliedCounter, TalliedHistogram

BOUNDS = (0.1, 0.5, 1, 2.5)
AMOUNTS = (0.0, 0.1, 0.1000001, 0.5, 0.9, 2.5, 2.6, 40.0)


@pytest.mark.parametrize("label", [None, "action"])
def test_a_histogram_reads_as_prometheus_clients_does(label: str | None) -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    own = TalliedHistogram("x_seconds", "Seconds.", BOUNDS, ours, label)
    other = Histogram(
        "x_seconds", "Seconds.", [label] if label else [], registry=theirs, buckets=BOUNDS
    )
    for amount in AMOUNTS:
        for value in ("roll", "buy") if label else ("",):
            own.observe(amount, value)
            (other.labels(value) if label else other).observe(amount)

    shown = generate_latest(theirs).decode().splitlines()
    assert generate_latest(ours).decode().splitlines() == [
        line for line in shown if "_created" not in line
    ]


def test_a_counter_reads_as_prometheus_clients_does() -> None:
    ours, theirs = CollectorRegistry(), CollectorRegistry()
    own = TalliedCounter("x", "Things.", ("a", "b"), ours)
    other = Counter("x", "Things.", ("a", "b"), registry=theirs)
    for values in (("1", "2"), ("1", "2"), ("2", '"\n')):
        own.inc(*values)
        other.labels(*values).inc()

    shown = generate_latest(theirs).decode().splitlines()
    assert generate_latest(ours).decode().splitlines() == [
        line for line in shown if "_created" not in line
    ]


def test_a_histogram_without_a_label_is_there_before_the_first_amount() -> None:
    registry = CollectorRegistry()
    TalliedHistogram("x_seconds", "Seconds.", BOUNDS, registry)

    assert registry.get_sample_value("x_seconds_count") == 0
    assert registry.get_sample_value("x_seconds_bucket", {"le": "+Inf"}) == 0
