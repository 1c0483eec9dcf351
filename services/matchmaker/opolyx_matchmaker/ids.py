"""Ids and codes: sortable ids of accounts and rooms, short codes that people type."""

import secrets
from typing import Final

_ALPHABET: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"  # Crockford's base 32: no I, L, O, U
_ID_LENGTH: Final = 26
_RANDOM_BITS: Final = 80
_CODE_LENGTH: Final = 8

PLAYER: Final = "p_"
"""Prefix of a person's account."""

BOT: Final = "b_"
"""Prefix of a bot's account."""

ROOM: Final = "r_"
"""Prefix of a room."""


def new_id(prefix: str, now_ms: int) -> str:
    """A new id: the prefix, 48 bits of time and 80 random bits; later ones sort later."""
    number = (now_ms & ((1 << 48) - 1)) << _RANDOM_BITS | secrets.randbits(_RANDOM_BITS)
    digits = []
    for _ in range(_ID_LENGTH):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return prefix + "".join(reversed(digits))


def new_code() -> str:
    """A new code of a room, eight characters that are not mistaken for one another.

    That is one of 2^40. While 1,000 private rooms are open, one guess of 1.1 billion hits any of
    them: at `wrong_codes_per_minute` of 10, an account finds one in 209 years on average, and a
    thousand accounts that do nothing else in eleven weeks. Who is found out is kicked.
    """
    return "".join(secrets.choice(_ALPHABET) for _ in range(_CODE_LENGTH))


def read_code(typed: str) -> str:
    """A code as somebody typed it, in the form it is stored in."""
    folded = typed.strip().upper().replace("-", "").replace(" ", "")
    return folded.translate(str.maketrans("ILO", "110"))
