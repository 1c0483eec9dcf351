"""`opolyx play`: a seat at a table, in the terminal."""

import os
import sys
import tempfile
from contextlib import AsyncExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import Parameter
from cyclopts.validators import Number

from opolyx_sdk.cli.connection import Connection, ask
from opolyx_sdk.cli.language import Lang, chosen_language
from opolyx_sdk.errors import MissingExtra, NotAuthenticated, OpolyxError
from opolyx_sdk.messages import catalogue

if TYPE_CHECKING:
    from opolyx_sdk.accounts import Account
    from opolyx_sdk.client import AsyncClient
    from opolyx_sdk.terminal.app import Plan, TableApp

_TURN_SECONDS: Final = 600
"""How long a turn is on one's own server, where nobody waits but bots."""

_PATIENCE_S: Final = 600.0


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """What kind of game."""

    ruleset: str = "classic@full"
    """The ruleset, mode@edition; `opolyx rules` tells of each."""

    seats: Annotated[int, Parameter(validator=Number(gte=2, lte=6))] = 4
    """How many play."""

    start_cash: int | None = None
    """Start cash in k; the ruleset's own when absent."""

    round_cap: int | None = None
    """Rounds to play at most; the ruleset's own when absent."""

    turn_seconds: int | None = None
    """Seconds a turn; the ruleset's own when absent, 600 against bots alone."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Where:
    """A server, if it is to be somebody's, and whom to play there as."""

    server: Annotated[str | None, Parameter(env_var="OPOLYX_SERVER")] = None
    """Host and port of a server; without one, a game against bots begins here."""

    token: Annotated[str | None, Parameter(env_var="OPOLYX_TOKEN")] = field(
        default=None, repr=False
    )
    """JWT to play with; without one you are a guest, the next time the same one."""

    tls: Annotated[bool, Parameter(env_var="OPOLYX_TLS", negative="")] = False
    """Speak TLS, trusting whom this machine trusts."""

    ca: Annotated[Path | None, Parameter(env_var="OPOLYX_CA")] = None
    """PEM file of the authorities to trust instead; implies --tls."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Bots:
    """How a game against bots is served."""

    keep: Path | None = None
    """Directory for the database of a game against bots, and for replays."""

    seed: int | None = None
    """Makes dice and cards of a game against bots reproducible."""

    bot_delay_ms: Annotated[int, Parameter(validator=Number(gte=0, lte=60_000))] = 600
    """How long bots wait before they act, in a game against bots, milliseconds."""


_WHERE: Final = Where()
_WANTED: Final = Wanted()
_BOTS: Final = Bots()


def play(
    *,
    where: Where = _WHERE,
    name: str | None = None,
    wanted: Wanted = _WANTED,
    code: str | None = None,
    quick: Annotated[bool, Parameter(negative="")] = False,
    bots: Bots = _BOTS,
    lang: Lang = None,
) -> int:
    """Play in this terminal: against bots at once, or with others on a server.

    Without a server it starts one of its own, and seats bots. With one it joins a room by its code,
    looks for a quick match, or asks what you would like.

    Parameters
    ----------
    where
        The server.
    name
        Your name at the table.
    wanted
        What kind of game.
    code
        Join the room of this code.
    quick
        Look for a quick match at once.
    bots
        How a game against bots is served.
    """
    words = chosen_language(lang)
    needs_terminal("play")
    print(catalogue(words).text("screen.opening"), flush=True)  # until it is drawn, seconds go by
    plan = _plan(wanted, name, bots.keep)
    if where.server is None:
        if code or quick:
            raise OpolyxError("--code and --quick are for a server: name it with --server")
        return ask(_against_bots(plan, words, bots))
    plan = replace(plan, code=code or "", quick=quick, own_server=False)
    connection = Connection(server=where.server, token=where.token, tls=where.tls, ca=where.ca)
    return ask(_on_server(connection, plan, words))


def needs_terminal(command: str) -> None:
    """Say so if there is no terminal, or nothing to draw with.

    Raises:
        OpolyxError: there is no terminal.
        MissingExtra: textual isn't installed.
    """
    try:
        import textual  # noqa: F401 - only asked whether it is there
    except ModuleNotFoundError as error:
        raise MissingExtra(
            f"{command} draws with textual: install the SDK with its extra `tui`"
        ) from error
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise OpolyxError(f"{command} needs a terminal")


def _plan(wanted: Wanted, name: str | None, keep: Path | None) -> "Plan":
    from opolyx_sdk.rooms import RoomOptions
    from opolyx_sdk.terminal.app import Plan
    from opolyx_sdk.terminal.lobby.wish import RULESETS, Wish

    if wanted.ruleset not in RULESETS:
        raise OpolyxError(f"no ruleset {wanted.ruleset!r}; there are {', '.join(RULESETS)}")
    return Plan(
        name=name or _user_name(),
        wish=Wish(wanted.ruleset, wanted.seats),
        options=RoomOptions(
            start_cash=wanted.start_cash,
            round_cap=wanted.round_cap,
            turn_seconds=wanted.turn_seconds,
        ),
        own_server=True,
        folder=keep or Path(),
    )


def _user_name() -> str:
    """What this machine calls whoever sits at it."""
    found = os.environ.get("USER") or os.environ.get("USERNAME") or "Ada"
    return found[:24].capitalize()


async def _against_bots(plan: "Plan", language: str, bots: Bots) -> int:
    """Serve here, and play there."""
    from opolyx_sdk.cli.embedded import find_embedded
    from opolyx_sdk.client import AsyncClient
    from opolyx_sdk.terminal.app import TableApp

    if plan.options.turn_seconds is None:
        plan.options = replace(plan.options, turn_seconds=_TURN_SECONDS)
    async with AsyncExitStack() as stack:
        folder = bots.keep or Path(
            stack.enter_context(tempfile.TemporaryDirectory(prefix="opolyx-play-"))
        )
        try:
            serving = await stack.enter_async_context(
                find_embedded()(
                    folder,
                    seed=None if bots.seed is None else str(bots.seed),
                    bot_delay_ms=bots.bot_delay_ms,
                    listen="127.0.0.1:0",
                )
            )
        except OSError as error:
            raise OpolyxError(f"can't serve from {folder}: {error}") from error
        client = await stack.enter_async_context(AsyncClient(serving.address))
        return await _run(TableApp(client, plan, language=language))


async def _on_server(connection: Connection, plan: "Plan", language: str) -> int:
    """Play on somebody's server, as whom the token says, or as a guest."""
    from opolyx_sdk.options import ClientOptions
    from opolyx_sdk.terminal.app import TableApp

    options = ClientOptions(patience_s=_PATIENCE_S)
    token = (connection.token or "").strip() or await _pass_of_last_time(connection)
    async with connection.open(token, options) as client:
        await client.connect()
        account = await (client.who_am_i() if token else _new_guest(client, connection, plan.name))
        code = await _run(TableApp(client, plan, account=account, language=language))
        where = await client.current_game()
    if where.game_id:
        print(catalogue(language).text("screen.bye"))
    return code


async def _pass_of_last_time(connection: Connection) -> str | None:
    """A fresh token for the guest that this user was on the server; None for none, or one too old."""
    from opolyx_sdk.cli.guest_pass import passes_file, read_pass, write_pass

    file = passes_file(os.environ)
    known = read_pass(file, connection.server)
    if known is None:
        return None
    async with connection.open(known) as guest:
        try:
            fresh = (await guest.refresh_token()).jwt
        except NotAuthenticated:
            return None
    write_pass(file, connection.server, fresh)
    return fresh


async def _new_guest(client: "AsyncClient", connection: Connection, name: str) -> "Account":
    """A guest, whom the next time will find again."""
    from opolyx_sdk.cli.guest_pass import passes_file, write_pass

    login = await client.create_guest(name)
    write_pass(passes_file(os.environ), connection.server, login.token.jwt)
    return login.account


async def _run(app: "TableApp") -> int:
    """Run the program; its exit code.

    Raises:
        OpolyxError: something went wrong.
    """
    if problem := await app.run_async():
        raise OpolyxError(problem)
    return app.return_code or 0
