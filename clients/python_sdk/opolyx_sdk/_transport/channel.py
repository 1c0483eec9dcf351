"""The channel to a server: made on first use, for the loop that uses it, with our settings.

gRPC's asyncio objects belong to one loop. A client may outlive a loop: each loop that uses it gets
a channel of its own. The token travels as metadata of each call and is shown nowhere.
"""

import asyncio
import re
import time
from collections.abc import AsyncGenerator, Callable
from typing import Final, TypeVar

import grpc

from opolyx.engine.v1 import (
    engine_service_pb2,
)
from opolyx.identity.v1 import identity_service_pb2
from opolyx_sdk._backoff import Backoff, Outage
from opolyx_sdk._status import to_error
from opolyx_sdk._traces import Traces
from opolyx_sdk._transport.counted import counted
from opolyx_sdk._transport.open_channel import open_channel
from opolyx_sdk._transport.stubs import StreamMethod, Stubs, UnaryMethod, stubs_on
from opolyx_sdk._transport.token_keeper import TokenKeeper
from opolyx_sdk.errors import (
    ConnectionLost,
    Failure,
    LimitReached,
    NotAllowed,
    NotAuthenticated,
    RequestError,
    ServiceUnavailable,
    WrongLoop,
    request_error,
)
from opolyx_sdk.options import ClientOptions

Q = TypeVar("Q")
R = TypeVar("R")
Q_contra = TypeVar("Q_contra", contravariant=True)
R_co = TypeVar("R_co", covariant=True)

GAME_HEADER: Final = "x-opolyx-game"
"""Names the game of a call, so that a proxy can send it straight to the game's owner."""

_NAMEABLE: Final = re.compile(r"[!-~]{1,128}")  # what a header can hold, and any game's id is
CLOSED: Final = "the client was closed"
"""Why what a closed client had under way is lost."""

PlayCall = grpc.aio.StreamStreamCall[
    engine_service_pb2.PlayRequest, engine_service_pb2.PlayResponse
]

_MOST_TRIES: Final = 5

_ELSEWHERE: Final = frozenset({"STANDBY", "DRAINING"})
"""Reasons of a process that does nothing for anybody now: another one will answer the same call."""

RESUMABLE: Final = frozenset(
    {
        "UNAVAILABLE",
        "INTERNAL",  # RST_STREAM
        "UNKNOWN",  # "Stream removed"
        "CANCELLED",  # by somebody else than us
        "ABORTED",
        "DEADLINE_EXCEEDED",
        "RESOURCE_EXHAUSTED",  # a slow reader, or a limit with a hint
    }
)
"""Names of the statuses after which a stream is opened again."""

LOST: Final = Failure("UNAVAILABLE", "the channel was closed")
"""What ends a call whose channel is closed under it."""

UNREADABLE: Final = Failure("INTERNAL", "the server's answer can't be read")
"""What an answer says that is no message: gRPC gives None for it, and logs why."""


