"""Each language has every text, with the same values, and none of it is English."""

import dataclasses
import random
import re
from collections.abc import Iterator
from enum import Enum
from functools import cache
from typing import Any, Final, get_args, get_type_hints

import pytest

from opolyx_rules import RULESETS, Ruleset, SeededChance, start
from opolyx_rules.engine import actors, apply, legal_actions
from opolyx_sdk import enums
from opolyx_sdk.actions import ACTION_TYPES
from opolyx_sdk.board import GROUPS
from opolyx_sdk.events import EVENT_TYPES, Event
from opolyx_sdk.local._core_events import sdk_event
from opolyx_sdk.messages import LANGUAGES, Catalogue, Table, catalogue
from opolyx_sdk.messages.catalogue import read_texts
from opolyx_sdk.messages.patterns import branches, parse, slots
from opolyx_sdk.messages.plurals import CATEGORIES
from opolyx_sdk.refusals import Refusal
from opolyx_sdk.text import UNKNOWN, describe, event_key, refusal_text

ENGLISH: Final = read_texts("en")
OTHERS: Final = [language for language in LANGUAGES if language != "en"]
EVERY_LANGUAGE: Final = pytest.mark.parametrize("language", LANGUAGES)
EVERY_OTHER: Final = pytest.mark.parametrize("language", OTHERS)
EVERY_RULESET: Final = pytest.mark.parametrize(
    "ruleset", RULESETS.values(), ids=lambda one: one.name
)

SECTIONS: Final[dict[str, type[enums.OpenEnum]]] = {
    "event.TokenMoved": enums.MoveManner,
    "event.Jailed": enums.JailCause,
    "event.Released": enums.ReleaseCause,
    "event.BidPassed": enums.PassCause,
    "event.GodArrived": enums.God,
    "event.GodLeft": enums.God,
    "event.OfferClosed": enums.OfferCause,
    "event.Surrendered": enums.SurrenderCause,
    "event.GameEnded": enums.EndCause,
    "refusal": enums.RefusalReason,
    "action.ChooseBus": enums.BusMove,
    "phase": enums.Phase,
    "screen.phase": enums.Phase,
    "god": enums.God,
    "rank": enums.Rank,
    "rarity": enums.Rarity,
    "award": enums.TermKind,
    "occupant": enums.Occupant,
    "room_state": enums.RoomState,
    "game_state": enums.GameState,
    "detached": enums.DetachReason,
}
"""Sections with a text for each value of an enumeration."""

NUMBERS: Final = [
    "cash",
    "price",
    "stake",
    "owed",
    "bail",
    "cost",
    "needed",
    "raisable",
    "given",
    "wanted",
    "square",
    "seat",
    "awaited",
    "recipient",
    "group",
    "level",
    "limit",
    "numbers",
    "offer_id",
    "retry_after_ms",
    "commands_per_second",
    "late_ms",
    "amount",
]
"""Names of the numbers that refusals have."""


@cache
def source(language: str) -> dict[str, str]:
    """Return the texts as the language's file has them."""
    return read_texts(language)


# --- Keys -----------------------------------------------------------------------------------------


@EVERY_OTHER
def test_no_text_is_missing(language: str) -> None:
    """A text that is missing would be shown in English."""
    missing = [key for key in ENGLISH if key not in source(language)]

    assert missing == []


@EVERY_OTHER
def test_no_text_is_left_over(language: str) -> None:
    assert [key for key in source(language) if key not in ENGLISH] == []


@EVERY_LANGUAGE
def test_no_text_is_empty_or_has_space_around_it(language: str) -> None:
    texts = source(language)
    joining = {"list.separator", "list.last", "list.colon", "list.semicolon"}

    assert [key for key, text in texts.items() if not text.strip()] == []
    assert [key for key, text in texts.items() if text != text.strip() and key not in joining] == []
    assert [key for key, text in texts.items() if "  " in text or "\n" in text] == []


@pytest.mark.parametrize("event", EVENT_TYPES, ids=lambda one: one.__name__)
def test_every_event_has_a_text(event: type[Event]) -> None:
    key = f"event.{event.__name__}"

    assert key in ENGLISH or any(one.startswith(f"{key}.") for one in ENGLISH)


@pytest.mark.parametrize("section", SECTIONS)
def test_every_value_of_an_enumeration_has_a_text(section: str) -> None:
    named = [value.name.lower() for value in SECTIONS[section] if value != 0]

    assert [name for name in named if f"{section}.{name}" not in ENGLISH] == []


def test_every_reason_for_moving_cash_has_a_text() -> None:
    named = [cause.name.lower() for cause in enums.CashCause if cause != 0]
    ways = ("gets", "pays", "hands")

    assert [
        name
        for name in named
        if not any(f"event.CashMoved.{way}.{name}" in ENGLISH for way in ways)
    ] == []


def test_every_action_has_words() -> None:
    named = [one.__name__ for one in ACTION_TYPES if one.__name__ != "ChooseBus"]

    assert [name for name in named if f"action.{name}" not in ENGLISH] == []


def test_every_mode_edition_and_group_has_a_name() -> None:
    modes = {ruleset.mode for ruleset in RULESETS.values()}
    editions = {ruleset.edition for ruleset in RULESETS.values()}
    wanted = [
        *[f"mode.{mode}" for mode in sorted(modes)],
        *[f"mode_about.{mode}" for mode in sorted(modes)],
        *[f"edition.{edition}" for edition in sorted(editions)],
        *[f"group.{group}" for group in GROUPS],
        *[f"award.{reason.name.lower()}" for reason in enums.ZeroReason if reason != 0],
    ]

    assert [key for key in wanted if key not in ENGLISH] == []


