"""What a bot may raise, and how that and whatever it answers is told, also when it can't be told."""

import re
from collections.abc import Callable
from typing import Final

FAULTS: Final = (Exception, SystemExit, GeneratorExit)
"""What a bot that raises it is answered for; Ctrl-C isn't its fault."""

_LONGEST: Final = 200
_ADDRESS: Final = re.compile(r" at 0x[0-9A-Fa-f]+")


def told_error(error: BaseException) -> str:
    """An error in one line: its class and what it says."""
    said = _told(str, error)
    return f"{type(error).__name__}: {said}" if said else type(error).__name__


def told_value(value: object) -> str:
    """A value in one line."""
    return _told(repr, value)


def _told(tell: Callable[[object], str], value: object) -> str:
    """Short, printable, and without addresses, which differ from run to run."""
    try:
        text = tell(value)
    except FAULTS:
        return f"a {type(value).__name__} that can't be printed"
    text = _ADDRESS.sub("", text[: 2 * _LONGEST])
    short = text if len(text) <= _LONGEST else text[:_LONGEST] + "..."
    return "".join(one if one.isprintable() else ascii(one)[1:-1] for one in short)
