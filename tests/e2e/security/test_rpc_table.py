"""Every RPC with every caller there can be, and what becomes of it.

The RPCs come from the descriptors: a new one fails until it has a row here, and until somebody has
thought about each column.
"""

from pathlib import Path
from typing import Final

import pytest

from support_callers import BAD, GOOD, MODULES, methods, outcomes, scene, short_name

ROOT: Final = Path(__file__).resolve().parents[3]

# `yes`: served. `-`: not for this role. Else the reason why not. `player` is awaited, `other seat`
# isn't, `out` has surrendered; the game can't be watched and the room is somebody else's.
TABLE: Final = """
RPC                                       | bad token | player         | other seat     | spectator      | out            | bot            | service | operator
EngineService.Play                        | token     | yes            | yes            | NOT_SEATED     | yes            | NOT_SEATED     | -       | NOT_SEATED
EngineService.SubmitCommand               | token     | yes            | NOT_AWAITED    | SPECTATOR      | OUT_OF_GAME    | SPECTATOR      | -       | SPECTATOR
EngineService.WatchGame                   | token     | yes            | yes            | NOT_WATCHABLE  | yes            | NOT_WATCHABLE  | -       | yes
EngineService.GetGame                     | token     | yes            | yes            | NOT_WATCHABLE  | yes            | NOT_WATCHABLE  | yes     | yes
EngineService.CheckTrade                  | token     | yes            | yes            | NOT_SEATED     | yes            | NOT_SEATED     | -       | NOT_SEATED
EngineService.GetReplay                   | token     | yes            | yes            | NOT_WATCHABLE  | yes            | NOT_WATCHABLE  | -       | yes
EngineService.ListGames                   | token     | yes            | yes            | yes            | yes            | yes            | -       | yes
AllocationService.CheckTable              | token     | -              | -              | -              | -              | -              | yes     | yes
AllocationService.ReserveGame             | token     | -              | -              | -              | -              | -              | yes     | yes
AllocationService.CreateGame              | token     | -              | -              | -              | -              | -              | yes     | yes
AllocationService.EndGame                 | token     | -              | -              | -              | -              | -              | yes     | yes
AllocationService.WatchFacts              | token     | -              | -              | -              | -              | -              | yes     | yes
AllocationService.SetAdmission            | token     | -              | -              | -              | -              | -              | yes     | yes
OperationsService.ListRunningGames        | token     | -              | -              | -              | -              | -              | -       | yes
OperationsService.InspectGame             | token     | -              | -              | -              | -              | -              | -       | yes
OperationsService.PauseNewGames           | token     | -              | -              | -              | -              | -              | -       | yes
OperationsService.ResumeNewGames          | token     | -              | -              | -              | -              | -              | -       | yes
OperationsService.Drain                   | token     | -              | -              | -              | -              | -              | -       | yes
ReplicaService.TakeUp                     | token     | -              | -              | -              | -              | -              | yes     | -
IdentityService.CreateGuest               | yes       | yes            | yes            | yes            | yes            | yes            | yes     | yes
IdentityService.CreateBotToken            | token     | yes            | yes            | yes            | yes            | -              | -       | -
IdentityService.RefreshToken              | token     | yes            | yes            | yes            | yes            | yes            | -       | -
IdentityService.RevokeToken               | token     | yes            | NOT_YOURS      | NOT_YOURS      | NOT_YOURS      | NOT_YOURS      | -       | yes
IdentityService.WhoAmI                    | token     | yes            | yes            | yes            | yes            | yes            | yes     | yes
IdentityService.WatchRevocations          | token     | -              | -              | -              | -              | -              | yes     | -
MatchmakerService.CreateRoom              | token     | yes            | yes            | yes            | yes            | yes            | -       | -
MatchmakerService.JoinRoom                | token     | yes            | yes            | yes            | yes            | yes            | -       | -
MatchmakerService.LeaveRoom               | token     | yes            | yes            | yes            | yes            | yes            | -       | -
MatchmakerService.GetRoom                 | token     | yes            | yes            | yes            | yes            | yes            | yes     | yes
MatchmakerService.ListRooms               | token     | yes            | yes            | yes            | yes            | yes            | yes     | yes
MatchmakerService.WatchRoom               | token     | yes            | yes            | yes            | yes            | yes            | yes     | yes
MatchmakerService.AddBot                  | token     | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | -       | -
MatchmakerService.RemoveBot               | token     | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | -       | -
MatchmakerService.Kick                    | token     | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | -       | -
MatchmakerService.StartGame               | token     | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | NOT_CREATOR    | -       | -
MatchmakerService.Rematch                 | token     | ROOM_NOT_FOUND | ROOM_NOT_FOUND | ROOM_NOT_FOUND | ROOM_NOT_FOUND | ROOM_NOT_FOUND | -       | -
MatchmakerService.QuickMatch              | token     | yes            | yes            | yes            | yes            | -              | -       | -
MatchmakerService.GetCurrentGame          | token     | yes            | yes            | yes            | yes            | yes            | -       | -
MatchmakerService.OfferBot                | token     | -              | -              | -              | -              | yes            | -       | -
ProgressionService.GetProfile             | token     | yes            | yes            | yes            | yes            | yes            | yes     | yes
ProgressionService.ListAwards             | token     | yes            | yes            | yes            | yes            | yes            | yes     | yes
ProgressionService.GetLevelTable          | token     | yes            | yes            | yes            | yes            | yes            | yes     | yes
ProgressionService.GetLeaderboard         | token     | yes            | yes            | yes            | yes            | yes            | yes     | yes
ProgressionService.ListCards              | token     | yes            | yes            | yes            | yes            | yes            | yes     | yes
ProgressionService.SetEntitlements        | token     | -              | -              | -              | -              | -              | -       | yes
ProgressionService.GetGrants              | token     | -              | -              | -              | -              | -              | yes     | -
ProgressionService.Audit                  | token     | -              | -              | -              | -              | -              | -       | yes
ProgressionService.ListDeadLetters        | token     | -              | -              | -              | -              | -              | -       | yes
ProgressionService.RetryDeadLetters       | token     | -              | -              | -              | -              | -              | -       | yes
ProgressionService.ListSignals            | token     | -              | -              | -              | -              | -              | -       | yes
ProgressionService.ListEntitlementChanges | token     | -              | -              | -              | -              | -              | -       | yes
"""
SERVED: Final = "yes"
NOT_FOR_THE_ROLE: Final = "-"


