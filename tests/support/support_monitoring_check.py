"""A run of the whole system under load, watched by a real Prometheus, with one fault after another.

First all is well: every query of every dashboard must have an answer, and no alert may fire but
those that only say that this machine is busy. Then each fault happens, and its alerts must fire.
"""

import asyncio
import json
import math
import sys
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from dashboard_panels import DASHBOARDS
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.errors import OpolyxError
from opolyx_sdk.matches import Found
from opolyx_sdk.rooms import RoomOptions
from support_faults import FAULTS, Fault, client_of, started_game
from support_monitored import Monitored, monitored, now_s
from support_monitoring import rules
from support_programs import Program

QUIET_S: Final = 63.0
"""How long all is well: longer than a player waits for whom the alert on waits is."""

MACHINE_IS_BUSY: Final = frozenset(
    {"OpolyxEventLoopLag", "OpolyxCommandsSlow", "OpolyxStoreSlow", "OpolyxTimerLag"}
)
"""Alerts that a slow machine causes by itself."""

_WAITED_S: Final = 61.5
_FIRES_WITHIN_S: Final = 60.0
_QUIET_WITHIN_S: Final = 60.0
_WARM_UP_S: Final = 6.0
_LOOK_S: Final = 0.25
_QUEUE: Final = "classic@guide"


@dataclass(slots=True)
class Findings:
    """What came of it."""

    problems: list[str] = field(default_factory=list)
    """What is not as it must be."""

    fired: dict[str, float] = field(default_factory=dict)
    """After how many seconds of its fault each alert fired."""

    queries: int = 0
    """Queries of dashboards that were asked."""

    load: dict[str, Any] = field(default_factory=dict)
    """The report of the load while all was well."""

    range_s: tuple[float, float] = (0.0, 0.0)
    """From when to when it went, Unix seconds."""


async def run_check(
    folder: Path,
    say: Callable[[str], object],
    faults: Sequence[Fault] = FAULTS,
    quiet_s: float = QUIET_S,
    draw: Callable[[Monitored, Findings], Any] | None = None,
) -> Findings:
    """Run everything in `folder`.

    Args:
        folder: for all files; empty.
        say: told what happens.
        faults: what shall go wrong.
        quiet_s: how long all is well before.
        draw: called at the end, while Prometheus still answers.
    """
    findings = Findings()
    async with monitored(folder) as stack:
        begin_s = now_s()
        say(f"three services behind {stack.address}, a Prometheus that scrapes them")
        async with _sleepers(stack):
            await _load(stack, _WARM_UP_S)  # the stream of facts is silent before the first fact
            await _all_quiet(stack, frozenset(rule.name for rule in rules()))
            async with _long_wait(stack, quiet_s):
                await _quiet_time(stack, findings, quiet_s, say)
                await _ask_dashboards(stack, findings, begin_s)
                say(f"{findings.queries} queries of {len(DASHBOARDS)} dashboards asked")
                if quiet_s >= QUIET_S:
                    waited = frozenset({"OpolyxQueueWait"})
                    await _expect(stack, findings, waited, "a wait of a minute", begin_s)
            async with _more_load(stack):
                for fault in faults:
                    await _suffer(stack, findings, fault, say)
        findings.range_s = (begin_s, now_s())
        if draw is not None:
            await draw(stack, findings)
    return findings


async def _quiet_time(
    stack: Monitored, findings: Findings, quiet_s: float, say: Callable[[str], object]
) -> None:
    begin_s = now_s()
    findings.load = await _load(stack, quiet_s)
    alarms = set(await stack.prometheus.fired(begin_s))
    if findings.load.get("errors", True):
        findings.problems.append(f"the load failed: {findings.load}")
    say(
        f"{findings.load.get('games_begun')} games, {findings.load.get('commands')} commands,"
        f" p99 {findings.load.get('latencies', {}).get('command', {}).get('p99_ms')} ms"
    )
    if busy := alarms & MACHINE_IS_BUSY:
        say(f"fired while all was well, as this machine is busy: {', '.join(sorted(busy))}")
    findings.problems += [
        f"{alarm} fired while all was well"
        for alarm in sorted(alarms - MACHINE_IS_BUSY - {"OpolyxQueueWait"})
    ]


