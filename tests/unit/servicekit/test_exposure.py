"""A server warns at its start of what would let others see tokens."""

import resource
from pathlib import Path

import pytest
from structlog.testing import capture_logs

from opolyx_servicekit.exposure import is_local, warn_of_exposure
from opolyx_servicekit.file_limit import raise_file_limit
from opolyx_servicekit.settings import ServiceSettings


def events(settings: ServiceSettings, environment: dict[str, str] | None = None) -> list[str]:
    with capture_logs() as lines:
        warn_of_exposure(settings, environment or {})
    return [line["event"] for line in lines]


@pytest.mark.parametrize("address", ["0.0.0.0:1", "[::]:1", "192.0.2.1:1", "game.example:1"])
def test_plaintext_on_the_network_is_warned_of(address: str) -> None:
    told = ["tokens_cross_the_network_in_plaintext"]
    assert told == events(ServiceSettings(listen_address=address))
    assert [] == events(ServiceSettings(listen_address=address, tls_cert_file=Path("a.pem")))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "localhost:1", "[::1]:1", "unix:/a/b"])
def test_what_stays_on_the_machine_is_not(address: str) -> None:
    assert is_local(address)
    assert [] == events(ServiceSettings(listen_address=address))


@pytest.mark.parametrize("traces", ["all", "api", "tcp,http"])
def test_traces_that_print_headers_are_warned_of(traces: str) -> None:
    assert ["grpc_trace_prints_tokens"] == events(ServiceSettings(), {"GRPC_TRACE": traces})


def test_other_traces_are_not() -> None:
    assert [] == events(ServiceSettings(), {"GRPC_TRACE": "tcp,timer"})


def test_the_file_limit_is_raised_to_what_the_system_allows(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    set_to: list[tuple[int, int]] = []
    monkeypatch.setattr(resource, "getrlimit", lambda what: (1_024, 20_000))
    monkeypatch.setattr(resource, "setrlimit", lambda what, limits: set_to.append(limits))
    with capture_logs() as lines:
        raise_file_limit(8_192)

    assert set_to == [(20_000, 20_000)]
    assert lines == []


def test_a_file_limit_that_connections_could_use_up_is_warned_of(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda what: (4_096, 4_096))
    with capture_logs() as lines:
        raise_file_limit(4_000)

    assert ["file_limit_low"] == [line["event"] for line in lines]
