"""Follows the revocations of the identity service, so that revoked tokens stop being good here."""

import asyncio
from collections.abc import Callable, Iterable
from contextlib import aclosing
from typing import Any, Final, Protocol

import structlog

from opolyx_servicekit.revocations import RevokedTokens
from opolyx_servicekit.streams import BackOff, StreamLost, heard, responses

_log = structlog.get_logger(__name__)

_QUIET_SECONDS: Final = 60.0
_STREAM_SECONDS: Final = 6 * 3600.0  # a new stream tells only what still matters
_RETRY_SECONDS: Final = 0.2
_LONGEST_RETRY_SECONDS: Final = 10.0


class ToldRevocation(Protocol):
    """A revocation as it is on the wire, whose messages the kit doesn't know."""

    token_id: str
    """The token that is revoked, or empty."""

    player_id: str
    """The account whose tokens are revoked, or empty."""

    before_unix_ms: int
    """Of which those made before then."""


class RevocationWatch:
    """Keeps a `RevokedTokens` up to date.

    While the identity service can't be reached, what was known stays known, and is logged and shown
    by a metric: players go on, and tokens end by themselves in any case.
    """

    def __init__(
        self,
        open_call: Callable[[], Any],
        revoked: RevokedTokens,
        on_followed: Callable[[bool], object],
    ) -> None:
        """Call nobody yet.

        Args:
            open_call: calls the identity service's WatchRevocations with the service's own token.
            revoked: kept up to date.
            on_followed: told whether the stream is up, each time it says something or ends.
        """
        self._open_call = open_call
        self._revoked = revoked
        self._on_followed = on_followed

    async def run(self) -> None:
        """Follow until cancelled; a lost stream is opened anew."""
        back_off = BackOff(_RETRY_SECONDS, _LONGEST_RETRY_SECONDS)
        while True:
            try:
                async with asyncio.timeout(_STREAM_SECONDS):
                    await self._follow(back_off)
            except TimeoutError:
                continue
            except StreamLost as error:
                _log.warning("revocations_lost", error=str(error))
            finally:
                self._on_followed(False)
            await asyncio.sleep(back_off.next_seconds())

    async def _follow(self, back_off: BackOff) -> None:
        """One stream. What it begins with replaces what was known: the rest matters no more."""
        fresh = RevokedTokens()
        caught_up = False
        async with aclosing(heard(responses(self._open_call()), _QUIET_SECONDS)) as batches:
            async for batch in batches:
                back_off.reset()
                self._on_followed(True)
                for known in (self._revoked, fresh):
                    _add(known, batch.revocations)
                if not batch.revocations and not caught_up:
                    caught_up = True
                    self._revoked.replace(fresh)


def _add(known: RevokedTokens, revocations: Iterable[ToldRevocation]) -> None:
    for revocation in revocations:
        if revocation.token_id:
            known.add_token(revocation.token_id)
        if revocation.player_id:
            known.add_account(revocation.player_id, revocation.before_unix_ms)
