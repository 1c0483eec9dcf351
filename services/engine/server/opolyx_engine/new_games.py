"""Whether this engine takes new games."""


class NewGames:
    """The gate for new games. Operators close and open it; a drain closes it for good.

    It is open after a restart: nothing of it is stored, as it is about this process.
    """

    def __init__(self) -> None:
        """Open."""
        self.open = True
        """Whether operators let new games in."""
        self.draining = False
        """Whether the engine goes away."""
