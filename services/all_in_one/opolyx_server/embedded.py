"""All three services in one process: one port, one SQLite file or one Redis, keys of its own.

The services know each other only as in production: over gRPC, with service tokens. Their calls go
over a Unix socket that is bound before anything else needs the address.
"""

import shutil
import tempfile
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from pathlib import Path
from types import TracebackType
from typing import Final, Self

import grpc
from pydantic import SecretStr

from opolyx_engine.service import EngineService
from opolyx_engine.settings import EngineSettings
from opolyx_matchmaker.duty import Duty
from opolyx_matchmaker.service import MatchmakerService
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_progression.service import ProgressionService
from opolyx_progression.settings import ProgressionSettings
from opolyx_server.premises import CannotStart, check_address, held_directory
from opolyx_server.serve import serve_until_stopped
from opolyx_server.stores import Stores, redis_stores, sqlite_stores
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.logs import borrowed_logs
from opolyx_servicekit.rpc_metrics import RpcMetrics
from opolyx_servicekit.server import ServiceServer
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier

DATABASE: Final = "opolyx.sqlite"
"""Name of the database in the data directory."""

KEYS: Final = "keys.json"
"""Name of the private keys in the data directory."""

_QUIET: Final = "error"
"""Level of the log when nobody has configured it: a program that embeds the server has its own."""

_OPERATOR: Final = "s_operator"
_TOKEN_SECONDS: Final = 24 * 3600
_GRACE_SECONDS: Final = 5.0
_CHANNEL_OPTIONS: Final = (("grpc.max_receive_message_length", 16 << 20),)


