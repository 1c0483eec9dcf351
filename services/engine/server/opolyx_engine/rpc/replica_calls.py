"""What this replica tells another: which games it owns now."""

from collections.abc import Callable, Sequence
from typing import Final

import grpc
import structlog

from opolyx.engine.v1 import replica_service_pb2 as pb
from opolyx.engine.v1.replica_service_pb2_grpc import ReplicaServiceStub
from opolyx_engine.ownership.given_game import GivenGame
from opolyx_engine.replica import Replica

_log = structlog.get_logger(__name__)

_TIMEOUT_S: Final = 2.0
_ANSWER_S: Final = 1.0
_SILENT: Final = frozenset({grpc.StatusCode.DEADLINE_EXCEEDED, grpc.StatusCode.UNAVAILABLE})


class ReplicaCalls:
    """Calls of `ReplicaService`; one that fails is only logged, as nothing depends on it."""

    def __init__(
        self, channel_to: Callable[[Replica], grpc.aio.Channel], token: Callable[[], str]
    ) -> None:
        """Call over these channels.

        Args:
            channel_to: the channel to a replica that has an address.
            token: this engine's own token; empty if it has none.
        """
        self._channel_to = channel_to
        self._token = token

    async def take_up(self, replica: Replica, games: Sequence[GivenGame]) -> None:
        """Tell a replica that it owns games."""
        token = self._token()
        if not replica.address or not token:
            return
        request = pb.TakeUpRequest(games=map(_handed_over, games))
        try:
            stub: ReplicaServiceStub = ReplicaServiceStub(self._channel_to(replica))
            await stub.TakeUp(
                request, metadata=(("authorization", f"Bearer {token}"),), timeout=_TIMEOUT_S
            )
        except Exception as error:  # gRPC has many ways to fail
            _log.warning("replica_not_told", games=len(games), error=repr(error)[:200])

    async def answers(self, replica: Replica) -> bool:
        """Whether a replica answers now; whatever it answers."""
        if not replica.address:
            return False
        stub: ReplicaServiceStub = ReplicaServiceStub(self._channel_to(replica))
        metadata = (("authorization", f"Bearer {self._token()}"),)
        try:
            await stub.TakeUp(pb.TakeUpRequest(), metadata=metadata, timeout=_ANSWER_S)
        except grpc.aio.AioRpcError as error:
            return error.code() not in _SILENT
        except Exception as error:  # gRPC has many ways to fail
            _log.warning("replica_not_asked", error=repr(error)[:200])
            return False
        return True


def _handed_over(game: GivenGame) -> pb.HandedOverGame:
    message = pb.HandedOverGame(game_id=game.game_id)
    if (rest := game.rest) is not None:
        message.resting.ruleset = rest.ruleset
        message.resting.seq = max(rest.seq, 0)
        message.resting.round = rest.round
        message.resting.quiet_since_unix_ms = rest.quiet_since_ms
        message.resting.next_deadline_unix_ms = rest.next_due_ms or 0
    return message
