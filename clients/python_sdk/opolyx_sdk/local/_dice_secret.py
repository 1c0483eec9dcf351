"""The secret of a simulated game, from a seed: that of a server with the same development seed."""

import base64
import hashlib
import hmac

from opolyx_rules.chance import SeededChance


def seeded_game_id(seed: str, number: int) -> str:
    """Id of the game `number`, from 0, of a seed; a server gives the same to its game `number`."""
    return "g_" + base64.b32encode(_derived(seed, b"game", number)[:15]).decode().lower()


def seeded_secret(seed: str, number: int) -> bytes:
    """The secret that the dice of that game come from, likewise."""
    return _derived(seed, b"secret", number)


def built_in_chance(seed: str, game_id: str) -> SeededChance:
    """What a game's built-in bots draw from, likewise; never the game's own chance."""
    return SeededChance(hashlib.sha256(seed.encode() + b"\x00" + game_id.encode()).digest())


def _derived(seed: str, purpose: bytes, number: int) -> bytes:
    message = purpose + b"\x00" + number.to_bytes(8, "big")
    return hmac.new(seed.encode(), message, hashlib.sha256).digest()
