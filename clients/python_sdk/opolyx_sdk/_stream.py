"""The task that owns a client's stream: connects, carries frames, reconnects, gives up.

One reader and one writer a stream: gRPC allows no more. All state is the session's; this file
only moves bytes and waits.
"""

import asyncio
from typing import Final

import grpc

from opolyx_sdk import _convert
from opolyx_sdk._backoff import Outage, bounded_hint
from opolyx_sdk._frames import Attach, Command
from opolyx_sdk._inbox import Inbox
from opolyx_sdk._mirror import Mirror
from opolyx_sdk._session import (
    Answered,
    Changed,
    Closed,
    Drained,
    Opened,
    RetryLater,
    Session,
    Signal,
    Updated,
)
from opolyx_sdk._status import to_error
from opolyx_sdk._transport.channel import (
    CLOSED,
    RESUMABLE,
    UNREADABLE,
    PlayCall,
    Transport,
    reraise_own_cancellation,
)
from opolyx_sdk.actions import Action
from opolyx_sdk.errors import (
    ConnectionLost,
    GameError,
    NotAuthenticated,
    OutcomeUnknown,
    Refused,
    RequestError,
    request_error,
)

_LONGEST_END_S: Final = 5.0


class GameStream:
    """All games of a client, on one stream. Belongs to one loop."""

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._options = transport.options
        self._session = Session()
        self._inboxes: dict[str, Inbox] = {}
        self._opening: dict[str, asyncio.Future[None]] = {}
        self._answers: dict[str, asyncio.Future[int]] = {}
        self._timers: set[asyncio.TimerHandle] = set()
        self._to_write = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._one_stream = asyncio.Lock()  # a task that ends and the next one share the session
        self._heard = False
        self.online = False
        """Whether the server is heard: it is as soon as it has answered on the stream of now."""
        self._renewed = False
        self._closed = False

    # --- For games ------------------------------------------------------------------------------

    def mirror(self, game_id: str) -> Mirror | None:
        """A game's mirror while it is open."""
        return self._session.mirror(game_id)

    async def open(self, game_id: str, *, spectator: bool) -> Inbox:
        """Begin to receive a game; returns once its state is known.

        Raises:
            TypeError: the id is no text.
            ValueError: the client has the game open already.
            GameClosed: the server doesn't show it.
            ConnectionLost: no server answers, or it doesn't send the game.
            RequestError: the server refuses the stream.
        """
        self._check_open()
        _convert.write_request(Attach(game_id))  # what can't be sent fails here, not in the writer
        self._session.attach(game_id, spectator=spectator)
        inbox = Inbox(self._options.updates_kept)
        opening = asyncio.get_running_loop().create_future()
        self._inboxes[game_id] = inbox
        self._opening[game_id] = opening
        self._go_on()
        try:
            async with asyncio.timeout(self._options.patience_s):
                await opening
        except TimeoutError:
            await self.leave(game_id)
            raise ConnectionLost(f"the server has not sent game {game_id}") from None
        except BaseException:
            await self.leave(game_id)
            raise
        return inbox

    async def leave(self, game_id: str) -> None:
        """Stop receiving a game; the stream ends with the last one."""
        self._detach(game_id)
        self._opening.pop(game_id, None)
        if inbox := self._inboxes.pop(game_id, None):
            inbox.end(None)
        self._to_write.set()
        if self._session.idle:
            await self._stop()

    async def submit(
        self, game_id: str, decision_id: str, action: Action, command_id: str | None
    ) -> int:
        """Send a command until it is answered; returns the update's seq.

        Raises:
            TypeError: this is no action, or something in it is no number.
            ValueError: the action holds a number that the wire can't carry.
            Refused: nothing has changed.
            GameError: the game had ended for this client before.
            RequestError: the server had refused the stream before.
            OutcomeUnknown: no answer came in time; it may have taken effect.
        """
        self._check_open()
        inbox = self._inboxes.get(game_id)
        if inbox is not None and isinstance(inbox.error, GameError | RequestError):
            raise inbox.error  # another stream would but be refused again
        _convert.write_request(Command(game_id, command_id or "", decision_id, action))
        with self._transport.traces.command(game_id) as place:
            command_id = self._session.submit(game_id, decision_id, action, command_id, place)
            return await self._answer_to(command_id)

    async def _answer_to(self, command_id: str) -> int:
        answer = asyncio.get_running_loop().create_future()
        self._answers[command_id] = answer
        self._go_on()
        try:
            async with asyncio.timeout(self._options.answer_within_s):
                seq: int = await answer
                return seq
        except TimeoutError:
            raise OutcomeUnknown(command_id) from None
        finally:
            self._answers.pop(command_id, None)
            self._session.forget(command_id)
            if self._session.idle and self._task is not None:
                self._task.cancel()  # the game was left while this was under way

    async def close(self) -> None:
        """End the stream; no call and no task is left behind."""
        self._closed = True
        self._end_all(ConnectionLost(CLOSED))
        await self._stop()

    def _check_open(self) -> None:
        """A closed client starts no stream for the games that it had.

        Raises:
            ConnectionLost: it is closed.
        """
        if self._closed:
            raise ConnectionLost(CLOSED)

    # --- The task -------------------------------------------------------------------------------

    def _go_on(self) -> None:
        self._to_write.set()
        if self._task is None or self._task.done() or self._task.cancelling():
            self._task = asyncio.create_task(self._run(), name="opolyx-stream")

    async def _stop(self) -> None:
        """End the task and wait for it; a game opened meanwhile has a task of its own."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        if self._task is not None:
            self._task.cancel()
            await asyncio.wait([self._task], timeout=_LONGEST_END_S)

    async def _run(self) -> None:
        """Keep a stream until nothing needs it, or until patience runs out."""
        try:
            async with self._one_stream:
                await self._keep_connected()
        except RequestError as error:
            self._end_all(error)
        except Exception as error:  # a bug; whoever waits must not wait for ever
            self._end_all(error)

    async def _keep_connected(self) -> None:
        outage = Outage(self._options)
        while not self._session.idle:
            self._heard = False
            outage.connecting()
            hint_s = await self._connect_once()
            await asyncio.sleep(outage.lost(heard=self._heard, hint_s=hint_s))

    async def _connect_once(self) -> float | None:
        """One stream from its start to its loss; returns the server's hint when to come back."""
        await self._transport.tokens.ready()
        used = self._transport.tokens.version
        call = self._transport.play(next(iter(self._inboxes), ""))
        self._session.connected()
        self._to_write.set()
        writer = asyncio.create_task(self._write(call), name="opolyx-stream-writer")
        try:
            return await self._read(call)
        except grpc.aio.AioRpcError as error:
            failure = to_error(error)
            if error.code() is grpc.StatusCode.INTERNAL and not self._heard:
                failure = await self._real_failure(failure)
            if failure.failure.status not in RESUMABLE and not await self._renew(failure, used):
                raise failure from None
            return failure.retry_after_s
        except grpc.aio.BaseError:
            return None
        except asyncio.CancelledError:
            reraise_own_cancellation()
            return None  # the channel was closed under the call: an outage like any other
        finally:
            self.online = False
            self._session.disconnected()
            writer.cancel()
            call.cancel()
            await asyncio.gather(writer, return_exceptions=True)

    async def _real_failure(self, failure: RequestError) -> RequestError:
        """What a stream was refused for, when its own writing has hidden that."""
        try:
            await self._transport.ask_for_refusal(next(iter(self._inboxes), ""))
        except RequestError as refusal:
            return refusal
        return failure

    async def _renew(self, failure: RequestError, used: int) -> bool:
        """Whether only the token's time was over and there is another now: once in a row."""
        if self._renewed or not (isinstance(failure, NotAuthenticated) and failure.expired):
            return False
        self._renewed = await self._transport.tokens.replaces(used)
        return self._renewed

    async def _read(self, call: PlayCall) -> float | None:
        async for response in call:
            if response is None:
                raise request_error(UNREADABLE)
            self._heard, self.online, self._renewed = True, True, False
            for frame in _convert.read_frames(response.frames):
                for signal in self._session.receive(frame):
                    if isinstance(signal, Drained):
                        return signal.after_ms / 1000
                    self._deliver(signal)
            if self._session.outgoing:
                self._to_write.set()
        return None

    async def _write(self, call: PlayCall) -> None:
        """Send what the session wants; a call that has ended is the reader's business."""
        try:
            while True:
                await self._to_write.wait()
                self._to_write.clear()
                while self._session.outgoing:
                    await call.write(_convert.write_request(self._session.outgoing.popleft()))
        except (asyncio.InvalidStateError, grpc.aio.AioRpcError, grpc.aio.BaseError):
            return

    # --- What the session signals ---------------------------------------------------------------

    def _deliver(self, signal: Signal) -> None:
        match signal:
            case Updated(update):
                self._put(update.game_id).put(update)
                self._end_if_over(update.game_id)
            case Opened(game_id):
                self._end_if_over(game_id)
                if (opening := self._opening.pop(game_id, None)) and not opening.done():
                    opening.set_result(None)
            case Changed(game_id):
                self._end_if_over(game_id)
            case Closed(game_id, error):
                self._fail_game(game_id, error)
            case Answered():
                self._answer(signal)
            case RetryLater(key, after_ms):
                hint_s = bounded_hint(after_ms / 1000, self._options.longest_hint_s)
                self._later(key, hint_s or 0.0)
            case Drained():
                pass  # ends the reading, above

    def _detach(self, game_id: str) -> None:
        for signal in self._session.detach(game_id):
            self._deliver(signal)

    def _put(self, game_id: str) -> Inbox:
        return self._inboxes.get(game_id) or Inbox(1)

    def _end_if_over(self, game_id: str) -> None:
        mirror = self._session.mirror(game_id)
        if mirror is not None and mirror.ended:
            self._put(game_id).end(None)

    def _fail_game(self, game_id: str, error: Exception) -> None:
        opening = self._opening.pop(game_id, None)
        if opening is not None and not opening.done():
            opening.set_exception(error)
        self._put(game_id).end(error)

    def _answer(self, answered: Answered) -> None:
        answer = self._answers.get(answered.command_id)
        if answer is None or answer.done():
            return
        if answered.refusal is not None:
            answer.set_exception(Refused(answered.refusal))
        else:
            answer.set_result(answered.seq)

    def _later(self, key: str, after_s: float) -> None:
        def again() -> None:
            self._timers.discard(timer)
            self._session.again(key)
            self._to_write.set()

        timer = asyncio.get_running_loop().call_later(after_s, again)
        self._timers.add(timer)

    def _end_all(self, error: Exception) -> None:
        for game_id in self._inboxes:
            self._detach(game_id)
            self._fail_game(game_id, error)
        for command_id, answer in self._answers.items():
            if not answer.done():
                fatal = isinstance(error, RequestError)
                answer.set_exception(error if fatal else OutcomeUnknown(command_id))