class EmbeddedServer:
    """The three services on one port. Use as an async context."""

    def __init__(
        self,
        data_dir: Path,
        *,
        seed: str | None = None,
        bot_delay_ms: int = 0,
        listen: str = "127.0.0.1:0",
        store: str = "",
    ) -> None:
        """Describe the server; nothing is opened yet.

        Args:
            data_dir: holds the database and the keys; made if absent.
            seed: makes game ids and secrets follow from it; for demos and tests only.
            bot_delay_ms: how long built-in bots wait before they act, milliseconds.
            listen: host and port; port 0 takes a free one.
            store: URL of a Redis to keep everything in but the keys; else the database has it.
        """
        self._data_dir = data_dir
        self._seed = seed
        self._bot_delay_ms = bot_delay_ms
        self._listen = listen
        self._store_url = store or f"sqlite:///{data_dir / DATABASE}"
        self._duty: Duty | None = None
        self._stack = AsyncExitStack()
        self._signer: TokenSigner | None = None
        self._server: ServiceServer | None = None

    @property
    def address(self) -> str:
        """Host and port, once the server runs."""
        if self._server is None:
            raise RuntimeError("the server does not run")
        host = self._listen.rpartition(":")[0]
        return f"{host}:{self._server.bound_port}"

    def operator_token(self) -> str:
        """A token of an operator, good for a day."""
        return self._token(_OPERATOR, "operator")

    async def until_lost(self) -> None:
        """Wait until another server took over the store, which only one on Redis can."""
        if self._duty is None:
            raise RuntimeError("the server does not run")
        await self._duty.until_lost()

    async def __aenter__(self) -> Self:
        """Start; clients may come once this returns.

        Raises:
            CannotStart: the address is taken, or the data directory or the store can't be used.
        """
        async with AsyncExitStack() as stack:
            await self._start(stack)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Drain and close everything."""
        await self.stop()

    async def stop(self) -> None:
        """Drain and close everything; may be called again."""
        self._server = None
        await self._stack.aclose()

    @classmethod
    def sign_operator_token(cls, data_dir: Path, name: str = "") -> str:
        """A token of an operator of the server that serves from `data_dir`, good for a day.

        Args:
            data_dir: the server's; its keys sign.
            name: which of several operators it is, so that logs tell and each is revoked alone.

        Raises:
            CannotStart: there are no keys to sign it with, as no server ever served from there.
        """
        path = data_dir / KEYS
        try:
            signer = TokenSigner(path)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise CannotStart(f"can't use the keys in {path}: {error}") from error
        subject = f"{_OPERATOR}_{name}" if name else _OPERATOR
        return signer.sign(subject=subject, role="operator", name=name, ttl_seconds=_TOKEN_SECONDS)

    @classmethod
    def run(
        cls,
        data_dir: Path,
        *,
        listen: str,
        bot_delay_ms: int,
        on_ready: Callable[[str], None],
        store: str = "",
    ) -> int:
        """Serve until SIGTERM or SIGINT; the process's exit code.

        Raises:
            CannotStart: the address is taken, or the data directory or the store can't be used.
            CannotGoOn: another server took over the store.
        """
        return serve_until_stopped(
            cls(data_dir, bot_delay_ms=bot_delay_ms, listen=listen, store=store), on_ready
        )

    async def _start(self, stack: AsyncExitStack) -> None:
        stack.enter_context(borrowed_logs.at(_QUIET))
        check_address(self._listen)
        stack.enter_context(held_directory(self._data_dir))
        public_keys = self._keys()
        settings = self._settings()
        matchmaker_settings = MatchmakerSettings(store_url=self._store_url)
        progression_settings = ProgressionSettings(store_url=self._store_url)
        stores = await stack.enter_async_context(
            self._stores(settings, matchmaker_settings, progression_settings)
        )
        metrics = RpcMetrics()
        internal = _internal_address(stack)
        channel = await stack.enter_async_context(
            grpc.aio.insecure_channel(internal, options=_CHANNEL_OPTIONS)
        )
        progression = self._progression(progression_settings, stores, channel, metrics)
        matchmaker = self._matchmaker(matchmaker_settings, stores, channel, metrics)
        verifier = TokenVerifier(
            public_keys, roles=matchmaker.roles, is_revoked=matchmaker.is_revoked
        )
        engine = EngineService(
            settings,
            stores.games,
            metrics=metrics,
            check_token=verifier.check,
        )

        def add_services(server: grpc.aio.Server) -> None:
            server.add_insecure_port(internal)
            for service in (engine, progression, matchmaker):
                service.add_to(server)

        async def say_goodbye() -> None:
            await matchmaker.drain()
            await engine.drain()

        await stack.enter_async_context(engine.running())
        await stack.enter_async_context(matchmaker)
        server = ServiceServer(
            settings,
            add_services=add_services,
            service_names=(
                *engine.service_names,
                *progression.service_names,
                *matchmaker.service_names,
            ),
            roles={**engine.roles, **progression.access, **matchmaker.access},
            verifier=verifier,
            metrics=metrics,
            on_drain=say_goodbye,
            counted_elsewhere=engine.counted_elsewhere,
        )
        engine.on_operator_drain = server.not_ready
        matchmaker.stand_before(server)
        self._duty = matchmaker.duty
        engine.metrics.revocations_followed.set(1)  # the matchmaker is asked itself
        self._server = await stack.enter_async_context(server)
        await stack.enter_async_context(progression)

    def _keys(self) -> Path:
        """Make or read the keys; the file of the public ones."""
        path = self._data_dir / KEYS
        try:
            public = ensure_keys(path)
            self._signer = TokenSigner(path)
        except (OSError, ValueError, LookupError, TypeError) as error:
            raise CannotStart(f"can't use the keys in {path}: {error}") from error
        return public

    def _stores(
        self,
        engine: EngineSettings,
        matchmaker: MatchmakerSettings,
        progression: ProgressionSettings,
    ) -> AbstractAsyncContextManager[Stores]:
        if self._store_url.startswith("sqlite:"):
            return sqlite_stores(self._data_dir / DATABASE)
        return redis_stores(engine, matchmaker, progression)

    def _settings(self) -> EngineSettings:
        return EngineSettings(
            listen_address=self._listen,
            grace_seconds=_GRACE_SECONDS,
            store_url=self._store_url,
            bot_think_ms=self._bot_delay_ms,
            development_seed=SecretStr(self._seed) if self._seed is not None else None,
        )

    def _progression(
        self,
        settings: ProgressionSettings,
        stores: Stores,
        channel: grpc.aio.Channel,
        metrics: RpcMetrics,
    ) -> ProgressionService:
        return ProgressionService(
            settings,
            store=stores.awards,
            engine=channel,
            registry=metrics.registry,
            token=lambda: self._token("s_progression", "service"),
        )

    def _matchmaker(
        self,
        settings: MatchmakerSettings,
        stores: Stores,
        channel: grpc.aio.Channel,
        metrics: RpcMetrics,
    ) -> MatchmakerService:
        return MatchmakerService(
            settings,
            store=stores.rooms,
            engine=channel,
            progression=channel,
            signer=self._signed_by(),
            registry=metrics.registry,
        )

    def _token(self, subject: str, role: str) -> str:
        return self._signed_by().sign(subject=subject, role=role, ttl_seconds=_TOKEN_SECONDS)

    def _signed_by(self) -> TokenSigner:
        if self._signer is None:
            raise RuntimeError("the server does not run")
        return self._signer


def _internal_address(stack: AsyncExitStack) -> str:
    """A Unix socket in a directory that only this user can enter; paths of sockets are short."""
    directory = tempfile.mkdtemp(prefix="opolyx-")
    stack.callback(shutil.rmtree, directory, ignore_errors=True)
    return f"unix:{directory}/internal.sock"
