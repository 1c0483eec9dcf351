"""A game in sentences, and the same for programs."""

import json
from collections.abc import Iterator

from opolyx_sdk.events import RoundStarted
from opolyx_sdk.terminal.tape import Tape
from opolyx_sdk.text import Table, narrate
from opolyx_sdk.updates import Update

FORMAT = "opolyx-game/1"
"""Of the JSON; another number when a field changes its meaning."""


def text_lines(tape: Tape, table: Table) -> Iterator[str]:
    """The game in sentences: who played, each round, how it ended."""
    yield f"{tape.info.game_id} · {tape.info.ruleset}"
    yield table.listed(table.who(seat.seat) for seat in tape.info.seats)
    for update in tape.updates:
        yield from told(update, table)
    yield from standings(tape, table)


def told(update: Update, table: Table) -> Iterator[str]:
    """What one update tells; each line of a round indented below its number."""
    begins = [event.round for event in update.events if isinstance(event, RoundStarted)]
    for line in narrate(update.events, table):
        yield f"  {line}"
    for number in begins:
        yield table.text("screen.round", round=number)


def standings(tape: Tape, table: Table) -> Iterator[str]:
    """Who came where; nothing for a game that isn't over."""
    result = tape.updates[-1].view.result
    for one in sorted(result.seats if result else (), key=lambda one: (one.place, one.seat)):
        key = "screen.standings.row" if one.survived else "screen.standings.out"
        worth = table.money(one.net_worth)
        yield table.text(key, place=one.place, who=table.who(one.seat), worth=worth)


def as_json(tape: Tape, table: Table) -> str:
    """The game as one JSON object; amounts in k, seats and squares by number."""
    end = tape.updates[-1].view
    places = {one.seat: one.place for one in end.result.seats} if end.result else {}
    return json.dumps(
        {
            "format": FORMAT,
            "game_id": tape.info.game_id,
            "ruleset": tape.info.ruleset,
            "house": tape.info.house.given(),
            "language": table.language,
            "seats": [
                {
                    "seat": seat.seat,
                    "name": seat.name,
                    "side": seat.side,
                    "place": places.get(seat.seat),
                    "net_worth": end.player(seat.seat).net_worth,
                    "cash": end.player(seat.seat).cash,
                }
                for seat in tape.info.seats
            ],
            "end": end.result.cause.name.lower() if end.result else None,
            "rounds": _rounds(tape),
            "board": [
                {
                    "square": one.square,
                    "name": table.where(one.square),
                    "owner": one.owner,
                    "level": one.level,
                    "mortgaged": one.mortgaged,
                }
                for one in end.properties
            ],
            "updates": [
                {
                    "seq": update.seq,
                    "at_unix_ms": update.at_unix_ms,
                    "round": update.view.turn.round,
                    "actor": update.actor,
                    "text": narrate(update.events, table),
                }
                for update in tape.updates
            ],
        },
        ensure_ascii=False,
    )


def _rounds(tape: Tape) -> list[dict[str, object]]:
    """Net worth by seat at the end of each round; 0 once a seat is out."""
    lines = [dict(tape.worths.of(seat)) for seat in range(tape.worths.seats)]
    return [
        {"round": number, "net_worth": [line.get(number, 0) for line in lines]}
        for number in tape.worths.rounds
    ]
