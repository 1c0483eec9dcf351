"""`opolyx watch`: a running game, on the screen or told line by line."""

import json
import sys
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from opolyx_sdk.cli.connection import LOCAL, Connection, ask
from opolyx_sdk.cli.language import Lang, chosen_language
from opolyx_sdk.cli.play import needs_terminal
from opolyx_sdk.errors import OpolyxError

if TYPE_CHECKING:
    from opolyx_sdk.client import AsyncClient

_GUEST = "Spectator"


def watch(
    game: str | None = None,
    /,
    *,
    connection: Connection = LOCAL,
    lang: Lang = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Watch a running game, from where it is to its end.

    On a terminal it is shown; elsewhere it is told, a sentence a line.

    Parameters
    ----------
    game
        The game's id; without one you choose, or the newest is taken where there is no terminal.
    connection
        The server.
    as_json
        Print one JSON object an update.
    """
    words = chosen_language(lang)
    if not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        needs_terminal("watch")
        return ask(_show(connection, game, words))
    return ask(_tell(connection, game, words, as_json=as_json))


async def _open(connection: Connection) -> "AsyncClient":
    """A client that may watch: for the token's account, or as a guest."""
    client = connection.open((connection.token or "").strip() or None)
    await client.connect()
    if not connection.token:
        await client.create_guest(_GUEST)
    return client


async def _show(connection: Connection, game: str | None, language: str) -> int:
    from opolyx_sdk.terminal.app import Plan, TableApp

    async with await _open(connection) as client:
        plan = Plan(watch=game or "", only_watch=True)
        problem = await TableApp(client, plan, language=language).run_async()
    if problem:
        raise OpolyxError(problem)
    return 0


async def _tell(connection: Connection, game: str | None, language: str, *, as_json: bool) -> int:
    from opolyx_sdk.terminal.exports.report import told
    from opolyx_sdk.terminal.moment import table_of
    from opolyx_sdk.text import narrate

    async with await _open(connection) as client:
        if game is None:
            running = await client.list_games(most=1)
            if not running:
                raise OpolyxError("no game is running that can be watched")
            game = running[0].game_id
        async with client.watch(game) as table:
            info = table.info
            words = table_of(info, language)
            if not as_json:
                print(f"{info.game_id} · {info.ruleset}: {', '.join(words.names)}", flush=True)
            async for update in table:
                if as_json:
                    fields = {
                        "seq": update.seq,
                        "round": update.view.turn.round,
                        "missed": update.missed,
                        "text": narrate(update.events, words),
                    }
                    print(json.dumps(fields, ensure_ascii=False), flush=True)
                    continue
                if update.missed:
                    print(words.text("screen.missed", updates=update.missed), flush=True)
                for line in told(update, words):
                    print(line, flush=True)
    return 0
