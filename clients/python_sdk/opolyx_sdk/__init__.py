"""Client, bots and tools of opolyx.

Start with `AsyncClient` (or `Client`, without asyncio) to play and watch, and with `Bot` to write a
player of your own. Actions, events and enumerations are in `opolyx_sdk.actions`,
`opolyx_sdk.events` and `opolyx_sdk.enums`; `opolyx_sdk.testing` has a server for your own tests.

A name is imported when it is first used: a command that needs no network never loads gRPC.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from opolyx_sdk.accounts import Account, Login, Token
    from opolyx_sdk.actions import Action
    from opolyx_sdk.bot_host import BotHost
    from opolyx_sdk.bots import Bot, RandomBot, SteadyBot, fallback_action
    from opolyx_sdk.client import AsyncClient
    from opolyx_sdk.decisions import Decision, PartnerSquares, TradeTemplate, TradeVerdict
    from opolyx_sdk.errors import (
        BotError,
        ConnectionLost,
        GameClosed,
        GameError,
        InvalidRequest,
        LimitReached,
        MirrorBroken,
        MissingExtra,
        NoDecision,
        NotAllowed,
        NotAuthenticated,
        NotFound,
        OpolyxError,
        OutcomeUnknown,
        Refused,
        ReplayError,
        RequestError,
        ServiceUnavailable,
        WrongLoop,
        WrongState,
    )
    from opolyx_sdk.events import Event
    from opolyx_sdk.game import Game
    from opolyx_sdk.game_summary import GameSummary
    from opolyx_sdk.matches import CurrentGame, Found, MatchProgress, Waiting, Widened
    from opolyx_sdk.offers import BotOffer, BotReleased, BotSeated, OfferNews, OfferTaken
    from opolyx_sdk.options import ClientOptions, Tls
    from opolyx_sdk.profiles import Award, AwardTerm, Card, LeaderboardRow, Level, Profile, Rating
    from opolyx_sdk.refusals import Refusal
    from opolyx_sdk.rooms import Room, RoomOptions, RoomSeat
    from opolyx_sdk.runner import BotRunner, GameReport
    from opolyx_sdk.seats import Seat, SeatCard
    from opolyx_sdk.sync import Client
    from opolyx_sdk.sync_game import SyncGame
    from opolyx_sdk.updates import GameInfo, HouseRules, Update
    from opolyx_sdk.views import (
        AuctionView,
        ClaimView,
        DebtView,
        GameView,
        OfferView,
        PlayerView,
        PropertyView,
        ResultView,
        SeatResult,
        TurnView,
    )

__version__ = "0.1.0"

__all__ = [
    "Account",
    "Action",
    "AsyncClient",
    "AuctionView",
    "Award",
    "AwardTerm",
    "Bot",
    "BotError",
    "BotHost",
    "BotOffer",
    "BotReleased",
    "BotRunner",
    "BotSeated",
    "Card",
    "ClaimView",
    "Client",
    "ClientOptions",
    "ConnectionLost",
    "CurrentGame",
    "DebtView",
    "Decision",
    "Event",
    "Found",
    "Game",
    "GameClosed",
    "GameError",
    "GameInfo",
    "GameReport",
    "GameSummary",
    "GameView",
    "HouseRules",
    "InvalidRequest",
    "LeaderboardRow",
    "Level",
    "LimitReached",
    "Login",
    "MatchProgress",
    "MirrorBroken",
    "MissingExtra",
    "NoDecision",
    "NotAllowed",
    "NotAuthenticated",
    "NotFound",
    "OfferNews",
    "OfferTaken",
    "OfferView",
    "OpolyxError",
    "OutcomeUnknown",
    "PartnerSquares",
    "PlayerView",
    "Profile",
    "PropertyView",
    "RandomBot",
    "Rating",
    "Refusal",
    "Refused",
    "ReplayError",
    "RequestError",
    "ResultView",
    "Room",
    "RoomOptions",
    "RoomSeat",
    "Seat",
    "SeatCard",
    "SeatResult",
    "ServiceUnavailable",
    "SteadyBot",
    "SyncGame",
    "Tls",
    "Token",
    "TradeTemplate",
    "TradeVerdict",
    "TurnView",
    "Update",
    "Waiting",
    "Widened",
    "WrongLoop",
    "WrongState",
    "__version__",
    "fallback_action",
]

_MODULES: Final = {
    "accounts": "Account Login Token",
    "actions": "Action",
    "bot_host": "BotHost",
    "bots": "Bot RandomBot SteadyBot fallback_action",
    "client": "AsyncClient",
    "decisions": "Decision PartnerSquares TradeTemplate TradeVerdict",
    "errors": (
        "BotError ConnectionLost GameClosed GameError InvalidRequest LimitReached MirrorBroken "
        "MissingExtra NoDecision NotAllowed NotAuthenticated NotFound OpolyxError "
        "OutcomeUnknown Refused ReplayError RequestError ServiceUnavailable WrongLoop WrongState"
    ),
    "events": "Event",
    "game": "Game",
    "game_summary": "GameSummary",
    "matches": "CurrentGame Found MatchProgress Waiting Widened",
    "offers": "BotOffer BotReleased BotSeated OfferNews OfferTaken",
    "options": "ClientOptions Tls",
    "profiles": "Award AwardTerm Card LeaderboardRow Level Profile Rating",
    "refusals": "Refusal",
    "rooms": "Room RoomOptions RoomSeat",
    "runner": "BotRunner GameReport",
    "seats": "Seat SeatCard",
    "sync": "Client",
    "sync_game": "SyncGame",
    "updates": "GameInfo HouseRules Update",
    "views": (
        "AuctionView ClaimView DebtView GameView OfferView PlayerView PropertyView ResultView "
        "SeatResult TurnView"
    ),
}
"""Where each public name is defined: by module, its names."""

_SUBMODULES: Final = ("board", "enums", "messages", "metrics", "names", "oversight", "text")
"""Public modules without a name above."""

_HOMES: Final = {name: module for module, names in _MODULES.items() for name in names.split()}

if not TYPE_CHECKING:  # or a type checker would take any name for one of ours

    def __getattr__(name: str) -> object:
        """The public name, or the submodule, imported now."""
        if name in _HOMES:
            value = getattr(import_module(f"opolyx_sdk.{_HOMES[name]}"), name)
        elif name in _MODULES or name in _SUBMODULES:
            value = import_module(f"opolyx_sdk.{name}")
        else:
            raise AttributeError(f"module 'opolyx_sdk' has no attribute {name!r}")
        globals()[name] = value
        return value

    def __dir__() -> list[str]:
        """What there is to use."""
        return sorted({*globals(), *__all__})
