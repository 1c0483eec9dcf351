"""Names of squares and cards, over every ruleset and language."""

import itertools
import re
import string
import unicodedata
from pathlib import Path
from typing import Final

import pytest

from opolyx_rules import RULESETS, Ruleset
from opolyx_rules.content.boards import CHANCE, KIND, PROPERTIES
from opolyx_rules.content.decks import CARD_IDS, DECKS, MOVE_TO, STANDARD
from opolyx_rules.content.themes import (
    LANGUAGES,
    THEMES,
    card_name,
    square_name,
    theme,
)

BOTH: Final = pytest.mark.parametrize(
    ("ruleset", "language"),
    [
        pytest.param(ruleset, language, id=f"{ruleset.name}-{language}")
        for ruleset in RULESETS.values()
        for language in LANGUAGES
    ],
)
BOARDS: Final = pytest.mark.parametrize(
    ("board", "language"), list(itertools.product(THEMES, LANGUAGES))
)
EVERY_LANGUAGE: Final = pytest.mark.parametrize("language", LANGUAGES)
KNOWN_NAMES: Final = tuple(
    line
    for line in Path(__file__).with_name("known_names.txt").read_text(encoding="utf-8").splitlines()
    if line and not line.startswith("#")
)
# Simplified characters that Big5 has all the same, as rare characters of their own.
SIMPLIFIED_IN_BIG5: Final = frozenset("云机厂广种虫叶胜响丰厅庄弥")
ASCII_MARKS: Final = " -:'"


def squares_of(ruleset: Ruleset, language: str) -> list[str]:
    return [
        square_name(ruleset.theme, language, square, ruleset.third_corner) for square in range(40)
    ]


def cards_of(ruleset: Ruleset, language: str) -> list[str]:
    return [card_name(ruleset.theme, ruleset.deck, language, n) for n in range(len(CARD_IDS))]


def all_names(language: str) -> list[str]:
    """Every name that is anywhere in a language."""
    column = LANGUAGES.index(language)
    rows = [
        row
        for board in THEMES.values()
        for rows in (board.squares, board.third_corners, *board.cards.values())
        for row in rows
    ]
    return sorted({row[column] for row in rows})


@pytest.mark.rule("BOARD-3")
@BOTH
def test_every_square_and_card_has_a_name(ruleset: Ruleset, language: str) -> None:
    names = [*squares_of(ruleset, language), *cards_of(ruleset, language)]

    assert 40 + 16 == len(names)
    assert all(name and name == name.strip() and "{" not in name for name in names)


@BOTH
def test_only_the_chance_squares_share_a_name(ruleset: Ruleset, language: str) -> None:
    names = squares_of(ruleset, language)
    others = [name for name, kind in zip(names, KIND, strict=True) if kind != CHANCE]

    assert len(others) == len(set(others))
    assert 1 == len({name for name, kind in zip(names, KIND, strict=True) if kind == CHANCE})


@BOTH
def test_no_two_cards_of_a_deck_share_a_name(ruleset: Ruleset, language: str) -> None:
    names = cards_of(ruleset, language)

    assert len(names) == len(set(names))


@BOTH
def test_a_card_that_moves_names_its_square(ruleset: Ruleset, language: str) -> None:
    for number, (effect, square) in enumerate(DECKS[ruleset.deck]):
        if effect == MOVE_TO:
            target = square_name(ruleset.theme, language, square, ruleset.third_corner)
            assert target in card_name(ruleset.theme, ruleset.deck, language, number)


@BOARDS
def test_each_answer_to_the_third_corner_has_its_name(board: str, language: str) -> None:
    names = [square_name(board, language, 20, policy) for policy in range(3)]

    assert 3 == len(set(names))
    assert theme(board).squares[20][LANGUAGES.index(language)] not in names


