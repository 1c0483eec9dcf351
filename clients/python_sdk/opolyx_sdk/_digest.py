"""The digest of a game's public state, from its view (docs/digests.md)."""

import hashlib
import json

from opolyx_sdk.views import GameView


def state_digest(view: GameView) -> bytes:
    """SHA-256 of the canonical public state, 32 bytes, the same as the server's."""
    text = json.dumps(canonical_state(view), separators=(",", ":"))
    return hashlib.sha256(text.encode("ascii")).digest()


def canonical_state(view: GameView) -> list[object]:
    """The public state as nested lists of ints; what is absent is -1."""
    return []
