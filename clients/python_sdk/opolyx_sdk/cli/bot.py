"""`opolyx bot run`: a bot of one's own in live games."""

import contextlib
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number

from opolyx_sdk.cli.connection import LOCAL, Connection
from opolyx_sdk.cli.output import print_json
from opolyx_sdk.errors import BotError, OpolyxError
from opolyx_sdk.options import ClientOptions

if TYPE_CHECKING:
    from opolyx_sdk.bots import Bot
    from opolyx_sdk.client import AsyncClient
    from opolyx_sdk.offers import BotSeated
    from opolyx_sdk.runner import BotRunner, GameReport

bot = App(name="bot", help="Let a bot of your own play live games.", help_format="plaintext")

_MANY: Final = Parameter(consume_multiple=True, negative="")
_FAILED: Final = 1
_PATIENCE_S: Final = 600.0


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Play:
    """What the bot plays; by default one game against built-in bots."""

    offer: Annotated[bool, Parameter(negative="")] = False
    """Offer the bot to whoever wants it at the table, until Ctrl-C."""

    room: str | None = None
    """Join the room of this code, or id, and play its game."""

    quick_match: Annotated[bool, Parameter(negative="")] = False
    """Look for opponents, and play the game that is found."""

    modes: Annotated[tuple[str, ...], _MANY, Parameter(alias="--ruleset")] = ()
    """Rulesets, mode@edition: the one to play (else blitz@full), or those to offer (else all)."""

    against: Annotated[tuple[str, ...], _MANY] = ("steady", "steady", "steady")
    """Built-in bots to play against: steady, random or trader."""

    seats: Annotated[int, Parameter(validator=Number(gte=2, lte=6))] = 4
    """Seats of the quick match."""

    max_games: Annotated[int, Parameter(validator=Number(gte=1, lte=1000))] = 1
    """With --offer: most games at once."""

    stop_after: Annotated[int | None, Parameter(validator=Number(gte=1))] = None
    """With --offer: withdraw after so many games."""

    bots_only: Annotated[bool, Parameter(negative="")] = False
    """With --offer: play among bots only."""

    def check(self) -> None:
        """Whether this says one thing.

        Raises:
            OpolyxError: it doesn't.
        """
        if sum([self.offer, self.quick_match, self.room is not None]) > 1:
            raise OpolyxError("give one of --offer, --room and --quick-match")
        if not self.offer and len(self.modes) > 1:
            raise OpolyxError("one game has one ruleset: give --modes once")

    @property
    def ruleset(self) -> str:
        """The ruleset of one game."""
        return self.modes[0] if self.modes else "blitz@full"


