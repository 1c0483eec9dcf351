"""The program `opolyx-matchmaker`: serves identity and the matchmaker until it is told to stop."""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from opolyx_matchmaker.service import MatchmakerService
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import LeaseLost
from opolyx_matchmaker.store.opening import open_store
from opolyx_servicekit.key_set import ensure_keys, public_keys_path
from opolyx_servicekit.peers import given_token, open_channel
from opolyx_servicekit.program import run_program
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier


def main() -> int:
    """Run the program; its exit code."""
    return run_program(MatchmakerSettings, serve)


async def serve(settings: MatchmakerSettings, stop: asyncio.Event) -> None:
    """Serve, or stand by, until `stop` is set.

    Raises:
        LeaseLost: another matchmaker took over while this one stood still.
    """
    public_keys = _public_keys(settings)
    metrics = RpcMetrics()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        engine = await stack.enter_async_context(open_channel(settings.engine_address, settings))
        progression = None
        if settings.progression_address is not None:
            progression = await stack.enter_async_context(
                open_channel(settings.progression_address, settings)
            )
        signer = TokenSigner(
            settings.signing_keys_file, issuer=settings.issuer, audience=settings.audience
        )
        service = MatchmakerService(
            settings,
            store=store,
            engine=engine,
            progression=progression,
            signer=signer,
            registry=metrics.registry,
            token=given_token(settings),
        )
        await stack.enter_async_context(service)
        server = _server(settings, service, public_keys, metrics)
        service.stand_before(server)
        await stack.enter_async_context(server)
        await _stopped_or_lost(stop, service)


async def _stopped_or_lost(stop: asyncio.Event, service: MatchmakerService) -> None:
    """Wait for `stop`; raises LeaseLost if another matchmaker takes over before."""
    async with TaskOwner("main") as tasks:
        stopped = tasks.start(stop.wait(), name="stop")
        lost = tasks.start(service.duty.until_lost(), name="lost")
        await asyncio.wait((stopped, lost), return_when=asyncio.FIRST_COMPLETED)
        if lost.done():
            raise LeaseLost


def _server(
    settings: MatchmakerSettings,
    service: MatchmakerService,
    public_keys: Path,
    metrics: RpcMetrics,
) -> ServiceServer:
    verifier = TokenVerifier(
        public_keys,
        roles=service.roles,
        issuer=settings.issuer,
        audience=settings.audience,
        algorithms=settings.token_algorithms,
        is_revoked=service.is_revoked,
    )
    return ServiceServer(
        settings,
        add_services=service.add_to,
        service_names=service.service_names,
        roles=service.access,
        verifier=verifier,
        metrics=metrics,
        on_drain=service.drain,
    )


def _public_keys(settings: MatchmakerSettings) -> Path:
    """The keys that callers' tokens are checked with; in development the own ones, made once."""
    if settings.make_keys:
        ensure_keys(settings.signing_keys_file)
    return settings.verification_keys_file or public_keys_path(settings.signing_keys_file)


if __name__ == "__main__":
    sys.exit(main())
