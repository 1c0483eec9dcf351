"""Which role may call what on the engine, written out: the table is checked against this, by hand."""

from opolyx_engine.rpc.service_handlers import ALLOCATION, ENGINE, OPERATIONS, REPLICA, ROLES
from opolyx_servicekit.access import methods_of

CLIENTS = {"player", "bot", "operator"}
SERVICES = {"service", "operator"}
EXPECTED = {
    ENGINE: {
        "Play": CLIENTS,
        "SubmitCommand": CLIENTS,
        "WatchGame": CLIENTS,
        "GetGame": CLIENTS | SERVICES,
        "CheckTrade": CLIENTS,
        "GetReplay": CLIENTS,
        "ListGames": CLIENTS,
    },
    ALLOCATION: {
        "CheckTable": SERVICES,
        "ReserveGame": SERVICES,
        "CreateGame": SERVICES,
        "EndGame": SERVICES,
        "WatchFacts": SERVICES,
        "SetAdmission": SERVICES,
    },
    OPERATIONS: {
        "ListRunningGames": {"operator"},
        "InspectGame": {"operator"},
        "PauseNewGames": {"operator"},
        "ResumeNewGames": {"operator"},
        "Drain": {"operator"},
    },
    REPLICA: {
        "TakeUp": {"service"},
    },
}


def test_every_method_is_for_the_roles_written_here() -> None:
    expected = {
        f"/{service.full_name}/{method}": roles
        for service, methods in EXPECTED.items()
        for method, roles in methods.items()
    }
    assert expected == {method: set(roles) for method, roles in ROLES.items()}


def test_no_method_of_the_protos_is_missing_here() -> None:
    for service, methods in EXPECTED.items():
        assert [name.rpartition("/")[2] for name in methods_of(service)] == list(methods)
