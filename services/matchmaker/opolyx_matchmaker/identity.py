"""Who somebody is: guests, bots with an owner, their tokens, and the end of those."""

import secrets
import unicodedata
from typing import Final

from opolyx_matchmaker.accounts import Account, IssuedToken, Revocation
from opolyx_matchmaker.ids import BOT, PLAYER, new_id
from opolyx_matchmaker.limits import MinuteLimit
from opolyx_matchmaker.refusals import bad_field
from opolyx_matchmaker.revocations import Revocations
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_matchmaker.store.base import Store
from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import (
    InvalidArgument,
    PermissionDenied,
    ResourceExhausted,
    Unauthenticated,
)
from opolyx_servicekit.tokens import TokenSigner
from opolyx_servicekit.wall_clock import Clock

ROLES: Final = ("player", "bot", "service", "operator")
"""Every role that a token may have."""

_LONGEST_NAME: Final = 24
_LONGEST_RAW: Final = 200
_BLANKS: Final = "\u115f\u1160\u2800\u3164\uffa0"  # letters and symbols that show nothing
_JOINERS: Final = "\u200c\u200d"  # several scripts can't be written without them
_MINUTE_MS: Final = 60_000


def clean_name(raw: str) -> str:
    """A name as it is stored: in NFC, without spaces around it.

    Raises:
        InvalidArgument: it has not 1 to 24 characters then, or one that can't be seen or that
            changes the direction of what follows.
    """
    if len(raw) > _LONGEST_RAW:
        raise bad_field("name", f"must have 1 to {_LONGEST_NAME} characters")
    name = unicodedata.normalize("NFC", raw).strip()
    if not 1 <= len(name) <= _LONGEST_NAME:
        raise bad_field("name", f"must have 1 to {_LONGEST_NAME} characters")
    for character in name:
        kind = unicodedata.category(character)
        if character not in _JOINERS and (kind[0] == "C" or kind in ("Zl", "Zp")):
            raise bad_field("name", f"must not hold U+{ord(character):04X}")
    if not any(_is_seen(character) for character in name):
        raise bad_field("name", "must hold something that can be seen")
    return name


def _is_seen(character: str) -> bool:
    return character not in _BLANKS and unicodedata.category(character)[0] not in "CZM"


def shown_name(claimed: str, player_id: str) -> str:
    """What others see of an account: its token's name, or its id if that is no name to show.

    Our own tokens hold clean names; an operator's identity provider may put anything there.
    """
    try:
        return clean_name(claimed)
    except InvalidArgument:
        return player_id[:_LONGEST_NAME]


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
        """A new token for the caller; the old one stays good until it expires."""
        account = await self._store.find_account(caller.subject)
        if account is None:
            raise Unauthenticated("TOKEN", "the token was not made here")
        self._tokens.take(caller.subject)
        return await self._issue(account)

    async def account(self, caller: Principal) -> Account:
        """The caller's account; what the token says for those that have none here."""
        known = await self._store.find_account(caller.subject)
        return known or Account(caller.subject, caller.name, caller.role)

    async def revoke(self, caller: Principal, token_id: str, player_id: str) -> None:
        """Revoke a token, or all of an account's, as far as that is the caller's to do."""
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
            until_ms = caller.expires_unix * 1000 + _MINUTE_MS
            await self._revocations.add(Revocation(caller.token_id, until_ms=until_ms))

    async def _revoke_account(self, player_id: str) -> None:
        now_ms = self._clock.now_ms()
        longest_s = max(self._settings.player_token_seconds, self._settings.bot_token_seconds)
        await self._revocations.add(
            Revocation(
                player_id=player_id,
                before_ms=now_ms + 1,
                until_ms=now_ms + longest_s * 1000 + _MINUTE_MS,
            )
        )

    async def _revoke_others(self, caller: Principal, token_id: str) -> None:
        found = await self._store.token_holder(token_id)
        if found is None:
            raise _not_yours(token_id)
        holder, expires_ms = found
        if not _may_revoke(caller, holder):
            raise _not_yours(token_id)
        await self._revocations.add(Revocation(token_id, until_ms=expires_ms + _MINUTE_MS))

    async def _check_ownership(self, caller: Principal, player_id: str) -> None:
        if caller.role == "operator" or caller.subject == player_id:
            return
        account = await self._store.find_account(player_id)
        if account is None or not _may_revoke(caller, account):
            raise _not_yours(player_id)

    async def _issue(self, account: Account) -> IssuedToken:
        settings = self._settings
        is_bot = account.role == "bot"
        seconds = settings.bot_token_seconds if is_bot else settings.player_token_seconds
        now_ms = self._clock.now_ms()
        token_id = secrets.token_urlsafe(12)
        expires_ms = (now_ms // 1000 + seconds) * 1000
        jwt = self._signer.sign(
            subject=account.player_id,
            role=account.role,
            name=account.name,
            ttl_seconds=seconds,
            token_id=token_id,
            extra={"iat_ms": now_ms},
        )
        await self._store.add_token(token_id, account.player_id, expires_ms)
        return IssuedToken(jwt, token_id, expires_ms)


def _may_revoke(caller: Principal, holder: Account) -> bool:
    mine = caller.subject in (holder.player_id, holder.owner_id)
    return mine or caller.role == "operator"


def _not_yours(what: str) -> PermissionDenied:
    return PermissionDenied("NOT_YOURS", f"{what} is not the caller's", metadata={"id": what})
