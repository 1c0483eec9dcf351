"""Ground and ink of the screens, and what becomes of colours where none are wanted."""

import os
from typing import Final

BACKGROUND: Final = "background: #12161c; color: #e8e8e8;"
"""Of every screen, in textual's CSS."""


def colourless() -> bool | None:
    """Whether textual is to leave all colours out, as NO_COLOR asks: else it would make them grey."""
    return True if os.environ.get("NO_COLOR") else None
