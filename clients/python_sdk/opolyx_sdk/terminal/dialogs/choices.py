"""A list with a mark that moves: what lists in dialogs share."""

from collections.abc import Sequence
from typing import Final

ROW_KEYS: Final = "123456789abcdefghijklmnoprstuvwxyz"
"""Keys of the first rows of a list; `q` closes it. Further rows are reached by moving."""

_PAGE: Final = 8


class Choices:
    """Where the mark is in a list, and which rows are in sight."""

    def __init__(self, size: int) -> None:
        self.size = size
        """How many rows there are."""
        self.at = 0
        """The marked row."""

    def press(self, key: str) -> bool:
        """Move the mark; whether the key was for that."""
        steps = {"up": -1, "down": 1, "pageup": -_PAGE, "pagedown": _PAGE}
        if key in steps:
            last = max(0, self.size - 1)
            if key in ("up", "down"):
                self.at = (self.at + steps[key]) % max(1, self.size)
            else:
                self.at = min(last, max(0, self.at + steps[key]))
        elif key == "home":
            self.at = 0
        elif key == "end":
            self.at = max(0, self.size - 1)
        else:
            return False
        return True

    def row_of(self, key: str) -> int | None:
        """The row that a key stands for; None for none."""
        row = ROW_KEYS.find(key) if len(key) == 1 else -1
        return row if 0 <= row < self.size else None

    def seen(self, height: int) -> range:
        """The rows in sight, with the marked one among them."""
        height = max(1, height)
        first = min(max(0, self.at - height // 2), max(0, self.size - height))
        return range(first, min(self.size, first + height))


def row_key(row: int) -> str:
    """The key of a row; empty past the last key."""
    return ROW_KEYS[row] if row < len(ROW_KEYS) else ""


def keys_to(row: int) -> Sequence[str]:
    """The keys that choose a row from the list's beginning."""
    return (ROW_KEYS[row],) if row < len(ROW_KEYS) else (*["down"] * row, "enter")
