"""How often the process looks for garbage that only its collector finds: seldom, and not everywhere.

Python looks whenever 700 more objects with references were made than freed, and a server under load
has more than that in the air at any moment: the next states of all games whose records are being
stored. It then walks over them again and again, and every so often over all that was ever imported,
which holds everybody up for a tenth of a second.
"""

import gc
from typing import Final

_YOUNG: Final = 20_000
"""Objects made and not freed before the collector looks at them; some megabytes at most."""

_OLDER: Final = 10
"""Looks before it looks at what survived them, and as often again before it looks at all."""


def collect_seldom() -> None:
    """Call it once when all is imported: what is there then is looked at no more.

    Almost everything is freed without the collector. What it is for, cycles, is still found.
    """
    gc.collect()
    gc.freeze()
    gc.set_threshold(_YOUNG, _OLDER, _OLDER)
