"""Opens a client of Redis or Redis Cluster, and checks that it keeps what it acknowledges."""

import asyncio
from collections.abc import Mapping
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import structlog
from redis import exceptions
from redis.asyncio import Redis, RedisCluster
from redis.asyncio.cluster import ClusterNode
from redis.asyncio.retry import Retry
from redis.backoff import NoBackoff

from opolyx_servicekit.errors import StoreUnavailable

_log = structlog.get_logger(__name__)

Client = Redis | RedisCluster
"""Either."""

FAULTS: Final = (exceptions.RedisError, exceptions.RedisClusterException, OSError)
"""What a client raises; the second is no child of the first."""

_PORT: Final = 6379
_PAUSE_S: Final = 0.25
_ANSWER_PART: Final = 0.4  # of a job's time: so that a lost answer can be asked for again


async def open_client(
    url: str, *, require_durable: bool, timeout_seconds: float, wait_seconds: float
) -> Client:
    """Connect, wait for a Redis of which all that is needed is there, and check its settings.

    Raises:
        ValueError: the URL is none, this Redis isn't durable, or it refuses us.
        StoreUnavailable: it can't be reached, or a node of it.
    """
    client = _client(url, timeout_seconds * _ANSWER_PART)
    try:
        await _wait(client, require_durable, wait_seconds)
    except BaseException:
        await client.aclose()
        raise
    return client


def durability_faults(settings: Mapping[str, str]) -> list[str]:
    """What a Redis with these settings may forget, in words; nothing if it keeps all."""
    faults = []
    if settings.get("appendonly", "yes") != "yes":
        faults.append("appendonly is no: a restart forgets (set `appendonly yes`)")
    if settings.get("appendfsync", "everysec") == "no":
        faults.append("appendfsync is no: a power cut forgets (set `appendfsync everysec`)")
    policy = settings.get("maxmemory-policy", "noeviction")
    if policy != "noeviction":
        faults.append(
            f"maxmemory-policy is {policy}: a full Redis drops games"
            " (set `maxmemory-policy noeviction`)"
        )
    return faults


def _client(url: str, answer_seconds: float) -> Client:
    options: dict[str, Any] = {
        "socket_timeout": answer_seconds,
        "socket_connect_timeout": answer_seconds,
        "socket_keepalive": True,
        # Tries again are the link's, which knows what may be sent twice.
        "retry": Retry(NoBackoff(), 0),
        "client_name": "opolyx",
    }
    parts = urlsplit(url)
    scheme, _, kind = parts.scheme.partition("+")
    if scheme not in {"redis", "rediss"} or kind not in {"", "cluster"} or not parts.hostname:
        raise ValueError("store url is not redis[s][+cluster]://<host>")
    database = parts.path.strip("/")
    if database and (kind or not database.isdigit()):
        raise ValueError(f"store url has the database {database!r}, which can't be")
    if not kind:
        try:
            return Redis.from_url(url, max_connections=8, **options)
        except (ValueError, exceptions.RedisError) as error:
            raise ValueError(f"store url can't be used: {error}") from error
    user, at, hosts = parts.netloc.rpartition("@")
    if at:
        name, _, password = user.partition(":")
        options |= {"username": unquote(name) or None, "password": unquote(password)}
    return RedisCluster(
        startup_nodes=[_node(host) for host in hosts.split(",")],
        ssl=scheme == "rediss",
        **options,
    )


def _node(address: str) -> ClusterNode:
    host, _, port = address.rpartition(":") if ":" in address else (address, "", str(_PORT))
    if not host or not port.isdigit():
        raise ValueError(f"{address!r} in the store url is no host:port")
    return ClusterNode(host, int(port))


async def _wait(client: Client, require_durable: bool, wait_seconds: float) -> None:
    trouble = ""
    try:
        async with asyncio.timeout(wait_seconds):
            while found := await _trouble(client, require_durable):
                if not trouble:
                    _log.warning("store_awaited", error=found, seconds=wait_seconds)
                trouble = found
                await asyncio.sleep(_PAUSE_S)
    except TimeoutError:
        message = f"redis can't be reached: {trouble or 'no answer'}"
        raise StoreUnavailable("STORE_UNAVAILABLE", message) from None


async def _trouble(client: Client, require_durable: bool) -> str:
    """What passes that keeps this Redis from being used; empty if nothing does."""
    try:
        await client.initialize()
        await client.ping()
        await _check_kind(client)
        await _check_settings(client, require_durable)
    except (exceptions.AuthenticationError, exceptions.NoPermissionError) as error:
        raise ValueError(f"redis refuses the user of the store url: {error}") from error
    except FAULTS as error:
        return str(error) or type(error).__name__
    return ""


async def _check_kind(client: Client) -> None:
    if not isinstance(client, RedisCluster):
        server: dict[str, Any] = await client.info("server")
        if server.get("redis_mode") == "cluster":
            raise ValueError("redis is a node of a cluster: store url must be redis+cluster://…")


async def _check_settings(client: Client, require_durable: bool) -> None:
    """Refuse, or warn of, a Redis that may forget; on a cluster, each master."""
    try:
        found = await _settings(client)
    except exceptions.ResponseError as error:  # managed ones forbid CONFIG
        _log.warning("store_settings_unknown", error=str(error))
        return
    for node, settings in found.items():
        faults = durability_faults(settings)
        if faults and require_durable:
            raise ValueError(f"redis {node} is not durable: {'; '.join(faults)}")
        if faults:
            _log.warning("store_not_durable", node=node, faults=faults)


async def _settings(client: Client) -> dict[str, dict[str, str]]:
    """The settings of each node that are about keeping."""
    if isinstance(client, RedisCluster):
        return {
            node.name: await _read(client, target_nodes=node) for node in client.get_primaries()
        }
    return {"server": await _read(client)}


async def _read(client: Client, **where: Any) -> dict[str, str]:
    settings: dict[str, str] = {}
    for name in ("appendonly", "appendfsync", "maxmemory-policy"):
        answer: Any = await client.execute_command("CONFIG GET", name, **where)
        settings |= {_text(key): _text(value) for key, value in dict(answer).items()}
    return settings


def _text(value: bytes | str) -> str:
    return value.decode() if isinstance(value, bytes) else value
