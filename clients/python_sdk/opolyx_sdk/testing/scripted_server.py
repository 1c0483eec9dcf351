"""A server of opolyx's wire that does what a test tells it, over real gRPC on loopback."""

import asyncio
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Final, Self, TypeVar

import grpc

from opolyx_sdk._frames import Attach, Command, Detach, Detached, Draining, Frame, Ping, Pong
from opolyx_sdk.accounts import Account
from opolyx_sdk.enums import DetachReason, Role
from opolyx_sdk.errors import Failure
from opolyx_sdk.matches import Found, Waiting
from opolyx_sdk.offers import BotOffer, BotSeated, OfferTaken
from opolyx_sdk.rooms import Room
from opolyx_sdk.testing._wire import (
    METHODS,
    Failed,
    Stream,
    add_services,
    read_command,
    read_offer,
    read_play,
)
from opolyx_sdk.testing.lobby import Lobby
from opolyx_sdk.testing.scripted_game import ScriptedGame
from opolyx_sdk.testing.token_book import TokenBook, bad_token

T = TypeVar("T")

_LONGEST_S: Final = 10.0
_WEEK_S: Final = 7 * 86_400.0


@dataclass(frozen=True, slots=True)
class Call:
    """A call that came."""

    method: str
    """Name of the method, for instance `CreateRoom`."""

    token: str = field(repr=False)
    """The token that it carried; empty without one."""


