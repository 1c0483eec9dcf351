"""One game from a server: its updates for the screen, actions from it, through any outage."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from pathlib import Path
from typing import Final

from opolyx_sdk.actions import Action, ProposeTrade
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.decisions import Decision, TradeVerdict
from opolyx_sdk.errors import (
    ConnectionLost,
    NoDecision,
    OpolyxError,
    OutcomeUnknown,
    Refused,
    RequestError,
    ServiceUnavailable,
)
from opolyx_sdk.game import Game
from opolyx_sdk.terminal.moment import Moment
from opolyx_sdk.terminal.scene import Scene
from opolyx_sdk.text import refusal_text

Pause = Callable[[float], Awaitable[None]]

_AGAIN_S: Final = 1.0
_PAST: Final = 400
"""Updates of the past that are read for the log."""


class Feed:
    """Receives a game until it is over or can't go on. Whoever made it runs `run` as a task."""

    def __init__(
        self,
        client: AsyncClient,
        game_id: str,
        *,
        spectator: bool,
        language: str,
        pause: Pause = asyncio.sleep,
    ) -> None:
        """Describe the game.

        Args:
            client: of its server.
            game_id: the game.
            spectator: whether it is only watched.
            language: of the scene that is made.
            pause: waits so many seconds.
        """
        self.client = client
        """Of the game's server."""
        self.game_id = game_id
        """The game."""
        self.scene: Scene | None = None
        """What is seen; None until the server has sent the game."""
        self._spectator = spectator
        self._language = language
        self._pause = pause
        self._game: Game | None = None
        self._seq = 0
        self.acting = False
        """Whether an action is on its way."""

    @property
    def online(self) -> bool:
        """Whether the server is heard now."""
        return self._game is not None and (self._game.connected or self._game.over)

    async def run(self, changed: Callable[[], None]) -> None:
        """Receive the game until it is over, and tell of each change.

        An outage is the SDK's business; past its patience the game is opened again here, so that no
        outage is too long.

        Raises:
            OpolyxError: the game can't be shown, or not any more.
        """
        while True:
            try:
                await self._receive(changed)
                return
            except (ConnectionLost, ServiceUnavailable):
                if self.scene is None:
                    raise
            self._game = None
            changed()
            await self._pause(_AGAIN_S)

    async def act(self, action: Action, decision: Decision | None) -> None:
        """Act, and let the scene say what went wrong. One at a time: a key too many is ignored."""
        game, scene = self._game, self.scene
        if game is None or scene is None or self.acting:
            return
        self.acting = True
        try:
            await game.submit(action, decision=decision)
            scene.notice = None
        except Refused as refused:
            scene.notice = partial(refusal_text, refused.refusal)
        except NoDecision:
            scene.notice = lambda table: table.text("screen.too_late")
        except (OutcomeUnknown, ConnectionLost):
            scene.notice = lambda table: table.text("screen.unknown_outcome")
        except OpolyxError as error:
            why = str(error)
            scene.notice = lambda table: table.text("screen.error.failed", why=why)
        finally:
            self.acting = False

    async def check(self, trade: ProposeTrade) -> TradeVerdict | None:
        """What the server thinks of a trade; None if it can't say now."""
        if self._game is None:
            return None
        try:
            return await self._game.check_trade(trade)
        except (RequestError, ConnectionLost):
            return None

    async def save(self, folder: Path) -> None:
        """Write the replay into a directory, and let the scene say where it is."""
        scene, file = self.scene, folder / f"{self.game_id}.jsonl"
        if scene is None:
            return
        name = str(file)
        try:
            await asyncio.to_thread(folder.mkdir, parents=True, exist_ok=True)
            await self.client.get_replay(self.game_id, file)
        except OSError as error:
            why = error.strerror or str(error)
            scene.notice = lambda table: table.text("screen.not_saved", file=name, why=why)
        except OpolyxError as error:
            told = str(error)
            scene.notice = lambda table: table.text("screen.error.failed", why=told)
        else:
            scene.notice = lambda table: table.text("screen.saved", file=name)

    def look(self) -> None:
        """Take over what no update tells: who is connected, and deadlines that an outage moved."""
        game, scene = self._game, self.scene
        if scene is None:
            return
        scene.online = self.online
        if game is not None:
            scene.show(_moment(game))

    async def _receive(self, changed: Callable[[], None]) -> None:
        play = self.client.watch if self._spectator else self.client.play
        async with play(self.game_id) as game:
            self._game = game
            if self.scene is None:
                self.scene = Scene(_moment(game), game.seat, self._language)
            await self._read_past(game)
            self.look()
            changed()
            async for update in game:
                self._seq = update.seq
                self.scene.take(update, game.connected_seats)
                self.look()
                changed()
            self.look()
            changed()

    async def _read_past(self, game: Game) -> None:
        """What happened before or meanwhile, for the log; the game is shown all the same."""
        after, self._seq = max(self._seq, game.seq - _PAST), game.seq
        if self.scene is None or after >= self._seq:
            return
        try:
            past = await self.client.past_events(self.game_id, after_seq=after, up_to=self._seq)
        except OpolyxError:
            return
        for seq in sorted(past):
            self.scene.chronicle.add(past[seq])


def _moment(game: Game) -> Moment:
    return Moment(game.info, game.view, game.decisions, game.state, game.connected_seats)
