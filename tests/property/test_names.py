"""Any text is a name or is refused; what is a name stays one, and names at a table differ."""

import unicodedata

from hypothesis import given, settings
from hypothesis import strategies as st

from opolyx_matchmaker.names import LONGEST_NAME, clean_name, shown_name, skeleton, told_apart
from opolyx_servicekit.errors import InvalidArgument

TEXTS = st.text(max_size=60) | st.text("aаαAА01lI|o\u200d\u202e\u3164 .-é", max_size=30)


@given(TEXTS)
@settings(max_examples=400, deadline=None)
def test_a_clean_name_is_clean_again_and_shows_something(raw: str) -> None:
    try:
        name = clean_name(raw)
    except InvalidArgument:
        return
    assert name == clean_name(name)
    assert 1 <= len(name) <= LONGEST_NAME
    assert not any(unicodedata.category(one) in ("Cc", "Cs", "Co") for one in name)
    assert not set(name) & set("\u202a\u202b\u202d\u202e\u2066\u2067\u2068\u2069\u200e\u200f\u061c")


@given(TEXTS)
@settings(max_examples=200, deadline=None)
def test_whatever_a_token_claims_something_is_shown(claimed: str) -> None:
    assert 1 <= len(shown_name(claimed, "p_1")) <= LONGEST_NAME


@given(st.lists(TEXTS.filter(lambda text: text.strip() != ""), min_size=1, max_size=6))
@settings(max_examples=200, deadline=None)
def test_nobody_at_a_table_looks_like_another(raws: list[str]) -> None:
    shown: list[str] = []
    for number, raw in enumerate(raws):
        shown.append(told_apart(shown_name(raw, f"p_{number}"), shown))

    assert len(shown) == len({skeleton(name) for name in shown})
    assert all(1 <= len(name) <= LONGEST_NAME for name in shown)
