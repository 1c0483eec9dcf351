"""What deliveries change in Redis: computed from what was loaded, to be written as one change.

The counterpart of `ledger.py`, which has a transaction to read in. Here somebody else may settle
meanwhile; then the whole is computed again from what is there now.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, TypeAlias

from opolyx_progression.awards import AwardTable
from opolyx_progression.deliveries import (
    Delivery,
    Outcome,
    Unprocessable,
    Unreadable,
    VoidedGame,
    problem_of,
)
from opolyx_progression.games import FinishedGame
from opolyx_progression.leaderboards import place_of, scores_of
from opolyx_progression.settlement import Settlement, settle
from opolyx_progression.store.redis_forms import (
    BOARDS,
    DEAD_LETTERS,
    ROSTER,
    STATE,
    PlayerRecord,
    awards_key,
    board_key,
    card_member,
    cards_key,
    dead_letter_key,
    game_key,
    player_key,
    settled_game,
    settled_key,
    voided_game,
)
from opolyx_servicekit.redis_job import Value

Command: TypeAlias = tuple[Value, ...]
"""A command of Redis; see `keys_of`."""


_MOST_WORDS: Final = 4_000  # Lua passes on no more than 8,000


@dataclass(slots=True)
class Loaded:
    """What deliveries are applied to."""

    token: str
    """Of the change that made it so; empty before the first."""

    cursor: int
    """The greatest fact number applied."""

    sequence: int
    """Number of the game settled last."""

    over: set[str]
    """Those of the deliveries' games that were settled or voided."""

    players: dict[str, bytes]
    """Those of the deliveries' accounts that have played, as stored."""


@dataclass(slots=True)
class Writes:
    """What is written for some deliveries: few commands, however many they are.

    While a script runs, its node does nothing else.
    """

    texts: dict[str, str] = field(default_factory=dict)
    """By key."""

    settled: dict[int, str] = field(default_factory=dict)
    """Games by sequence number."""

    newcomers: list[str] = field(default_factory=list)
    """Players who played for the first time."""

    places: dict[str, dict[str, tuple[int, bytes]]] = field(default_factory=dict)
    """By board and player."""

    commands: list[Command] = field(default_factory=list)
    """All else, in order."""

    def add(self, later: "Writes") -> None:
        """Add those that follow; the last value of each counts."""
        self.texts |= later.texts
        self.settled |= later.settled
        self.newcomers += later.newcomers
        for board, places in later.places.items():
            self.places.setdefault(board, {}).update(places)
        self.commands += later.commands

    def as_commands(self) -> list[Command]:
        """The commands that write all this."""
        texts: list[Value] = [word for entry in self.texts.items() for word in entry]
        commands = [*self.commands, *_split("MSET", (), texts)]
        blocks: dict[str, list[Value]] = {}
        for sequence, game_id in self.settled.items():
            blocks.setdefault(settled_key(sequence), []).extend((sequence, game_id))
        commands += [("HSET", key, *words) for key, words in blocks.items()]
        commands += _split("RPUSH", (ROSTER,), self.newcomers)
        for board, places in self.places.items():
            words: list[Value] = [word for place in places.values() for word in place]
            commands += _split("ZADD", (board_key(board),), words)
        if self.places:
            commands.append(("SADD", BOARDS, *self.places))
        return commands


