"""Tokens that were revoked, as a service learns them from the identity service."""

from typing import Self

from opolyx_servicekit.access import Principal


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
        """One token is revoked."""
        self._tokens.add(token_id)

    def add_account(self, subject: str, before_ms: int) -> None:
        """All tokens of an account are revoked that were made before a time, Unix milliseconds."""
        self._accounts[subject] = max(before_ms, self._accounts.get(subject, 0))

    def replace(self, other: Self) -> None:
        """Know what `other` does and nothing else."""
        self._tokens, self._accounts = other._tokens, other._accounts

    def is_revoked(self, principal: Principal) -> bool:
        """Whether the caller's token was revoked, itself or with all of its account."""
        if principal.token_id and principal.token_id in self._tokens:
            return True
        before_ms = self._accounts.get(principal.subject)
        return before_ms is not None and _made_ms(principal) < before_ms


def _made_ms(principal: Principal) -> int:
    """When the token was made; our own tokens say it in milliseconds, others in seconds."""
    for claim, factor in (("iat_ms", 1), ("iat", 1000)):
        made = principal.claims.get(claim)
        if isinstance(made, int | float):
            return int(made * factor)
    return 0
