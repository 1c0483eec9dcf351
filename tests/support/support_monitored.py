"""The three services, a router in front of them and a real Prometheus, each a program of its own."""

import asyncio
import json
import math
import shutil
import sqlite3
import sys
import time
import urllib.parse
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from support_programs import Program, own_network
from support_scaled_rules import scaled_configuration, scaled_rules

ROOT: Final = Path(__file__).resolve().parents[2]
MONITORING: Final = ROOT / "deploy/monitoring"
JOBS: Final = ("opolyx-engine", "opolyx-matchmaker", "opolyx-progression")

_GRPC: Final = 7700
_METRICS: Final = 9700
_ROUTES: Final = {
    "/opolyx.engine.": "opolyx-engine",
    "/opolyx.identity.": "opolyx-matchmaker",
    "/opolyx.matchmaker.": "opolyx-matchmaker",
    "/opolyx.progression.": "opolyx-progression",
}
_SETTINGS: Final = {
    "opolyx-engine": {
        "BOT_THINK_MS": "20",
        "IDLE_EVICT_MS": "2000",  # stuck games are counted four times as often
        "STUCK_AFTER_MS": "1000",
        "MOST_QUEUED_FRAMES": "64",
        "MOST_QUEUED_BYTES": "16384",
        "WATCHDOG_MS": "250",
        "IDENTITY_ADDRESS": "{opolyx-matchmaker}",
        "SIGNING_KEYS_FILE": "keys.json",
        "VERIFICATION_KEYS_FILE": "keys.public.json",
    },
    "opolyx-matchmaker": {
        "SIGNING_KEYS_FILE": "keys.json",
        "ENGINE_ADDRESS": "{opolyx-engine}",
        "PROGRESSION_ADDRESS": "{opolyx-progression}",
        "ENGINE_TIMEOUT_SECONDS": "2",
        "START_ATTEMPTS": "1",
        "MATCH_BOTS_AFTER_SECONDS": "600",
        "SWEEP_SECONDS": "2",
        "RETRY_CAP_SECONDS": "1",
    },
    "opolyx-progression": {
        "SIGNING_KEYS_FILE": "keys.json",
        "VERIFICATION_KEYS_FILE": "keys.public.json",
        "ENGINE_ADDRESS": "{opolyx-engine}",
        "AUDIT_SECONDS": "2",
        "RETRY_CAP_SECONDS": "1",
    },
}
_MODULES: Final = {
    "opolyx-engine": "opolyx_engine.main",
    "opolyx-matchmaker": "opolyx_matchmaker.main",
    "opolyx-progression": "opolyx_progression.main",
}


@dataclass(slots=True)
class Monitored:
    """What runs, and where."""

    folder: Path
    """Where all files are."""

    address: str
    """Where clients connect."""

    services: dict[str, Program]
    """The services by job."""

    prometheus: "Prometheus"
    """What scrapes them."""

    def at(self, job: str) -> str:
        """Where a service serves."""
        return _at(self.folder, job, _GRPC)

    def database(self, job: str) -> sqlite3.Connection:
        """The database of a service, for somebody who shouldn't touch it."""
        path = self.folder / f"{job}.sqlite"
        return sqlite3.connect(path, timeout=10, isolation_level=None)

    def discover(self, job: str, *, found: bool = True) -> None:
        """Have Prometheus find the instance of a job, or none."""
        targets = [{"targets": [_at(self.folder, job, _METRICS)]}] if found else []
        path = self.folder / f"{job}.json"
        scratch = path.with_suffix(".new")
        scratch.write_text(json.dumps(targets))
        scratch.replace(path)


class Prometheus:
    """A Prometheus, asked over HTTP."""

    def __init__(self, address: str) -> None:
        self._url = f"http://{address}/api/v1"

    async def series(self, expr: str, begin_s: float, end_s: float) -> list[dict[str, Any]]:
        """The answers to an expression over a range of time, every second."""
        answer = await self._get(
            "query_range", query=expr, start=f"{begin_s}", end=f"{end_s}", step="1"
        )
        found: list[dict[str, Any]] = answer["result"]
        return found

    async def firing(self) -> set[str]:
        """Names of the alerts that fire now."""
        alerts = (await self._get("alerts"))["alerts"]
        return {one["labels"]["alertname"] for one in alerts if one["state"] == "firing"}

    async def fired(self, begin_s: float) -> dict[str, float]:
        """When each alert that has fired since a time did so first, Unix seconds."""
        expr = 'ALERTS{alertstate="firing"}'
        first: dict[str, float] = {}
        start_s = math.ceil(begin_s)
        for one in await self.series(expr, start_s, max(now_s(), start_s)):
            name, at_s = one["metric"]["alertname"], float(one["values"][0][0])
            first[name] = min(first.get(name, at_s), at_s)
        return first

    async def ready(self) -> None:
        """Wait until it answers, and sees every service."""
        async with asyncio.timeout(60):
            while True:
                try:
                    up = (await self._get("query", query="up == 1"))["result"]
                except OSError:
                    up = []
                if {one["metric"]["job"] for one in up} == set(JOBS):
                    return
                await asyncio.sleep(0.2)

    async def _get(self, what: str, **parameters: str) -> Any:
        query = urllib.parse.urlencode(parameters)
        return await asyncio.to_thread(self._read, f"{self._url}/{what}?{query}")

    def _read(self, url: str) -> Any:
        with urllib.request.urlopen(url, timeout=30) as response:
            return json.load(response)["data"]


