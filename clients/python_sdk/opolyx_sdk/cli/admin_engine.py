"""`opolyx admin games` and what else operators do to an engine and its games.

Of several engines behind one address, `inspect` and `void` find the game's owner from any. The others
are about the engine that answers: name its own address with `--server`.
"""

from typing import TYPE_CHECKING, Annotated, Final, Literal

from cyclopts import Parameter
from cyclopts.validators import Number

from opolyx_sdk.cli.connection import LOCAL, Connection, ask
from opolyx_sdk.cli.output import print_json, print_table, shown_time, spoken

if TYPE_CHECKING:
    from opolyx_sdk.enums import GameState
    from opolyx_sdk.oversight import InspectedGame, OperatedGame, RunningGames

_Json = Annotated[bool, Parameter(name="--json", negative="")]
_Place = Literal["in-memory", "resting", "held", "coming", "refused"]

# By name: `opolyx --help` loads no enumerations.
_WAITS_FOR: Final = {
    "HELD": "an operator, or a version that can follow its log",
    "REFUSED": "an engine with its rules, or an operator",
    "COMING": "its store, or whoever wrote to it last",
}


def _check_reason(kind: object, reason: str) -> None:
    """Raises ValueError if that says nothing."""
    if not reason.strip():
        raise ValueError("say why: players and the log are told")


def games(
    *,
    connection: Connection = LOCAL,
    at: _Place | None = None,
    stuck: Annotated[bool, Parameter(negative="")] = False,
    most: Annotated[int, Parameter(validator=Number(gte=1, lte=100_000))] = 1_000,
    as_json: _Json = False,
) -> int:
    """Print the running games of the engine that answers, and what each waits for.

    Parameters
    ----------
    at
        Only those that are there: held ones can't be followed, refused ones have other rules.
    stuck
        Only those that stand still.
    most
        How many.
    as_json
        Print one JSON object.
    """
    found = ask(_games(connection, most, at or "unspecified", stuck))
    if as_json:
        print_json(
            games=found.games, takes_new_games=found.takes_new_games, draining=found.draining
        )
        return 0
    if found.games:
        print_table(
            ("game", "at", "ruleset", "round", "streams", "started", "waits for"),
            [
                (
                    one.game_id,
                    spoken(one.place),
                    one.ruleset,
                    one.round,
                    one.receivers,
                    shown_time(one.started_unix_ms),
                    _waits_for(one),
                )
                for one in found.games
            ],
            numbers=("round", "streams"),
        )
    else:
        print("no such games" if at or stuck else "no games")
    if found.draining:
        print("the engine drains: it takes no games and no streams")
    elif not found.takes_new_games:
        print("the engine takes no new games")
    return 0


def inspect(game_id: str, /, *, connection: Connection = LOCAL, as_json: _Json = False) -> int:
    """Print closely how one game is, running or ended.

    Parameters
    ----------
    game_id
        The game.
    as_json
        Print one JSON object.
    """
    found = ask(_inspect(connection, game_id))
    if as_json:
        print_json(**{name: getattr(found, name) for name in found.__dataclass_fields__})
    else:
        print_table(("what", "is"), _told(found))
    return 0


def void(
    game_id: str,
    /,
    *,
    reason: Annotated[str, Parameter(validator=_check_reason)],
    connection: Connection = LOCAL,
    as_json: _Json = False,
) -> int:
    """End a game as void: no result, no awards. The exit code is 1 if it had a result before.

    Parameters
    ----------
    game_id
        The game.
    reason
        Why, for the log and the players.
    as_json
        Print one JSON object.
    """
    state = ask(_void(connection, game_id, reason))
    if as_json:
        print_json(game_id=game_id, state=state)
    elif state.name == "VOID":
        print(f"{game_id} is void")
    else:
        print(f"{game_id} is {spoken(state)}: it had ended by the rules before")
    return 0 if state.name == "VOID" else 1


def pause(*, connection: Connection = LOCAL) -> int:
    """Have the engine that answers take no new games, until `resume` or a restart."""
    ask(_pause(connection))
    print(f"the engine at {connection.server} takes no new games")
    return 0


def resume(*, connection: Connection = LOCAL) -> int:
    """Have the engine that answers take new games again."""
    ask(_resume(connection))
    print(f"the engine at {connection.server} takes new games")
    return 0


def drain(*, connection: Connection = LOCAL) -> int:
    """Have the engine that answers send its streams elsewhere; only a restart takes it back."""
    streams = ask(_drain(connection))
    print(f"the engine at {connection.server} drains: {streams} streams were sent elsewhere")
    return 0


async def _games(connection: Connection, most: int, at: str, stuck: bool) -> "RunningGames":
    from opolyx_sdk.enums import GamePlace

    place = GamePlace[at.upper().replace("-", "_")]
    async with connection.client() as client:
        return await client.running_games(most=most, place=place, only_stuck=stuck)


async def _inspect(connection: Connection, game_id: str) -> "InspectedGame":
    async with connection.client() as client:
        return await client.inspect_game(game_id)


async def _void(connection: Connection, game_id: str, reason: str) -> "GameState":
    async with connection.client() as client:
        return await client.void_game(game_id, reason=reason)


async def _pause(connection: Connection) -> None:
    async with connection.client() as client:
        await client.pause_new_games()


async def _resume(connection: Connection) -> None:
    async with connection.client() as client:
        await client.resume_new_games()


async def _drain(connection: Connection) -> int:
    async with connection.client(call_timeout_s=60.0) as client:
        return await client.drain_engine()


def _waits_for(game: "OperatedGame") -> str:
    if told := _WAITS_FOR.get(game.place.name):
        return told
    if not game.next_deadline_unix_ms:
        return "stuck" if game.stuck else "no clock"
    told = f"an answer until {shown_time(game.next_deadline_unix_ms)}"
    return f"stuck: {told}" if game.stuck else told


def _told(found: "InspectedGame") -> list[tuple[str, object]]:
    """What there is to say; what isn't so goes without saying."""
    game = found.game
    rows: list[tuple[str, object]] = [
        ("game", game.game_id),
        ("state", spoken(found.state)),
        ("ruleset", game.ruleset),
        ("started", shown_time(game.started_unix_ms)),
        ("updates", game.seq),
    ]
    if found.state.name == "RUNNING":
        rows += [("at", spoken(game.place)), ("waits for", _waits_for(game))]
    if found.end_reason:
        rows.append(("reason", found.end_reason))
    if game.round:
        rows.append(("round", game.round))
    rows += [
        (f"seat {one.seat}", _seat(found, one.seat, one.name, one.player_id or one.policy))
        for one in game.seats
    ]
    if found.awaited_seat is not None:
        rows.append(("awaited", f"seat {found.awaited_seat}, {spoken(found.phase)}"))
        rows.append(("decision", found.decision_id))
    if found.commands_waiting:
        since = shown_time(found.first_command_unix_ms)
        rows.append(("commands", f"{found.commands_waiting} wait since {since}"))
    if failure := found.last_store_failure:
        rows.append(("store failed", f"{shown_time(failure.at_unix_ms)}: {failure.message}"))
    if found.log_digest:
        rows.append(("log digest", found.log_digest.hex()))
    return rows


def _seat(found: "InspectedGame", seat: int, name: str, who: str) -> str:
    connected = ", connected" if seat in found.connected_seats else ""
    return f"{name} ({who}){connected}"