class ScriptedServer:
    """Serves scripted games, rooms and answers on a free port of this machine. Use as a context.

    It runs in a thread of its own: it serves asynchronous and blocking clients alike, and all its
    methods may be called from anywhere.
    """

    def __init__(self, *, token_life_s: float = _WEEK_S, ahead_s: float = 0.0) -> None:
        """Describe the server.

        Args:
            token_life_s: how long the tokens that it makes are valid, seconds.
            ahead_s: by how much its clock is ahead of this machine's, seconds.
        """
        self.address = ""
        """Host and port, once the server runs."""
        self.ahead_s = ahead_s
        """By how much its clock is ahead, seconds."""
        self.calls: list[Call] = []
        """Every call that came, in order."""
        self.games: dict[str, ScriptedGame] = {}
        """The games by id."""
        self.offers: list[BotOffer] = []
        """What bots have offered themselves with, in order."""
        self._tokens = TokenBook(token_life_s)
        self._failures: dict[str, deque[Failure]] = {}
        self._lost_answers: dict[str, int] = {}
        self._scripted: dict[str, dict[str, object]] = {}
        self._streams: list[Stream] = []
        self._lobby = Lobby(self._started)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stopping: asyncio.Event | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        """Start."""
        ready: Future[None] = Future()
        self._thread = threading.Thread(
            target=lambda: asyncio.run(self._serve(ready)), name="opolyx-scripted", daemon=True
        )
        self._thread.start()
        ready.result(_LONGEST_S)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop, whoever is connected."""
        if self._loop is not None and self._stopping is not None and self._thread is not None:
            self._loop.call_soon_threadsafe(self._stopping.set)
            self._thread.join(_LONGEST_S)

    # --- Games and rooms ------------------------------------------------------------------------

    def game(
        self,
        game_id: str = "g1",
        *,
        seats: Sequence[str] = ("Ada", "Bruno", "Chandra", "Dewi"),
        your_seat: int | None = 0,
        ruleset: str = "classic@full",
    ) -> ScriptedGame:
        """A game to play and to watch; seat 0 is to roll."""
        made = ScriptedGame(self, game_id, seats=seats, your_seat=your_seat, ruleset=ruleset)
        self.games[game_id] = made
        return made

    def room(self, room: Room) -> None:
        """Let there be a room, or a newer state of it; those who watch it are told."""
        self.do(lambda: self._show(self._lobby.put(room)))

    def match(self, game_id: str, seat: int = 0) -> None:
        """Let every search that is open find this game."""
        self.do(lambda: self._found(game_id, seat))

    def seat_bot(self, game_id: str, seat: int = 0) -> None:
        """Seat every bot that is offered in a game."""
        ruleset = self.games[game_id].ruleset
        self.do(lambda: self._tell_bots(BotSeated(game_id, seat, ruleset)))

    # --- Answers and failures -------------------------------------------------------------------

    def answer(self, method: str, **fields: object) -> None:
        """Answer a unary method with these fields of its response, as values.

        For instance `answer("GetProfile", profile=Profile(...))`.
        """
        self._scripted[_known(method)] = fields

    def fail_next(self, method: str, failure: Failure, times: int = 1) -> None:
        """Let the next calls of a method fail, before they have an effect."""
        self._failures.setdefault(_known(method), deque()).extend([failure] * times)

    def lose_answer(self, method: str, times: int = 1) -> None:
        """Let the next unary calls of a method have their effect, and lose the answer."""
        self._lost_answers[_known(method)] = times

    def cut(self, failure: Failure | None = None) -> None:
        """End all open streams; as a lost connection looks, when no failure is given."""
        lost = failure or Failure("UNAVAILABLE", "cut")
        self.do(lambda: self._end_all(lost))

    def drain(self, retry_after_s: float) -> None:
        """Tell everybody who plays that the server goes away."""
        frame = Frame("", Draining(round(retry_after_s * 1000)))
        self.do(lambda: self._tell_players(frame))

    def revoke_tokens(self) -> None:
        """Take back every token made or seen so far; their streams end."""
        self.do(lambda: self._spoil("revoked"))

    def expire_tokens(self) -> None:
        """Let the time of every token made or seen so far be over; their streams end.

        They can still be renewed, as within the seconds that a server allows for other clocks.
        """
        self.do(lambda: self._spoil("expired"))

    @property
    def open_streams(self) -> int:
        """How many streams are open now."""
        return self.do(lambda: len(self._streams))

    def wait_until(self, true: Callable[[], bool], timeout_s: float = 5.0) -> None:
        """Wait for what a client in another thread does.

        Raises:
            TimeoutError: it has not come about.
        """
        give_up = time.monotonic() + timeout_s
        while not true():
            if time.monotonic() > give_up:
                raise TimeoutError("what was waited for has not come about")
            time.sleep(0.005)

    # --- For games, in any thread ---------------------------------------------------------------

    def do(self, work: Callable[[], T]) -> T:
        """Do `work` in the server's thread."""
        if self._loop is None or threading.current_thread() is self._thread:
            return work()
        done: Future[T] = Future()

        def run() -> None:
            try:
                done.set_result(work())
            except Exception as error:  # handed to who waits
                done.set_exception(error)

        self._loop.call_soon_threadsafe(run)
        return done.result(_LONGEST_S)

    def send(self, game_id: str, frame: Frame) -> None:
        """Send to every stream that is attached to the game."""
        for stream in self._streams:
            if game_id in stream.games:
                stream.send_frame(frame)
                if isinstance(frame.kind, Detached):
                    stream.games.discard(game_id)

    # --- What the handlers ask, in the server's thread ------------------------------------------

    def enter(self, method: str, token: str) -> None:
        """A call begins."""
        self.calls.append(Call(method, token))
        if waiting := self._failures.get(method):
            raise Failed(waiting.popleft())
        problem = self._tokens.problem_of(token)
        if problem and not (method == "RefreshToken" and problem == "expired"):
            raise Failed(bad_token(problem))

    def unary(self, method: str, request: Any) -> dict[str, object]:
        """The fields of a unary method's response."""
        if (scripted := self._scripted.get(method)) is not None:
            return dict(scripted)
        if (answer := getattr(self, f"_on_{method}", None)) is not None:
            fields: dict[str, object] = answer(request)
            return fields
        try:
            fields_of = self._lobby.answer(method, request)
        except LookupError:
            raise Failed(Failure("NOT_FOUND", "no such room", reason="ROOM_NOT_FOUND")) from None
        if fields_of is not None:
            for room in self._lobby.take_changed():
                self._show(room)
            return fields_of
        raise Failed(Failure("UNIMPLEMENTED", f"script it: server.answer({method!r}, ...)"))

    def leave(self, method: str) -> None:
        """A unary call has had its effect."""
        if self._lost_answers.get(method):
            self._lost_answers[method] -= 1
            raise Failed(Failure("UNAVAILABLE", "the answer was lost"))

    def open_stream(self, method: str, token: str, request: Any) -> Stream:
        """A stream is open."""
        stream = Stream(method, token)
        self._streams.append(stream)
        if method == "WatchGame":
            after = request.after_seq if request.HasField("after_seq") else None
            self._attach(stream, Attach(request.game_id, after, spectator=True))
        elif method == "WatchRoom":
            stream.topic = request.room_id
            room = self._lobby.rooms.get(request.room_id)
            if room is None:
                stream.end(Failure("NOT_FOUND", "no such room", reason="ROOM_NOT_FOUND"))
            else:
                self._show(room, only=stream)
        elif method == "QuickMatch":
            stream.send({"waiting": Waiting(1, 0)})
        return stream

    def asked(self, stream: Stream, request: Any) -> None:
        """A client says something on its stream."""
        if stream.method == "OfferBot":
            if request.WhichOneof("kind") == "offer":
                self.offers.append(read_offer(request))
                stream.send({"offer_taken": OfferTaken(0)})
            return
        match read_play(request):
            case Attach() as attach:
                self._attach(stream, attach)
            case Detach(game_id):
                stream.games.discard(game_id)
            case Command() as command:
                self._command(stream, command)
            case Ping(nonce):
                stream.send_frame(Frame("", Pong(nonce, self._now_ms())))

    def close_stream(self, stream: Stream) -> None:
        """A stream has ended."""
        if stream in self._streams:
            self._streams.remove(stream)

    # --- Helpers --------------------------------------------------------------------------------

    async def _serve(self, ready: "Future[None]") -> None:
        self._loop, self._stopping = asyncio.get_running_loop(), asyncio.Event()
        server = grpc.aio.server()
        add_services(self, server)
        self.address = f"127.0.0.1:{server.add_insecure_port('127.0.0.1:0')}"
        await server.start()
        ready.set_result(None)
        await self._stopping.wait()
        self.cut()
        await server.stop(0.1)
        self._loop = None

    def _attach(self, stream: Stream, attach: Attach) -> None:
        game = self.games.get(attach.game_id)
        if game is None:
            stream.send_frame(Frame(attach.game_id, Detached(DetachReason.NOT_FOUND, "")))
            return
        stream.games.add(attach.game_id)
        for kind in game.attach(attach):
            stream.send_frame(Frame(attach.game_id, kind))

    def _command(self, stream: Stream, command: Command) -> None:
        game = self.games.get(command.game_id)
        result = game.command(command) if game else None
        if result is not None:
            stream.send_frame(Frame(command.game_id, result))

    def _show(self, room: Room, only: Stream | None = None) -> None:
        for stream in [only] if only else self._streams:
            if stream.method == "WatchRoom" and stream.topic == room.room_id:
                stream.send({"room": room})
                if self._lobby.is_over(room):
                    stream.end()

    def _started(self, game_id: str, room: Room) -> None:
        if game_id not in self.games:
            names = [seat.name for seat in room.seats]
            self.game(game_id, seats=names, ruleset=room.ruleset)

    def _found(self, game_id: str, seat: int) -> None:
        self._lobby.place(game_id, seat)
        for stream in self._streams:
            if stream.method == "QuickMatch":
                stream.send({"found": Found(game_id, seat)})
                stream.end()

    def _tell_bots(self, news: BotSeated) -> None:
        for stream in self._streams:
            if stream.method == "OfferBot":
                stream.send({"seated": news})

    def _tell_players(self, frame: Frame) -> None:
        for stream in self._streams:
            if stream.method == "Play":
                stream.send_frame(frame)

    def _end_all(self, failure: Failure) -> None:
        for stream in self._streams:
            stream.end(failure)

    def _spoil(self, problem: str) -> None:
        self._tokens.spoil(problem)
        self._end_all(bad_token(problem))

    def _now_ms(self) -> int:
        return round((time.time() + self.ahead_s) * 1000)

    # --- Identity and the engine's unary calls --------------------------------------------------

    def _on_CreateGuest(self, request: Any) -> dict[str, object]:
        self._lobby.account = Account("p_scripted", request.name, Role.PLAYER, "")
        return {"account": self._lobby.account, "token": self._tokens.make(self._now_ms())}

    def _on_CreateBotToken(self, request: Any) -> dict[str, object]:
        bot = Account(f"b_{request.name}", request.name, Role.BOT, self._lobby.account.player_id)
        return {"account": bot, "token": self._tokens.make(self._now_ms())}

    def _on_RefreshToken(self, request: Any) -> dict[str, object]:
        return {"token": self._tokens.make(self._now_ms())}

    def _on_RevokeToken(self, request: Any) -> dict[str, object]:
        self._spoil("revoked")
        return {}

    def _on_WhoAmI(self, request: Any) -> dict[str, object]:
        return {"account": self._lobby.account}

    def _on_GetGame(self, request: Any) -> dict[str, object]:
        game = self.games.get(request.game_id)
        if game is None:
            raise Failed(Failure("NOT_FOUND", "no such game", reason="GAME_NOT_FOUND"))
        return {"snapshot": game.snapshot()}

    def _on_SubmitCommand(self, request: Any) -> dict[str, object]:
        command = read_command(request)
        game = self.games.get(command.game_id) if command else None
        if command is None or game is None:
            raise Failed(Failure("NOT_FOUND", "no such game", reason="GAME_NOT_FOUND"))
        return {"result": game.command(command)}


def _known(method: str) -> str:
    if method not in METHODS:
        raise ValueError(f"there is no method {method!r}")
    return method
