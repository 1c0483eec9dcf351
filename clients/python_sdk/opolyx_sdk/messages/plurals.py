"""Which form of a word a count takes: CLDR's plural rules for whole numbers.

https://cldr.unicode.org/index/cldr-spec/plural-rules; the tests compare with CLDR's own data.
"""

from typing import Final

CATEGORIES: Final[dict[str, tuple[str, ...]]] = {
    "en": ("one", "other"),
    "id": ("other",),
    "zh-Hant": ("other",),
    "hi": ("one", "other"),
}
"""The forms that each language has for whole numbers."""


def category(language: str, count: int) -> str:
    """The form for a count. English: one is 1. Hindi: one is 0 or 1."""
    singular = {"en": (1,), "hi": (0, 1)}.get(language, ())
    return "one" if abs(count) in singular else "other"