async def _load(stack: Monitored, seconds: float) -> dict[str, Any]:
    """`opolyx load` as a user calls it; its report."""
    words = [
        "load",
        "--games",
        "6",
        "--rate",
        "2",
        "--think",
        "0.05",
        "--rounds",
        "2",
        "--built-in",
        "1",
        "--json",
    ]
    process = await asyncio.create_subprocess_exec(
        str(Path(sys.executable).with_name("opolyx")),
        *(*words, "--server", stack.address, "--duration", f"{seconds:g}"),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    output, complaints = await asyncio.wait_for(process.communicate(), seconds + 90)
    try:
        report: dict[str, Any] = json.loads(output)
    except ValueError:
        return {"errors": complaints.decode(errors="replace")}
    return report


@asynccontextmanager
async def _more_load(stack: Monitored) -> AsyncIterator[None]:
    """A load that goes on while things go wrong, whose errors are what they are."""
    command = [str(Path(sys.executable).with_name("opolyx")), "load", "--server", stack.address]
    command += [
        "--games",
        "4",
        "--rate",
        "2",
        "--think",
        "0.05",
        "--rounds",
        "2",
        "--duration",
        "3600",
    ]
    program = Program("load", command, {}, stack.folder)
    await program.start()
    try:
        yield
    finally:
        await program.close()


@asynccontextmanager
async def _sleepers(stack: Monitored) -> AsyncIterator[None]:
    """Games whose players leave everything to the clock."""

    async def sleep_on() -> None:
        while True:
            with suppress(OpolyxError, TimeoutError):
                async with client_of(stack) as one, client_of(stack) as other:
                    game_id = await started_game([one, other], RoomOptions(turn_seconds=5))
                    async with asyncio.timeout(20), one.watch(game_id) as game:
                        async for _ in game:
                            pass
            await asyncio.sleep(0.5)

    tasks = [asyncio.create_task(sleep_on()) for _ in range(3)]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


@asynccontextmanager
async def _long_wait(stack: Monitored, quiet_s: float) -> AsyncIterator[None]:
    """One player who searches, and another who comes when the first has waited for long."""
    waited_s = _WAITED_S if quiet_s >= QUIET_S else quiet_s / 2

    searching = asyncio.Event()

    async def wait_long(player: AsyncClient) -> None:
        await player.create_guest("First")
        async for found in player.quick_match(_QUEUE, 2):
            searching.set()
            if isinstance(found, Found):
                return

    async def come_late(player: AsyncClient) -> None:
        await player.create_guest("Second")
        await searching.wait()
        await asyncio.sleep(waited_s)
        async for found in player.quick_match(_QUEUE, 2):
            if isinstance(found, Found):
                return

    async with AsyncExitStack() as clients:
        players = [await clients.enter_async_context(client_of(stack, 90.0)) for _ in range(2)]
        tasks = [
            asyncio.create_task(wait_long(players[0])),
            asyncio.create_task(come_late(players[1])),
        ]
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)


async def _ask_dashboards(stack: Monitored, findings: Findings, begin_s: float) -> None:
    for dashboard in DASHBOARDS:
        for panel in dashboard.panels:
            for expr, _ in panel.queries:
                findings.queries += 1
                series = await stack.prometheus.series(expr, begin_s, now_s())
                values = [float(value) for one in series for _, value in one["values"]]
                if all(math.isnan(value) for value in values):
                    what = "only NaN" if values else "nothing"
                    findings.problems.append(f"{dashboard.name}, {panel.title}: {what} for {expr}")


async def _suffer(
    stack: Monitored, findings: Findings, fault: Fault, say: Callable[[str], object]
) -> None:
    """Have one thing go wrong, and see what fires."""
    await _all_quiet(stack, fault.alerts)
    watching = asyncio.create_task(_expect(stack, findings, fault.alerts, fault.name, now_s()))
    try:
        async with fault.happen(stack):
            await watching
    except Exception as error:  # the other faults are still to be tried
        findings.problems.append(f"{fault.name}: {type(error).__name__}: {error}")
    finally:
        watching.cancel()
    seen = {name: findings.fired[name] for name in fault.alerts & findings.fired.keys()}
    say(f"{fault.name}: " + ", ".join(f"{name} after {at:.0f} s" for name, at in seen.items()))


async def _all_quiet(stack: Monitored, alerts: frozenset[str]) -> None:
    """Wait until none of the alerts fires, as after a start and after a fault; not for ever."""
    with suppress(TimeoutError):
        async with asyncio.timeout(_QUIET_WITHIN_S):
            while await stack.prometheus.firing() & alerts:  # noqa: ASYNC110 - over HTTP
                await asyncio.sleep(_LOOK_S)


async def _expect(
    stack: Monitored, findings: Findings, alerts: frozenset[str], why: str, begin_s: float
) -> None:
    """Wait until all of the alerts have fired since `begin_s`; what didn't is a problem."""
    missing, give_up_s = set(alerts), now_s() + _FIRES_WITHIN_S
    while missing and now_s() < give_up_s:
        for name, at_s in (await stack.prometheus.fired(begin_s)).items():
            if name in missing:
                findings.fired[name] = at_s - begin_s
                missing.discard(name)
        await asyncio.sleep(_LOOK_S)
    findings.problems += [f"{why}: {name} did not fire" for name in sorted(missing)]