class Transport:
    """Calls to one server with one token."""

    def __init__(self, address: str, options: ClientOptions, token: str | None) -> None:
        self.address = address
        """Host and port."""
        self.options = options
        """Times and limits."""
        self.tokens = TokenKeeper(token, self._renewed_token)
        """The token that calls carry."""
        self.traces = Traces(on=options.traces)
        """Where in a trace calls are."""
        self._channel: grpc.aio.Channel | None = None
        self._stubs: Stubs | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._times_closed = 0
        self._heard = False

    def __repr__(self) -> str:
        """Without the token."""
        return f"Transport({self.address!r})"

    @property
    def stubs(self) -> Stubs:
        """The services, on the running loop's channel.

        Raises:
            WrongLoop: another loop that is still running uses the client.
        """
        loop = asyncio.get_running_loop()
        if self._stubs is None or self._loop is not loop:
            check_loop(self._loop, loop)
            # A channel of a loop that has ended can't be closed; it goes with its loop.
            self._loop = loop
            self._channel = open_channel(self.address, self.options)
            channel = counted(self._channel, self.options.metrics)
            self._stubs = stubs_on(channel)
        return self._stubs

    def metadata(self, game_id: str = "") -> tuple[tuple[str, str], ...]:
        """Metadata of a call."""
        pairs = []
        if self.tokens.jwt:
            pairs.append(("authorization", f"Bearer {self.tokens.jwt}"))
        if _NAMEABLE.fullmatch(game_id):
            pairs.append((GAME_HEADER, game_id))
        if place := self.traces.place():
            pairs.append(("traceparent", place))
        return tuple(pairs)

    async def wait_ready(self, timeout_s: float) -> None:
        """Connect.

        Raises:
            ConnectionLost: nobody answers within `timeout_s`.
        """
        _ = self.stubs
        assert self._channel is not None  # noqa: S101 - made by the line before
        try:
            await asyncio.wait_for(self._channel.channel_ready(), timeout_s)
        except TimeoutError:
            raise ConnectionLost(f"no server answers at {self.address}") from None

    async def call(
        self,
        method: Callable[[Stubs], UnaryMethod[Q, R]],
        request: Q,
        *,
        repeatable: bool,
        game_id: str = "",
    ) -> R:
        """Make a unary call; one that is `repeatable` is tried again when the server is away.

        Raises:
            RequestError: the server answered with a failure.
            ConnectionLost: no server answered.
        """
        await self.tokens.ready()
        used = self.tokens.version
        try:
            return await self._repeat(method, request, repeatable, game_id)
        except NotAuthenticated as error:
            if not (error.expired and await self.tokens.replaces(used)):
                raise
        return await self._repeat(method, request, repeatable, game_id)

    async def stream(
        self, method: Callable[[Stubs], StreamMethod[Q, R]], request: Q, *, game_id: str = ""
    ) -> AsyncGenerator[R | None, None]:
        """The responses of a server stream that is opened again when it is lost.

        Yields None for each loss, before it waits: what follows may repeat, or miss, something.

        Raises:
            RequestError: the server answered with a failure that won't pass.
            ConnectionLost: an outage lasted for longer than the client's patience, or the client
                was closed.
        """
        outage, renewed, times_closed = Outage(self.options), False, self._times_closed
        while True:
            await self.tokens.ready()
            self._check_open(times_closed)
            used, heard = self.tokens.version, False
            outage.connecting()
            call = method(self.stubs)(request, metadata=self.metadata(game_id))
            try:
                async for response in call:
                    heard = True
                    if response is None:
                        raise request_error(UNREADABLE)
                    yield response
                return
            except grpc.aio.AioRpcError as error:
                failure = to_error(error)
            except asyncio.CancelledError:
                reraise_own_cancellation()
                failure = request_error(LOST)
            finally:
                call.cancel()
            self._check_open(times_closed)
            renewed = renewed and not heard
            if isinstance(failure, NotAuthenticated) and failure.expired and not renewed:
                renewed = await self.tokens.replaces(used)
                if renewed:
                    continue
            if failure.failure.status not in RESUMABLE:
                raise failure
            yield None
            await asyncio.sleep(outage.lost(heard=heard, hint_s=failure.retry_after_s))

    def play(self, game_id: str) -> PlayCall:
        """Open the stream that plays games; `game_id` is one of them."""
        return self.stubs.engine.Play(metadata=self.metadata(game_id))

    async def ask_for_refusal(self, game_id: str) -> None:
        """Raise what the server has against this client, if it has anything.

        A stream that is refused while it writes ends as an internal error, and the refusal with its
        reason is lost; a single call brings it.

        Raises:
            RequestError: the server refuses this client.
        """
        request = engine_service_pb2.GetGameRequest(game_id=game_id)
        try:
            await self._repeat(
                lambda stubs: stubs.engine.GetGame, request, repeatable=False, game_id=game_id
            )
        except (NotAuthenticated, NotAllowed):
            raise
        except (ConnectionLost, RequestError):
            return  # the stream itself will tell

    async def close(self) -> None:
        """Close the channel, and end what would go on with the next; new calls open another."""
        self._times_closed += 1
        await self.drop()

    async def drop(self) -> None:
        """Close the channel with all its calls, as an outage does; the next call opens another."""
        await self.tokens.stop()
        channel, self._channel, self._stubs = self._channel, None, None
        loop, self._loop = self._loop, None
        if channel is not None and loop is asyncio.get_running_loop():
            await channel.close()

    async def _repeat(
        self,
        method: Callable[[Stubs], UnaryMethod[Q, R]],
        request: Q,
        repeatable: bool,
        game_id: str,
    ) -> R:
        """Make the call, and again if it fails as it may not the next time.

        It has a few tries, as nobody may be there at all. A server that was heard before is away,
        or another process takes over: that is waited for as long as the client's patience lasts.
        """
        backoff, times_closed = Backoff(), self._times_closed
        give_up = time.monotonic() + self.options.patience_s
        tries_left = _MOST_TRIES
        while True:
            try:
                response = await method(self.stubs)(
                    request,
                    timeout=self.options.call_timeout_s,
                    metadata=self.metadata(game_id),
                )
            except grpc.aio.AioRpcError as error:
                failure = to_error(error)
            except asyncio.CancelledError:
                reraise_own_cancellation()
                failure = request_error(LOST)
            else:
                if response is None:
                    raise request_error(UNREADABLE)
                self._heard = True
                return response
            self._check_open(times_closed)
            untouched = failure.reason in _ELSEWHERE
            if not (repeatable or untouched):
                raise self._as_lost(failure)
            if not (self._heard and (untouched or self._is_away(failure))):
                tries_left -= 1
            wait_s = backoff.next_wait(failure.retry_after_s)
            worth = _worth_repeating(failure, self.options.longest_hint_s)
            if not (tries_left and worth and time.monotonic() + wait_s < give_up):
                raise self._as_lost(failure)
            await asyncio.sleep(wait_s)
            self._check_open(times_closed)

    async def _renewed_token(self) -> str:
        response = await self._repeat(
            lambda stubs: stubs.identity.RefreshToken,
            identity_service_pb2.RefreshTokenRequest(),
            repeatable=False,  # the keeper tries again, while the call that waits goes on
            game_id="",
        )
        return response.token.jwt

    def _check_open(self, times_closed: int) -> None:
        """Whether the client was closed since it had been closed so often.

        Raises:
            ConnectionLost: it was.
        """
        if self._times_closed != times_closed:
            raise ConnectionLost(CLOSED)

    @staticmethod
    def _is_away(error: RequestError) -> bool:
        """UNAVAILABLE without a reason comes from the channel, not from a service."""
        return isinstance(error, ServiceUnavailable) and not error.reason

    def _as_lost(self, error: RequestError) -> Exception:
        """The error, or that nobody answered."""
        if self._is_away(error):
            return ConnectionLost(f"no answer from {self.address}: {error.failure.message}")
        return error


def reraise_own_cancellation() -> None:
    """In an `except CancelledError`: raise it if the task was cancelled, not the call under it.

    A channel that is closed cancels its calls, and whoever awaits one sees the same error.
    """
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        raise  # noqa: PLE0704 - what is being handled


def check_loop(owner: asyncio.AbstractEventLoop | None, running: asyncio.AbstractEventLoop) -> None:
    """Whether a client of loop `owner` may be used by the running one.

    Raises:
        WrongLoop: its own loop is still running, too.
    """
    if owner is not None and owner is not running and owner.is_running():
        raise WrongLoop("the client is in use by another loop: close it there, or make one a loop")


def _worth_repeating(error: RequestError, longest_hint_s: float) -> bool:
    """Whether the failure passes; who is told to wait for too long is told so at once."""
    if isinstance(error, LimitReached) and error.retry_after_s is None:
        return False
    passes = isinstance(error, LimitReached | ServiceUnavailable)
    return passes and (error.retry_after_s or 0) <= longest_hint_s


class Calls:
    """What the calls of every service share."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
