"""The token that calls carry: renewed before it expires, shown nowhere."""

import asyncio
import base64
import json
import logging
import math
import time
from collections.abc import Awaitable, Callable
from typing import Final

from opolyx_sdk.errors import OpolyxError

_log = logging.getLogger(__name__)

_SHARE_LEFT: Final = 0.1
_LEAST_LEFT_S: Final = 60.0
_TRY_AGAIN_S: Final = 30.0
_LONGEST_TIMER_S: Final = 86_400.0
_LATEST_UNIX: Final = 1e11


class TokenKeeper:
    """Holds a token, and renews it when a tenth of its life is left.

    A renewal that fails is logged and tried again after half a minute: the old token is good until
    it expires. A token that doesn't say when that is stays as it is.
    """

    def __init__(
        self,
        jwt: str | None,
        renew: Callable[[], Awaitable[str]],
        *,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Hold `jwt`; `renew` gets a new one with it.

        Raises:
            ValueError: the token can't be sent.
        """
        self._renew = renew
        self._now = now
        self.version = 0
        """Rises with each token. Who remembers what was sent remembers this: no local variable, and
        so no traceback that shows locals, holds a token."""
        self._jwt: str | None = None
        self._due_at = math.inf
        self._timer: asyncio.TimerHandle | None = None
        self._renewing: asyncio.Task[None] | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self.take(jwt)

    def __repr__(self) -> str:
        """Without the token."""
        return f"TokenKeeper({'a token' if self._jwt else 'none'})"

    @property
    def jwt(self) -> str | None:
        """The token now."""
        return self._jwt

    def take(self, jwt: str | None, *, new: bool = False) -> None:
        """Use another token from now on.

        Args:
            jwt: the token.
            new: it was made just now, so its life is counted from now: this machine's clock
                need not be the server's.

        Raises:
            ValueError: it can't be sent.
            OpolyxError: it is new, and none or can't be sent; the old one is kept.
        """
        self._jwt = _made(jwt) if new else _sendable(jwt)
        self.version += 1
        self._due_at = _renewal_time(self._jwt, self._now(), new)
        self._arm()

    async def ready(self) -> None:
        """Before a call: renew the token if it is due, at most once at a time."""
        loop = asyncio.get_running_loop()
        if self._loop is not loop:
            self._loop, self._timer, self._renewing = loop, None, None
            self._arm()
        if self._now() >= self._due_at:
            await asyncio.shield(self._start())

    async def replaces(self, version: int) -> bool:
        """Whether there is another token now than the one of `version`, which had expired."""
        if self._jwt is not None and self.version == version:
            await asyncio.shield(self._start())
        return self.version != version

    async def stop(self) -> None:
        """Renew nothing any more until the next call."""
        timer, self._timer = self._timer, None
        task, self._renewing = self._renewing, None
        loop, self._loop = self._loop, None
        if loop is not asyncio.get_running_loop():
            return  # they went with their loop
        if timer is not None:
            timer.cancel()
        if task is not None and not task.done():
            task.cancel()
            await asyncio.wait([task], timeout=_TRY_AGAIN_S)

    def _arm(self) -> None:
        """A stream may be open for days without a call: a timer renews for it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._loop is not None and not self._loop.is_closed() and self._due_at < math.inf:
            wait_s = min(max(0.0, self._due_at - self._now()), _LONGEST_TIMER_S)
            self._timer = self._loop.call_later(wait_s, self._rung)

    def _rung(self) -> None:
        self._timer = None
        if self._now() >= self._due_at:
            self._start()
        else:
            self._arm()

    def _start(self) -> "asyncio.Task[None]":
        if self._renewing is None or self._renewing.done():
            self._renewing = asyncio.ensure_future(self._renew_once())
        return self._renewing

    async def _renew_once(self) -> None:
        try:
            self.take(await self._renew(), new=True)
        except OpolyxError as error:
            _log.warning("the token could not be renewed: %s", error)
            self._due_at = self._now() + _TRY_AGAIN_S
            self._arm()


def _sendable(jwt: str | None) -> str | None:
    """The token without the line end that a file leaves on it; no error shows it."""
    token = (jwt or "").strip()
    if not all("!" <= character <= "~" for character in token):
        raise ValueError("the token holds a character that no token can have")
    return token or None


def _made(jwt: str | None) -> str:
    """A token that a server has made: broken, it costs the client neither the old one nor a task."""
    try:
        token = _sendable(jwt)
    except ValueError:
        token = None
    if token is None:
        raise OpolyxError("the server made no token that can be sent")
    return token


def _renewal_time(jwt: str | None, now: float, new: bool) -> float:
    """Unix time at which to renew; infinite if the token doesn't say when it expires."""
    claims = _claims(jwt)
    expires = _time_in(claims.get("exp"))
    if expires is None:
        return math.inf
    life_s = max(0.0, expires - min(_time_in(claims.get("iat")) or now, expires))
    left_s = min(max(life_s * _SHARE_LEFT, _LEAST_LEFT_S), life_s / 2)
    return max(now + 1, now + life_s - left_s) if new else expires - left_s


def _time_in(claim: object) -> float | None:
    if isinstance(claim, bool) or not isinstance(claim, int | float):
        return None
    return float(claim) if 0 < claim < _LATEST_UNIX else None


def _claims(jwt: str | None) -> dict[str, object]:
    """What a JWT says of itself, unverified: only its maker can verify it."""
    try:
        payload = (jwt or "").split(".")[1]
        claims = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (IndexError, ValueError):
        return {}
    return claims if isinstance(claims, dict) else {}
