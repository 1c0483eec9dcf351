"""Unary calls of the engine; games themselves go over the stream."""

import asyncio
from contextlib import aclosing
from pathlib import Path

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_sdk._convert import read, read_all, read_frames, write_trade
from opolyx_sdk._frames import Attached, Snapshot, UpdateFrame
from opolyx_sdk._mirror import Mirror
from opolyx_sdk._transport.channel import Calls
from opolyx_sdk.actions import ProposeTrade
from opolyx_sdk.decisions import TradeVerdict
from opolyx_sdk.errors import ConnectionLost
from opolyx_sdk.events import Event
from opolyx_sdk.game_summary import GameSummary
from opolyx_sdk.updates import GameInfo, Update


class EngineCalls(Calls):
    """Reading games."""

    async def get_game(self, game_id: str) -> tuple[GameInfo, Update]:
        """One game as it is now: what stays the same in it, and its state as an update."""
        response = await self._transport.call(
            lambda stubs: stubs.engine.GetGame,
            pb.GetGameRequest(game_id=game_id),
            repeatable=True,
            game_id=game_id,
        )
        snapshot = read(response.snapshot, Snapshot)
        mirror = Mirror(game_id, snapshot, 0)
        return mirror.info, mirror.as_update(snapshot.now_unix_ms, 0)

    async def past_events(
        self, game_id: str, *, after_seq: int = 0, up_to: int
    ) -> dict[int, tuple[Event, ...]]:
        """The events of updates `after_seq + 1` to `up_to`, by number, as far as they are kept."""
        watching = self._transport.stream(
            lambda stubs: stubs.engine.WatchGame,
            pb.WatchGameRequest(game_id=game_id, after_seq=after_seq),
            game_id=game_id,
        )
        past: dict[int, tuple[Event, ...]] = {}
        try:
            async with asyncio.timeout(self._transport.options.call_timeout_s), aclosing(watching):
                async for response in watching:
                    for frame in read_frames(response.frames) if response is not None else ():
                        if isinstance(frame.kind, UpdateFrame) and frame.kind.seq <= up_to:
                            past[frame.kind.seq] = frame.kind.events
                        if isinstance(frame.kind, Attached | Snapshot) or up_to in past:
                            return past
        except TimeoutError:
            raise ConnectionLost(f"the server has not sent the past of game {game_id}") from None
        return past

    async def check_trade(self, game_id: str, trade: ProposeTrade) -> TradeVerdict:
        """Whether the caller's seat could propose a trade now, and what its sides are worth."""
        response = await self._transport.call(
            lambda stubs: stubs.engine.CheckTrade,
            pb.CheckTradeRequest(game_id=game_id, trade=write_trade(trade)),
            repeatable=True,
            game_id=game_id,
        )
        return read(response, TradeVerdict)

    async def get_replay(self, game_id: str, path: Path) -> bool:
        """Write a game's replay to `path`; whether the game is finished and the replay whole."""
        chunks, token, complete = [], "", False
        while True:
            response = await self._transport.call(
                lambda stubs: stubs.engine.GetReplay,
                pb.GetReplayRequest(game_id=game_id, page_token=token),
                repeatable=True,
                game_id=game_id,
            )
            chunks.append(response.chunk)
            token, complete = response.next_page_token, response.complete
            if not token:
                break
        await asyncio.to_thread(path.write_bytes, b"".join(chunks))
        return complete

    async def list_games(self, *, ruleset: str = "", most: int = 50) -> tuple[GameSummary, ...]:
        """Games that can be watched, newest first; at most `most`, 1 to 100."""
        response = await self._transport.call(
            lambda stubs: stubs.engine.ListGames,
            pb.ListGamesRequest(page_size=most, ruleset=ruleset),
            repeatable=True,
        )
        return read_all(response.games, GameSummary)
