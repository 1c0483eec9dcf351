"""One language's texts, and what stands in for those that it lacks."""

import pytest

from opolyx_sdk.messages import LANGUAGES, Catalogue, catalogue

ENGLISH = Catalogue("en", {"a": "an A", "b": "{n, plural, one {# B} other {# Bs}}", "c": "C {x}"})
HINDI = Catalogue("hi", {"b": "{n, plural, one {# बी} other {# बियाँ}}"}, ENGLISH)


@pytest.mark.parametrize(
    ("n", "english", "hindi"),
    [
        (0, "0 Bs", "0 बी"),
        (1, "1 B", "1 बी"),
        (2, "2 Bs", "2 बियाँ"),
        (123_456, "123,456 Bs", "1,23,456 बियाँ"),
    ],
)
def test_each_language_counts_in_its_own_way(n: int, english: str, hindi: str) -> None:
    assert (english, hindi) == (ENGLISH.text("b", n=n), HINDI.text("b", n=n))


def test_what_a_language_lacks_is_english() -> None:
    assert "an A" == HINDI.text("a")
    assert HINDI.has("a")
    assert "a" not in HINDI.own_keys()


def test_a_key_that_nobody_has_is_shown_as_it_is() -> None:
    assert "event.Brandnew" == HINDI.text("event.Brandnew", seat="Ada")
    assert not HINDI.has("event.Brandnew")


def test_the_first_key_that_there_is_counts() -> None:
    assert "b" == HINDI.first("new", "b", "a")
    assert "newer" == HINDI.first("new", "newer")


def test_a_text_fits_when_all_its_values_are_known() -> None:
    assert HINDI.fits("c", {"x", "y"})
    assert not HINDI.fits("c", {"y"})
    assert not HINDI.fits("new", {"y"})


def test_a_missing_value_is_shown_by_its_name() -> None:
    assert "C {x}" == HINDI.text("c")


def test_languages_are_read_once() -> None:
    assert catalogue("hi") is catalogue("hi")


def test_an_unknown_language_is_refused() -> None:
    with pytest.raises(ValueError, match="there are en, id, zh-Hant, hi"):
        catalogue("fr")


@pytest.mark.parametrize("language", LANGUAGES)
def test_each_language_names_itself(language: str) -> None:
    names = {one: catalogue(one).text("language.name") for one in LANGUAGES}

    assert len(set(names.values())) == len(LANGUAGES)
    assert names[language]
