"""A whole deployment on loopback: Redis, replicas of the three services, and Envoy before them.

Each program is the one that a pod runs, with its settings by environment, on an address of its own
and the ports that the manifests give it.
"""

import asyncio
import random
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Final, Protocol, Self

from envoy_variant import Variant
from opolyx_engine.rpc.service_handlers import ENGINE
from opolyx_matchmaker.service import MatchmakerService
from opolyx_progression.service import ProgressionService
from opolyx_servicekit.key_set import ensure_keys, public_keys_path
from opolyx_servicekit.tokens import TokenSigner
from support_envoy import Edge, loopback
from support_programs import Program, own_network

ENGINE_NAME: Final = ENGINE.full_name
MATCHMAKER_NAME: Final = MatchmakerService.service_names[0]
PROGRESSION_NAME: Final = ProgressionService.service_names[0]

_BIN: Final = Path(sys.executable).parent
_WAIT_SECONDS: Final = 60.0
_EDGE_HOST: Final = 250
_FIRST_HOST: Final = {"engine": 1, "matchmaker": 101, "progression": 201}
_PORT: Final = {"engine": 7701, "matchmaker": 7702, "progression": 7703}
_NAME: Final = {
    "engine": ENGINE_NAME,
    "matchmaker": "",  # one of them stands by: see `one_serving`
    "progression": PROGRESSION_NAME,
}
_LIFTED: Final = {
    "OPOLYX_MATCHMAKER_GUESTS_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_ROOMS_PER_MINUTE": "0",
    "OPOLYX_MATCHMAKER_TOKENS_PER_MINUTE": "0",
    "OPOLYX_ENGINE_BOT_THINK_MS": "0",
}
"""Limits of one address, which a test's clients, all of one machine, would meet; and quick bots."""


class Store(Protocol):
    """A Redis, or a cluster of them."""

    @property
    def url(self) -> str:
        """What the services are told."""
        ...


class Deployment:
    """The deployment over a store that runs. Use as a context; nothing is left of it afterwards."""

    def __init__(
        self,
        folder: Path,
        store: Store,
        *,
        engines: int = 3,
        matchmakers: int = 2,
        progressions: int = 2,
        settings: Mapping[str, str] | None = None,
    ) -> None:
        """Nothing runs yet.

        Args:
            folder: for its files and logs.
            store: where everything is kept.
            engines: how many.
            matchmakers: how many, of which one is active.
            progressions: how many.
            settings: variables for the services, beside the usual.
        """
        self.folder = folder
        self.store = store
        self._network = own_network(random.Random(str(folder)))
        self._settings = {**_LIFTED, **(settings or {})}
        self._keys = folder / "keys.json"
        self.engines = [self._program("engine", number) for number in range(engines)]
        self.matchmakers = [self._program("matchmaker", number) for number in range(matchmakers)]
        self.progressions = [self._program("progression", number) for number in range(progressions)]
        self.edge = Edge(folder, self._variant())
        self._stack = AsyncExitStack()

    @property
    def programs(self) -> list[Program]:
        """All services' processes."""
        return [*self.engines, *self.matchmakers, *self.progressions]

    @property
    def address(self) -> str:
        """What clients connect to."""
        return self.edge.address

    def token(self, subject: str, role: str) -> str:
        """A token that the services accept."""
        return TokenSigner(self._keys).sign(subject=subject, role=role, ttl_seconds=86_400)

    async def __aenter__(self) -> Self:
        ensure_keys(self._keys)
        async with AsyncExitStack() as stack:
            for program in self.programs:
                stack.push_async_callback(program.close)
                await program.spawn()
            stack.callback(self.edge.stop)
            await self.edge.start()
            await asyncio.gather(*(one.serving() for one in (*self.engines, *self.progressions)))
            await one_serving(self.matchmakers, MATCHMAKER_NAME)
            for cluster in ("engine", "matchmaker", "progression"):
                await self.edge.until_hosts(cluster, bool)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    def _program(self, service: str, number: int) -> Program:
        host = self._host(service, number)
        port, prefix = _PORT[service], f"OPOLYX_{service.upper()}_"
        services = f"{self._network}.{_EDGE_HOST}:7780"
        own = {
            "LISTEN_ADDRESS": f"{host}:{port}",
            "PROBE_ADDRESS": f"{host}:{port + 10}",
            "METRICS_ADDRESS": f"{host}:{port + 20}",
            "STORE_URL": self.store.url,
            "LOG_FORMAT": "json",
        }
        if service == "engine":
            own |= {"REPLICA_ADDRESS": f"{host}:{port}", "IDENTITY_ADDRESS": services}
        else:
            own["ENGINE_ADDRESS"] = services
        if service == "matchmaker":
            own["PROGRESSION_ADDRESS"] = services
        else:
            own["VERIFICATION_KEYS_FILE"] = str(public_keys_path(self._keys))
        own["SIGNING_KEYS_FILE"] = str(self._keys)
        return Program(
            f"{service}-{number}",
            [str(_BIN / f"opolyx-{service}")],
            {f"{prefix}{name}": value for name, value in own.items()} | self._settings,
            self.folder,
            health=f"{host}:{port + 10}",
            service=_NAME[service],
        )

    def _host(self, service: str, number: int) -> str:
        return f"{self._network}.{_FIRST_HOST[service] + number}"

    def _variant(self) -> Variant:
        variant = Variant()
        variant.without_edge_tls()
        variant.without_service_tls()
        loopback(variant)
        variant.listen("services", f"{self._network}.{_EDGE_HOST}:7780")
        for service, count in (
            ("engine", len(self.engines)),
            ("matchmaker", len(self.matchmakers)),
            ("progression", len(self.progressions)),
        ):
            hosts = [self._host(service, number) for number in range(count)]
            variant.serve(service, [f"{host}:{_PORT[service]}" for host in hosts])
        return variant


async def one_serving(programs: list[Program], service: str) -> Program:
    """Wait until one of them serves; that one."""
    async with asyncio.timeout(_WAIT_SECONDS):
        while True:
            for program in programs:
                if program.running and await program.is_serving(service):
                    return program
            await asyncio.sleep(0.05)
