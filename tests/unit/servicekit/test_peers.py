"""Channels to other services, and the own token."""

from pathlib import Path

import pytest

from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.peers import ServiceToken, open_channel
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
    async with open_channel("127.0.0.1:1", None):
        pass
    with pytest.raises(OSError, match=r"no\.pem"):
        open_channel("127.0.0.1:1", Path("no.pem"))
