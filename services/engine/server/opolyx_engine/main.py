"""`opolyx-engine`: the engine as a server of its own, configured by the environment."""

import asyncio
import sys

from opolyx_engine.service import EngineService
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.sqlite import SqliteGameStore
from opolyx_servicekit.program import run_program
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.sqlite_file import SqliteFile, sqlite_path
from opolyx_servicekit.tokens import verifier_of

TOKEN_ROLES = ("player", "bot", "service", "operator")
"""Roles that a token may carry."""


def main() -> None:
    """Run until SIGTERM or SIGINT."""
    sys.exit(run_program(EngineSettings, serve))


async def serve(settings: EngineSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then drain.

    Raises:
        ValueError: no keys are set to check tokens with.
    """
    verifier = verifier_of(settings, roles=TOKEN_ROLES)
    metrics = RpcMetrics()
    file = SqliteFile(sqlite_path(settings.store_url), synchronous=settings.store_sync)
    async with file:
        store = await SqliteGameStore.open(file)
        service = EngineService(settings, store, metrics=metrics)
        async with (
            service.running(),
            ServiceServer(
                settings,
                add_services=service.add_to,
                service_names=service.service_names,
                roles=service.roles,
                verifier=verifier,
                metrics=metrics,
                on_drain=service.drain,
            ),
        ):
            await stop.wait()


if __name__ == "__main__":
    main()
