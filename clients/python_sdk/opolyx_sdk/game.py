"""One game that a client plays or watches."""

from collections.abc import Callable
from types import TracebackType
from typing import Self

from opolyx_sdk import actions
from opolyx_sdk._inbox import Inbox
from opolyx_sdk._mirror import Mirror
from opolyx_sdk._stream import GameStream
from opolyx_sdk._transport.engine_calls import EngineCalls
from opolyx_sdk.actions import Action, ProposeTrade
from opolyx_sdk.decisions import Decision, TradeVerdict
from opolyx_sdk.enums import GameState, Phase
from opolyx_sdk.errors import NoDecision
from opolyx_sdk.updates import GameInfo, Update
from opolyx_sdk.views import GameView


class Game:
    """A game as it is now, its coming updates, and a way to act. Use as an async context.

    Inside the context the game's state is known. Iterating yields each update once, in order, until
    the game is over; what this object shows may already be ahead of the update last yielded.
    Outages are bridged: iteration and `submit` wait, and nothing is lost or repeated.

    ```python
    async with client.play(game_id) as game:
        async for update in game:
            if game.decision:
                await game.submit(game.decision.legal_actions[0])
    ```
    """

    def __init__(
        self,
        game_id: str,
        streams: Callable[[], GameStream],
        calls: EngineCalls,
        *,
        spectator: bool,
    ) -> None:
        """Made by `AsyncClient.play` and `watch`, with or without a loop that runs."""
        self._game_id = game_id
        self._streams = streams
        self._open: GameStream | None = None
        self._calls = calls
        self._spectator = spectator
        self._inbox: Inbox | None = None
        self._known: Mirror | None = None

    async def __aenter__(self) -> Self:
        """Begin to receive the game.

        Raises:
            ValueError: the client has the game open already.
            GameClosed: the server doesn't show it.
            ConnectionLost: no server answers.
        """
        self._open = self._streams()
        self._inbox = await self._open.open(self._game_id, spectator=self._spectator)
        _ = self._mirror
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop receiving the game. Leaving is not surrendering."""
        _ = self._mirror
        await self._stream.leave(self._game_id)

    def __repr__(self) -> str:
        """The game, how far it is and which seat."""
        if self._known is None:
            return f"Game({self._game_id!r})"
        return f"Game({self._game_id!r}, seq={self.seq}, seat={self.seat})"

    @property
    def info(self) -> GameInfo:
        """What stays the same: ruleset, seats, the caller's seat."""
        return self._mirror.info

    @property
    def seat(self) -> int | None:
        """The caller's seat; None for a spectator."""
        return None if self._spectator else self._mirror.info.your_seat

    @property
    def seq(self) -> int:
        """Number of the last update contained."""
        return self._mirror.seq

    @property
    def view(self) -> GameView:
        """The public state."""
        return self._mirror.view

    @property
    def current(self) -> Update:
        """The game as it is now, as an update without events."""
        return self._mirror.as_update(at_unix_ms=0, missed=0)

    @property
    def state(self) -> GameState:
        """Whether the game is running, finished or void."""
        return self._mirror.state

    @property
    def over(self) -> bool:
        """Whether the game has no further updates."""
        return self._mirror.ended

    @property
    def log_digest(self) -> bytes:
        """Running digest of the game's log."""
        return self._mirror.log_digest

    @property
    def connected(self) -> bool:
        """Whether the server is heard now; while it is not, all here is as it was last heard."""
        return self._open is not None and self._open.online

    @property
    def connected_seats(self) -> tuple[int, ...]:
        """Seats that are connected now."""
        return self._mirror.connected_seats

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """All open decisions, of all seats."""
        return self._mirror.decisions

    @property
    def own_decisions(self) -> tuple[Decision, ...]:
        """The open decisions of the caller's seat: at most one of the table's, then offers."""
        own = [one for one in self.decisions if one.seat == self.seat]
        return tuple(sorted(own, key=lambda one: one.phase is Phase.OFFER))

    @property
    def decision(self) -> Decision | None:
        """What is awaited from the caller's seat, if anything."""
        own = self.own_decisions
        return own[0] if own else None

    async def submit(
        self, action: Action, *, decision: Decision | None = None, command_id: str | None = None
    ) -> int:
        """Act; returns the number of the update it caused, which the game then contains.

        An outage is bridged by sending the same command again: it takes effect at most once.

        Args:
            action: what to do.
            decision: what it answers; found by itself when absent.
            command_id: of a command sent before whose outcome is unknown.

        Raises:
            TypeError: this is no action, or something in it is no number.
            ValueError: a number in it is out of range.
            Refused: the rules refuse; nothing has changed.
            NoDecision: nothing is awaited from this seat that the action could answer.
            GameError: the game had ended for this client before.
            OutcomeUnknown: no answer came in time.
            ConnectionLost: the client was closed before.
        """
        answered = decision.decision_id if decision else self._answered_by(action)
        return await self._stream.submit(self._game_id, answered, action, command_id)

    async def check_trade(self, trade: ProposeTrade) -> TradeVerdict:
        """Whether the caller's seat could propose a trade now; changes nothing."""
        return await self._calls.check_trade(self._game_id, trade)

    def __aiter__(self) -> Self:
        """The coming updates."""
        return self

    async def __anext__(self) -> Update:
        """The next update; ends with the game."""
        if self._inbox is None:
            raise RuntimeError("the game is not open: use `async with`")
        return await self._inbox.get()

    @property
    def _stream(self) -> GameStream:
        if self._open is None:
            raise RuntimeError("the game is not open: use `async with`")
        return self._open

    @property
    def _mirror(self) -> Mirror:
        """The stream's mirror, or the last one once the game is left."""
        self._known = self._stream.mirror(self._game_id) or self._known
        if self._known is None:
            raise RuntimeError("the game is not open: use `async with`")
        return self._known

    def _answered_by(self, action: Action) -> str:
        match action:
            case actions.Surrender() | actions.WithdrawTrade():
                return ""
            case actions.AcceptTrade(offer_id) | actions.DeclineTrade(offer_id):
                fitting = [one for one in self.own_decisions if one.offer_id == offer_id]
            case _:
                fitting = [one for one in self.own_decisions if one.phase is not Phase.OFFER]
        if not fitting:
            raise NoDecision(f"nothing is awaited that {action} could answer")
        return fitting[0].decision_id
