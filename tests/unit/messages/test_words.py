"""The words of each language: none is English, and each is written as the language is."""

import re
from functools import cache
from pathlib import Path
from typing import Final

import pytest

from opolyx_sdk.messages import LANGUAGES
from opolyx_sdk.messages.catalogue import read_texts
from opolyx_sdk.messages.patterns import parse, words

EVERY_LANGUAGE: Final = pytest.mark.parametrize("language", LANGUAGES)
EVERY_OTHER: Final = pytest.mark.parametrize(
    "language", [language for language in LANGUAGES if language != "en"]
)

LATIN_WORDS: Final = {
    "zh-Hant": "Enter Tab JSON SVG X",
    "hi": "Enter Tab JSON SVG XP X",
}
"""Words that are written alike in English: names of keys, formats and faces of dice."""

ENGLISH_WORDS: Final = frozenset(
    (Path(__file__).parent / "english_words.txt").read_text(encoding="utf-8").split()
)
"""Common words, none of which Indonesian has."""


source = cache(read_texts)


def words_of(text: str) -> str:
    """Return what a text says itself: neither values nor the words that choose."""
    return " ".join(words(parse(text)))


@pytest.mark.parametrize("language", ["zh-Hant", "hi"])
def test_scripts_are_not_mixed(language: str) -> None:
    known = set(LATIN_WORDS[language].split())
    mixed = {
        key: found
        for key, text in source(language).items()
        if (found := set(re.findall(r"[A-Za-z]+", words_of(text))) - known)
    }

    assert mixed == {}


def test_no_english_is_left_in_indonesian() -> None:
    left = {
        key: found
        for key, text in source("id").items()
        if (found := set(re.findall(r"[a-z]+", words_of(text).lower())) & ENGLISH_WORDS)
    }

    assert left == {}


ALIKE: Final = {
    "id": "seat.bank mode.halal occupant.bot demo.xp",
    "zh-Hant": "",
    "hi": "demo.xp",
}
"""Texts for which the language has the very words."""


@EVERY_OTHER
def test_no_text_is_the_english_one(language: str) -> None:
    alike = {
        key
        for key, text in source(language).items()
        if text == source("en")[key] and re.search("[A-Za-z]{2}", words_of(text))
    }

    assert alike <= set(ALIKE[language].split())


@EVERY_LANGUAGE
def test_brackets_are_in_pairs(language: str) -> None:
    for key, text in source(language).items():
        for left, right in ("()", "[]", "（）", "「」", "“”"):
            assert text.count(left) == text.count(right), key


def test_chinese_has_chinese_marks() -> None:
    plain = {
        key: text
        for key, text in source("zh-Hant").items()
        if re.search(r"[\u4e00-\u9fff][,:;!?()]|[,:;!?()][\u4e00-\u9fff]", words_of(text))
    }

    assert plain == {}


def test_hindi_ends_its_sentences_with_a_danda() -> None:
    short = "से."  # for seconds, as in a train's timetable
    stopped = [
        key
        for key, text in source("hi").items()
        if re.search(r"[\u0900-\u097f]\.(\s|$)", text.replace(short, ""))
    ]

    assert stopped == []


def test_hindi_verbs_need_no_players_gender() -> None:
    """No verb forms that say whether the reader or a player is a man or a woman."""
    gendered = r"(सकते|सकती|रहे|रही|चाहते|चाहती|करते|करती|जाते|जाती|[ेंी]ंग[ेी]) (हैं|हो)|ेंगे|ेंगी|ोगे"
    known = {"bots_welcome", "partial"}  # of bots and of dice

    assert [
        key
        for key, text in source("hi").items()
        if re.search(gendered, text) and key.rpartition(".")[2] not in known
    ] == []
