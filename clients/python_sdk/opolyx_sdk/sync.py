"""The client without asyncio: a facade over `AsyncClient`, whose loop runs in a thread."""

import asyncio
import os
import threading
from collections.abc import AsyncGenerator, Coroutine, Iterator
from concurrent.futures import CancelledError
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self, TypeVar

from opolyx_sdk._transport.channel import CLOSED
from opolyx_sdk.accounts import Account, Login, Token
from opolyx_sdk.actions import ProposeTrade
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.decisions import TradeVerdict
from opolyx_sdk.enums import GamePlace, GameState
from opolyx_sdk.errors import ConnectionLost, WrongLoop
from opolyx_sdk.events import Event
from opolyx_sdk.game_summary import GameSummary
from opolyx_sdk.matches import CurrentGame, MatchProgress
from opolyx_sdk.offers import BotOffer, OfferNews
from opolyx_sdk.options import ClientOptions
from opolyx_sdk.oversight import (
    AuditReport,
    DeadLetter,
    EntitlementChange,
    InspectedGame,
    RetriedDeadLetters,
    RunningGames,
    Signal,
)
from opolyx_sdk.profiles import Award, Card, LeaderboardRow, Level, Profile
from opolyx_sdk.rooms import Room, RoomOptions
from opolyx_sdk.sync_game import SyncGame
from opolyx_sdk.updates import GameInfo, Update

T = TypeVar("T")

_LONGEST_END_S: Final = 10.0


