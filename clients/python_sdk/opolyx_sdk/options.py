"""Times and limits of a client."""

from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from opolyx_sdk.metrics import ClientMetrics


@dataclass(frozen=True, slots=True)
class Tls:
    """How a connection is secured; `Tls()` trusts what the machine trusts."""

    root_certificates: bytes | None = None
    """PEM authorities to trust instead of the machine's."""

    private_key: bytes | None = field(default=None, repr=False)
    """PEM key of the client's own certificate."""

    certificate_chain: bytes | None = None
    """PEM certificate of the client, where the server asks for one."""

    server_name: str = ""
    """What the server's certificate names, where that isn't the host that is called: a forwarded
    port, a pod's address.
    """


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """Times and limits of a client. No wait is without end, but the one for a game's next update.

    The times belong together: an attempt to connect (5 s) is part of a call (10 s), calls and
    attempts are repeated while an outage lasts (120 s), and a command waits as long as that. So an
    outage ends in one way only: whatever waits for the server fails after `patience_s`.
    """

    tls: Tls | None = None
    """How the connection is secured; None is plaintext, for a server on the same machine."""

    connect_timeout_s: float = 5.0
    """How long one attempt to connect may take, seconds; apart from how long a call may."""

    keepalive_s: float = 20.0
    """After how long without a word from the server it is asked for a sign of life, seconds. Servers
    cut off who asks more often than they allow: every 5 s, unless told otherwise.
    """

    keepalive_timeout_s: float = 10.0
    """How long that sign may take before the connection is given up and another made, seconds."""

    call_timeout_s: float = 10.0
    """How long a single call may take, seconds. Streams have no such limit."""

    patience_s: float = 120.0
    """How long an outage may last before what waits fails with ConnectionLost, seconds: games,
    commands, watched rooms, searches, and all repetitions of a call together.
    """

    command_timeout_s: float | None = None
    """How long `submit` waits for an answer, across reconnects, before OutcomeUnknown, seconds;
    `patience_s` when absent.
    """

    longest_hint_s: float = 60.0
    """Up to where a server that says when to come back is obeyed, seconds. A stream that is told to
    wait for longer comes back after this, and the log says so; a call fails at once with the hint.
    """

    updates_kept: int = 1024
    """How many unread updates of one game are kept; past it they are replaced by the newest, whose
    `missed` says how many went.
    """

    metrics: "ClientMetrics | None" = None
    """Counts the calls, if it is given."""

    traces: bool = False
    """Whether calls and commands say where in a trace they are, and commands are spans; needs the
    extra `otel`. The program itself says where spans go."""

    def __post_init__(self) -> None:
        """Nothing waits for no time at all.

        Raises:
            ValueError: a time or limit is not above 0.
        """
        for one in fields(self):
            value = getattr(self, one.name)
            if isinstance(value, int | float) and not isinstance(value, bool) and not value > 0:
                raise ValueError(f"{one.name} must be above 0, not {value}")

    @property
    def answer_within_s(self) -> float:
        """How long `submit` waits for an answer, seconds."""
        return self.patience_s if self.command_timeout_s is None else self.command_timeout_s
