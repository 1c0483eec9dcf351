"""What an operator's worst day looks like, on one machine: the manifests' pods, a rollout, a lost node.

The pods are those of an overlay, over a real Redis and behind Envoy, while tables of clients play.
What clients were told is held against the log, the replays and the ledger of awards.
"""

import asyncio
import base64
import itertools
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Self

import yaml

from envoy_variant import Variant
from opolyx_engine.settings import EngineSettings
from opolyx_engine.store.opening import open_store as open_games
from opolyx_progression.settings import ProgressionSettings
from opolyx_progression.store.opening import open_store as open_awards
from opolyx_sdk import AsyncClient
from opolyx_sdk.options import Tls
from support_certificates import write_certificate
from support_chaos_ledger import Summary, watched_mirrors
from support_chaos_promises import Awards, Promises, Rows
from support_chaos_tables import PATIENT, Habits, Tables
from support_envoy import envoy_path
from support_manifests import ROOT, Manifest, Workload, manifests, workloads
from support_pauses import Pauses, percentile
from support_pods import Ground, Pod
from support_programs import own_network
from support_redis import redis_server

NODES: Final = ("node-a", "node-b", "node-c")
SERVICES: Final = ("engine", "matchmaker", "progression", "edge")
_FIRST: Final = {"engine": 1, "matchmaker": 51, "progression": 101, "edge": 151}
_PORTS: Final = {"engine": 7701, "matchmaker": 7702, "progression": 7703}
_SPARE: Final = 2
_BALANCER: Final = 250
_ALL: Final = 1_000_000
_BIN: Final = Path(sys.executable).parent
# One machine's clients meet the limits of one address, and bots are not to think.
_QUICK: Final = {
    "OPOLYX_MATCHMAKER_GUESTS_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_ROOMS_PER_MINUTE": "0",
    "OPOLYX_ENGINE_BOT_THINK_MS": "0",
}


@dataclass
class Rehearsal:
    """How much of it."""

    overlay: str = "prod"
    """Which manifests."""

    games: int = 10
    """Tables that play all the time."""

    round_cap: int = 12
    """Round cap of their games, more or less."""

    settle_s: float = 2.0
    """Seconds of quiet between two events."""

    rollouts: tuple[str, ...] = SERVICES
    """What is rolled out anew, in this order."""

    lose_node: bool = True
    """Whether a node is lost at the end."""


