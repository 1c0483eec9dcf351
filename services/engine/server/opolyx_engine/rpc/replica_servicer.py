"""ReplicaService: what the other replicas tell this one."""

from typing import Any, Final

from opolyx.engine.v1 import replica_service_pb2 as pb
from opolyx.engine.v1.replica_service_pb2_grpc import ReplicaServiceServicer
from opolyx_engine.absent import Rest
from opolyx_engine.errors import invalid_field
from opolyx_engine.registry import Registry

_MOST_GAMES: Final = 1_000


class ReplicaServicer(ReplicaServiceServicer):
    """The servicer. What it is told is a hint: whose a game is, the store knows."""

    def __init__(self, registry: Registry) -> None:
        """Take games up into `registry`."""
        self._registry = registry

    async def TakeUp(self, request: pb.TakeUpRequest, context: Any) -> pb.TakeUpResponse:
        """Games have become this replica's."""
        if len(request.games) > _MOST_GAMES:
            raise invalid_field("games", f"must be at most {_MOST_GAMES}")
        for game in request.games:
            if not game.game_id or self._registry.knows(game.game_id):
                continue
            if game.HasField("resting"):
                self._registry.let_rest(game.game_id, _rest(game.resting))
            else:
                self._registry.come(game.game_id)
        return pb.TakeUpResponse()


def _rest(state: pb.RestingState) -> Rest:
    return Rest(
        ruleset=state.ruleset,
        seq=state.seq,
        round=state.round,
        quiet_since_ms=state.quiet_since_unix_ms,
        next_due_ms=state.next_deadline_unix_ms or None,
    )