@bot.command
def run(
    name: str,
    /,
    *,
    play: Play = Play(),
    connection: Connection = LOCAL,
    token_file: Path | None = None,
    account: str = "Robo",
    budget_s: Annotated[float, Parameter(alias="--budget", validator=Number(gt=0))] = 5.0,
    strict: Annotated[bool, Parameter(negative="")] = False,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Play live games with a bot.

    Ctrl-C withdraws an offered bot: games that run are played out; a second Ctrl-C leaves. The exit code is 1 when a game could not be played.

    Parameters
    ----------
    name
        The bot: MODULE:CLASS, for instance my_bot:MyBot; or a file, my_bot.py:MyBot.
    token_file
        File with the token to play with, for lasting ratings; without any token a guest is made.
    account
        Name of the guest, and of the bot that is offered.
    budget_s
        Seconds that a decision may take before the bot is answered for.
    strict
        For development: stop at the first failure or refusal of the bot.
    as_json
        Print one JSON object a game.
    """
    import asyncio

    from opolyx_sdk.bot_loading import load_bot

    play.check()
    make_bot = load_bot(name)
    token = _token(token_file, connection)
    session = _Session(play, make_bot, budget_s, strict, _Told(as_json))
    try:
        return asyncio.run(session.run(connection, token, account))
    except BotError as error:
        print(f"opolyx: {error}", file=sys.stderr)
        return _FAILED


def _token(file: Path | None, connection: Connection) -> str | None:
    if file is None:
        return connection.token
    try:
        return file.read_text("utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise OpolyxError(f"can't read the token in {file}: {why}") from None


class _Told:
    """What is printed of the games."""

    def __init__(self, as_json: bool) -> None:
        self._as_json = as_json
        self.failed = False
        """Whether a game could not be played."""

    def say(self, text: str) -> None:
        """Tell a person; where a program reads the standard output, beside it."""
        print(text, file=sys.stderr if self._as_json else sys.stdout, flush=True)

    def report(self, report: "GameReport") -> None:
        self.failed = self.failed or report.error is not None
        place = (
            next((one.place for one in report.result.seats if one.seat == report.seat), None)
            if report.result
            else None
        )
        if self._as_json:
            print_json(
                game_id=report.game_id,
                seat=report.seat,
                place=place,
                decisions=report.decisions,
                refusals=list(report.refusals),
                fallbacks=report.fallbacks,
                thinking_s=round(report.thinking_s, 3),
                error=str(report.error) if report.error else None,
            )
            sys.stdout.flush()
            return
        if report.error is not None:
            self.say(f"{report.game_id}: {report.error}")
            return
        ending = f"place {place}" if place else "void"
        self.say(
            f"{report.game_id}: {ending}; {report.decisions} decisions,"
            f" {len(report.refusals)} refused, {report.fallbacks} answered for the bot"
        )


class _Session:
    """One run of the command."""

    def __init__(
        self,
        play: Play,
        make_bot: "Callable[[], Bot]",
        budget_s: float,
        strict: bool,
        told: _Told,
    ) -> None:
        self._play = play
        self._make_bot = make_bot
        self._budget_s = budget_s
        self._strict = strict
        self._told = told

    async def run(self, connection: Connection, token: str | None, account: str) -> int:
        async with contextlib.AsyncExitStack() as stack:
            client = await stack.enter_async_context(
                connection.open(token, ClientOptions(patience_s=_PATIENCE_S))
            )
            if token is None:
                await client.create_guest(account)
            else:
                await _check_player(client)
            if self._play.offer:
                await self._offer(stack, client, connection, account)
            else:
                await self._play_one(client)
        return _FAILED if self._told.failed else 0

    async def _offer(
        self,
        stack: contextlib.AsyncExitStack,
        client: "AsyncClient",
        connection: Connection,
        account: str,
    ) -> None:
        from opolyx_sdk.bot_host import BotHost
        from opolyx_sdk.enums import Role
        from opolyx_sdk.offers import BotOffer

        me = await client.who_am_i()
        if me.role is Role.PLAYER:  # only bots are offered; this one is the player's
            login = await client.create_bot_token(account)
            client = await stack.enter_async_context(
                connection.open(login.token.jwt, ClientOptions(patience_s=_PATIENCE_S))
            )
            me = login.account
        offer = BotOffer(
            rulesets=self._play.modes,
            max_games=self._play.max_games,
            plays_people=not self._play.bots_only,
        )
        host = BotHost(
            client,
            self._make_bot,
            offer,
            budget_s=self._budget_s,
            strict=self._strict,
            on_seated=self._seated,
            on_report=self._told.report,
        )
        self._told.say(f"{me.name} ({me.player_id}) is offered; Ctrl-C withdraws it")
        with _on_interrupt(self._withdrawal(host.withdraw)):
            await host.run(self._play.stop_after)
        self._told.say("withdrawn")

    def _withdrawal(self, withdraw: Callable[[], None]) -> Callable[[], None]:
        def now() -> None:
            self._told.say("withdrawing; running games are played out, Ctrl-C again leaves them")
            withdraw()

        return now

    def _seated(self, seated: "BotSeated") -> None:
        self._told.say(f"playing {seated.game_id} ({seated.ruleset}, seat {seated.seat})")

    async def _play_one(self, client: "AsyncClient") -> None:
        from opolyx_sdk.runner import BotRunner

        runner = BotRunner(client, self._make_bot, budget_s=self._budget_s, strict=self._strict)
        if self._play.room is not None:
            game_id = await _game_of_room(client, self._play.room, self._told.say)
        elif self._play.quick_match:
            game_id = await _game_found(client, self._play, self._told.say)
        else:
            game_id = await _game_against(client, self._play)
        await self._play_game(runner, game_id)

    async def _play_game(self, runner: "BotRunner", game_id: str) -> None:
        self._told.say(f"playing {game_id}")
        self._told.report(await runner.report(game_id))


async def _check_player(client: "AsyncClient") -> None:
    """Say whose token it is when it is none that can play."""
    from opolyx_sdk.enums import Role

    role = (await client.who_am_i()).role
    if role not in (Role.PLAYER, Role.BOT):
        raise OpolyxError(
            f"the token is of the role {role.name.lower()}, which plays no games: unset"
            " OPOLYX_TOKEN to play as a guest, or give --token-file"
        )


async def _game_against(client: "AsyncClient", play: Play) -> str:
    room = await client.create_room(play.ruleset, len(play.against) + 1)
    for policy in play.against:
        await client.add_bot(room.room_id, policy=policy)
    return await client.start_game(room.room_id)


async def _game_of_room(client: "AsyncClient", code: str, say: Callable[[str], None]) -> str:
    from opolyx_sdk.enums import RoomState

    is_id = code.startswith("r_")
    room, seat = await client.join_room(code if is_id else "", code="" if is_id else code)
    say(f"seat {seat} of a table of {len(room.seats)} ({room.ruleset}); waiting for its start")
    async for now in client.watch_room(room.room_id):
        if now.state is RoomState.STARTED:
            return now.game_id
    raise OpolyxError("the room was closed without a game")


async def _game_found(client: "AsyncClient", play: Play, say: Callable[[str], None]) -> str:
    from opolyx_sdk.matches import Found

    say(f"looking for a game of {play.ruleset} with {play.seats} seats")
    async for progress in client.quick_match(play.ruleset, play.seats, allow_bots=True):
        if isinstance(progress, Found):
            return progress.game_id
    raise OpolyxError("the search ended without a game")


@contextlib.contextmanager
def _on_interrupt(first: Callable[[], None]) -> Iterator[None]:
    """Call `first` on the first SIGINT or SIGTERM; the second is one as ever."""
    import asyncio

    loop = asyncio.get_running_loop()
    signals = (signal.SIGINT, signal.SIGTERM)

    def interrupted() -> None:
        for one in signals:
            loop.remove_signal_handler(one)
        first()

    for one in signals:
        loop.add_signal_handler(one, interrupted)
    try:
        yield
    finally:
        for one in signals:
            loop.remove_signal_handler(one)
