"""Names as they are kept, ids and codes."""

import pytest

from opolyx_matchmaker.identity import clean_name, shown_name
from opolyx_matchmaker.ids import new_code, new_id, read_code
from opolyx_servicekit.errors import InvalidArgument


@pytest.mark.parametrize(
    ("raw", "kept"),
    [
        ("Ada", "Ada"),
        ("  Ada  ", "Ada"),
        ("Jose\u0301", "José"),
        ("अदिति क्‍ष", "अदिति क्‍ष"),
        ("陳大文", "陳大文"),
        ("x" * 24, "x" * 24),
    ],
)
def test_good_names_are_kept_in_nfc(raw: str, kept: str) -> None:
    assert kept == clean_name(raw)


@pytest.mark.parametrize(
    "raw",
    [
        "",
        "   ",
        "x" * 25,
        "x" * 10_000,
        "a\nb",
        "a\x00b",
        "a\u202eb",
        "a\u2066b",
        "a\u200fb",
        "a\u2028b",
        "\u200d\u200d",
        "\u0301",
        "a\ue000",
        "a\ufeff",
    ],
)
def test_bad_names_are_refused_with_the_field(raw: str) -> None:
    with pytest.raises(InvalidArgument) as caught:
        clean_name(raw)

    assert ["name"] == list(caught.value.fields)
    assert "INVALID_FIELD" == caught.value.reason


def test_name_that_a_foreign_token_claims_is_shown_only_if_it_is_one() -> None:
    assert "José" == shown_name("Jose\u0301", "p_1")
    for claimed in ("", "x" * 128, "a\u202eb"):
        assert "p_" + "0" * 22 == shown_name(claimed, "p_" + "0" * 40)


def test_ids_sort_by_time_and_differ() -> None:
    ids = [new_id("p_", 1_700_000_000_000 + step) for step in range(50)]

    assert sorted(ids) == ids
    assert len({new_id("p_", 1) for _ in range(100)}) == 100
    assert {28} == {len(one) for one in ids}


def test_codes_are_read_as_people_type_them() -> None:
    code = new_code()

    assert 8 == len(code)
    assert code == read_code(f" {code[:3].lower()}-{code[3:]} ")
    assert "110" == read_code("ilo")
