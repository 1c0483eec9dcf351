"""MatchmakerService put together from its parts."""

from typing import Final

import grpc

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.matchmaker.v1 import matchmaker_service_pb2_grpc as pb_grpc
from opolyx_matchmaker.limits import MinuteLimit
from opolyx_matchmaker.lobby import Lobby
from opolyx_matchmaker.parts import Parts
from opolyx_matchmaker.queue import MatchQueue
from opolyx_matchmaker.rpc.offered_bots import OfferedBotHandlers
from opolyx_matchmaker.rpc.quick_match import QuickMatchHandlers
from opolyx_matchmaker.rpc.rooms import RoomHandlers
from opolyx_matchmaker.rpc.stream_check import StreamCheck
from opolyx_matchmaker.watch import StreamLimit

MATCHMAKER: Final = pb.DESCRIPTOR.services_by_name["MatchmakerService"]


class MatchmakerServicer(
    RoomHandlers, QuickMatchHandlers, OfferedBotHandlers, pb_grpc.MatchmakerServiceServicer
):
    """Brings players and bots to a table."""

    def __init__(self, parts: Parts, lobby: Lobby, queue: MatchQueue, check: StreamCheck) -> None:
        """Serve what the service was composed of."""
        self._store = parts.store
        self._lobby = lobby
        self._board = parts.board
        self._bots = parts.bots
        self._queue = queue
        self._tasks = parts.tasks
        self._check = check
        self._check_seconds = parts.settings.stream_check_seconds
        self._streams = StreamLimit(parts.settings.streams_per_player)
        self._offer_messages = MinuteLimit(
            "offer_messages_per_minute", parts.settings.offer_messages_per_minute, parts.clock
        )


def add_matchmaker(server: grpc.aio.Server, servicer: MatchmakerServicer) -> None:
    """Serve the matchmaker on `server`."""
    pb_grpc.add_MatchmakerServiceServicer_to_server(servicer, server)
