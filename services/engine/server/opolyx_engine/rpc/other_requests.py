"""What an account sends that no game counts: pings, detaches, commands without a seat or a game.

They cost little each, but as much as they like; so they have a budget of their own, and who uses
it up can still play.
"""

from collections.abc import Callable
from typing import Final

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.command import TOO_FAST, Answer
from opolyx_engine.errors import too_often
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.registry import Registry
from opolyx_engine.rpc.commands import CommandEntrance
from opolyx_engine.rpc.convert_answers import answer_to_proto
from opolyx_engine.rpc.patience import Patience
from opolyx_engine.settings import EngineSettings
from opolyx_rules.reasons import Refusal
from opolyx_servicekit.access import Principal
from opolyx_servicekit.rates import Buckets
from opolyx_servicekit.wall_clock import Clock

_WHAT: Final = "other_requests"
_LONGEST_ECHO: Final = 128


class OtherRequests:
    """The budget."""

    def __init__(self, settings: EngineSettings, metrics: EngineMetrics, clock: Clock) -> None:
        """Every account's is full."""
        self._per_second = settings.other_requests_per_second
        self._buckets = Buckets(self._per_second, settings.other_request_burst)
        self._metrics = metrics
        self._clock = clock

    def admit(self, principal: Principal) -> None:
        """Count a request; raises ResourceExhausted if the account sends too many."""
        if wait_ms := self._wait_ms(principal):
            raise too_often(_WHAT, self._per_second, wait_ms)

    def too_fast(self, principal: Principal) -> Answer | None:
        """Count a command; the answer to it if the account sends too many."""
        wait_ms = self._wait_ms(principal)
        if not wait_ms:
            return None
        numbers = (
            ("other_requests_per_second", self._per_second),
            ("retry_after_ms", wait_ms),
        )
        return Answer(refusal=Refusal(TOO_FAST, "", numbers))

    def _wait_ms(self, principal: Principal) -> int:
        wait_ms = self._buckets.wait_ms(principal.subject, self._clock.now_ms())
        if wait_ms:
            self._metrics.limited.labels(_WHAT).inc()
        return wait_ms


class CountedEntrance(CommandEntrance):
    """Takes commands; those that no game counts, it counts itself, before the store is asked."""

    def __init__(
        self,
        registry: Registry,
        clock: Clock,
        metrics: EngineMetrics,
        others: OtherRequests,
        patience: Patience,
    ) -> None:
        """Find games in `registry`."""
        super().__init__(registry, clock, metrics)
        self._games = registry
        self._patience = patience
        self._others = others

    async def submit(
        self,
        message: pb.Command,
        principal: Principal,
        reply: Callable[[pb.CommandResult], None],
        *,
        arrived_ms: int | None = None,
    ) -> None:
        """See `CommandEntrance.submit`."""
        if not self._is_counted_by_its_game(message.game_id, principal):
            answer = self._others.too_fast(principal)
            if answer is not None:
                reply(answer_to_proto(message.command_id[:_LONGEST_ECHO], answer))
                return
        await super().submit(message, principal, reply, arrived_ms=arrived_ms)

    async def submit_and_wait(self, message: pb.Command, principal: Principal) -> pb.CommandResult:
        """See `CommandEntrance.submit_and_wait`; also raises ResourceExhausted."""
        self._patience.admit(principal)
        if self._games.find_running(message.game_id) is None:
            self._others.admit(principal)
        result = await super().submit_and_wait(message, principal)
        self._patience.note(principal, result)
        return result

    def _is_counted_by_its_game(self, game_id: str, principal: Principal) -> bool:
        game = self._games.find_running(game_id)
        return game is not None and game.table.header.seat_of(principal.subject) is not None
