"""A state as bytes and back, for snapshots. Holds everything, hidden parts too: for storage only."""

import json
from typing import Final

from opolyx_rules.ruleset import Ruleset
from opolyx_rules.state import DERIVED, State

FORMAT: Final = 1
"""Rises whenever a field of `State` is added, removed or changes its meaning."""

_SHARED: Final = ("ruleset", "seats", "cards", "vip")
_FIELDS: Final = tuple(sorted(set(State.__slots__).difference(_SHARED, DERIVED)))
_TUPLES: Final = ("stack", "auction_bids", "offers")


def encode(state: State) -> bytes:
    """The state's fields as JSON, without the ruleset."""
    values: dict[str, object] = {name: getattr(state, name) for name in _FIELDS}
    values["format"] = FORMAT
    values["seats"] = state.seats
    values["cards"] = state.cards
    values["vip"] = state.vip
    return json.dumps(values, sort_keys=True, separators=(",", ":")).encode()


def decode(data: bytes, ruleset: Ruleset) -> State:
    """The state that `encode` wrote, under the ruleset it was played by.

    Raises:
        ValueError: The bytes are of another format.
    """
    values = json.loads(data)
    if values.get("format") != FORMAT:
        raise ValueError(f"state format {values.get('format')!r} is not {FORMAT}")
    cards = tuple([tuple(row) for row in values["cards"]])
    state = State(ruleset, values["seats"], cards, tuple(values["vip"]))
    for name in _FIELDS:
        value = values[name]
        if name in _TUPLES:
            value = [tuple(item) for item in value]
        elif name == "debts":
            value = [
                (debtor, tuple([tuple(claim) for claim in claims])) for debtor, claims in value
            ]
        setattr(state, name, value)
    state.find_holdings()
    return state
