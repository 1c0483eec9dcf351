"""Tokens that were revoked, as a service learns them from the identity service."""

import secrets
from typing import Final, Self

from opolyx_servicekit.access import Principal

OWNER_CLAIM: Final = "owner"
"""The claim that names whose bot the account is; empty or absent for others."""

_WITHIN: Final = "."


def new_token_id(family: str = "") -> str:
    """An id for a token: of a new family, or within that of the token it is renewed from."""
    own = secrets.token_urlsafe(12)
    return f"{family}{_WITHIN}{own}" if family else own


def family_of(token_id: str) -> str:
    """The family of a token, which is what is revoked: it holds all that were renewed from it."""
    return token_id.partition(_WITHIN)[0]


def made_ms(principal: Principal) -> int:
    """When the token was made; our own tokens say it in milliseconds, others in seconds."""
    for claim, factor in (("iat_ms", 1), ("iat", 1000)):
        made = principal.claims.get(claim)
        if isinstance(made, int | float):
            return int(made * factor)
    return 0


def accounts_of(principal: Principal) -> tuple[str, ...]:
    """Whose revocation ends the token: the account's, and for a bot its owner's."""
    owner = principal.claims.get(OWNER_CLAIM)
    return (principal.subject, owner) if isinstance(owner, str) and owner else (principal.subject,)


class RevokedTokens:
    """Which tokens are no longer good; asked for every call, so it is in memory."""

    def __init__(self) -> None:
        """Know of none."""
        self._tokens: set[str] = set()
        self._accounts: dict[str, int] = {}

    def __len__(self) -> int:
        """How many revocations are known."""
        return len(self._tokens) + len(self._accounts)

    def add_token(self, token_id: str) -> None:
        """A token is revoked, or a whole family by its name."""
        self._tokens.add(token_id)

    def add_account(self, subject: str, before_ms: int) -> None:
        """All tokens of an account are revoked that were made before a time, Unix milliseconds."""
        self._accounts[subject] = max(before_ms, self._accounts.get(subject, 0))

    def replace(self, other: Self) -> None:
        """Know what `other` does and nothing else."""
        self._tokens, self._accounts = other._tokens, other._accounts

    def is_revoked(self, principal: Principal) -> bool:
        """Whether the caller's token was revoked: with its family, its account or its owner's."""
        token_id = principal.token_id
        if token_id and (token_id in self._tokens or family_of(token_id) in self._tokens):
            return True
        if not self._accounts:
            return False
        return any(
            made_ms(principal) < self._accounts.get(account, 0)
            for account in accounts_of(principal)
        )
