"""Which roles may call which method; all else is denied."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

ROLES: Final = frozenset({"player", "bot", "service", "operator"})
"""The roles that tokens may have."""

SERVICE_NAME: Final = "opolyx.progression.v1.ProgressionService"
"""The service's full name."""

_EVERYBODY: Final = ROLES
_OPERATOR: Final = frozenset({"operator"})
_SERVICE: Final = frozenset({"service"})

ACCESS: Final[Mapping[str, frozenset[str]]] = MappingProxyType(
    {
        f"/{SERVICE_NAME}/GetProfile": _EVERYBODY,
        f"/{SERVICE_NAME}/ListAwards": _EVERYBODY,
        f"/{SERVICE_NAME}/GetLevelTable": _EVERYBODY,
        f"/{SERVICE_NAME}/GetLeaderboard": _EVERYBODY,
        f"/{SERVICE_NAME}/ListCards": _EVERYBODY,
        f"/{SERVICE_NAME}/SetEntitlements": _OPERATOR,
        f"/{SERVICE_NAME}/GetGrants": _SERVICE,
        f"/{SERVICE_NAME}/Audit": _OPERATOR,
        f"/{SERVICE_NAME}/ListDeadLetters": _OPERATOR,
        f"/{SERVICE_NAME}/RetryDeadLetters": _OPERATOR,
        f"/{SERVICE_NAME}/ListSignals": _OPERATOR,
        f"/{SERVICE_NAME}/ListEntitlementChanges": _OPERATOR,
    }
)
"""By full method name, the roles that may call it."""

SEES_WHOLE_GAMES: Final = frozenset({"service", "operator"})
"""Roles for which a game's awards without a player mean those of every seat."""
