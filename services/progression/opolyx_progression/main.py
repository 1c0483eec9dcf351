"""The program `opolyx-progression`: serves, or audits a store.

opolyx-progression                  serve
opolyx-progression audit [--json]   recompute everything; exit code 1 if anything drifted, 2 if
                                    the store can't be read
"""

import argparse
import asyncio
import errno
import json
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import AsyncExitStack
from dataclasses import asdict
from typing import Final

import structlog
from prometheus_client import Gauge

from opolyx_progression.access import ROLES
from opolyx_progression.audit import AuditReport, audit
from opolyx_progression.rpc.revocation_calls import revocation_calls
from opolyx_progression.service import ProgressionService
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.opening import open_store
from opolyx_servicekit.peers import ServiceToken, given_token, open_channel
from opolyx_servicekit.program import run_command, run_program
from opolyx_servicekit.revocation_watch import RevocationWatch
from opolyx_servicekit.revocations import RevokedTokens
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.sqlite_file import sqlite_path
from opolyx_servicekit.store_url import is_redis
from opolyx_servicekit.tasks import TaskOwner
from opolyx_servicekit.tokens import TokenSigner, verifier_of
from opolyx_servicekit.wall_clock import SystemClock

_log = structlog.get_logger(__name__)

_SUBJECT: Final = "s_progression"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program; its exit code."""
    parser = argparse.ArgumentParser(prog="opolyx-progression", description="Awards of opolyx.")
    commands = parser.add_subparsers(dest="command")
    commands.add_parser("serve", help="serve (the default)")
    auditing = commands.add_parser("audit", help="recompute everything and report drift")
    auditing.add_argument("--json", action="store_true", help="print one JSON object")
    chosen = parser.parse_args(arguments)
    if chosen.command != "audit":
        return run_program(ProgressionSettings, serve)
    return run_command(
        ProgressionSettings,
        lambda settings: _report(asyncio.run(_audit(settings)), as_json=chosen.json),
    )


async def serve(settings: ProgressionSettings, stop: asyncio.Event) -> None:
    """Serve until `stop` is set.

    Raises:
        ValueError: the identity service is named, but no token to call it with.
    """
    revoked = RevokedTokens()
    metrics = RpcMetrics()
    verifier = None
    if settings.verification_keys_file:
        verifier = verifier_of(settings, roles=ROLES, is_revoked=revoked.is_revoked)
    token = _token_source(settings)
    async with AsyncExitStack() as stack:
        store = await stack.enter_async_context(open_store(settings))
        engine = open_channel(settings.engine_address, settings)
        service = ProgressionService(
            settings,
            store=store,
            engine=await stack.enter_async_context(engine),
            registry=metrics.registry,
            token=token,
        )
        await _follow_revocations(stack, settings, token, revoked, metrics)
        server = ServiceServer(
            settings,
            add_services=service.add_to,
            service_names=service.service_names,
            roles=service.access,
            verifier=verifier,
            metrics=metrics,
        )
        await stack.enter_async_context(service)
        await stack.enter_async_context(server)
        await stop.wait()


async def _follow_revocations(
    stack: AsyncExitStack,
    settings: ProgressionSettings,
    token: Callable[[], str] | None,
    revoked: RevokedTokens,
    metrics: RpcMetrics,
) -> None:
    """Keep `revoked` up to date while progression runs, if the identity service is named."""
    if settings.identity_address is None:
        _log.warning("revocations_unknown", hint="identity_address is not set")
        return
    if token is None:
        raise ValueError("identity_address needs service_token or signing_keys_file")
    followed = Gauge(
        "opolyx_revocations_followed",
        "Whether progression hears of revoked tokens: 1, or 0 while it doesn't.",
        registry=metrics.registry,
    )
    channel = open_channel(settings.identity_address, settings, one_serves=True)
    await stack.enter_async_context(channel)
    tasks = await stack.enter_async_context(TaskOwner("revocations"))
    watch = RevocationWatch(revocation_calls(channel, token), revoked, followed.set)
    tasks.start(watch.run(), name="revocations")


async def _audit(settings: ProgressionSettings) -> AuditReport:
    if not is_redis(settings.store_url):
        path = sqlite_path(settings.store_url)
        if not path.is_file():  # opening would make an empty one, in which all is well
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    async with open_store(settings) as store:
        report = await audit(store, count_boards=True)
    report.at_unix_ms = SystemClock().now_ms()
    return report


def _report(report: AuditReport, *, as_json: bool) -> int:
    if as_json:
        lines = [json.dumps(asdict(report))]
    else:
        lines = [
            f"{drift.kind} of {drift.subject}: stored {drift.stored}, computed {drift.computed}"
            for drift in report.drifts
        ]
        lines.append(
            f"{report.games} games, {report.awards} awards, {report.players} players:"
            f" {report.drift} differ"
        )
    sys.stdout.write("\n".join(lines) + "\n")
    return 1 if report.drift else 0


def _token_source(settings: ProgressionSettings) -> Callable[[], str] | None:
    """Makes the token for the other services: the given one, or one of its own; None without keys."""
    if given := given_token(settings):
        return given
    if settings.signing_keys_file is None:
        return None
    signer = TokenSigner(
        settings.signing_keys_file, issuer=settings.issuer, audience=settings.audience
    )
    return ServiceToken(signer, _SUBJECT)


if __name__ == "__main__":
    sys.exit(main())
