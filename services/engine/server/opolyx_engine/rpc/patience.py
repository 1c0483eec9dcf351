"""What becomes of an account whose commands are refused again and again.

A refusal costs as much as a move. So each account has a budget of commands that are not accepted, and
of streams that it opens and leaves without a word. Past it, its streams aren't read for a while, twice
as long each time, up to a few seconds: what it sends then waits on its own side of the wire. When that
doesn't help, the stream is ended and the account's streams aren't taken for a while, twice as long each
time, too. A command that is accepted begins anew.
"""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import error_pb2
from opolyx_engine.command import BUSY
from opolyx_engine.errors import too_often
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.settings import EngineSettings
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import ServiceError
from opolyx_servicekit.rates import Bucket
from opolyx_servicekit.wall_clock import Clock

_WHAT: Final = "refused_commands"
_CROWDED: Final = error_pb2.ErrorReason.Value(f"ERROR_REASON_{BUSY}")
_FIRST_HOLD_MS: Final = 50
_MOST_HOLDS: Final = 8  # the last is 6.4 s long, all together are 13 s
_FIRST_SHUT_MS: Final = 5_000
_MOST_SHUTS: Final = 7  # the last is 320 s long
_FORGIVEN_MS: Final = 600_000
_MOST_ACCOUNTS: Final = 10_000


@dataclass(slots=True)
class _Account:
    """What is known of an account that had a command refused."""

    refusals: Bucket
    holds: int = 0
    """How often it was held back since it last had a command accepted."""

    held_until_ms: int = 0
    """Until when its streams aren't read."""

    shuts: int = 0
    """How often it was shut out, and not forgiven since."""

    shut_until_ms: int = 0
    """Until when its streams aren't taken."""


class Patience:
    """The budgets of refused commands; accounts that were good for longest are forgotten."""

    def __init__(self, settings: EngineSettings, metrics: EngineMetrics, clock: Clock) -> None:
        """Every account's is full."""
        self._per_second = settings.refused_commands_per_second
        self._burst = settings.refused_command_burst
        self._metrics = metrics
        self._clock = clock
        self._accounts: OrderedDict[str, _Account] = OrderedDict()

    def note(self, principal: Principal, result: pb.CommandResult) -> None:
        """A command of the account was answered."""
        if result.HasField("refusal") or result.retry.reason == _CROWDED:
            self.note_nonsense(principal)
        elif not result.HasField("accepted"):
            return  # an outage, or a game that moved, is nobody's fault
        elif (account := self._accounts.get(principal.subject)) is not None:
            account.holds = 0

    def note_nonsense(self, principal: Principal) -> None:
        """The account cost something, and nothing came of it."""
        account = self._account(principal.subject)
        now_ms = self._clock.now_ms()
        if account.refusals.wait_ms(now_ms) and now_ms >= account.held_until_ms:
            self._metrics.limited.labels(_WHAT).inc()
            account.held_until_ms = now_ms + (_FIRST_HOLD_MS << min(account.holds, _MOST_HOLDS - 1))
            account.holds += 1

    async def hold(self, principal: Principal) -> None:
        """Return once a stream of the account may be read on.

        Raises:
            ResourceExhausted: the account is shut out, by this call or already.
        """
        account = self._accounts.get(principal.subject)
        if account is None:
            return
        if (left_ms := account.shut_until_ms - self._clock.now_ms()) > 0:
            raise self._error(left_ms)
        if account.holds > _MOST_HOLDS:
            raise self._shut_out(account)
        while self._clock.now_ms() < account.held_until_ms:
            await self._clock.sleep_until(account.held_until_ms)

    def admit(self, principal: Principal) -> None:
        """Whether the account's stream, or its single command, may be taken now.

        Raises:
            ResourceExhausted: it is shut out or held back.
        """
        account = self._accounts.get(principal.subject)
        if account is not None:
            until_ms = max(account.shut_until_ms, account.held_until_ms)
            if (left_ms := until_ms - self._clock.now_ms()) > 0:
                raise self._error(left_ms)

    def _account(self, subject: str) -> _Account:
        account = self._accounts.get(subject)
        if account is None:
            account = _Account(Bucket(self._per_second, self._burst))
            self._accounts[subject] = account
            if len(self._accounts) > _MOST_ACCOUNTS:
                self._accounts.popitem(last=False)
        self._accounts.move_to_end(subject)
        return account

    def _shut_out(self, account: _Account) -> ServiceError:
        now_ms = self._clock.now_ms()
        if now_ms > account.shut_until_ms + _FORGIVEN_MS:
            account.shuts = 0
        shut_ms = _FIRST_SHUT_MS << min(account.shuts, _MOST_SHUTS - 1)
        account.shut_until_ms = now_ms + shut_ms
        account.shuts += 1
        account.holds = account.held_until_ms = 0
        return self._error(shut_ms)

    def _error(self, retry_after_ms: int) -> ServiceError:
        return too_often(_WHAT, self._per_second, retry_after_ms)
