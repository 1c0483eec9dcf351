"""`opolyx leaderboard`: who is ahead, by XP or by rating."""

from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from opolyx_sdk.cli.connection import LOCAL, Connection, ask
from opolyx_sdk.cli.output import print_json, print_table
from opolyx_sdk.errors import OpolyxError

if TYPE_CHECKING:
    from opolyx_sdk.profiles import LeaderboardRow


def leaderboard(
    mode: str = "",
    /,
    *,
    connection: Connection = LOCAL,
    bots: Annotated[bool, Parameter(negative="")] = False,
    around: str = "",
    me: Annotated[bool, Parameter(negative="")] = False,
    most: Annotated[int, Parameter(validator=Number(gte=1, lte=100))] = 20,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Print a leaderboard: by XP, or by rating in a mode. Equal scores share their rank.

    Parameters
    ----------
    mode
        The mode whose ratings are ranked, for instance classic; by XP if none is named.
    bots
        The ladder of bots, which have ratings only.
    around
        A player whose neighbours to show, rather than the top.
    me
        Show the neighbours of the token's own account.
    most
        How many rows.
    as_json
        Print one JSON object.
    """
    if bots and not mode:
        raise OpolyxError("bots earn no XP, only ratings: name a mode, for instance classic")
    if around and me:
        raise OpolyxError("--around and --me are two players: give one of them")
    rows = ask(_read(connection, mode, bots, around, me, most))
    if as_json:
        print_json(mode=mode or None, bots=bots, rows=rows)
    elif rows:
        print_table(
            ("rank", "name", "rating" if mode else "XP", "player"),
            [(row.rank, row.name, row.score, row.player_id) for row in rows],
            numbers=("rank", "rating", "XP"),
        )
    else:
        print(f"nobody is on the leaderboard {f'of {mode}' if mode else 'by XP'} yet")
    return 0


async def _read(
    connection: Connection, mode: str, bots: bool, around: str, me: bool, most: int
) -> "tuple[LeaderboardRow, ...]":
    async with connection.client() as client:
        whose = (await client.who_am_i()).player_id if me else around
        return await client.leaderboard(mode, bots=bots, around=whose, most=most)
