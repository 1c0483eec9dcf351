"""Which of several replicas a game falls to: the same one wherever that is asked."""

import hashlib
from collections.abc import Iterable

from opolyx_engine.replica import Replica


def chosen(game_id: str, replicas: Iterable[Replica]) -> Replica | None:
    """The replica that the game falls to; None without any.

    Rendezvous hashing: each gets an equal share, and when one comes or goes, the games of the
    others stay where they are.
    """
    return max(replicas, key=lambda replica: _weight(replica.replica_id, game_id), default=None)


def _weight(replica_id: str, game_id: str) -> bytes:
    return hashlib.sha256(f"{replica_id} {game_id}".encode()).digest()
