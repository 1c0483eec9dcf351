"""Where the games of this engine are: in memory, out of it, or over."""

from collections import OrderedDict
from collections.abc import Iterable

from opolyx_engine.absent import AbsentGames
from opolyx_engine.arrivals import Deliver, deliver_all
from opolyx_engine.game_actor import GameActor, GameTools


class Places:
    """The games that are here. What comes in or goes out is counted."""

    def __init__(self, tools: GameTools) -> None:
        """No game yet."""
        self._tools = tools
        self.running: dict[str, GameActor] = {}
        """The games in memory, by id; not to be changed."""
        self.ended: OrderedDict[str, GameActor] = OrderedDict()
        """The latest ended games, by id; not to be changed."""
        self.absent = AbsentGames(tools.timers, tools.metrics, tools.settings.finished_games_kept)
        """The games out of memory."""
        tools.metrics.owned_games.set_function(self._count)

    def __contains__(self, game_id: object) -> bool:
        """Whether the game is here, running or ended."""
        return any(game_id in games for games in (self.running, self.ended, self.absent))

    def here(self) -> list[str]:
        """Ids of the running games: in memory, resting or held."""
        return [*self.running, *self.absent.resting, *self.absent.held]

    def start(self, game: GameActor, waiting: Iterable[Deliver] = ()) -> GameActor:
        """Run a game; whoever waits for it meets it before its clock acts."""
        self.running[game.game_id] = game
        self._tools.metrics.active_games.labels(game.table.header.ruleset).inc()
        deliver_all(game, waiting)
        self._tools.tasks.start(game.run(), name=f"game {game.game_id}")
        return game

    def take_out(self, game: GameActor) -> None:
        """The game runs no longer."""
        if self.running.get(game.game_id) is game:
            del self.running[game.game_id]
            self._tools.metrics.active_games.labels(game.table.header.ruleset).dec()

    def keep_ended(self, game: GameActor) -> None:
        """Keep an ended game readable, for as long as it is among the latest."""
        self.ended[game.game_id] = game
        while len(self.ended) > self._tools.settings.finished_games_kept:
            self.ended.popitem(last=False)

    def _count(self) -> int:
        return len(self.running) + len(self.absent.resting) + len(self.absent.held)