@asynccontextmanager
async def monitored(folder: Path) -> AsyncIterator[Monitored]:
    """Everything, started; it ends with the block."""
    network = own_network()
    (folder / "network").write_text(network)
    services = {job: _service(folder, job) for job in JOBS}
    router = _router(folder)
    prometheus = _prometheus(folder)
    stack = Monitored(
        folder, f"{network}.4:{_GRPC}", services, Prometheus(f"{network}.5:{_METRICS}")
    )
    try:
        await services["opolyx-matchmaker"].start()  # which makes the keys
        await asyncio.gather(*(services[job].start() for job in JOBS if job != "opolyx-matchmaker"))
        await router.start()
        for job in JOBS:
            stack.discover(job)
        await prometheus.start()
        await stack.prometheus.ready()
        yield stack
    finally:
        for program in (prometheus, router, *services.values()):
            await program.close()


def find_prometheus() -> str | None:
    """Debian's prometheus, if it is there."""
    return shutil.which("prometheus")


def find_envoy() -> str | None:
    """Envoy of the wheel, or the one on PATH."""
    beside = Path(sys.executable).with_name("envoy")
    return str(beside) if beside.exists() else shutil.which("envoy")


def _at(folder: Path, job: str, port: int) -> str:
    return f"{(folder / 'network').read_text()}.{JOBS.index(job) + 1}:{port}"


def _service(folder: Path, job: str) -> Program:
    prefix = f"{job.upper().replace('-', '_')}_"
    addresses = {each: _at(folder, each, _GRPC) for each in JOBS}
    environment = {
        f"{prefix}{name}": value.format(**addresses) for name, value in _SETTINGS[job].items()
    }
    environment |= {
        f"{prefix}LISTEN_ADDRESS": addresses[job],
        f"{prefix}METRICS_ADDRESS": _at(folder, job, _METRICS),
        f"{prefix}STORE_URL": f"sqlite:///{job}.sqlite",
        f"{prefix}GRACE_SECONDS": "2",
    }
    command = [sys.executable, "-m", _MODULES[job]]
    return Program(job, command, environment, folder, health=addresses[job])


def _prometheus(folder: Path) -> Program:
    found = find_prometheus()
    assert found is not None
    configuration = (MONITORING / "prometheus.yaml").read_text()
    (folder / "prometheus.yaml").write_text(scaled_configuration(configuration, folder))
    for path in (MONITORING / "alerts").glob("*.yaml"):
        (folder / f"{path.stem}.rules.yaml").write_text(scaled_rules(path.read_text()))
    address = f"{(folder / 'network').read_text()}.5:{_METRICS}"
    command = [
        found,
        f"--config.file={folder / 'prometheus.yaml'}",
        f"--storage.tsdb.path={folder / 'tsdb'}",
        f"--web.listen-address={address}",
        "--log.level=warn",
    ]
    return Program("prometheus", command, {}, folder)


def _router(folder: Path) -> Program:
    """Envoy, which knows the services by their names on the wire: clients know one address."""
    found = find_envoy()
    assert found is not None
    network = (folder / "network").read_text()
    path = folder / "envoy.json"
    path.write_text(json.dumps(_envoy_configuration(folder, f"{network}.4")))
    command = [found, "-c", str(path), "--disable-hot-restart", "-l", "error", "--concurrency", "1"]
    return Program("envoy", command, {}, folder)


def _envoy_configuration(folder: Path, host: str) -> dict[str, Any]:
    routes = [
        {"match": {"prefix": prefix}, "route": {"cluster": job, "timeout": "0s"}}
        for prefix, job in _ROUTES.items()
    ]
    manager = {
        "@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3"
        ".HttpConnectionManager",
        "stat_prefix": "opolyx",
        "codec_type": "HTTP2",
        "stream_idle_timeout": "0s",
        "route_config": {"virtual_hosts": [{"name": "all", "domains": ["*"], "routes": routes}]},
        "http_filters": [
            {
                "name": "router",
                "typed_config": {
                    "@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"
                },
            }
        ],
    }
    listener = {
        "name": "clients",
        "address": {"socket_address": {"address": host, "port_value": _GRPC}},
        "filter_chains": [{"filters": [{"name": "http", "typed_config": manager}]}],
    }
    return {
        "static_resources": {
            "listeners": [listener],
            "clusters": [_cluster(folder, job) for job in JOBS],
        }
    }


def _cluster(folder: Path, job: str) -> dict[str, Any]:
    host, _, port = _at(folder, job, _GRPC).rpartition(":")
    address = {"socket_address": {"address": host, "port_value": int(port)}}
    return {
        "name": job,
        "connect_timeout": "1s",
        "type": "STATIC",
        "load_assignment": {
            "cluster_name": job,
            "endpoints": [{"lb_endpoints": [{"endpoint": {"address": address}}]}],
        },
        "typed_extension_protocol_options": {
            "envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
                "@type": "type.googleapis.com/envoy.extensions.upstreams.http.v3"
                ".HttpProtocolOptions",
                "explicit_http_config": {"http2_protocol_options": {}},
            }
        },
    }


def now_s() -> float:
    """The time as Prometheus has it."""
    return time.time()
