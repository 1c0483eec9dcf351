"""One seeded game of each ruleset, as text: what the rules do, where a change of them is seen.

The first actions stand with their events; then a digest of the state every hundred actions to the
end. `make golden` writes the files anew; the diff is what the change did.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from opolyx_rules import RULESETS, Action, Event, State, ids, result, state_digest
from opolyx_rules import actions as act
from opolyx_rules import events as ev
from opolyx_rules.content.decks import CARD_IDS
from support_playout import Playout

FOLDER: Final = Path(__file__).parent
READABLE: Final = 150
"""Actions that are told in full."""
DIGEST_EVERY: Final = 100
SEED: Final = "golden"
CAUSES: Final = {
    (ev.CASH_MOVED, "cause"): "CASH_",
    (ev.TOKEN_MOVED, "manner"): "MOVE_",
    (ev.PROPERTY_MOVED, "cause"): "PROPERTY_",
    (ev.JAILED, "cause"): "JAILED_",
    (ev.RELEASED, "cause"): "RELEASE_",
    (ev.BID_PASSED, "cause"): "PASS_",
    (ev.OFFER_CLOSED, "cause"): "OFFER_",
    (ev.SURRENDERED, "cause"): "SURRENDER_",
    (ev.GAME_ENDED, "cause"): "END_",
    (ev.GOD_ARRIVED, "god"): "GOD_",
    (ev.GOD_LEFT, "god"): "GOD_",
}
"""How the names of a field's values begin in `ids`."""


@pytest.mark.parametrize("name", sorted(RULESETS))
def test_a_seeded_game_goes_as_recorded(name: str, update_golden: bool) -> None:
    path = FOLDER / f"{name}.txt"
    text = "\n".join(told(name)) + "\n"
    if update_golden:
        path.write_text(text)

    assert path.read_text() == text


def test_no_file_is_of_a_ruleset_that_is_gone() -> None:
    assert sorted(RULESETS) == sorted(path.stem for path in FOLDER.glob("*@*.txt"))


def told(name: str) -> Iterator[str]:
    """The lines of a game's file."""
    playout = Playout(RULESETS[name], 4, SEED)
    state = playout.state
    yield f"{name}, 4 seats, seed {SEED!r}: of each action its events, then digests to the end"
    vips = ", ".join(f"S{seat + 1}" for seat in range(4) if state.vip[seat])
    yield f"may finance: {vips or 'nobody'}; cards: {cards_told(state)}"
    yield ""
    yield "start"
    yield from map(event_told, playout.events)
    while not state.over:
        action, log = playout.step()
        if playout.actions <= READABLE:
            yield f"{playout.actions} {action_told(action)}"
            yield from map(event_told, log)
        if playout.actions % DIGEST_EVERY == 0:
            yield digest_told(playout)
    yield digest_told(playout)
    yield from result_told(state)


def action_told(action: Action) -> str:
    """Who does what: seats from S1, sets of squares in brackets."""
    words = [named("seat", action[1]), act.NAMES[action[0]]]
    words += map(named, act.ARGUMENTS[action[0]], action[2:])
    return " ".join(words)


def event_told(event: Event) -> str:
    """The event's name and fields."""
    words = [ev.NAMES[event[0]]]
    for field, value in zip(ev.FIELDS[event[0]], event[1:], strict=True):
        prefix = CAUSES.get((event[0], field))
        words.append(named(field, value) if prefix is None else id_name(prefix, value))
    return "    " + " ".join(words)


def id_name(prefix: str, value: int) -> str:
    """The name that `ids` gives a value, without its prefix."""
    (name,) = [key for key, it in vars(ids).items() if key.startswith(prefix) and it == value]
    return name.removeprefix(prefix).lower()


def named(field: str, value: int) -> str:
    """A field for people: its name where the number alone says nothing."""
    if field in ("seat", "payer", "payee", "giver", "taker", "owner", "creditor", "recipient"):
        return f"S{value + 1}" if value >= 0 else "bank"
    if field in ("proposer", "winner", "first_seat"):
        return f"S{value + 1}" if value >= 0 else "nobody"
    if field in ("give_squares", "want_squares", "numbers"):
        return f"{field}={act.squares_of(value)}"
    if field == "card":
        return CARD_IDS[value]
    return f"{field}={value}"


def cards_told(state: State) -> str:
    """Every seat's collection cards: square and bonus."""
    parts = []
    for seat, bonuses in enumerate(state.cards):
        held = [f"{square}+{bonus}" for square, bonus in enumerate(bonuses) if bonus]
        parts.append(f"S{seat + 1} {' '.join(held)}")
    return ", ".join(parts)


def digest_told(playout: Playout) -> str:
    """Where the game stands after so many actions."""
    state = playout.state
    cash = " ".join(str(amount) for amount in state.cash)
    digest = state_digest(state).hex()[:32]
    return f"after {playout.actions}: round {state.round}, cash {cash}, digest {digest}"


def result_told(state: State) -> Iterator[str]:
    """Cause and places."""
    outcome = result(state)
    yield f"over in round {outcome.round}, cause {outcome.cause}"
    for part in outcome.seats:
        fate = "survived" if part.survived else "out"
        groups = f"{part.full_groups} full groups"
        yield f"S{part.seat + 1}: place {part.place}, {fate}, worth {part.net_worth}, {groups}"
