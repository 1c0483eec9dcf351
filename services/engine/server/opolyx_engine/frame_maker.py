"""How a game makes what its clients receive, without knowing the wire."""

from collections.abc import Sequence
from typing import Protocol

from opolyx_engine.table import Step, Table


class FrameMaker(Protocol):
    """Makes frames as bytes that can be joined (see `rpc/frames.py`)."""

    def update(self, before: Table, step: Step) -> bytes:
        """What a step changed; `before` is the table as it was."""
        ...

    def snapshot(self, table: Table, seat: int | None, connected: Sequence[int]) -> bytes:
        """The whole game as the holder of `seat`, or a spectator, sees it."""
        ...

    def presence(self, game_id: str, connected: Sequence[int]) -> bytes:
        """Who is connected."""
        ...

    def attached(self, game_id: str, seq: int) -> bytes:
        """An attachment is up to date."""
        ...

    def fault(self, game_id: str) -> bytes:
        """The game was ended because of a fault."""
        ...

    def lost(self, game_id: str) -> bytes:
        """The game isn't run here any more; to be attached to again."""
        ...

    def forget(self, game_id: str) -> None:
        """Keep nothing of a game in memory: it is run here no longer."""
        ...