def parsed() -> dict[str, dict[str, str]]:
    """Outcomes by RPC and caller."""
    head, *rows = [[cell.strip() for cell in line.split("|")] for line in TABLE.split("\n") if line]
    return {row[0]: dict(zip(head[1:], row[1:], strict=True)) for row in rows}


PLACED: Final = parsed()


def expected(caller: str) -> dict[str, str]:
    """What is expected for a caller, by RPC."""
    if caller in GOOD:
        words = {SERVED: "served", NOT_FOR_THE_ROLE: "ROLE"}
        return {rpc: words.get(row[caller], row[caller]) for rpc, row in PLACED.items()}
    refused = "TOKEN_EXPIRED" if caller == "expired" else "TOKEN"
    return {rpc: "served" if row["bad token"] == SERVED else refused for rpc, row in PLACED.items()}


def test_every_rpc_has_a_row_and_no_row_is_of_none() -> None:
    assert sorted(PLACED) == sorted(short_name(method) for method in methods())


def test_every_file_with_a_service_is_looked_at() -> None:
    protos = (ROOT / "proto/opolyx").rglob("*.proto")
    with_services = {
        str(path.relative_to(ROOT / "proto"))
        for path in protos
        if "\nservice " in path.read_text("utf-8")
    }
    assert with_services == {module.DESCRIPTOR.name for module in MODULES}


@pytest.mark.parametrize("caller", [*GOOD, *BAD])
async def test_each_caller_gets_what_is_for_it_and_no_more(tmp_path: Path, caller: str) -> None:
    async with scene(tmp_path) as found:
        assert expected(caller) == await outcomes(found, caller)


async def test_a_revoked_token_is_worth_nothing_anywhere(tmp_path: Path) -> None:
    async with scene(tmp_path) as found:
        await outcomes(found, "player")  # revokes its own account at the end
        again = await outcomes(found, "player")

    public = {rpc for rpc, row in PLACED.items() if row["bad token"] == SERVED}
    assert {"served" if rpc in public else "TOKEN_REVOKED" for rpc in again} == set(again.values())
    assert public == {rpc for rpc, outcome in again.items() if outcome == "served"}
