"""Keys of the Redis store, and how values are written there.

All keys have one hash tag, so all of progression is in one slot of a cluster and one script can
change any of it: docs/adr/0018-progression-on-redis.md says why.
"""

import json
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from opolyx_progression.awards import Award, Term, TermKind, ZeroReason
from opolyx_progression.cards import Card, Rarity
from opolyx_progression.games import FinishedGame
from opolyx_progression.ratings import Rating
from opolyx_progression.settlement import Standing
from opolyx_progression.store.base import LedgerEntry, StoredResult

TAG: Final = "{progression}"

STATE: Final = f"{TAG}:state"
"""Hash: `ledger` and `entitlements`, the tokens of the last change of each; `cursor`, the greatest
fact number; `sequence`, that of the last settled game; `changes`, of the last entitlement."""

ROSTER: Final = f"{TAG}:roster"
"""List of all players with totals, in the order of their first game."""

BOARDS: Final = f"{TAG}:boards"
"""Set of the leaderboards' names."""

VIPS: Final = f"{TAG}:vips"
"""Hash: 1 or 0 by player."""

CHANGES: Final = f"{TAG}:changes"
"""Stream of what operators said of entitlements; the id of number n is `n-0`."""

DEAD_LETTERS: Final = f"{TAG}:dead_letters"
"""Sorted set of the numbers of facts that couldn't be processed."""

BLOCK: Final = 250
"""How many games an index has: few enough to be stored tightly. Stored, so never change it."""

_CARD_HEAD: Final = struct.Struct(">HBB16s")
_CARD_PREFIX: Final = "c_"


def done_key(token: str) -> str:
    """There for a while after the change of that token."""
    return f"{TAG}:done:{token}"


def game_key(game_id: str) -> str:
    """A settled game: lines of JSON with what it is, its result, its awards. Or a voided one."""
    return f"{TAG}:game:{game_id}"


def settled_key(sequence: int) -> str:
    """Hash: the games of a block by sequence number."""
    return f"{TAG}:settled:{sequence // BLOCK}"


def player_key(player_id: str) -> str:
    """A player's totals and ratings, as JSON."""
    return f"{TAG}:player:{player_id}"


def awards_key(player_id: str) -> str:
    """Sorted set: the games of a player by sequence number."""
    return f"{TAG}:awards:{player_id}"


def cards_key(player_id: str) -> str:
    """Sorted set: a player's cards by the game's sequence number, then by level."""
    return f"{TAG}:cards:{player_id}"


def board_key(board: str) -> str:
    """Sorted set: the players in the order of `place_of`."""
    return f"{TAG}:board:{board}"


def changes_key(player_id: str) -> str:
    """Sorted set: the numbers of the changes of a player's entitlements."""
    return f"{TAG}:changes:{player_id}"


def dead_letter_key(number: int) -> str:
    """Hash: a fact that couldn't be processed."""
    return f"{TAG}:dead_letter:{number}"


@dataclass(frozen=True, slots=True)
class PlayerRecord:
    """A player as stored."""

    standing: Standing
    """The totals."""

    sequence: int
    """Number of the game that changed them last."""

    ratings: Mapping[str, tuple[Rating, int]]
    """By mode, each with the number of the game that changed it last."""

    def to_json(self) -> str:
        """The stored form."""
        one = self.standing
        content = {
            "name": one.name,
            "person": one.person,
            "xp": one.xp,
            "games": one.games,
            "wins": one.wins,
            "sequence": self.sequence,
            "ratings": {
                mode: [rating.mu, rating.sigma, rating.games, sequence]
                for mode, (rating, sequence) in self.ratings.items()
            },
        }
        return _dumps(content)

    @classmethod
    def from_json(cls, player_id: str, text: bytes) -> "PlayerRecord":
        """What `to_json` wrote; raises ValueError if it is something else."""
        try:
            content = json.loads(text)
            return cls(
                Standing(
                    player_id=player_id,
                    name=content["name"],
                    person=content["person"],
                    xp=content["xp"],
                    games=content["games"],
                    wins=content["wins"],
                ),
                content["sequence"],
                {
                    mode: (Rating(mu, sigma, games), sequence)
                    for mode, (mu, sigma, games, sequence) in sorted(content["ratings"].items())
                },
            )
        except (TypeError, LookupError, AttributeError) as error:
            raise ValueError(f"player {player_id} is stored as nonsense") from error


def settled_game(
    sequence: int, number: int, version: int, game: FinishedGame, awards: Sequence[Award]
) -> str:
    """A settled game as stored."""
    head = {"sequence": sequence, "fact": number, "table": version}
    entries = [_award_form(award) for award in awards]
    return "\n".join((_dumps(head), game.to_json(), _dumps(entries)))


def voided_game(number: int, reason: str) -> str:
    """A voided game as stored."""
    return _dumps({"void": reason, "fact": number})


def read_result(sequence: int, game_id: str, text: bytes | None) -> StoredResult:
    """A settled game's result; without a game if what is stored makes no sense."""
    version, game = 0, None
    try:
        head, result, _ = (text or b"").decode().split("\n")
        version = int(json.loads(head)["table"])
        game = FinishedGame.from_json(result)
        game.check()
    except (ValueError, LookupError, TypeError, AttributeError):
        game = None
    return StoredResult(sequence=sequence, table_version=version, game_id=game_id, game=game)


def read_awards(game_id: str, text: bytes) -> list[LedgerEntry]:
    """A settled game's awards, without their cards; none of a voided one.

    Raises:
        ValueError: what is stored makes no sense.
    """
    head, *more = text.decode().split("\n")
    try:
        told = json.loads(head)
        if "void" in told:
            return []
        return [_entry(told["sequence"], game_id, form) for form in json.loads(more[1])]
    except (TypeError, LookupError, AttributeError) as error:
        raise ValueError(f"awards of game {game_id} are stored as nonsense") from error


def card_member(card: Card) -> bytes:
    """A card as a member of a sorted set: short, and in the order of levels."""
    drawn = bytes.fromhex(card.card_id.removeprefix(_CARD_PREFIX))
    head = _CARD_HEAD.pack(card.level, card.square, card.rarity, drawn)
    return head + card.game_id.encode()


def read_card(player_id: str, member: bytes) -> Card:
    """A card; raises ValueError if what is stored makes no sense."""
    try:
        level, square, rarity, drawn = _CARD_HEAD.unpack_from(member)
    except struct.error as error:
        raise ValueError(f"a card of {player_id} is stored as nonsense") from error
    return Card(
        card_id=_CARD_PREFIX + drawn.hex(),
        player_id=player_id,
        square=square,
        rarity=Rarity(rarity),
        game_id=member[_CARD_HEAD.size :].decode(),
        level=level,
    )


def _award_form(award: Award) -> list[object]:
    return [
        award.seat,
        award.player_id,
        award.xp,
        [[int(term.kind), term.xp] for term in award.terms],
        int(award.zero_reason),
        award.ruleset,
        award.table_version,
        award.at_unix_ms,
        award.place,
    ]


def _entry(sequence: int, game_id: str, form: Sequence[Any]) -> LedgerEntry:
    seat, player_id, xp, terms, reason, ruleset, version, at_ms, place = form
    award = Award(
        game_id=game_id,
        seat=seat,
        player_id=player_id,
        terms=tuple(Term(TermKind(kind), amount) for kind, amount in terms),
        zero_reason=ZeroReason(reason),
        ruleset=ruleset,
        table_version=version,
        at_unix_ms=at_ms,
        place=place,
    )
    return LedgerEntry(sequence=sequence, award=award, xp=xp, cards=())


def _dumps(content: object) -> str:
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"))
