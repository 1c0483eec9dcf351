"""Which language somebody reads: what they say, or what their system is set to."""

from collections.abc import Mapping
from typing import Final

from opolyx_sdk.names import LANGUAGES

_VARIABLES: Final = ("LC_ALL", "LC_MESSAGES", "LANG")
"""As POSIX has it: the first that is set decides."""

_PRIMARY: Final = {tag.partition("-")[0]: tag for tag in LANGUAGES}
_ALIASES: Final = {"in": "id"}
"""Indonesian was `in` once, and some systems still say so."""


def preferred_language(environ: Mapping[str, str]) -> str:
    """The language that a process's environment asks for; English if there are no texts in it."""
    listed = environ.get("LANGUAGE", "").split(":")
    locale = next((environ[name] for name in _VARIABLES if environ.get(name)), "")
    if _base(locale) in ("", "c", "posix"):
        return "en"  # as gettext has it: LANGUAGE counts only where a locale is set
    wanted = [*listed, locale]
    return next((found for tag in wanted if tag and (found := language_of(tag))), "en")


def language_of(tag: str) -> str | None:
    """The language of a tag such as hi, zh_TW.UTF-8 or id-ID; None if there are no texts in it.

    All of Chinese is zh-Hant, the only Chinese there is.
    """
    primary = _base(tag).partition("-")[0]
    return _PRIMARY.get(_ALIASES.get(primary, primary))


def _base(tag: str) -> str:
    """A tag without character set and variant, in lower case."""
    return tag.partition(".")[0].partition("@")[0].strip().replace("_", "-").lower()
