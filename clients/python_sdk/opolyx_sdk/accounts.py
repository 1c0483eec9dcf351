"""Who somebody is, and the token that says so."""

from dataclasses import dataclass, field

from opolyx_sdk.enums import Role


@dataclass(frozen=True, slots=True)
class Account:
    """An account."""

    player_id: str
    """Its id."""

    name: str
    """The name shown, 1 to 24 characters."""

    role: Role
    """Its role."""

    owner_id: str
    """The owner of a bot account; empty for others."""


@dataclass(frozen=True, slots=True)
class Token:
    """A token and what it is for."""

    jwt: str = field(repr=False)
    """The JWT. Keep it secret: no repr shows it."""

    token_id: str
    """The token's own id, to revoke it by."""

    expires_unix_ms: int
    """When it expires, Unix milliseconds."""


@dataclass(frozen=True, slots=True)
class Login:
    """An account together with a token for it."""

    account: Account
    """The account."""

    token: Token
    """Its token."""
