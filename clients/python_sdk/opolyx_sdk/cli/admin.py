"""`opolyx admin`: what operators see and have done."""

import re
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from cyclopts import App, Parameter
from cyclopts.validators import Number

from opolyx_sdk.cli.connection import LOCAL, Connection, ask
from opolyx_sdk.cli.output import print_json, print_table, shown_time
from opolyx_sdk.errors import OpolyxError

if TYPE_CHECKING:
    from opolyx_sdk.oversight import (
        AuditReport,
        DeadLetter,
        EntitlementChange,
        RetriedDeadLetters,
        Signal,
    )
    from opolyx_sdk.profiles import Profile

_NAME: Final = re.compile(r"[A-Za-z0-9_.-]{0,32}")


def _check_name(kind: object, name: str) -> None:
    """Raises ValueError if an operator can't be called so."""
    if not _NAME.fullmatch(name):
        raise ValueError("a name has up to 32 letters, digits, dots, dashes and underscores")


admin: Final = App(
    name="admin",
    help="What operators do; the token must be an operator's.",
    help_format="plaintext",
)

_OperatorName = Annotated[str, Parameter(validator=_check_name)]
_Json = Annotated[bool, Parameter(name="--json", negative="")]


@admin.command
def token(
    *, data: Path = Path("opolyx-data"), name: _OperatorName = "", as_json: _Json = False
) -> int:
    """Print an operator's token for the server that serves from a directory, good for a day.

    Parameters
    ----------
    data
        The data directory of `opolyx serve`; its keys sign the token.
    name
        Which of several operators it is for: the server's log tells who did what.
    as_json
        Print one JSON object.
    """
    from opolyx_sdk.cli.embedded import find_embedded

    try:
        signed = find_embedded().sign_operator_token(data, name)
    except OSError as error:
        raise OpolyxError(str(error)) from error
    if as_json:
        print_json(token=signed)
    else:
        print(signed)
    return 0


@admin.command
def audit(
    *,
    connection: Connection = LOCAL,
    count_boards: Annotated[bool, Parameter(negative="")] = False,
    timeout: Annotated[float, Parameter(validator=Number(gt=0, lte=86_400))] = 600.0,
    as_json: _Json = False,
) -> int:
    """Recompute all awards from the stored results; the exit code is 1 if anything differs.

    Parameters
    ----------
    count_boards
        Count the players of each leaderboard too, which holds up other readers for seconds where
        there are millions.
    timeout
        How long to wait, seconds. The server finishes its audit anyway.
    as_json
        Print one JSON object.
    """
    report = ask(_audit(connection, timeout, count_boards))
    if as_json:
        print_json(**{name: getattr(report, name) for name in report.__dataclass_fields__})
        return _code(report)
    for drift in report.drifts:
        print(f"{drift.kind} of {drift.subject}: stored {drift.stored}, computed {drift.computed}")
    print(
        f"{report.games} games, {report.awards} awards, {report.players} players:"
        f" {report.drift} differ"
    )
    return _code(report)


@admin.command
def dead_letters(
    *,
    connection: Connection = LOCAL,
    retry: Annotated[bool, Parameter(negative="")] = False,
    fact: Annotated[
        list[int] | None, Parameter(negative="", validator=Number(gte=1, lt=1 << 62))
    ] = None,
    most: Annotated[int, Parameter(validator=Number(gte=1, lte=10_000))] = 100,
    as_json: _Json = False,
) -> int:
    """Print the facts that progression couldn't process, oldest first; or have them retried.

    The exit code is 1 if one that was retried still can't be processed.

    Parameters
    ----------
    retry
        Have them processed once more, after a fix; a server does that at its start by itself.
    fact
        Retry the fact of this number only; may be given again.
    most
        How many to print.
    as_json
        Print one JSON object.
    """
    if retry or fact:
        done = ask(_retry(connection, fact or []))
        if as_json:
            print_json(tried=done.tried, processed=done.processed, left=done.left)
        else:
            print(f"{done.tried} tried, {done.processed} processed, {done.left} left")
        return 1 if done.processed < done.tried else 0
    letters = ask(_dead_letters(connection, most))
    if as_json:
        print_json(dead_letters=letters)
    elif letters:
        print_table(
            ("fact", "game", "since", "problem"),
            [
                (one.fact_number, one.game_id, shown_time(one.at_unix_ms), one.problem)
                for one in letters
            ],
            numbers=("fact",),
        )
    else:
        print("no dead letters")
    return 0


