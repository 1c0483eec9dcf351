"""Channels to other services, and the own token."""

import os
from pathlib import Path

import pytest
from pydantic import SecretStr
from structlog.testing import capture_logs

from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.peers import PeerSettings, ServiceToken, given_token, open_channel
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier
from opolyx_servicekit.wall_clock import ManualClock


async def test_the_own_token_is_kept_and_renewed_before_it_expires(tmp_path: Path) -> None:
    clock = ManualClock()
    public = ensure_keys(tmp_path / "keys.json")
    verifier = TokenVerifier(public, roles=["service"], clock=clock)
    token = ServiceToken(TokenSigner(tmp_path / "keys.json", clock=clock), "s_shop", clock)
    first = token()
    await clock.advance(29 * 60_000)
    assert token() == first

    await clock.advance(2 * 60_000)

    assert token() != first
    principal = verifier.verify(token())
    assert (principal.subject, principal.role) == ("s_shop", "service")
    assert principal.expires_unix - clock.now_ms() // 1000 >= 1800


async def test_a_channel_needs_nobody_there_but_its_authority() -> None:
    async with open_channel("127.0.0.1:1", PeerSettings()):
        pass
    with pytest.raises(OSError, match=r"no\.pem"):
        open_channel("127.0.0.1:1", PeerSettings(peer_ca_file=Path("no.pem")))


@pytest.mark.parametrize(
    "files",
    [
        {"peer_cert_file": Path("a.pem")},
        {"peer_key_file": Path("a.key")},
        {"peer_cert_file": Path("a.pem"), "peer_key_file": Path("a.key")},
    ],
    ids=["certificate alone", "key alone", "no authority"],
)
async def test_half_of_what_a_channel_proves_itself_by_is_refused(files: dict[str, Path]) -> None:
    with pytest.raises(ValueError, match=r"belong together|needs peer_ca_file"):
        open_channel("127.0.0.1:1", PeerSettings(**files))  # type: ignore[arg-type]


def test_a_given_token_is_the_settings_own() -> None:
    assert given_token(PeerSettings()) is None
    given = given_token(PeerSettings(service_token=SecretStr("a token")))
    assert given is not None
    assert given() == "a token"


def test_a_token_in_a_file_is_replaced_without_a_restart(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text("first\n")
    monkeypatch.setenv("OPOLYX_SERVICE_TOKEN_FILE", str(path))
    given = given_token(PeerSettings())
    assert given is not None
    assert given() == "first"

    changed = tmp_path / "changed"
    changed.write_text("second")
    os.replace(changed, path)

    assert given() == "second"


def test_a_file_that_is_gone_leaves_the_token_that_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "token"
    path.write_text("first")
    monkeypatch.setenv("OPOLYX_SERVICE_TOKEN_FILE", str(path))
    given = given_token(PeerSettings())
    assert given is not None
    path.unlink()

    with capture_logs() as lines:
        assert given() == "first"
    assert ["service_token_not_reloaded"] == [line["event"] for line in lines]
