"""`opolyx-engine`: the engine as a server of its own, configured by the environment."""

import asyncio
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from typing import Final

import structlog

from opolyx_engine.rpc.revocation_calls import revocation_calls
from opolyx_engine.service import EngineService
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.opening import open_store
from opolyx_servicekit.peers import ServiceToken, given_token, open_channel
from opolyx_servicekit.program import run_program
from opolyx_servicekit.revocation_watch import RevocationWatch
from opolyx_servicekit.revocations import RevokedTokens
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.tokens import TokenSigner, verifier_of

_log = structlog.get_logger(__name__)

TOKEN_ROLES = ("player", "bot", "service", "operator")
"""Roles that a token may carry."""

_SUBJECT: Final = "s_engine"


def main() -> None:
    """Run until SIGTERM or SIGINT."""
    sys.exit(run_program(EngineSettings, serve))


async def serve(settings: EngineSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set, then drain.

    Raises:
        ValueError: no keys are set to check tokens with, or no token for the identity service.
    """
    if settings.replica_address:  # connections of other replicas are many clients'
        settings = settings.model_copy(update={"refused_calls_per_second": 0})
    revoked = RevokedTokens()
    verifier = verifier_of(settings, roles=TOKEN_ROLES, is_revoked=revoked.is_revoked)
    metrics = RpcMetrics()
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        service = EngineService(
            settings,
            store,
            metrics=metrics,
            check_token=verifier.check,
            own_token=_token_for_replicas(settings),
        )
        await _follow_revocations(stack, settings, revoked, service)
        await stack.enter_async_context(service.running())
        server = ServiceServer(
            settings,
            add_services=service.add_to,
            service_names=service.service_names,
            roles=service.roles,
            verifier=verifier,
            metrics=metrics,
            on_drain=service.drain,
            counted_elsewhere=service.counted_elsewhere,
        )
        service.on_operator_drain = server.not_ready
        await stack.enter_async_context(server)
        await stop.wait()


async def _follow_revocations(
    stack: AsyncExitStack,
    settings: EngineSettings,
    revoked: RevokedTokens,
    service: EngineService,
) -> None:
    """Keep `revoked` up to date as long as the engine runs, if the identity service is named."""
    if settings.identity_address is None:
        _log.warning("revocations_unknown", hint="identity_address is not set")
        return
    channel = open_channel(settings.identity_address, settings, one_serves=True)
    await stack.enter_async_context(channel)
    tasks = await stack.enter_async_context(TaskOwner("revocations"))
    watch = RevocationWatch(
        revocation_calls(channel, _own_token(settings)),
        revoked,
        service.metrics.revocations_followed.set,
    )
    tasks.start(watch.run(), name="revocations")


def _token_for_replicas(settings: EngineSettings) -> Callable[[], str]:
    """The token for other replicas; empty without one, and then they learn later what is theirs."""
    if not settings.replica_address:
        return str
    try:
        return _own_token(settings)
    except ValueError:
        _log.warning("replicas_not_told", hint="set service_token or signing_keys_file")
        return str


def _own_token(settings: EngineSettings) -> Callable[[], str]:
    if given := given_token(settings):
        return given
    if settings.signing_keys_file is None:
        raise ValueError("calls to others need service_token or signing_keys_file")
    signer = TokenSigner(
        settings.signing_keys_file, issuer=settings.issuer, audience=settings.audience
    )
    return ServiceToken(signer, _SUBJECT)


if __name__ == "__main__":
    main()