@EVERY_LANGUAGE
@EVERY_RULESET
def test_squares_and_cards_have_names_of_their_own(ruleset: Ruleset, language: str) -> None:
    told, english = Table((), ruleset.name, language), Table((), ruleset.name)
    squares = [told.where(square) for square in range(40)]
    cards = [told.card(card) for card in range(16)]

    assert all(squares)
    assert len(cards) == len(set(cards))
    if language != "en":
        alike = [
            name
            for name, plain in zip(
                [*squares, *cards],
                [*map(english.where, range(40)), *map(english.card, range(16))],
                strict=True,
            )
            if name == plain
        ]
        assert set(alike) <= {"Start", "Jackpot"}


# --- Values in braces -----------------------------------------------------------------------------


def chosen_by(text: str) -> set[str]:
    """Return the values that only choose between texts, and are not shown themselves."""
    shown = set(re.findall(r"{(\w+)}", text))
    plural = {name for name, counted, _ in branches(parse(text)) if counted and "#" in text}
    return {name for name, _, _ in branches(parse(text))} - shown - plural


@EVERY_OTHER
def test_values_are_those_of_the_english_text(language: str) -> None:
    """A value that only chooses a word in English may not matter elsewhere."""
    wrong = {}
    for key, text in source(language).items():
        english = slots(parse(ENGLISH[key]))
        here = slots(parse(text))
        if not english - chosen_by(ENGLISH[key]) <= here <= english:
            wrong[key] = sorted(english ^ here)

    assert wrong == {}


@EVERY_LANGUAGE
def test_plurals_have_the_forms_of_the_language(language: str) -> None:
    wrong = []
    for key, text in source(language).items():
        for _, plural, keys in branches(parse(text)):
            forms = {form for form in keys if not form.startswith("=")}
            if plural and forms != set(CATEGORIES[language]):
                wrong.append(key)

    assert wrong == []


@EVERY_OTHER
def test_choices_are_between_words_that_english_knows(language: str) -> None:
    def choices(text: str) -> set[str]:
        return {word for _, plural, keys in branches(parse(text)) if not plural for word in keys}

    texts = source(language)
    assert [key for key in texts if choices(texts[key]) - choices(ENGLISH[key]) - {"other"}] == []


def fields_of(kind: type) -> set[str]:
    return {field.name for field in dataclasses.fields(kind)}


@pytest.mark.parametrize("kind", [*EVENT_TYPES, *ACTION_TYPES], ids=lambda one: one.__name__)
def test_values_are_fields_of_the_event_or_action(kind: type) -> None:
    more = {"DiceRolled": {"double"}, "PropertyMoved": {"squares", "count", "price"}}
    section = "event" if kind in EVENT_TYPES else "action"
    start = f"{section}.{kind.__name__}"
    texts = [t for key, t in ENGLISH.items() if key == start or key.startswith(f"{start}.")]

    known = fields_of(kind) | more.get(kind.__name__, set())
    assert [text for text in texts if not slots(parse(text)) <= known] == []


@EVERY_LANGUAGE
@pytest.mark.parametrize("reason", enums.RefusalReason)
def test_no_refusal_lacks_a_value(language: str, reason: enums.RefusalReason) -> None:
    told = Table(["Ada", "Bruno"], "classic@full", language)
    full = Refusal(reason, "BUILD-2", "", dict.fromkeys(NUMBERS, 1))

    assert "{" not in refusal_text(full, told)
    assert "{" not in refusal_text(Refusal(reason, "", "", {}), told)


def samples(kind: type[Event]) -> Iterator[Event]:
    """Return events of a kind: for each value of its enumeration, with and without the bank."""
    hints = get_type_hints(kind)
    choices: dict[str, list[Any]] = {}
    for name, hint in hints.items():
        if isinstance(hint, type) and issubclass(hint, Enum):
            choices[name] = list(hint)
        elif type(None) in get_args(hint):
            choices[name] = [1, None]
        else:
            choices[name] = [(1, 6) if name == "numbers" else 1]
    size = max(map(len, choices.values()))
    for number in range(2 * size):
        yield kind(**{name: values[number % len(values)] for name, values in choices.items()})


@EVERY_LANGUAGE
@pytest.mark.parametrize("kind", EVENT_TYPES, ids=lambda one: one.__name__)
def test_every_event_is_told_with_its_values(language: str, kind: type[Event]) -> None:
    told = Table(["Ada", "Bruno"], "fortune@full", language)

    for event in samples(kind):
        text = describe(event, told)
        assert not re.search(r"[{}]|None|unspecified", text, re.IGNORECASE), text
        assert event_key(event, told) != UNKNOWN


@EVERY_RULESET
def test_what_happens_in_games_is_never_told_vaguely(ruleset: Ruleset) -> None:
    chance, luck = SeededChance(b"\x07" * 32), random.Random(11)
    state = start(ruleset, 4, chance, vip=(0, 1))
    told = Table((), ruleset.name)
    keys = set()
    for _ in range(500):
        if state.over:
            break
        choice = luck.choice(legal_actions(state, actors(state)[0]))
        keys |= {event_key(sdk_event(one), told) for one in apply(state, choice, chance)}

    assert len(keys) > 20
    assert [key for key in keys if key.endswith(".other") or key == UNKNOWN] == []


def test_a_text_that_is_missing_is_noticed() -> None:
    lacking = dict(source("hi"))
    del lacking["event.BidPlaced"]
    hindi = Catalogue("hi", lacking, catalogue("en"))

    assert "event.BidPlaced" not in hindi.own_keys()
    assert "Ada bids 5k" == hindi.text("event.BidPlaced", seat="Ada", amount="5k")
