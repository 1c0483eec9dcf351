"""Times and limits of a client."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Tls:
    """How a connection is secured; `Tls()` trusts what the machine trusts."""

    root_certificates: bytes | None = None
    """PEM authorities to trust instead of the machine's."""

    private_key: bytes | None = field(default=None, repr=False)
    """PEM key of the client's own certificate."""

    certificate_chain: bytes | None = None
    """PEM certificate of the client, where the server asks for one."""


@dataclass(frozen=True, slots=True)
class ClientOptions:
    """Times and limits of a client."""

    tls: Tls | None = None
    """How the connection is secured; None is plaintext, for a server on the same machine."""

    connect_timeout_s: float = 5.0
    """How long one attempt to connect may take, seconds."""

    call_timeout_s: float = 10.0
    """How long a single call may take, seconds. Streams have no such limit."""

    patience_s: float = 120.0
    """How long an outage may last before games and commands fail with ConnectionLost, seconds."""

    command_timeout_s: float = 60.0
    """How long `submit` waits for an answer, across reconnects, before OutcomeUnknown, seconds."""

    updates_kept: int = 1024
    """How many unread updates of one game are kept; past it they are replaced by the newest, whose
    `missed` says how many went.
    """
