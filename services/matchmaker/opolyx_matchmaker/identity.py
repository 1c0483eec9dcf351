"""Who somebody is: guests, bots with an owner, their tokens, and the end of those."""

from typing import Final

from opolyx_matchmaker.accounts import Account, IssuedToken, Revocation
from opolyx_matchmaker.ids import BOT, PLAYER, new_id
from opolyx_matchmaker.limits import MinuteLimit
from opolyx_matchmaker.names import clean_name
from opolyx_matchmaker.refusals import bad_field
from opolyx_matchmaker.revocations import Revocations
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import PermissionDenied, ResourceExhausted, Unauthenticated
from opolyx_servicekit.revocations import OWNER_CLAIM, family_of, new_token_id
from opolyx_servicekit.tokens import TokenSigner
from opolyx_servicekit.wall_clock import Clock

ROLES: Final = ("player", "bot", "service", "operator")
"""Every role that a token may have."""

_MINUTE_MS: Final = 60_000


class Identity:
    """Makes accounts and tokens, and takes tokens back."""

    def __init__(
        self,
        settings: MatchmakerSettings,
        store: Store,
        signer: TokenSigner,
        revocations: Revocations,
        clock: Clock,
    ) -> None:
        """Use what the service was composed of."""
        self._settings = settings
        self._store = store
        self._signer = signer
        self._revocations = revocations
        self._clock = clock
        self._guests = MinuteLimit("guests_per_minute", settings.guests_per_minute, clock)
        self._tokens = MinuteLimit("tokens_per_minute", settings.tokens_per_minute, clock)
        self._takings = MinuteLimit(
            "revocations_per_minute", settings.revocations_per_minute, clock
        )

    async def create_guest(self, name: str, address: str) -> tuple[Account, IssuedToken]:
        """A new guest's account and its token."""
        account = Account(new_id(PLAYER, self._clock.now_ms()), clean_name(name), role="player")
        self._guests.take(address)
        await self._store.add_account(account, self._clock.now_ms())
        return account, await self._issue(account)

    async def create_bot(self, owner: Principal, name: str) -> tuple[Account, IssuedToken]:
        """A new token of the caller's bot, whose account is made on first use of its name."""
        now_ms = self._clock.now_ms()
        wanted = Account(new_id(BOT, now_ms), clean_name(name), "bot", owner.subject)
        self._tokens.take(owner.subject)
        account = await self._store.take_bot(wanted, now_ms, self._settings.bots_per_owner)
        if account is None:
            raise ResourceExhausted(
                "LIMIT",
                f"{owner.subject} has {self._settings.bots_per_owner} bots",
                metadata={"limit": "bots_per_owner", "value": self._settings.bots_per_owner},
            )
        return account, await self._issue(account)

    async def refresh(self, caller: Principal) -> IssuedToken:
        """A new token for the caller; the old one stays good until it expires.

        Both are of one family: who revokes one of them revokes the other.
        """
        account = await self._store.find_account(caller.subject)
        if account is None:
            raise Unauthenticated("TOKEN", "the token was not made here")
        self._tokens.take(caller.subject)
        return await self._issue(account, family_of(caller.token_id))

    async def account(self, caller: Principal) -> Account:
        """The caller's account; what the token says for those that have none here."""
        known = await self._store.find_account(caller.subject)
        return known or Account(caller.subject, caller.name, caller.role)

    async def revoke(self, caller: Principal, token_id: str, player_id: str) -> None:
        """Revoke a token with its family, or all of an account and its bots.

        As far as that is the caller's to do.
        """
        self._takings.take(caller.subject)
        if token_id and player_id:
            raise bad_field("player_id", "can't be given together with token_id")
        if player_id:
            await self._check_ownership(caller, player_id)
            await self._revoke_account(player_id)
        elif token_id and token_id != caller.token_id:
            await self._revoke_others(caller, token_id)
        else:
            if not caller.token_id:  # only an identity provider of one's own makes such
                raise bad_field("player_id", "must be given, as the caller's token has no id")
            await self._revoke_family(caller.token_id)

    async def _revoke_account(self, player_id: str) -> None:
        await self._revocations.add(
            Revocation(
                player_id=player_id,
                before_ms=self._clock.now_ms() + 1,
                until_ms=self._last_end_ms(),
            )
        )

    async def _revoke_family(self, token_id: str) -> None:
        """The token, what it was renewed from and what was renewed from it; once."""
        family = family_of(token_id)
        if not self._revocations.is_family_revoked(family):
            await self._revocations.add(Revocation(family, until_ms=self._last_end_ms()))

    def _last_end_ms(self) -> int:
        """When the last token that is good now, or just being made, has expired."""
        longest_s = max(self._settings.player_token_seconds, self._settings.bot_token_seconds)
        return self._clock.now_ms() + longest_s * 1000 + _MINUTE_MS

    async def _revoke_others(self, caller: Principal, token_id: str) -> None:
        found = await self._store.token_holder(token_id)
        if found is None:
            raise _not_yours(token_id)
        if not _may_revoke(caller, found[0]):
            raise _not_yours(token_id)
        await self._revoke_family(token_id)

    async def _check_ownership(self, caller: Principal, player_id: str) -> None:
        if caller.role == "operator" or caller.subject == player_id:
            return
        account = await self._store.find_account(player_id)
        if account is None or not _may_revoke(caller, account):
            raise _not_yours(player_id)

    async def _issue(self, account: Account, family: str = "") -> IssuedToken:
        """A token; of a new family, or one renewed within its family."""
        settings = self._settings
        is_bot = account.role == "bot"
        seconds = settings.bot_token_seconds if is_bot else settings.player_token_seconds
        now_ms = self._clock.now_ms()
        token_id = new_token_id(family)
        expires_ms = (now_ms // 1000 + seconds) * 1000
        jwt = self._signer.sign(
            subject=account.player_id,
            role=account.role,
            name=account.name,
            ttl_seconds=seconds,
            token_id=token_id,
            extra={"iat_ms": now_ms, OWNER_CLAIM: account.owner_id},
        )
        await self._store.add_token(token_id, account.player_id, expires_ms)
        return IssuedToken(jwt, token_id, expires_ms)


def _may_revoke(caller: Principal, holder: Account) -> bool:
    mine = caller.subject in (holder.player_id, holder.owner_id)
    return mine or caller.role == "operator"


def _not_yours(what: str) -> PermissionDenied:
    return PermissionDenied("NOT_YOURS", f"{what} is not the caller's", metadata={"id": what})