@admin.command
def vip(
    player_id: str,
    /,
    *,
    reason: str,
    connection: Connection = LOCAL,
    off: Annotated[bool, Parameter(negative="")] = False,
    as_json: _Json = False,
) -> int:
    """Make a player a VIP, or no longer one. Who did so, when and why is kept.

    Parameters
    ----------
    player_id
        The player.
    reason
        Why, for the record.
    off
        End it.
    as_json
        Print one JSON object.
    """
    now = ask(_set_vip(connection, player_id, not off, reason))
    if as_json:
        print_json(profile=now)
    else:
        print(f"{now.player_id} is {'a VIP' if now.vip else 'no VIP'}")
    return 0


@admin.command
def entitlements(
    player_id: str = "",
    /,
    *,
    connection: Connection = LOCAL,
    most: Annotated[int, Parameter(validator=Number(gte=1, lte=10_000))] = 100,
    as_json: _Json = False,
) -> int:
    """Print who made whom a VIP, when and why, newest first.

    Parameters
    ----------
    player_id
        The player; everybody if none is named.
    most
        How many changes.
    as_json
        Print one JSON object.
    """
    changes = ask(_changes(connection, player_id, most))
    if as_json:
        print_json(changes=changes)
    elif changes:
        print_table(
            ("when", "player", "VIP", "operator", "reason"),
            [
                (
                    shown_time(one.at_unix_ms),
                    one.player_id,
                    "yes" if one.vip else "no",
                    one.operator_id,
                    one.reason,
                )
                for one in changes
            ],
        )
    else:
        print("nothing was ever changed")
    return 0


@admin.command
def signals(
    *,
    connection: Connection = LOCAL,
    games: Annotated[int, Parameter(validator=Number(gte=1, lte=10_000))] = 2_000,
    as_json: _Json = False,
) -> int:
    """Print signs of collusion and farming in the latest results; a sign is no proof.

    Parameters
    ----------
    games
        In how many results.
    as_json
        Print one JSON object.
    """
    found = ask(_signals(connection, games))
    if as_json:
        print_json(signals=found)
    elif found:
        print_table(
            ("sign", "players", "games", "value", "for instance"),
            [
                (
                    one.kind.name.lower().replace("_", " "),
                    ", ".join(one.player_ids),
                    str(one.games),
                    str(one.value),
                    one.game_ids[0] if one.game_ids else "",
                )
                for one in found
            ],
        )
    else:
        print("nothing stands out")
    return 0


async def _signals(connection: Connection, games: int) -> "tuple[Signal, ...]":
    async with connection.client(call_timeout_s=60.0) as client:
        return await client.signals(games=games)


async def _audit(connection: Connection, timeout: float, count_boards: bool) -> "AuditReport":
    async with connection.client(call_timeout_s=timeout) as client:
        return await client.audit(count_boards=count_boards)


async def _retry(connection: Connection, numbers: list[int]) -> "RetriedDeadLetters":
    async with connection.client(call_timeout_s=60.0) as client:
        return await client.retry_dead_letters(*numbers)


async def _dead_letters(connection: Connection, most: int) -> "tuple[DeadLetter, ...]":
    async with connection.client() as client:
        return await client.dead_letters(most=most)


async def _set_vip(connection: Connection, player_id: str, vip: bool, reason: str) -> "Profile":
    async with connection.client() as client:
        return await client.set_vip(player_id, vip, reason=reason)


async def _changes(
    connection: Connection, player_id: str, most: int
) -> "tuple[EntitlementChange, ...]":
    async with connection.client() as client:
        return await client.entitlement_changes(player_id, most=most)


def _code(report: "AuditReport") -> int:
    return 1 if report.drift else 0
