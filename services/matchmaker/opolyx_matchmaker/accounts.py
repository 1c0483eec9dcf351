"""Accounts, the tokens made for them, and revocations, as values."""

from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Account:
    """Somebody who plays."""

    player_id: str
    """Its id."""

    name: str
    """The name shown, 1 to 24 characters."""

    role: str
    """player, bot, service or operator."""

    owner_id: str = ""
    """Whose bot it is; empty for others."""


@dataclass(frozen=True, slots=True)
class IssuedToken:
    """A token that was just made; the token itself is in no repr."""

    jwt: str = field(repr=False)
    """The token."""

    token_id: str
    """Its own id, to revoke it by."""

    expires_ms: int
    """When it expires, Unix milliseconds."""


@dataclass(frozen=True, slots=True)
class Revocation:
    """Tokens that are no longer good: one, or all that an account had at a time."""

    token_id: str = ""
    """The token; empty if an account's are meant."""

    player_id: str = ""
    """The account; empty if one token is meant."""

    before_ms: int = 0
    """The account's tokens made before this are meant, Unix milliseconds."""

    until_ms: int = 0
    """When the last token it is about has expired, Unix milliseconds."""

    number: int = 0
    """Rises with each revocation; set by the store."""
