"""Which language is taken."""

import pytest

from opolyx_sdk.messages import language_of, preferred_language


@pytest.mark.parametrize(
    ("environ", "expected"),
    [
        ({}, "en"),
        ({"LANG": "hi_IN.UTF-8"}, "hi"),
        ({"LANG": "zh_TW.UTF-8"}, "zh-Hant"),
        ({"LANG": "zh_HK"}, "zh-Hant"),
        ({"LANG": "id_ID.UTF-8"}, "id"),
        ({"LANG": "in_ID"}, "id"),
        ({"LANG": "C.UTF-8"}, "en"),
        ({"LANG": "POSIX"}, "en"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
        ({"LANG": "sr_RS@latin"}, "en"),
        ({"LANG": "hi_IN", "LC_MESSAGES": "id_ID"}, "id"),
        ({"LANG": "hi_IN", "LC_MESSAGES": "id_ID", "LC_ALL": "zh_TW"}, "zh-Hant"),
        ({"LANG": "hi_IN", "LC_ALL": ""}, "hi"),
        ({"LANG": "hi_IN", "LC_ALL": "C"}, "en"),
        ({"LANG": "fr_FR", "LANGUAGE": "fr:id:hi"}, "id"),
        ({"LANG": "en_GB", "LANGUAGE": "en_GB:en"}, "en"),
        ({"LANG": "C", "LANGUAGE": "hi"}, "en"),
    ],
)
def test_the_system_decides(environ: dict[str, str], expected: str) -> None:
    assert expected == preferred_language(environ)


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("zh-Hant", "zh-Hant"),
        ("ZH", "zh-Hant"),
        ("hi", "hi"),
        ("en-GB", "en"),
        ("de", None),
        ("", None),
        ("-", None),
        ("hindi", None),
    ],
)
def test_a_tag_may_say_more_than_is_needed(tag: str, expected: str | None) -> None:
    assert expected == language_of(tag)
