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
from dataclasses import asdict
from typing import Final

from opolyx_progression.access import ROLES
from opolyx_progression.audit import AuditReport, audit
from opolyx_progression.service import ProgressionService
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.sqlite import SqliteStore
from opolyx_servicekit.peers import ServiceToken, given_token, open_channel
from opolyx_servicekit.program import run_command, run_program
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.sqlite_file import SqliteFile, sqlite_path
from opolyx_servicekit.tokens import TokenSigner, verifier_of
from opolyx_servicekit.wall_clock import SystemClock

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
    """Serve until `stop` is set."""
    metrics = RpcMetrics()
    async with (
        SqliteFile(sqlite_path(settings.store_url)) as file,
        open_channel(settings.engine_address, settings) as channel,
    ):
        service = ProgressionService(
            settings,
            store=await SqliteStore.open(file),
            engine=channel,
            registry=metrics.registry,
            token=_token_source(settings),
        )
        server = ServiceServer(
            settings,
            add_services=service.add_to,
            service_names=service.service_names,
            roles=service.access,
            verifier=verifier_of(settings, roles=ROLES)
            if settings.verification_keys_file
            else None,
            metrics=metrics,
        )
        async with service, server:
            await stop.wait()


async def _audit(settings: ProgressionSettings) -> AuditReport:
    path = sqlite_path(settings.store_url)
    if not path.is_file():  # opening would make an empty one, in which all is well
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(path))
    async with SqliteFile(path) as file:
        report = await audit(await SqliteStore.open(file), count_boards=True)
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
    """Makes the token for the engine: the given one, or one of its own; None without keys."""
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