class Client:
    """As `AsyncClient`, blocking. May be used by several threads."""

    def __init__(
        self, address: str, *, token: str | None = None, options: ClientOptions | None = None
    ) -> None:
        """As `AsyncClient`. The thread begins with the first call."""
        self._client = AsyncClient(address, token=token, options=options)
        self._lock = threading.Lock()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None
        self._process = 0
        self._closed = False

    def __repr__(self) -> str:
        """The address; never the token."""
        return f"Client({self._client.address!r})"

    def __enter__(self) -> Self:
        """Nothing is opened yet."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close."""
        self.close()

    def close(self) -> None:
        """End all calls, other threads' too, and the thread. The client can't be used again."""
        with self._lock:
            closed, self._closed = self._closed, True
            loop, thread = self._loop, self._thread
        if closed or loop is None or thread is None or self._elsewhere:
            return
        asyncio.run_coroutine_threadsafe(self._end(), loop).result(_LONGEST_END_S)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_LONGEST_END_S)
        loop.close()

    def connect(self, timeout_s: float = 10.0) -> None:
        """As `AsyncClient.connect`."""
        self._run(self._client.connect(timeout_s))

    def create_guest(self, name: str) -> Login:
        """As `AsyncClient.create_guest`."""
        return self._run(self._client.create_guest(name))

    def create_bot_token(self, name: str) -> Login:
        """As `AsyncClient.create_bot_token`."""
        return self._run(self._client.create_bot_token(name))

    def refresh_token(self) -> Token:
        """As `AsyncClient.refresh_token`."""
        return self._run(self._client.refresh_token())

    def revoke_token(self, token_id: str = "", *, player_id: str = "") -> None:
        """As `AsyncClient.revoke_token`."""
        self._run(self._client.revoke_token(token_id, player_id=player_id))

    def who_am_i(self) -> Account:
        """As `AsyncClient.who_am_i`."""
        return self._run(self._client.who_am_i())

    def create_room(
        self,
        ruleset: str,
        seats: int,
        *,
        public: bool = False,
        options: RoomOptions | None = None,
        nonce: bytes = b"",
        request_id: str | None = None,
    ) -> Room:
        """As `AsyncClient.create_room`."""
        return self._run(
            self._client.create_room(
                ruleset,
                seats,
                public=public,
                options=options,
                nonce=nonce,
                request_id=request_id,
            )
        )

    def join_room(
        self, room_id: str = "", *, code: str = "", nonce: bytes = b""
    ) -> tuple[Room, int]:
        """As `AsyncClient.join_room`."""
        return self._run(self._client.join_room(room_id, code=code, nonce=nonce))

    def get_room(self, room_id: str) -> Room:
        """As `AsyncClient.get_room`."""
        return self._run(self._client.get_room(room_id))

    def list_rooms(self, *, ruleset: str = "", most: int = 50) -> tuple[Room, ...]:
        """As `AsyncClient.list_rooms`."""
        return self._run(self._client.list_rooms(ruleset=ruleset, most=most))

    def leave_room(self, room_id: str) -> None:
        """As `AsyncClient.leave_room`."""
        self._run(self._client.leave_room(room_id))

    def add_bot(
        self,
        room_id: str,
        *,
        policy: str = "",
        player_id: str = "",
        seat: int | None = None,
        request_id: str | None = None,
    ) -> Room:
        """As `AsyncClient.add_bot`."""
        return self._run(
            self._client.add_bot(
                room_id, policy=policy, player_id=player_id, seat=seat, request_id=request_id
            )
        )

    def remove_bot(self, room_id: str, seat: int) -> Room:
        """As `AsyncClient.remove_bot`."""
        return self._run(self._client.remove_bot(room_id, seat))

    def kick(self, room_id: str, player_id: str) -> Room:
        """As `AsyncClient.kick`."""
        return self._run(self._client.kick(room_id, player_id))

    def rematch(self, game_id: str, *, nonce: bytes = b"") -> Room:
        """As `AsyncClient.rematch`."""
        return self._run(self._client.rematch(game_id, nonce=nonce))

    def watch_room(self, room_id: str) -> Iterator[Room]:
        """As `AsyncClient.watch_room`."""
        return self._iterate(self._client.watch_room(room_id))

    def quick_match(
        self, ruleset: str, seats: int, *, allow_bots: bool = False, nonce: bytes = b""
    ) -> Iterator[MatchProgress]:
        """As `AsyncClient.quick_match`."""
        return self._iterate(
            self._client.quick_match(ruleset, seats, allow_bots=allow_bots, nonce=nonce)
        )

    def offer_bot(self, offer: BotOffer) -> Iterator[OfferNews]:
        """As `AsyncClient.offer_bot`."""
        return self._iterate(self._client.offer_bot(offer))

    def start_game(self, room_id: str) -> str:
        """As `AsyncClient.start_game`."""
        return self._run(self._client.start_game(room_id))

    def current_game(self) -> CurrentGame:
        """As `AsyncClient.current_game`."""
        return self._run(self._client.current_game())

    def get_game(self, game_id: str) -> tuple[GameInfo, Update]:
        """As `AsyncClient.get_game`."""
        return self._run(self._client.get_game(game_id))

    def list_games(self, *, ruleset: str = "", most: int = 50) -> tuple[GameSummary, ...]:
        """As `AsyncClient.list_games`."""
        return self._run(self._client.list_games(ruleset=ruleset, most=most))

    def past_events(
        self, game_id: str, *, after_seq: int = 0, up_to: int
    ) -> dict[int, tuple[Event, ...]]:
        """As `AsyncClient.past_events`."""
        return self._run(self._client.past_events(game_id, after_seq=after_seq, up_to=up_to))

    def check_trade(self, game_id: str, trade: ProposeTrade) -> TradeVerdict:
        """As `AsyncClient.check_trade`."""
        return self._run(self._client.check_trade(game_id, trade))

    def get_replay(self, game_id: str, path: Path) -> bool:
        """As `AsyncClient.get_replay`."""
        return self._run(self._client.get_replay(game_id, path))

    def profile(self, player_id: str = "") -> Profile:
        """As `AsyncClient.profile`."""
        return self._run(self._client.profile(player_id))

    def awards(
        self, player_id: str = "", *, game_id: str = "", most: int = 50
    ) -> tuple[Award, ...]:
        """As `AsyncClient.awards`."""
        return self._run(self._client.awards(player_id, game_id=game_id, most=most))

    def levels(self) -> tuple[Level, ...]:
        """As `AsyncClient.levels`."""
        return self._run(self._client.levels())

    def leaderboard(
        self, mode: str = "", *, bots: bool = False, around: str = "", most: int = 20
    ) -> tuple[LeaderboardRow, ...]:
        """As `AsyncClient.leaderboard`."""
        return self._run(self._client.leaderboard(mode, bots=bots, around=around, most=most))

    def cards(self, player_id: str = "") -> tuple[Card, ...]:
        """As `AsyncClient.cards`."""
        return self._run(self._client.cards(player_id))

    def audit(self, *, count_boards: bool = False) -> AuditReport:
        """As `AsyncClient.audit`."""
        return self._run(self._client.audit(count_boards=count_boards))

    def dead_letters(self, *, most: int = 100) -> tuple[DeadLetter, ...]:
        """As `AsyncClient.dead_letters`."""
        return self._run(self._client.dead_letters(most=most))

    def retry_dead_letters(self, *fact_numbers: int) -> RetriedDeadLetters:
        """As `AsyncClient.retry_dead_letters`."""
        return self._run(self._client.retry_dead_letters(*fact_numbers))

    def set_vip(self, player_id: str, vip: bool, *, reason: str) -> Profile:
        """As `AsyncClient.set_vip`."""
        return self._run(self._client.set_vip(player_id, vip, reason=reason))

    def signals(self, *, games: int = 0) -> tuple[Signal, ...]:
        """As `AsyncClient.signals`."""
        return self._run(self._client.signals(games=games))

    def entitlement_changes(
        self, player_id: str = "", *, most: int = 100
    ) -> tuple[EntitlementChange, ...]:
        """As `AsyncClient.entitlement_changes`."""
        return self._run(self._client.entitlement_changes(player_id, most=most))

    def running_games(
        self,
        *,
        most: int = 1_000,
        place: GamePlace = GamePlace.UNSPECIFIED,
        only_stuck: bool = False,
    ) -> RunningGames:
        """As `AsyncClient.running_games`."""
        return self._run(self._client.running_games(most=most, place=place, only_stuck=only_stuck))

    def inspect_game(self, game_id: str) -> InspectedGame:
        """As `AsyncClient.inspect_game`."""
        return self._run(self._client.inspect_game(game_id))

    def void_game(self, game_id: str, *, reason: str) -> GameState:
        """As `AsyncClient.void_game`."""
        return self._run(self._client.void_game(game_id, reason=reason))

    def pause_new_games(self) -> None:
        """As `AsyncClient.pause_new_games`."""
        self._run(self._client.pause_new_games())

    def resume_new_games(self) -> None:
        """As `AsyncClient.resume_new_games`."""
        self._run(self._client.resume_new_games())

    def drain_engine(self) -> int:
        """As `AsyncClient.drain_engine`."""
        return self._run(self._client.drain_engine())

    def play(self, game_id: str) -> SyncGame:
        """A game to act in, as a context."""
        return SyncGame(partial(self._client.play, game_id), self._run)

    def watch(self, game_id: str) -> SyncGame:
        """A game to watch, as a context."""
        return SyncGame(partial(self._client.watch, game_id), self._run)

    def _iterate(self, values: AsyncGenerator[T, None]) -> Iterator[T]:
        """The values as they come; the call ends with the iteration."""

        async def step() -> T | None:
            return await anext(values, None)

        try:
            while (value := self._run(step())) is not None:
                yield value
        finally:
            if not self._closed:
                self._run(values.aclose())

    async def _end(self) -> None:
        """Leave no task behind, or its thread would wait for ever."""
        await self._client.close()
        others = asyncio.all_tasks() - {asyncio.current_task()}
        for task in others:
            task.cancel()
        await asyncio.gather(*others, return_exceptions=True)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Do `work` in the loop's thread.

        Raises:
            ConnectionLost: the client is closed.
            WrongLoop: the thread was left behind in the process that this one was forked from.
        """
        with self._lock:
            if self._elsewhere:
                work.close()
                raise WrongLoop("the client was used before the process forked: make one in each")
            if self._closed:
                work.close()
                raise ConnectionLost(CLOSED)
            future = asyncio.run_coroutine_threadsafe(work, self._running_loop())
        try:
            return future.result()
        except CancelledError:
            raise ConnectionLost(CLOSED) from None
        except BaseException:  # the work's own, or a signal's: then nobody waits for it any more
            future.cancel()
            raise

    @property
    def _elsewhere(self) -> bool:
        """Whether the loop's thread runs in another process."""
        return self._loop is not None and self._process != os.getpid()

    def _running_loop(self) -> asyncio.AbstractEventLoop:
        """The loop, begun now if need be: a client may be made before a process forks."""
        if self._loop is None:
            self._process = os.getpid()
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(
                target=self._loop.run_forever, name="opolyx-client", daemon=True
            )
            self._thread.start()
        return self._loop
