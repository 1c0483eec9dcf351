"""Which role may call what: deny by default, every method of both services listed."""

from typing import Final

from opolyx_servicekit.access import PUBLIC

_PLAYERS: Final = frozenset({"player", "bot"})
_READERS: Final = frozenset({"player", "bot", "service", "operator"})

_IDENTITY: Final = "/opolyx.identity.v1.IdentityService/"
_MATCHMAKER: Final = "/opolyx.matchmaker.v1.MatchmakerService/"

ROLES_BY_METHOD: Final = {
    f"{_IDENTITY}CreateGuest": PUBLIC,
    f"{_IDENTITY}CreateBotToken": frozenset({"player"}),
    f"{_IDENTITY}RefreshToken": _PLAYERS,
    f"{_IDENTITY}RevokeToken": frozenset({"player", "bot", "operator"}),
    f"{_IDENTITY}WhoAmI": _READERS,
    f"{_IDENTITY}WatchRevocations": frozenset({"service"}),
    f"{_MATCHMAKER}CreateRoom": _PLAYERS,
    f"{_MATCHMAKER}JoinRoom": _PLAYERS,
    f"{_MATCHMAKER}LeaveRoom": _PLAYERS,
    f"{_MATCHMAKER}GetRoom": _READERS,
    f"{_MATCHMAKER}ListRooms": _READERS,
    f"{_MATCHMAKER}WatchRoom": _READERS,
    f"{_MATCHMAKER}AddBot": _PLAYERS,
    f"{_MATCHMAKER}RemoveBot": _PLAYERS,
    f"{_MATCHMAKER}Kick": _PLAYERS,
    f"{_MATCHMAKER}StartGame": _PLAYERS,
    f"{_MATCHMAKER}Rematch": _PLAYERS,
    f"{_MATCHMAKER}QuickMatch": frozenset({"player"}),
    f"{_MATCHMAKER}GetCurrentGame": _PLAYERS,
    f"{_MATCHMAKER}OfferBot": frozenset({"bot"}),
}
"""By full method name, the roles that may call it."""
