"""Roles: each method's, and denial of everything else."""

import pytest

from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx_progression.access import ACCESS, ROLES, SERVICE_NAME
from opolyx_servicekit.access import AccessTable, methods_of
from opolyx_servicekit.errors import PermissionDenied, Unauthenticated
from support_progression import RoleVerifier, bearer

SERVICE = pb.DESCRIPTOR.services_by_name["ProgressionService"]
METHODS = methods_of(SERVICE)
EVERYBODY = {"player", "bot", "service", "operator"}
EXPECTED = {
    "GetProfile": EVERYBODY,
    "ListAwards": EVERYBODY,
    "GetLevelTable": EVERYBODY,
    "GetLeaderboard": EVERYBODY,
    "ListCards": EVERYBODY,
    "SetEntitlements": {"operator"},
    "GetGrants": {"service"},
    "Audit": {"operator"},
    "ListDeadLetters": {"operator"},
    "RetryDeadLetters": {"operator"},
    "ListSignals": {"operator"},
    "ListEntitlementChanges": {"operator"},
}


def test_every_method_has_its_roles() -> None:
    assert SERVICE.full_name == SERVICE_NAME
    assert set(METHODS) == set(ACCESS)


@pytest.mark.parametrize("role", sorted(ROLES))
@pytest.mark.parametrize("method", METHODS)
def test_roles_are_exactly_these(method: str, role: str) -> None:
    table = AccessTable(ACCESS, RoleVerifier())

    if role in EXPECTED[method.rpartition("/")[2]]:
        admitted = table.admit(method, bearer(role))
        assert admitted is not None
        assert role == admitted.role
    else:
        with pytest.raises(PermissionDenied):
            table.admit(method, bearer(role))


@pytest.mark.parametrize("method", METHODS)
def test_nobody_calls_without_a_token(method: str) -> None:
    table = AccessTable(ACCESS, RoleVerifier())

    for metadata in ((), bearer("bad")):
        with pytest.raises(Unauthenticated):
            table.admit(method, metadata)


def test_unknown_method_and_role_are_denied() -> None:
    table = AccessTable(ACCESS, RoleVerifier())

    with pytest.raises(PermissionDenied):
        table.admit(f"/{SERVICE_NAME}/Unknown", bearer("operator"))
    with pytest.raises(PermissionDenied):
        table.admit(METHODS[0], bearer("stranger"))
