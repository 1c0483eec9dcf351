"""Numbers, shares and plurals are those of CLDR, as Babel has them."""

import random
from typing import Final

import pytest
from babel import Locale
from babel.numbers import format_decimal, format_percent

from opolyx_sdk.amounts import amount_text, decimal_text, number_text, share_text
from opolyx_sdk.messages import LANGUAGES
from opolyx_sdk.messages.plurals import CATEGORIES, category

EVERY_LANGUAGE: Final = pytest.mark.parametrize("language", LANGUAGES)
LUCK: Final = random.Random(5)
NUMBERS: Final = [
    *range(105),
    *[10**power + more for power in range(1, 11) for more in (-1, 0, 1)],
    *[LUCK.randrange(10**12) for _ in range(40)],
]


def locale(language: str) -> Locale:
    return Locale.parse(language, sep="-")


@EVERY_LANGUAGE
def test_numbers_are_grouped_as_in_cldr(language: str) -> None:
    for number in [*NUMBERS, *[-one for one in NUMBERS]]:
        assert format_decimal(number, locale=locale(language)) == number_text(number, language)


@EVERY_LANGUAGE
def test_money_is_grouped_as_in_cldr(language: str) -> None:
    for number in NUMBERS:
        grouped = format_decimal(number, locale=locale(language))
        assert f"{grouped}k" == amount_text(number, "classic@full", language)


def test_fortunes_money_in_chinese_is_ten_thousands_in_cldrs_grouping() -> None:
    for number in NUMBERS:
        grouped = format_decimal(number / 10, "#,##0.#", locale=locale("zh-Hant"))
        assert f"{grouped}萬" == amount_text(number, "fortune@full", "zh-Hant")


@EVERY_LANGUAGE
def test_decimals_and_shares_have_cldrs_point(language: str) -> None:
    pattern = locale(language).decimal_formats[None].pattern.partition(".")[0]
    for number in NUMBERS:
        written = format_decimal(number + 0.5, f"{pattern}.0", locale=locale(language))
        share = format_percent(number / 10_000, f"{pattern}.##%", locale=locale(language))
        assert written == decimal_text(number + 0.5, 1, language)
        assert share == share_text(number, language)


@EVERY_LANGUAGE
def test_plurals_are_those_of_cldr(language: str) -> None:
    form = locale(language).plural_form

    assert [form(number) for number in NUMBERS] == [category(language, one) for one in NUMBERS]
    assert set(CATEGORIES[language]) == {form(number) for number in NUMBERS}
