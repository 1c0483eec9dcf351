"""`--lang`: the language that a command prints in."""

import os
from typing import Annotated

from cyclopts import Parameter

from opolyx_sdk.errors import OpolyxError
from opolyx_sdk.messages import LANGUAGES, language_of, preferred_language

Lang = Annotated[
    str | None,
    Parameter(
        name="--lang", help="Language: en, id, zh-Hant or hi; else LC_MESSAGES or LANG decides."
    ),
]
"""The option, None where it isn't given."""


def chosen_language(lang: str | None) -> str:
    """The language asked for, or else that of the system.

    Raises:
        OpolyxError: there are no texts in the language asked for.
    """
    if lang is None:
        return preferred_language(os.environ)
    found = language_of(lang)
    if found is None:
        raise OpolyxError(f"no texts in {lang!r}; there are {', '.join(LANGUAGES)}")
    return found
