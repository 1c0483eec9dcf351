"""Follows the revocations of the identity service, so that revoked tokens stop being good here."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import Final

import grpc
import structlog

from opolyx.identity.v1 import identity_service_pb2 as pb
from opolyx.identity.v1.identity_service_pb2_grpc import IdentityServiceStub
from opolyx_engine.metrics import EngineMetrics
from opolyx_servicekit.revocations import RevokedTokens
from opolyx_servicekit.streams import BackOff, StreamLost, heard, responses

_log = structlog.get_logger(__name__)

_QUIET_SECONDS: Final = 60.0
_STREAM_SECONDS: Final = 6 * 3600.0  # a new stream tells only what still matters
_RETRY_SECONDS: Final = 0.2
_LONGEST_RETRY_SECONDS: Final = 10.0


class RevocationWatch:
    """Keeps a `RevokedTokens` up to date.

    While the identity service can't be reached, what was known stays known, and is logged and shown
    by a metric: players go on, and tokens end by themselves in any case.
    """

    def __init__(
        self,
        channel: grpc.aio.Channel,
        token: Callable[[], str],
        revoked: RevokedTokens,
        metrics: EngineMetrics,
    ) -> None:
        """Use an open channel.

        Args:
            channel: to the identity service.
            token: makes the service's own token for the next stream.
            revoked: kept up to date.
            metrics: told whether the stream is up.
        """
        self._stub = IdentityServiceStub(channel)
        self._token = token
        self._revoked = revoked
        self._metrics = metrics

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
                self._metrics.revocations_followed.set(0)
            await asyncio.sleep(back_off.next_seconds())

    async def _follow(self, back_off: BackOff) -> None:
        """One stream. What it begins with replaces what was known: the rest matters no more."""
        metadata = (("authorization", f"Bearer {self._token()}"),)
        call = self._stub.WatchRevocations(pb.WatchRevocationsRequest(), metadata=metadata)
        fresh = RevokedTokens()
        caught_up = False
        async with aclosing(heard(responses(call), _QUIET_SECONDS)) as batches:
            async for batch in batches:
                back_off.reset()
                self._metrics.revocations_followed.set(1)
                for revocation in batch.revocations:
                    for known in (self._revoked, fresh):
                        _add(known, revocation)
                if not batch.revocations and not caught_up:
                    caught_up = True
                    self._revoked.replace(fresh)


def _add(known: RevokedTokens, revocation: pb.Revocation) -> None:
    if revocation.token_id:
        known.add_token(revocation.token_id)
    if revocation.player_id:
        known.add_account(revocation.player_id, revocation.before_unix_ms)
