"""Texts with values in braces."""

import pytest

from opolyx_sdk.messages.patterns import Voice, branches, parse, slots, words, written

VOICE = Voice(number=lambda n: f"{n:,}", category=lambda n: "one" if n == 1 else "other")


def put(text: str, **values: str | int) -> str:
    return written(parse(text), values, VOICE)


def test_values_stand_where_their_names_are() -> None:
    assert "Ada pays 5k" == put("{who} pays {amount}", who="Ada", amount="5k")


def test_numbers_are_written_as_the_language_does() -> None:
    assert "1,234,567 points" == put("{n} points", n=1_234_567)


@pytest.mark.parametrize(
    ("rounds", "expected"),
    [(0, "no round"), (1, "1 round"), (2, "2 rounds"), (1_500, "1,500 rounds")],
)
def test_a_plural_goes_by_the_number(rounds: int, expected: str) -> None:
    text = "{rounds, plural, =0 {no round} one {# round} other {# rounds}}"

    assert expected == put(text, rounds=rounds)


@pytest.mark.parametrize(("face", "expected"), [("bus", "the bus"), (2, "a 2"), ("new", "a new")])
def test_a_choice_goes_by_the_word_or_else(face: str | int, expected: str) -> None:
    assert expected == put("{face, select, bus {the bus} other {a {face}}}", face=face)


def test_choices_stand_within_each_other() -> None:
    text = "{who, select, you {{n, plural, one {# card} other {# cards}} of yours} other {{who}}}"

    assert "2 cards of yours" == put(text, who="you", n=2)
    assert "Bruno" == put(text, who="Bruno", n=2)


def test_a_number_sign_outside_a_plural_is_itself() -> None:
    assert "#3" == put("#{n}", n=3)


def test_a_missing_value_is_shown_by_its_name() -> None:
    assert "{who} has no rounds left" == put(
        "{who} has {rounds, plural, one {# round} other {no rounds}} left"
    )


def test_values_are_never_read_as_texts() -> None:
    assert "{amount}" == put("{who}", who="{amount}", amount="5k")


@pytest.mark.parametrize(
    "text",
    [
        "{",
        "}",
        "{}",
        "a } b",
        "{who",
        "{two words}",
        "{n, plural, one {x}}",
        "{n, plural, other {x}",
        "{n, select, x} other {y}",
        "{n, choice, other {x}}",
        "{n, plural}",
        "{a, select, other {" * 9 + "x" + "}}" * 9,
    ],
)
def test_what_is_not_balanced_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r".+"):
        parse(text)


def test_a_text_tells_its_values_and_choices() -> None:
    pattern = parse("{who} {n, plural, one {# {what}} other {x}} {god, select, other {y}}")

    assert {"who", "n", "what", "god"} == slots(pattern)
    choices = [(name, counted, sorted(keys)) for name, counted, keys in branches(pattern)]
    assert [("n", True, ["one", "other"]), ("god", False, ["other"])] == choices
    assert [" ", " ", "x", " ", "y"] == list(words(pattern))
