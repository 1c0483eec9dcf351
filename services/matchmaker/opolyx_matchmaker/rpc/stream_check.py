"""Long streams outlive the check of their token at the start, so they look again."""

from opolyx_matchmaker.revocations import Revocations
from opolyx_servicekit.access import Principal, bad_token
from opolyx_servicekit.wall_clock import Clock


class StreamCheck:
    """Looks, while a stream is open, whether its token is still good."""

    def __init__(self, revocations: Revocations, clock: Clock) -> None:
        """Look in `revocations` and at the clock."""
        self._revocations = revocations
        self._clock = clock

    def check(self, caller: Principal) -> None:
        """Raises Unauthenticated if the caller's token was revoked or has expired."""
        if self._revocations.is_revoked(caller):
            raise bad_token("revoked", "token is revoked")
        if self._clock.now_ms() >= caller.expires_unix * 1000:
            raise bad_token("expired", "token is expired")
