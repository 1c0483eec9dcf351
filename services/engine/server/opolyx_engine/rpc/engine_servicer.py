"""EngineService: every RPC, handed to who serves it."""

from collections.abc import AsyncIterator
from typing import Any

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.rpc.commands import CommandEntrance
from opolyx_engine.rpc.play import PlayStreams
from opolyx_engine.rpc.reads import GameReads
from opolyx_engine.rpc.watch import WatchStreams
from opolyx_servicekit.access import current_principal


class EngineServicer:
    """The servicer; its streams write bytes (see `service_handlers.py`)."""

    def __init__(
        self, entrance: CommandEntrance, play: PlayStreams, watch: WatchStreams, reads: GameReads
    ) -> None:
        """Serve with these parts."""
        self._entrance = entrance
        self._play = play
        self._watch = watch
        self._reads = reads

    async def Play(self, requests: AsyncIterator[pb.PlayRequest], context: Any) -> None:
        """Play and watch any number of games."""
        await self._play.serve(requests, context)

    async def WatchGame(self, request: pb.WatchGameRequest, context: Any) -> None:
        """Watch one game."""
        await self._watch.serve(request, context)

    async def SubmitCommand(
        self, request: pb.SubmitCommandRequest, context: Any
    ) -> pb.SubmitCommandResponse:
        """Send one command."""
        result = await self._entrance.submit_and_wait(request.command, current_principal())
        return pb.SubmitCommandResponse(result=result)

    async def GetGame(self, request: pb.GetGameRequest, context: Any) -> pb.GetGameResponse:
        """Read one game."""
        return await self._reads.get_game(request, current_principal())

    async def CheckTrade(
        self, request: pb.CheckTradeRequest, context: Any
    ) -> pb.CheckTradeResponse:
        """Ask about a trade."""
        return await self._reads.check_trade(request, current_principal())

    async def GetReplay(self, request: pb.GetReplayRequest, context: Any) -> pb.GetReplayResponse:
        """Read a replay."""
        return await self._reads.get_replay(request, current_principal())

    async def ListGames(self, request: pb.ListGamesRequest, context: Any) -> pb.ListGamesResponse:
        """List games."""
        return await self._reads.list_games(request)