@pytest.mark.rule("CHANCE-7")
@pytest.mark.statement("R030")
@BOARDS
def test_halal_renames_exactly_three_cards(board: str, language: str) -> None:
    renamed = {
        CARD_IDS[number]
        for number in range(16)
        if card_name(board, "halal", language, number)
        != card_name(board, "standard", language, number)
    }

    assert {"scratch_win", "birthday", "charity_dinner"} == renamed
    assert STANDARD == DECKS["halal"]


@BOARDS
@pytest.mark.parametrize("deck", DECKS)
def test_a_card_that_does_something_else_is_called_otherwise(
    board: str, language: str, deck: str
) -> None:
    for number, row in enumerate(DECKS[deck]):
        same = card_name(board, "standard", language, number)
        assert (row == STANDARD[number]) or same != card_name(board, deck, language, number)


def test_fortune_renames_no_other_card() -> None:
    changed = [number for number in range(16) if DECKS["fortune"][number] != STANDARD[number]]
    decks = theme("fortune").cards

    assert changed == [n for n in range(16) if decks["fortune"][n] != decks["standard"][n]]


@pytest.mark.parametrize("board", THEMES)
def test_no_property_was_left_untranslated(board: str) -> None:
    for square in PROPERTIES:
        assert len(LANGUAGES) == len(set(theme(board).squares[square]))


def test_themes_have_no_property_in_common() -> None:
    for one, other in itertools.combinations(THEMES.values(), 2):
        for square in PROPERTIES:
            assert not set(one.squares[square]) & set(other.squares[square])


@pytest.mark.statement("R043")
@EVERY_LANGUAGE
def test_no_name_is_a_known_brand_or_another_games_square(language: str) -> None:
    for name in all_names(language):
        taken = [known for known in KNOWN_NAMES if is_in(known, name)]
        assert not taken, f"{name} has the name of {taken}"


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("Boardwalk Inn", ["Boardwalk"]),
        ("Upper park place", ["Park Place"]),
        ("小米茶舖", ["小米"]),
        ("टाटा बिजली", ["टाटा"]),
        ("Greengrocer's Grabble", []),
    ],
)
def test_known_names_are_found(name: str, known: list[str]) -> None:
    assert known == [one for one in KNOWN_NAMES if is_in(one, name)]


def is_in(known: str, name: str) -> bool:
    if known.isascii():
        return re.search(rf"(?<!\w){re.escape(known)}(?!\w)", name, re.IGNORECASE) is not None
    if unicodedata.name(known[0]).startswith("CJK"):
        return known in name
    return f" {known} " in f" {name} "


@EVERY_LANGUAGE
def test_names_are_in_unicodes_normal_form(language: str) -> None:
    for name in all_names(language):
        assert unicodedata.normalize("NFC", name) == name


@pytest.mark.parametrize("language", ["en", "id"])
def test_latin_names_are_plain_ascii(language: str) -> None:
    for name in all_names(language):
        assert set(name) <= set(string.ascii_letters + ASCII_MARKS), name


def test_hindi_names_are_in_devanagari() -> None:
    for name in all_names("hi"):
        letters = [letter for letter in name if letter not in ASCII_MARKS]
        assert letters
        assert all(unicodedata.name(letter).startswith("DEVANAGARI") for letter in letters), name


def test_chinese_names_are_in_traditional_characters() -> None:
    for name in all_names("zh-Hant"):
        letters = name.replace("：", "")
        assert letters
        assert all(unicodedata.name(letter).startswith("CJK UNIFIED") for letter in letters), name
        letters.encode("big5")  # fails at what only simplified Chinese writes
        assert not SIMPLIFIED_IN_BIG5 & set(letters), name


def test_what_has_no_names_is_refused() -> None:
    with pytest.raises(KeyError, match="there are fortune, world"):
        theme("moon")
    with pytest.raises(KeyError, match="zh-Hant"):
        square_name("world", "zh", 1, 0)
    with pytest.raises(KeyError, match="zh-Hant"):
        card_name("world", "standard", "fr", 1)
