"""Finished games as the ledger keeps them: all that awards, cards and ratings are made from."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from enum import IntEnum
from typing import Final

LONGEST_ID: Final = 64
"""Of a player, a game, a ruleset; a name isn't longer either."""

_FORM: Final = 1
_FEWEST_SEATS: Final = 2
_MOST_SEATS: Final = 6
_MOST_GROUPS: Final = 8
_LARGEST_GIFT: Final = 1 << 50
_YEAR_9999_ENDS_MS: Final = 253_402_300_800_000


class SeatKind(IntEnum):
    """What kind of player holds a seat. Stored, and as on the wire: never renumber."""

    PERSON = 1
    BOT = 2
    BUILT_IN = 3


class Scheme(IntEnum):
    """Who gets XP (XP-1, XP-3). Stored, and as on the wire: never renumber."""

    NONE = 1
    WINNER = 2
    EVERY_SEAT = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedSeat:
    """One seat's part of a result (END-5)."""

    seat: int
    """0-based."""

    player_id: str
    """The account; empty for a built-in bot."""

    name: str
    """The name shown."""

    kind: SeatKind
    """What kind of player holds it."""

    side: int
    """Seats of one side win together."""

    place: int
    """From 1; a side shares its place."""

    survived: bool
    """Whether the seat was in the game at its end."""

    full_groups: int
    """Full colour groups held at the end."""

    net_worth: int
    """In k, at the end."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gift:
    """What a seat gave another in the trades of a game, beyond what it got."""

    giver: int
    """Seat that gave more."""

    taker: int
    """Seat that got more."""

    value: int
    """By how much, in k."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedGame:
    """A game that ended by the rules."""

    game_id: str
    """The game."""

    ruleset: str
    """`mode@edition`."""

    scheme: Scheme
    """The ruleset's XP scheme."""

    round: int
    """Round of the end, from 1."""

    places: int
    """Number of places: players, or sides where sides share one."""

    cause: int
    """How it ended, as on the wire."""

    ended_unix_ms: int
    """When it ended."""

    log_digest: str
    """Digest of the game's log, hexadecimal."""

    seats: tuple[FinishedSeat, ...]
    """In seat order."""

    gifts: tuple[Gift, ...] = ()
    """What seats gave each other in trades beyond what they got; absent in older results."""

    @property
    def mode(self) -> str:
        """The ruleset's mode, which ratings go by."""
        return self.ruleset.partition("@")[0]

    @property
    def people(self) -> int:
        """Number of human accounts (XP-4)."""
        return len({seat.player_id for seat in self.seats if seat.kind is SeatKind.PERSON})

    def check(self) -> None:
        """Raise ValueError, naming the field, unless the result can be awarded."""
        mode, _, edition = self.ruleset.partition("@")
        _require(bool(self.game_id), "game_id is empty")
        _require_short("game_id", self.game_id)
        _require_short("ruleset", self.ruleset)
        _require(bool(mode and edition), f"ruleset {self.ruleset!r} is not mode@edition")
        _require(self.round >= 1, f"round {self.round} is below 1")
        _require(self.ended_unix_ms >= 0, "ended before the year 1970")
        _require(self.ended_unix_ms < _YEAR_9999_ENDS_MS, "ended after the year 9999")
        count = len(self.seats)
        _require(_FEWEST_SEATS <= count <= _MOST_SEATS, f"{count} seats")
        _require(2 <= self.places <= count, f"{self.places} places for {count} seats")
        numbers = [seat.seat for seat in self.seats]
        _require(numbers == list(range(count)), f"seats are numbered {numbers}")
        _require(any(seat.place == 1 for seat in self.seats), "nobody has place 1")
        for seat in self.seats:
            self._check_seat(seat)
        for gift in self.gifts:
            _require(0 <= gift.giver < count and 0 <= gift.taker < count, "a gift is of no seat")
            _require(0 <= gift.value <= _LARGEST_GIFT, f"a gift is worth {gift.value}")
        accounts = [seat.player_id for seat in self.seats if seat.player_id]
        _require(len(set(accounts)) == len(accounts), "a player holds two seats")

    def _check_seat(self, seat: FinishedSeat) -> None:
        name = f"seat {seat.seat}"
        _require(1 <= seat.place <= self.places, f"{name} has place {seat.place}")
        possible = 0 <= seat.full_groups <= _MOST_GROUPS
        _require(possible, f"{name} has {seat.full_groups} full groups")
        _require_short(f"player_id of {name}", seat.player_id)
        _require_short(f"name of {name}", seat.name)
        without_account = seat.kind is SeatKind.BUILT_IN
        _require(bool(seat.player_id) or without_account, f"{name} has no player_id")

    def to_json(self) -> str:
        """The stored form; `from_json` reads it back."""
        content = {"form": _FORM, **asdict(self)}
        return json.dumps(content, ensure_ascii=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str) -> "FinishedGame":
        """What `to_json` wrote; raises ValueError if the form isn't known."""
        content = json.loads(text)
        if content.pop("form") != _FORM:
            raise ValueError("stored result has an unknown form")
        content["scheme"] = Scheme(content["scheme"])
        content["seats"] = tuple(_seat(entry) for entry in content["seats"])
        content["gifts"] = tuple(Gift(**entry) for entry in content.get("gifts", ()))
        return cls(**content)


def seats_of(game: FinishedGame, kinds: Sequence[SeatKind]) -> list[FinishedSeat]:
    """The seats with an account whose kind is one of `kinds`, in seat order."""
    return [seat for seat in game.seats if seat.player_id and seat.kind in kinds]


def _seat(entry: dict[str, object]) -> FinishedSeat:
    known = {field.name: entry[field.name] for field in fields(FinishedSeat)}
    known["kind"] = SeatKind(int(str(entry["kind"])))
    return FinishedSeat(**known)  # type: ignore[arg-type]


def _require_short(what: str, text: str) -> None:
    _require(len(text) <= LONGEST_ID, f"{what} is over {LONGEST_ID} characters")


def _require(holds: bool, problem: str) -> None:
    if not holds:
        raise ValueError(problem)
