"""What needs the rules on this machine: games in this process, search, verification. Extra `local`."""

from opolyx_sdk.errors import MissingExtra

try:
    import opolyx_rules  # noqa: F401 - only asked whether it is there
except ModuleNotFoundError as error:
    raise MissingExtra(
        "the rules are not installed: install the SDK with its extra `local`"
    ) from error

from opolyx_sdk.local.game_record import GameRecord, SeatReport
from opolyx_sdk.local.search import Outcome, Position
from opolyx_sdk.local.simulator import simulate
from opolyx_sdk.local.table_options import TableOptions

__all__ = ["GameRecord", "Outcome", "Position", "SeatReport", "TableOptions", "simulate"]
