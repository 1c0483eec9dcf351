"""From a command on the wire to a game's answer."""

import asyncio
from collections.abc import Callable
from typing import Final

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.command import FAULT, GAME_NOT_FOUND, MOVED, STORE_AWAY, Answer, Command
from opolyx_engine.errors import GameElsewhere, invalid_field
from opolyx_engine.game_actor import GameActor
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.registry import Registry
from opolyx_engine.rpc.convert_actions import action_from_proto
from opolyx_engine.rpc.convert_answers import answer_to_proto
from opolyx_rules import reasons
from opolyx_rules.reasons import Refusal
from opolyx_servicekit import tracing
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import FailedPrecondition, NotFound, ServiceError
from opolyx_servicekit.wall_clock import Clock

LONGEST_ID: Final = 64
_LONGEST_ECHO: Final = 128  # of an id that is too long; enough to tell which
_RETRY_MS: Final = 200
_HELD_RETRY_MS: Final = 10_000


class CommandEntrance:
    """Takes commands of streams and unary calls alike."""

    def __init__(self, registry: Registry, clock: Clock, metrics: EngineMetrics) -> None:
        """Find games in `registry`."""
        self._registry = registry
        self._metrics = metrics
        self._clock = clock

    async def submit(
        self,
        message: pb.Command,
        principal: Principal,
        reply: Callable[[pb.CommandResult], None],
        *,
        arrived_ms: int | None = None,
    ) -> None:
        """Hand a command to its game.

        Args:
            message: the command.
            principal: who sends it.
            reply: told the answer, maybe before this returns.
            arrived_ms: when it came in, Unix milliseconds; now if absent.

        Raises:
            GameElsewhere: another replica runs the game; `reply` isn't told anything.
        """
        if arrived_ms is None:
            arrived_ms = self._clock.now_ms()
        command_id = message.command_id

        trace = tracing.parent_of(message.traceparent) or tracing.here()

        def answered(answer: Answer) -> None:
            reply(answer_to_proto(command_id[:_LONGEST_ECHO], answer))

        if not 1 <= len(command_id) <= LONGEST_ID:
            answered(Answer(refusal=Refusal(reasons.INVALID_ACTION, "")))
            return

        def deliver(game: GameActor) -> None:
            seat = game.table.header.seat_of(principal.subject)
            action = action_from_proto(message.action, -1 if seat is None else seat)
            game.submit(
                Command(command_id, message.decision_id, seat, action, arrived_ms, answered, trace)
            )

        try:
            await self._registry.hand(message.game_id, deliver)
        except GameElsewhere:
            raise
        except NotFound:
            answered(Answer(refusal=Refusal(GAME_NOT_FOUND, "")))
        except FailedPrecondition:
            answered(self._retry(_HELD_RETRY_MS, FAULT))
        except ServiceError:
            answered(self._retry(_RETRY_MS, STORE_AWAY))

    def moved(self, message: pb.Command, error: GameElsewhere) -> pb.CommandResult:
        """The answer to a command that can't be sent on to where its game is."""
        retry = self._retry(error.retry_after_ms or _RETRY_MS, MOVED)
        return answer_to_proto(message.command_id, retry)

    def _retry(self, after_ms: int, reason: str) -> Answer:
        self._metrics.retries.labels(reason.lower()).inc()
        return Answer(retry_after_ms=after_ms, retry_reason=reason)

    async def submit_and_wait(self, message: pb.Command, principal: Principal) -> pb.CommandResult:
        """Hand a command to its game and wait for the answer.

        Raises:
            InvalidArgument: the command has no usable id.
            NotFound: there is no such game.
            GameElsewhere: another replica runs it.
            ServiceError: the game can't be read.
        """
        arrived_ms = self._clock.now_ms()
        if not 1 <= len(message.command_id) <= LONGEST_ID:
            raise invalid_field("command.command_id", f"must have 1 to {LONGEST_ID} characters")
        await self._registry.find(message.game_id)
        answer: asyncio.Future[pb.CommandResult] = asyncio.get_running_loop().create_future()

        def answered(result: pb.CommandResult) -> None:
            if not answer.done():  # it is if the caller went away
                answer.set_result(result)

        await self.submit(message, principal, answered, arrived_ms=arrived_ms)
        return await answer
