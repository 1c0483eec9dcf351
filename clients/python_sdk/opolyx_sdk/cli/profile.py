"""`opolyx profile`: what a player has earned, and what for."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter
from cyclopts.validators import Number

from opolyx_sdk.cli.connection import LOCAL, Connection, ask
from opolyx_sdk.cli.output import print_json, print_table, shown_time, spoken

if TYPE_CHECKING:
    from opolyx_sdk.profiles import Award, Card, Profile


@dataclass(frozen=True, slots=True)
class _Earned:
    profile: "Profile"
    awards: "tuple[Award, ...]"
    cards: "tuple[Card, ...]"


def profile(
    player_id: str = "",
    /,
    *,
    connection: Connection = LOCAL,
    awards: Annotated[int, Parameter(validator=Number(gte=0, lte=100))] = 10,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Print what a player has earned: level, ratings, cards, and the latest awards with reasons.

    Parameters
    ----------
    player_id
        The player; the token's own account if none is named.
    awards
        How many awards, the newest first.
    as_json
        Print one JSON object.
    """
    earned = ask(_read(connection, player_id, awards))
    if as_json:
        print_json(profile=earned.profile, awards=earned.awards, cards=earned.cards)
    else:
        _show(earned)
    return 0


def why(award: "Award") -> str:
    """An award's terms, or the reason for its zero."""
    from opolyx_sdk.text import Table, award_text

    return award_text(award, Table(()))


async def _read(connection: Connection, player_id: str, awards: int) -> _Earned:
    async with connection.client() as client:
        return _Earned(
            await client.profile(player_id),
            await client.awards(player_id, most=awards) if awards else (),
            await client.cards(player_id),
        )


def _show(earned: _Earned) -> None:
    one = earned.profile
    print(f"{one.player_id}{', VIP' if one.vip else ''}")
    left = f", {one.level_xp} of {one.next_level_xp} to the next" if one.next_level_xp else ""
    print(f"level {one.level}, {spoken(one.rank).capitalize()}{left}")
    print(f"{one.xp} XP, {one.games} games, {one.wins} won, {one.cards} cards")
    if not one.games:
        print("no game of theirs has been counted; a player is named by id, p_... or b_...")
    if one.ratings:
        print()
        print_table(
            ("mode", "rating", "rated games"),
            [(rating.mode, rating.ordinal, rating.games) for rating in one.ratings],
            numbers=("rating", "rated games"),
        )
    if earned.cards:
        print()
        print_table(("card", "rarity", "from", "game"), [_card(card) for card in earned.cards])
    if earned.awards:
        print()
        print_table(
            ("when", "game", "ruleset", "place", "XP", "why"),
            [_award(award) for award in earned.awards],
            numbers=("place", "XP"),
        )


def _card(card: "Card") -> tuple[str, ...]:
    from opolyx_sdk.names import square_name

    origin = f"level {card.level}" if card.level else "a win"
    return square_name(card.square), spoken(card.rarity), origin, card.game_id


def _award(award: "Award") -> tuple[object, ...]:
    when = shown_time(award.at_unix_ms)
    return when, award.game_id, award.ruleset, award.place, award.xp, why(award)
