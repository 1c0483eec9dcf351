"""Programs in processes of their own, as an operator starts them: killed, stopped, paused, watched."""

import asyncio
import os
import random
import signal
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import grpc
from grpc_health.v1 import health_pb2, health_pb2_grpc

START_SECONDS: Final = 60.0
"""How long a program may take until it serves."""

_STOP_SECONDS: Final = 60.0
_LOOK_SECONDS: Final = 0.05


def own_network(rng: random.Random | None = None) -> str:
    """The first three bytes of loopback addresses that nobody else on the machine is likely to use.

    Each program of a set gets an address of its own in it, and so the ports that its pod has.
    """
    chosen = rng or random.Random(os.getpid())
    return f"127.{chosen.randint(32, 250)}.{chosen.randint(1, 250)}"


class Program:
    """One program with its command, its environment and a file for what it says."""

    def __init__(
        self,
        name: str,
        command: list[str],
        environment: Mapping[str, str],
        folder: Path,
        *,
        health: str = "",
        service: str = "",
    ) -> None:
        """Not started yet.

        Args:
            name: what messages call it.
            command: the program and its arguments.
            environment: its variables beside those that every program here has.
            folder: its working directory; what it says goes to `<name>.log` there.
            health: where its health is asked for, host and port; empty if it has none.
            service: the name that is SERVING once it may be used.
        """
        self.name = name
        self.log = folder / f"{name}.log"
        self.health = health
        self._command = command
        self._environment = {**_inherited(), **environment}
        self._folder = folder
        self._service = service
        self._process: asyncio.subprocess.Process | None = None

    @property
    def running(self) -> bool:
        """Whether its process is there, paused or not."""
        return self._process is not None and self._process.returncode is None

    async def spawn(self) -> None:
        """Start it, no more: a kill may find it half started."""
        assert not self.running, f"{self.name} runs already"
        with self.log.open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                *self._command,
                cwd=self._folder,
                env=self._environment,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=output,
                stderr=output,
            )

    async def start(self) -> None:
        """Start it, and wait until it serves."""
        await self.spawn()
        await self.serving()

    async def serving(self) -> None:
        """Wait until it serves; RuntimeError with the end of its log if it doesn't in time."""
        try:
            async with asyncio.timeout(START_SECONDS):
                while not await self.is_serving():
                    if not self.running:
                        raise RuntimeError(f"{self.name} has ended:\n{self.tail()}")
                    await asyncio.sleep(_LOOK_SECONDS)
        except TimeoutError:
            raise RuntimeError(f"{self.name} doesn't serve:\n{self.tail()}") from None

    async def is_serving(self, service: str | None = None) -> bool:
        """What its health says now; of another service than its own if one is named."""
        if not self.health:
            return self.running
        asked = health_pb2.HealthCheckRequest(service=self._service if service is None else service)
        try:
            async with grpc.aio.insecure_channel(self.health) as channel:
                stub: Any = health_pb2_grpc.HealthStub(channel)
                answer = await stub.Check(asked, timeout=2)
        except grpc.aio.AioRpcError:
            return False
        return bool(answer.status == health_pb2.HealthCheckResponse.SERVING)

    async def kill(self) -> None:
        """End it as kill -9 does, paused or not."""
        self._signal(signal.SIGKILL)
        await self._ended()

    async def terminate(self, seconds: float = _STOP_SECONDS) -> int:
        """End it as SIGTERM does, and after so many seconds as kill -9; the exit code."""
        self._signal(signal.SIGTERM)
        try:
            await asyncio.wait_for(self._ended(), seconds)
        except TimeoutError:
            await self.kill()
        assert self._process is not None
        assert self._process.returncode is not None
        return self._process.returncode

    def pause(self) -> None:
        """Let it stand still."""
        self._signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Let it go on after `pause`."""
        self._signal(signal.SIGCONT)

    def tail(self, characters: int = 3_000) -> str:
        """The end of what it said."""
        return self.log.read_text(errors="replace")[-characters:] if self.log.exists() else ""

    async def close(self) -> None:
        """See that nothing of it is left."""
        if self.running:
            await self.kill()

    async def _ended(self) -> None:
        if self._process is not None:
            await self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        if self.running:
            assert self._process is not None
            self._process.send_signal(number)


def _inherited() -> dict[str, str]:
    """Nothing of ours but where programs and temporary files are: a pod has no more."""
    kept = ("PATH", "HOME", "TMPDIR", "LANG", "VIRTUAL_ENV")
    return {name: os.environ[name] for name in kept if name in os.environ}