class Batch:
    """Deliveries, one after the other, and the commands that write their effect."""

    def __init__(self, loaded: Loaded, table: AwardTable, now_ms: int) -> None:
        """Take none yet.

        Args:
            loaded: what was before; changed by what is taken.
            table: the award table.
            now_ms: when a fact that can't be processed is given up.
        """
        self._now: Final = loaded
        self._table: Final = table
        self._now_ms: Final = now_ms
        self._had: Final = (loaded.cursor, loaded.sequence)
        self._players: dict[str, PlayerRecord] = {}
        self._writes = Writes()

    def take(self, delivery: Delivery) -> Outcome:
        """Apply a delivery; whatever goes wrong in it, it alone is left out, and buried."""
        try:
            outcome = self._apply(delivery)
        except Exception as error:
            outcome = Outcome.BURIED
            self._writes.commands += self._buried(delivery, error)
        else:
            if delivery.number <= self._now.cursor:  # only such a one can be among them
                self._writes.commands += _dug_up(delivery.number)
        self._now.cursor = max(self._now.cursor, delivery.number)
        return outcome

    def commands(self) -> list[Command]:
        """What writes all that was taken; nothing if nothing changed."""
        commands = self._writes.as_commands()
        now = (self._now.cursor, self._now.sequence)
        if now != self._had:
            commands.append(("HSET", STATE, "cursor", now[0], "sequence", now[1]))
        return commands

    def _apply(self, delivery: Delivery) -> Outcome:
        effect = delivery.effect
        if isinstance(effect, Unreadable):
            raise Unprocessable(effect.problem)
        if isinstance(effect, FinishedGame):
            return self._settle_once(delivery.number, effect)
        if isinstance(effect, VoidedGame):
            return self._void_once(delivery, effect)
        return Outcome.PASSED

    def _settle_once(self, number: int, game: FinishedGame) -> Outcome:
        """One settlement a game, whoever delivers it and however often (XP-7)."""
        now = self._now
        if game.game_id in now.over:
            return Outcome.KNOWN
        game.check()
        before = self._before(game)
        settlement = settle(
            game,
            {player_id: one.standing for player_id, one in before.items()},
            {
                player_id: one.ratings[game.mode][0]
                for player_id, one in before.items()
                if game.mode in one.ratings
            },
            self._table,
        )
        sequence = now.sequence + 1
        after = _records_after(settlement, game.mode, sequence, before)
        writes = Writes()
        writes.texts[game_key(game.game_id)] = settled_game(
            sequence, number, self._table.version, game, settlement.awards
        )
        writes.settled[sequence] = game.game_id
        for player_id, one in after.items():
            writes.texts[player_key(player_id)] = one.to_json()
            writes.commands.append(("ZADD", awards_key(player_id), sequence, game.game_id))
        writes.newcomers = [player_id for player_id in after if player_id not in before]
        for card in settlement.cards:
            member = card_member(card)
            writes.commands.append(("ZADD", cards_key(card.player_id), sequence, member))
        for score in scores_of(settlement, game.mode):
            place = place_of(score.score, score.player_id)
            writes.places.setdefault(score.board, {})[score.player_id] = place
        self._writes.add(writes)
        now.sequence = sequence
        now.over.add(game.game_id)
        self._players |= after
        return Outcome.SETTLED

    def _before(self, game: FinishedGame) -> dict[str, PlayerRecord]:
        """Those at the table who have played before; raises ValueError if one can't be read."""
        before: dict[str, PlayerRecord] = {}
        for seat in game.seats:
            if seat.player_id in self._players:
                before[seat.player_id] = self._players[seat.player_id]
            elif (text := self._now.players.get(seat.player_id)) is not None:
                before[seat.player_id] = PlayerRecord.from_json(seat.player_id, text)
        return before

    def _void_once(self, delivery: Delivery, voided: VoidedGame) -> Outcome:
        if delivery.game_id in self._now.over:
            return Outcome.KNOWN
        self._writes.texts[game_key(delivery.game_id)] = voided_game(delivery.number, voided.reason)
        self._now.over.add(delivery.game_id)
        return Outcome.VOIDED

    def _buried(self, delivery: Delivery, error: Exception) -> list[Command]:
        """Keep when it was given up first; the problem is that of the last attempt."""
        number, key = delivery.number, dead_letter_key(delivery.number)
        words = ("game", delivery.game_id, "problem", problem_of(error), "raw", delivery.raw)
        return [
            ("HSET", key, *words),
            ("HSETNX", key, "at", self._now_ms),
            ("ZADD", DEAD_LETTERS, number, number),
        ]


def keys_of(command: Command) -> tuple[Value, ...]:
    """The keys that a command touches: its second word, of MSET every second word."""
    return command[1::2] if command[0] == "MSET" else command[1:2]


def _split(name: str, about: Command, words: Sequence[Value]) -> list[Command]:
    """A command with words that may be too many for one; in pairs, they stay together."""
    return [
        (name, *about, *words[first : first + _MOST_WORDS])
        for first in range(0, len(words), _MOST_WORDS)
    ]


def _dug_up(number: int) -> list[Command]:
    return [("ZREM", DEAD_LETTERS, number), ("DEL", dead_letter_key(number))]


def _records_after(
    settlement: Settlement, mode: str, sequence: int, before: Mapping[str, PlayerRecord]
) -> dict[str, PlayerRecord]:
    """The players of a game as they are after it."""
    after: dict[str, PlayerRecord] = {}
    for standing in settlement.standings:
        known = before.get(standing.player_id)
        ratings = {} if known is None else dict(known.ratings)
        if standing.player_id in settlement.ratings:
            ratings[mode] = (settlement.ratings[standing.player_id], sequence)
        after[standing.player_id] = PlayerRecord(standing, sequence, ratings)
    return after