class Balancer:
    """An address that leads to one of the ready pods, as a Service's; each connection anew."""

    def __init__(self, address: str, port: int, pods: Callable[[], list[Pod]]) -> None:
        """Not open yet."""
        self._address = address
        self._port = port
        self._pods = pods
        self._turns = itertools.count()
        self._open: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._serve, self._address, self._port)
        return self

    async def __aexit__(self, *_: object) -> None:
        assert self._server is not None
        self._server.close()
        for task in self._open:
            task.cancel()
        await asyncio.gather(*self._open, return_exceptions=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._open.add(task)
        task.add_done_callback(self._open.discard)
        try:
            ready = [pod for pod in self._pods() if pod.ready]
            if not ready:
                return
            pod = ready[next(self._turns) % len(ready)]
            up_reader, up_writer = await asyncio.open_connection(pod.address, self._port)
            try:
                await asyncio.gather(_pump(reader, up_writer), _pump(up_reader, writer))
            finally:
                up_writer.close()
        except OSError:
            pass  # one of the two went away: so does the other
        finally:
            writer.close()


async def _pump(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while data := await reader.read(1 << 16):
        writer.write(data)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


class Stage:
    """The pods of an overlay over a Redis. Use as a context."""

    def __init__(self, folder: Path, overlay: str, store_url: str) -> None:
        """Nothing runs yet."""
        self.pods: dict[str, list[Pod]] = {name: [] for name in SERVICES}
        self._network = own_network(random.Random(str(folder)))
        self.address = f"{self._network}.{_BALANCER}"
        documents = [_quickened(found) for found in manifests(overlay)]
        self.tls = overlay == "prod"
        secrets = dict(_secrets(folder, store_url))
        if self.tls:
            secrets |= self._certificates(folder)
        self.authority = secrets.get("opolyx-edge-tls", {}).get("tls.crt", "").encode()
        self.ground = Ground(
            folder / "pods",
            documents,
            secrets,
            {
                "opolyx-edge-services:": f"{self.address}:",
                "/opt/opolyx/bin/": f"{_BIN}/",
            },
        )
        self.workloads = {found.name: found for found in workloads(documents)}
        self._numbers = itertools.count()
        self._stack = AsyncExitStack()

    async def __aenter__(self) -> Self:
        async with AsyncExitStack() as stack:
            for port in (7443, 7780):
                await stack.enter_async_context(
                    Balancer(self.address, port, lambda: self.pods["edge"])
                )
            stack.push_async_callback(self._end)
            started = [
                await self.add(name)
                for name in SERVICES
                for _ in range(self.workloads[name].manifest["spec"].get("replicas", 3))
            ]
            await asyncio.gather(*(pod.until_ready() for pod in started))
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def add(self, service: str, *, but: str = "") -> Pod:
        """One more pod, on the node that has the fewest of them and isn't `but`."""
        taken = {pod.address for pod in self.pods[service]}
        address = next(one for one in self._pool(service) if one not in taken)
        own = [pod.node for pod in self.pods[service]]
        all_ = [pod.node for pods in self.pods.values() for pod in pods]
        node = min(
            (one for one in NODES if one != but), key=lambda one: (own.count(one), all_.count(one))
        )
        name = f"{service}-{next(self._numbers)}"
        workload: Workload = self.workloads[service]
        pod = Pod(workload, name, address, node, self.ground)
        pod.finish_files(lambda path: self._at_home(path, pod))
        self.pods[service].append(pod)
        await pod.start()
        return pod

    async def roll_out(self, service: str) -> None:
        """Replace all pods of a service, as the manifests' strategy says: one more, then one less."""
        for old in list(self.pods[service]):
            await (await self.add(service)).until_ready()
            self.pods[service].remove(old)
            await old.delete()

    async def lose_node(self, node: str) -> int:
        """A node goes with all its pods; others come up elsewhere. How many went."""
        lost = [(name, pod) for name in SERVICES for pod in self.pods[name] if pod.node == node]
        await asyncio.gather(*(pod.lose() for _, pod in lost))
        for name, pod in lost:
            self.pods[name].remove(pod)
        await asyncio.sleep(2.0)
        new = [await self.add(name, but=node) for name, _ in lost]
        await asyncio.gather(*(pod.until_ready() for pod in new))
        return len(lost)

    async def _end(self) -> None:
        """Edges last, as the services still speak through them."""
        for name in SERVICES:
            await asyncio.gather(*(pod.delete() for pod in self.pods[name]))
            self.pods[name].clear()

    def _pool(self, service: str) -> list[str]:
        count = self.workloads[service].manifest["spec"].get("replicas", 3) + _SPARE
        return [f"{self._network}.{_FIRST[service] + number}" for number in range(count)]

    def _at_home(self, path: Path, pod: Pod) -> None:
        """Envoy's configuration for this machine: the pods' addresses instead of names."""
        if path.name not in ("envoy.yaml", "plaintext.yaml"):
            return
        variant = Variant(path)
        for service, port in _PORTS.items():
            variant.serve(service, [f"{address}:{port}" for address in self._pool(service)])
        for listener, port in (("edge", 7443), ("services", 7780), ("operations", 9902)):
            variant.listen(listener, f"{pod.address}:{port}")
        variant.administer(f"{pod.address}:9901")
        path.write_text(variant.text())

    def _certificates(self, folder: Path) -> dict[str, dict[str, str]]:
        names = [
            f"opolyx-{name}" for name in ("engine", "matchmaker", "progression", "edge-services")
        ]
        cert, key = write_certificate(folder, "services", *names, self.address)
        edge_cert, edge_key = write_certificate(folder, "edge", self.address)
        return {
            "opolyx-tls": {
                "tls.crt": cert.read_text(),
                "tls.key": key.read_text(),
                "ca.crt": cert.read_text(),
            },
            "opolyx-edge-tls": {"tls.crt": edge_cert.read_text(), "tls.key": edge_key.read_text()},
        }


def _quickened(manifest: Manifest) -> Manifest:
    if "OPOLYX_ENGINE_LISTEN_ADDRESS" in manifest.get("data", {}):
        manifest["data"] |= _QUICK
    for container in (
        manifest.get("spec", {}).get("template", {}).get("spec", {}).get("containers", ())
    ):
        container["command"] = [
            envoy_path() if word == "envoy" else word for word in container["command"]
        ]
    return manifest


def _secrets(folder: Path, store_url: str) -> Iterator[tuple[str, dict[str, str]]]:
    """What `deploy/k8s/secrets.sh` makes."""
    done = subprocess.run(
        [str(ROOT / "deploy" / "k8s" / "secrets.sh"), str(folder / "secrets"), store_url],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
        env={"PATH": f"{_BIN}:/usr/local/bin:/usr/bin:/bin", "HOME": str(folder)},
    )
    for found in yaml.safe_load_all(done.stdout):
        if found:
            files = found["data"].items()
            yield (
                found["metadata"]["name"],
                {name: base64.b64decode(value).decode() for name, value in files},
            )


async def rehearse(plan: Rehearsal, say: Callable[[str], object] = lambda line: None) -> Summary:
    """Do it all; what is wrong is in the summary."""
    summary, began = Summary(), time.monotonic()
    async with AsyncExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="opolyx-rehearsal-")))
        redis = stack.enter_context(redis_server(folder / "redis"))
        stage = Stage(folder, plan.overlay, redis.url)
        await stack.enter_async_context(stage)
        say(f"all ready after {time.monotonic() - began:.0f} s")
        tls = Tls(stage.authority) if stage.tls else None
        options = replace(PATIENT, tls=tls)
        address = f"{stage.address}:7443"
        habits = Habits(seed=1, round_cap=plan.round_cap, minutes=5)
        tables = Tables(address, habits, summary, say, options)
        with watched_mirrors(tables.ledgers, summary):
            await _play(plan, stage, tables, summary, say)
        await _check(tables, summary, AsyncClient(address, options=options), redis.url, folder)
        # The end of every pod is part of it: the stage's context waits for all.
        await stage.__aexit__()
        summary.counts["pods that ended within their grace"] = len(stage.ground.log)
        summary.problems += stage.ground.faults
    summary.took_s = time.monotonic() - began
    return summary


