"""What a store must do so that several replicas share its games: one owner a game, and who lives."""

import json
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Protocol

from opolyx_engine.replica import Replica

NOBODY = ""
"""The owner of a game that nobody owns."""


@dataclass(frozen=True, slots=True)
class RollCall:
    """Which replicas there are, by the store's own clock."""

    living: tuple[Replica, ...]
    """Those that said lately that they live, the caller too."""

    dead: tuple[str, ...]
    """Ids of those that said so before, and neither lately nor that they leave."""

    lives: int = 1
    """How often the caller has come to life: once more than it told if it wasn't among the living."""


class OwnerStore(Protocol):
    """Keeps which replica owns a game, with an epoch that rises with each change of owner.

    A game of before there were owners is nobody's, with epoch 0.
    """

    async def claim(self, game_id: str, epoch: int, owner: str) -> int | None:
        """Make `owner` the owner of a running game whose epoch is `epoch`; its epoch then.

        From then on nothing is appended with the epoch before. What this very call, or the same one
        by somebody else, has done already counts as done by it.

        Args:
            game_id: the game.
            epoch: the epoch that the game has as far as the caller knows.
            owner: a replica's id, or NOBODY.

        Returns:
            None if the game isn't running, or has another epoch: nothing was changed.
        """
        ...

    async def owned_by(self, owner: str, wanted: Callable[[str], bool]) -> list[str]:
        """Ids of running games that `owner` owns, out of those that are wanted.

        One may be missing, if its owner died while it became the owner; `strays` has it then.
        """
        ...

    async def strays(self, owners: Collection[str]) -> list[str]:
        """Ids of running games that none of `owners` owns; takes its time, to be in nobody's way."""
        ...

    async def beat(self, replica: Replica, ttl_ms: int, lives: int = 0) -> RollCall:
        """Note that a replica lives, for so many milliseconds, and tell who else does.

        Args:
            replica: the caller.
            ttl_ms: for how long.
            lives: what it was told last of its lives; 0 if it begins.
        """
        ...

    async def leave(self, replica_id: str, *, if_dead: bool = False) -> None:
        """Forget a replica: it goes away, or is dead and owns nothing any more.

        With `if_dead`, one that lives again isn't forgotten.
        """
        ...


def everything(game_id: str) -> bool:
    """Wants every game."""
    return True


def encode_replica(replica: Replica) -> str:
    """What is stored of a replica beside its id."""
    document = {
        "address": replica.address,
        "fingerprints": sorted(replica.fingerprints),
        "draining": replica.draining,
    }
    return json.dumps(document, separators=(",", ":"))


def decode_replica(replica_id: str, stored: str | bytes) -> Replica:
    """A replica of its stored form."""
    document = json.loads(stored)
    return Replica(
        replica_id=replica_id,
        address=document["address"],
        fingerprints=frozenset(document["fingerprints"]),
        draining=document["draining"],
    )
