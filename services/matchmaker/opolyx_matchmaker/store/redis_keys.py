"""Names of what the matchmaker keeps in Redis: all under one hash tag, so in one slot of a cluster.

Who is placed where, the rooms and the lease that fences every write change together, in one script.
"""

from typing import Final

_TAG: Final = "{matchmaker}"

LEASE: Final = f"{_TAG}:lease"
"""Hash: `epoch`, `fence` (who may write; empty for nobody) and `beat`."""

EXPIRING: Final = f"{_TAG}:rooms:expiring"
"""Sorted set of the open rooms, by when they expire."""

STARTING: Final = f"{_TAG}:rooms:starting"
"""Sorted set of the rooms whose start began, by when they were opened."""

RUNNING: Final = f"{_TAG}:rooms:running"
"""Sorted set of the rooms whose games run, by when they were checked last."""

ENDED: Final = f"{_TAG}:rooms:ended"
"""Sorted set of the rooms that are closed or over, by when they were last due."""

LISTED: Final = f"{_TAG}:rooms:listed"
"""Sorted set, by its members alone, of what the public list shows; see `listing`."""

INDEXES: Final = (EXPIRING, STARTING, RUNNING, ENDED, LISTED)
"""The sets of rooms, in the order that the scripts have them: a room is in one of the first four."""

CURSOR: Final = f"{_TAG}:facts:cursor"
"""The number of the last fact that was taken."""

APPLIED: Final = f"{_TAG}:facts:applied"
"""Hash: the token and the outcome of the last batch of facts, for who didn't hear it."""

ACCOUNTS: Final = f"{_TAG}:accounts"
"""Sorted set, by its members alone, of the accounts' ids."""

TOKENS: Final = f"{_TAG}:tokens"
"""Sorted set of the tokens' ids, by when they expire."""

REVOCATIONS: Final = f"{_TAG}:revocations"
"""Stream of the revocations; the id of number n is `n-0`."""

REVOCATIONS_UNTIL: Final = f"{_TAG}:revocations:until"
"""Sorted set of the revocations' numbers, by when the last token they are about expires."""

ACCOUNTS_REVOKED: Final = f"{_TAG}:revocations:accounts"
"""Hash: the number of an account's revocation."""

LAST_REVOCATION: Final = f"{_TAG}:revocations:last"
"""The last number given."""


def revoking_key(call: str) -> str:
    """The number that a call's revocation got, for a minute."""
    return f"{_TAG}:revoking:{call}"


def room_key(room_id: str) -> str:
    """Hash of a room: `row`, `revision`, `token` of the last change, `request`, `grants` if fixed."""
    return f"{_TAG}:room:{room_id}"


def request_key(request: str) -> str:
    """The room that a request made."""
    return f"{_TAG}:request:{request}"


def code_key(code: str) -> str:
    """The room of a code, as long as it is open or may be again."""
    return f"{_TAG}:code:{code}"


def game_key(game_id: str) -> str:
    """The room of a game."""
    return f"{_TAG}:game:{game_id}"


def seats_key(player_id: str) -> str:
    """Hash: by game, the seat of a player and its room. A person has one entry at most (TABLE-6)."""
    return f"{_TAG}:seats:{player_id}"


def account_key(player_id: str) -> str:
    """Hash: `account`, when it was `made`, and its `token` that lasts longest, `until` when."""
    return f"{_TAG}:account:{player_id}"


def bots_key(owner_id: str) -> str:
    """Hash: by name, the bots of an owner."""
    return f"{_TAG}:bots:{owner_id}"


def token_key(token_id: str) -> str:
    """When a token expires, and whose it is."""
    return f"{_TAG}:token:{token_id}"


def listing(ruleset: str, created_ms: int, room_id: str) -> str:
    """A room's entry in the list of a ruleset, in the order of (creation time, id).

    An empty ruleset is the list of all.
    """
    return f"{ruleset}|{created_ms:016}|{room_id}"
