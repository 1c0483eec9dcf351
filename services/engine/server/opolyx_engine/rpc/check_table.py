"""Whether a game could be played so: its ruleset, its number of seats, what the house changes."""

from opolyx_engine.errors import unknown_ruleset
from opolyx_engine.header import HouseOptions
from opolyx_rules import get_ruleset
from opolyx_rules.replay import with_options
from opolyx_servicekit.errors import InvalidArgument


def check_table(ruleset_name: str, seats: int, options: HouseOptions) -> None:
    """Refuse what the rules refuse.

    Raises:
        InvalidArgument: the ruleset isn't known, doesn't have so many seats (TABLE-1, TABLE-2), or
            an option is out of bounds; its fields are `ruleset`, `seats` and `options.<option>`.
    """
    try:
        ruleset = get_ruleset(ruleset_name)
    except KeyError:
        raise unknown_ruleset(ruleset_name) from None
    wrong = {}
    if seats not in ruleset.seat_counts():
        counts = ", ".join(str(count) for count in ruleset.seat_counts())
        wrong["seats"] = f"must be {counts} in {ruleset_name}, is {seats}"
    try:
        with_options(ruleset, options.given())
    except ValueError as error:
        for sentence in str(error).split("; "):
            option, _, why = sentence.partition(" ")
            wrong[f"options.{option}"] = why
    if wrong:
        text = "; ".join(f"{field} {why}" for field, why in wrong.items())
        raise InvalidArgument(
            "INVALID_FIELD", text, metadata={"field": next(iter(wrong))}, fields=wrong
        )
