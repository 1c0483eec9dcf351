"""The program `opolyx-matchmaker`: serves identity and the matchmaker until it is told to stop."""

import asyncio
import sys
from contextlib import AsyncExitStack
from pathlib import Path

from opolyx_matchmaker.service import MatchmakerService
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.sqlite import SqliteStore
from opolyx_servicekit.key_set import ensure_keys, public_keys_path
from opolyx_servicekit.peers import given_token, open_channel
from opolyx_servicekit.program import run_program
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.sqlite_file import SqliteFile, sqlite_path
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier


def main() -> int:
    """Run the program; its exit code."""
    return run_program(MatchmakerSettings, serve)


async def serve(settings: MatchmakerSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set."""
    public_keys = _public_keys(settings)
    metrics = RpcMetrics()
    async with AsyncExitStack() as stack:
        file = await stack.enter_async_context(SqliteFile(sqlite_path(settings.store_url)))
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
            store=await SqliteStore.open(file),
            engine=engine,
            progression=progression,
            signer=signer,
            registry=metrics.registry,
            token=given_token(settings),
        )
        await stack.enter_async_context(service)
        await stack.enter_async_context(_server(settings, service, public_keys, metrics))
        await stop.wait()


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
