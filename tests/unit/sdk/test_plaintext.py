"""A client says so before its token crosses a network in plaintext."""

import logging

import pytest

from opolyx_sdk import AsyncClient, ClientOptions, Tls
from opolyx_sdk._transport.plaintext import stays_here, warn_of_plaintext
from opolyx_sdk.errors import OpolyxError


@pytest.mark.parametrize("address", ["127.0.0.1:7443", "[::1]:7443", "localhost:1", "unix:/a/b"])
def test_what_stays_on_the_machine_is_not_warned_of(address: str) -> None:
    assert stays_here(address)


@pytest.mark.parametrize("address", ["192.0.2.1:7443", "game.example:7443", "[2001:db8::1]:1"])
def test_another_machine_is_warned_of_once(address: str, caplog: pytest.LogCaptureFixture) -> None:
    warn_of_plaintext.cache_clear()
    with caplog.at_level(logging.WARNING):
        warn_of_plaintext(address)
        warn_of_plaintext(address)

    assert [f"the token crosses the network to {address} in plaintext: give the client TLS"] == [
        record.getMessage() for record in caplog.records
    ]


@pytest.mark.parametrize("tls", [None, Tls()], ids=["plaintext", "TLS"])
async def test_a_client_warns_unless_it_has_tls(
    tls: Tls | None, caplog: pytest.LogCaptureFixture
) -> None:
    warn_of_plaintext.cache_clear()
    options = ClientOptions(tls=tls, connect_timeout_s=0.1, call_timeout_s=0.1, patience_s=0.1)
    with caplog.at_level(logging.WARNING):
        async with AsyncClient("192.0.2.1:1", options=options) as client:
            with pytest.raises(OpolyxError):
                await client.levels()

    told = ["plaintext" in record.getMessage() for record in caplog.records]
    assert (tls is None) == any(told)
