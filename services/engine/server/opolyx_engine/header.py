"""What is fixed when a game starts: its rules, its seats and its dice."""

import json
from dataclasses import dataclass, field
from typing import Any, Final

PERSON: Final = 1
SDK_BOT: Final = 2
BUILT_IN: Final = 3
"""Kinds of seat holders; those of the proto SeatKind."""

KIND_NAMES: Final = {PERSON: "person", SDK_BOT: "bot", BUILT_IN: "built_in"}
"""Names of the kinds in a replay."""


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds a seat."""

    player_id: str
    """The account; empty for a built-in bot."""

    name: str
    """The name shown."""

    kind: int
    """PERSON, SDK_BOT or BUILT_IN. Stored: never renumber."""

    policy: str = ""
    """The built-in bot's policy; empty for others."""

    cards: tuple[tuple[int, int], ...] = ()
    """Collection cards: square and bonus in basis points."""

    vip: bool = False
    """Whether the seat may finance."""

    nonce: bytes = b""
    """The player's share in the dice."""


@dataclass(frozen=True, slots=True)
class HouseOptions:
    """What the house changes of the ruleset; None is the ruleset's own."""

    start_cash: int | None = None
    """Start cash in k."""

    round_cap: int | None = None
    """Round cap."""

    turn_seconds: int | None = None
    """Seconds a turn."""

    def given(self) -> dict[str, int]:
        """The options that are set, by the ruleset's field names."""
        options = {
            "start_cash": self.start_cash,
            "round_cap": self.round_cap,
            "turn_seconds": self.turn_seconds,
        }
        return {name: value for name, value in options.items() if value is not None}


@dataclass(frozen=True, slots=True)
class GameHeader:
    """A game's header, stored with it."""

    game_id: str
    """The game."""

    ruleset: str
    """The ruleset, `mode@edition`."""

    holders: tuple[Holder, ...]
    """Who holds each seat, in seat order."""

    options: HouseOptions = field(default_factory=HouseOptions)
    """What the house changes."""

    watchable: bool = True
    """Whether spectators may watch."""

    rules: str = ""
    """The fingerprint of the rules that it was started by, see `rules_fit.py`; empty in old games."""

    def seat_of(self, player_id: str) -> int | None:
        """The seat that an account holds; None without one."""
        if not player_id:
            return None
        for seat, holder in enumerate(self.holders):
            if holder.player_id == player_id:
                return seat
        return None

    def nonces(self) -> list[bytes]:
        """Every seat's share in the dice, in seat order."""
        return [holder.nonce for holder in self.holders]

    def encode(self) -> bytes:
        """The stored form; equal headers have equal bytes."""
        document: dict[str, object] = {
            "game_id": self.game_id,
            "ruleset": self.ruleset,
            "watchable": self.watchable,
            "options": self.options.given(),
            "seats": [_encode_holder(holder) for holder in self.holders],
        }
        if self.rules:
            document["rules"] = self.rules
        return json.dumps(document, separators=(",", ":"), sort_keys=True).encode()

    @staticmethod
    def decode(stored: bytes) -> "GameHeader":
        """The header of a stored form."""
        document = json.loads(stored)
        return GameHeader(
            game_id=document["game_id"],
            ruleset=document["ruleset"],
            holders=tuple(_decode_holder(seat) for seat in document["seats"]),
            options=HouseOptions(**document["options"]),
            watchable=document["watchable"],
            rules=document.get("rules", ""),
        )


def _encode_holder(holder: Holder) -> dict[str, object]:
    return {
        "player_id": holder.player_id,
        "name": holder.name,
        "kind": holder.kind,
        "policy": holder.policy,
        "cards": holder.cards,
        "vip": holder.vip,
        "nonce": holder.nonce.hex(),
    }


def _decode_holder(document: dict[str, Any]) -> Holder:
    return Holder(
        player_id=document["player_id"],
        name=document["name"],
        kind=document["kind"],
        policy=document["policy"],
        cards=tuple((square, bonus) for square, bonus in document["cards"]),
        vip=document["vip"],
        nonce=bytes.fromhex(document["nonce"]),
    )
