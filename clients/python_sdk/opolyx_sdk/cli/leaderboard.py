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
    if mode and not rows:
        _check_mode(mode)
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


def _check_mode(mode: str) -> None:
    """A board that nobody is on may be that of a slip; the server learns modes from games alone.

    Raises:
        OpolyxError: no ruleset is of that mode.
    """
    from opolyx_sdk.local.rule_pages import ruleset_names

    modes = dict.fromkeys(name.partition("@")[0] for name in ruleset_names())
    if mode not in modes:
        raise OpolyxError(f"there is no mode {mode!r}; there are {', '.join(modes)}")


async def _read(
    connection: Connection, mode: str, bots: bool, around: str, me: bool, most: int
) -> "tuple[LeaderboardRow, ...]":
    async with connection.client() as client:
        whose = (await client.who_am_i()).player_id if me else around
        return await client.leaderboard(mode, bots=bots, around=whose, most=most)
