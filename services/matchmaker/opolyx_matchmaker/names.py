"""Names that are shown: what may be one, and which look alike.

A name proves nothing; an id is what tells two players apart. But nobody should look like somebody
else at the same table, or break the screens of others.
"""

import unicodedata
from collections.abc import Iterable
from typing import Final

from opolyx_servicekit.errors import InvalidArgument

LONGEST_NAME: Final = 24
"""In characters, after normalisation."""

_LONGEST_RAW: Final = 200
_BLANKS: Final = "\u115f\u1160\u2800\u3164\uffa0"  # letters and symbols that show nothing
_JOINERS: Final = "\u200c\u200d"  # several scripts can't be written without them
_MOST_MARKS: Final = 4  # on one letter; Vietnamese and Indic scripts need up to three

_CJK: Final = frozenset({"CJK", "HIRAGANA", "KATAKANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"})
_ALONE: Final = frozenset({"CYRILLIC", "GREEK", "COPTIC", "ARMENIAN", "CHEROKEE", "LISU"})
"""Scripts whose letters pass for Latin ones: a name has them alone, or not at all."""

_LOOKS_LIKE: Final = str.maketrans(
    "авекмнорстухіјѕԁԛԝһүьαβγεηικνορτυχω0157|!",  # lower case, decomposed
    "abekmhopctyxijsdqwhybabyenikvoptuxwoistii",
)


def clean_name(raw: str) -> str:
    """A name as it is stored: normalised (NFKC), without spaces around it.

    Raises:
        InvalidArgument: it has not 1 to 24 characters then; or one that can't be seen, that changes
            the direction of what follows or stacks marks; or letters of scripts that are mixed to
            look like another name.
    """
    if len(raw) > _LONGEST_RAW:
        raise _bad_name(f"must have 1 to {LONGEST_NAME} characters")
    words = unicodedata.normalize("NFKC", raw).strip().split(" ")
    name = " ".join(word for word in words if word)
    if not 1 <= len(name) <= LONGEST_NAME:
        raise _bad_name(f"must have 1 to {LONGEST_NAME} characters")
    _check_characters(name)
    if not any(_is_seen(character) for character in name):
        raise _bad_name("must hold something that can be seen")
    if not _may_stand_together(scripts_of(name)):
        raise _bad_name("must not mix letters of several scripts")
    return name


def shown_name(claimed: str, player_id: str) -> str:
    """What others see of an account: its token's name, or its id if that is no name to show.

    Our own tokens hold clean names; an operator's identity provider may put anything there.
    """
    try:
        return clean_name(claimed)
    except InvalidArgument:
        return player_id[:LONGEST_NAME]


def told_apart(name: str, others: Iterable[str]) -> str:
    """`name`, with a number behind it if another at the table has one that looks like it."""
    taken = {skeleton(other) for other in others}
    shown, number = name, 1
    while skeleton(shown) in taken:
        number += 1
        behind = f" {number}"
        shown = name[: LONGEST_NAME - len(behind)].rstrip() + behind
    return shown


def skeleton(name: str) -> str:
    """What is left of a name when all that looks alike is the same: not to be shown."""
    folded = unicodedata.normalize("NFKD", name.casefold())
    plain = [one for one in folded if unicodedata.category(one)[0] in "LNS"]
    return "".join(plain).translate(_LOOKS_LIKE).replace("rn", "m").replace("l", "i")


def scripts_of(name: str) -> frozenset[str]:
    """The scripts of its letters, by the first word of their names in Unicode."""
    letters = [one for one in name if unicodedata.category(one)[0] == "L"]
    return frozenset(unicodedata.name(one, "COMMON").split(" ", 1)[0] for one in letters)


def _check_characters(name: str) -> None:
    marks, before = 0, ""
    for character in name:
        kind = unicodedata.category(character)
        joins = character in _JOINERS and _may_be_joined(before)
        if not joins and (kind[0] == "C" or kind in ("Zl", "Zp") or character in _BLANKS):
            raise _bad_name(f"must not hold U+{ord(character):04X} there")
        marks = marks + 1 if kind in ("Mn", "Me") else 0
        if marks > _MOST_MARKS:
            raise _bad_name(f"must not stack more than {_MOST_MARKS} marks")
        before = character


def _may_be_joined(before: str) -> bool:
    """Whether an invisible joiner behind this character changes what is seen."""
    if not before:
        return False
    kind = unicodedata.category(before)
    script = unicodedata.name(before, "").split(" ", 1)[0]
    if kind[0] == "L":
        return script not in _ALONE | _CJK | {"LATIN"}
    return kind in ("Mn", "Mc", "So", "Sk")


def _may_stand_together(scripts: frozenset[str]) -> bool:
    """One script; East Asian ones together; Latin beside any but those that pass for it."""
    named = scripts - {"COMMON", "MODIFIER"}
    rest = named - {"LATIN"}
    if rest <= _CJK:
        return True
    return len(rest) == 1 and (len(named) == 1 or not rest & _ALONE)


def _is_seen(character: str) -> bool:
    return character not in _BLANKS and unicodedata.category(character)[0] not in "CZM"


def _bad_name(why: str) -> InvalidArgument:
    return InvalidArgument("INVALID_FIELD", f"name: {why}", fields={"name": why})