async def _play(
    plan: Rehearsal, stage: Stage, tables: Tables, summary: Summary, say: Callable[[str], object]
) -> None:
    tasks = [asyncio.create_task(tables.play(number)) for number in range(plan.games)]
    try:
        async with asyncio.timeout(60):
            while len(tables.running) < plan.games * 0.8 and not summary.problems:  # noqa: ASYNC110
                await asyncio.sleep(0.05)
        await _observed("nothing", asyncio.sleep(plan.settle_s), tables, summary, say)
        for service in plan.rollouts:
            work = stage.roll_out(service)
            await _observed(f"rollout of the {service}", work, tables, summary, say)
            await asyncio.sleep(plan.settle_s)
        if plan.lose_node:
            losing = stage.lose_node(NODES[1])
            lost = await _observed("loss of a node", losing, tables, summary, say)
            summary.counts["pods lost with the node"] = lost
            await asyncio.sleep(plan.settle_s)
    finally:
        tables.finishing = True
    for result in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(result, BaseException):
            summary.wrong(f"a table broke: {result!r}")


async def _observed(
    name: str, work: Any, tables: Tables, summary: Summary, say: Callable[[str], object]
) -> Any:
    """Do some work, and note how long clients wait meanwhile."""
    pauses, began = Pauses(), time.monotonic()
    tables.watch = pauses
    done = await work
    found = pauses.longest()
    summary.counts[f"longest pause of a client, {name}, p50, ms"] = round(
        percentile(found, 0.5) * 1000
    )
    summary.counts[f"longest pause of a client, {name}, p99, ms"] = round(
        percentile(found, 0.99) * 1000
    )
    say(f"{name}: {time.monotonic() - began:.0f} s, {len(found)} clients")
    return done


async def _check(
    tables: Tables, summary: Summary, client: AsyncClient, store_url: str, folder: Path
) -> None:
    promises = Promises(tables.ledgers, summary)
    async with (
        client as reader,
        open_awards(ProgressionSettings(store_url=store_url)) as awards,
        open_games(EngineSettings(store_url=store_url)) as games,
    ):
        await promises.check_replays(reader, folder)

        async def paid() -> Awards:
            last = await awards.last_sequence()
            ledger = await awards.ledger(after=0, until=last)
            return [(one.award.game_id, one.award.seat) for one in ledger]

        async def records(game_id: str) -> Rows:
            found = await games.records(game_id, -1, _ALL)
            return [(one.command_id, one.seq, one.body) for one in found]

        await promises.check_awards(paid)
        await promises.check_log(records)
