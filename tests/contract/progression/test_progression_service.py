"""ProgressionService over a real channel, with an engine that tells facts."""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx.progression.v1.progression_service_pb2_grpc import ProgressionServiceStub
from opolyx_progression.games import Scheme
from support_progression import (
    FactTeller,
    Running,
    bearer,
    bot,
    duel,
    eventually,
    finished_fact,
    finished_game,
    open_store,
    person,
    reached,
    refused,
    running,
    senseless_fact,
    service_on,
    serving,
    voided_fact,
)

PLAYER = bearer("player:p_a")
OPERATOR = bearer("operator:o_1")
SERVICE = bearer("service:s_1")


@pytest.fixture
async def live(tmp_path: Path) -> Any:
    async with running(tmp_path / "p.db", FactTeller()) as started:
        yield started


async def test_profile_of_an_unknown_player_is_empty(live: Running) -> None:
    answer = await live.stub.GetProfile(pb.GetProfileRequest(), metadata=PLAYER)

    assert answer.profile == pb.Profile(
        player_id="p_a", level=1, rank=pb.RANK_PEDDLER, next_level_xp=100
    )


async def test_finished_game_shows_in_the_profile(live: Running) -> None:
    await live.told(finished_fact(1, duel("g1", "p_a", "p_b")))

    profile = (await live.stub.GetProfile(pb.GetProfileRequest(), metadata=PLAYER)).profile

    assert (250, 3, 0, 200) == (
        profile.xp,
        profile.level,
        profile.level_xp,
        profile.next_level_xp,
    )
    assert (1, 1, 1) == (profile.games, profile.wins, profile.cards)
    assert ["classic"] == [rating.mode for rating in profile.ratings]
    assert 1 == profile.ratings[0].games


async def test_engine_is_called_with_the_service_s_token(live: Running) -> None:
    await live.told(voided_fact(1, "g1"))

    assert "Bearer token" == live.teller.tokens[0]


async def test_awards_come_newest_first_page_by_page_with_their_terms(live: Running) -> None:
    await live.told(*[finished_fact(n, duel(f"g{n}", "p_a", "p_b")) for n in range(1, 8)])

    found: list[str] = []
    token = ""
    while True:
        request = pb.ListAwardsRequest(page_size=3, page_token=token)
        page = await live.stub.ListAwards(request, metadata=PLAYER)
        found += [award.game_id for award in page.awards]
        token = page.next_page_token
        if not token:
            break

    assert [f"g{n}" for n in range(7, 0, -1)] == found
    award = page.awards[0]
    assert [(pb.TERM_KIND_PLACE, 200), (pb.TERM_KIND_SURVIVAL, 50)] == [
        (term.kind, term.xp) for term in award.terms
    ]
    assert [3] == [card.level for card in award.cards]


async def test_award_of_one_game_and_the_reason_for_a_zero(live: Running) -> None:
    await live.told(
        finished_fact(1, duel("g1", "p_a", "p_b")),
        finished_fact(2, duel("g2", "p_a", "p_b", ended_in=20)),
    )

    request = pb.ListAwardsRequest(game_id="g2")
    awards = (await live.stub.ListAwards(request, metadata=PLAYER)).awards

    assert [("g2", 0, pb.ZERO_REASON_SHORT_GAME)] == [
        (award.game_id, award.xp, award.zero_reason) for award in awards
    ]


async def test_service_sees_every_seat_of_a_game(live: Running) -> None:
    game = finished_game(person("p_a", 1), bot("", 2), bot("b_a", 3), game_id="g1")
    await live.told(finished_fact(1, game))

    request = pb.ListAwardsRequest(game_id="g1")
    awards = (await live.stub.ListAwards(request, metadata=SERVICE)).awards

    assert [(0, 100), (1, 0), (2, 0)] == [(award.seat, award.xp) for award in awards]


async def test_level_table_is_whole(live: Running) -> None:
    table = await live.stub.GetLevelTable(pb.GetLevelTableRequest(), metadata=PLAYER)

    assert list(range(1, 61)) == [level.level for level in table.levels]
    assert pb.RANK_LEGEND == table.levels[-1].rank


async def test_leaderboards_by_xp_and_rating(live: Running) -> None:
    await live.told(finished_fact(1, duel("g1", "p_a", "p_b")))
    xp = pb.GetLeaderboardRequest(kind=pb.LEADERBOARD_KIND_XP)
    around = pb.GetLeaderboardRequest(
        kind=pb.LEADERBOARD_KIND_RATING, mode="classic", around_player_id="p_b", page_size=1
    )

    top = await live.stub.GetLeaderboard(xp, metadata=PLAYER)
    mine = await live.stub.GetLeaderboard(around, metadata=PLAYER)

    assert [(1, "p_a", "P_A", 250), (2, "p_b", "P_B", 40)] == [
        (row.rank, row.player_id, row.name, row.score) for row in top.rows
    ]
    assert 2 == top.players
    assert [(2, "p_b")] == [(row.rank, row.player_id) for row in mine.rows]


async def test_neighbours_of_a_stranger_are_not_found(live: Running) -> None:
    request = pb.GetLeaderboardRequest(kind=pb.LEADERBOARD_KIND_XP, around_player_id="p_x")

    code, info = await refused(live.stub.GetLeaderboard(request, metadata=PLAYER))

    assert (grpc.StatusCode.NOT_FOUND, "PLAYER_NOT_FOUND") == (code, info.reason)
    assert "opolyx.progression" == info.domain


async def test_operator_makes_a_vip_and_services_see_what_players_bring(live: Running) -> None:
    guide = finished_game(person("p_a", 1), person("p_b", 2), scheme=Scheme.WINNER)
    await live.told(finished_fact(1, guide))
    request = pb.SetEntitlementsRequest(player_id="p_a", vip=True, reason="paid")

    set_ = await live.stub.SetEntitlements(request, metadata=OPERATOR)
    grants = await live.stub.GetGrants(
        pb.GetGrantsRequest(player_ids=["p_x", "p_a"]), metadata=SERVICE
    )
    cards = await live.stub.ListCards(pb.ListCardsRequest(), metadata=PLAYER)

    assert set_.profile.vip
    stranger, winner = grants.grants
    assert stranger == pb.Grant(player_id="p_x")
    assert winner.vip
    assert [cards.cards[0].square] == [bonus.square for bonus in winner.card_bonuses]
    assert winner.card_bonuses[0].bonus_bp in {300, 800, 1800, 3300}
    assert "classic" == winner.ratings[0].mode


BAD: dict[str, Callable[[ProgressionServiceStub], Any]] = {
    "player_id": lambda stub: stub.GetProfile(
        pb.GetProfileRequest(player_id="p" * 65), metadata=PLAYER
    ),
    "page_size": lambda stub: stub.ListAwards(pb.ListAwardsRequest(page_size=101), metadata=PLAYER),
    "page_token": lambda stub: stub.ListAwards(
        pb.ListAwardsRequest(page_token="-1"), metadata=PLAYER
    ),
    "game_id": lambda stub: stub.ListAwards(
        pb.ListAwardsRequest(game_id="g" * 65), metadata=PLAYER
    ),
    "kind": lambda stub: stub.GetLeaderboard(pb.GetLeaderboardRequest(), metadata=PLAYER),
    "mode": lambda stub: stub.GetLeaderboard(
        pb.GetLeaderboardRequest(kind=pb.LEADERBOARD_KIND_RATING), metadata=PLAYER
    ),
    "reason": lambda stub: stub.SetEntitlements(
        pb.SetEntitlementsRequest(player_id="p_a"), metadata=OPERATOR
    ),
    "player_ids": lambda stub: stub.GetGrants(
        pb.GetGrantsRequest(player_ids=["p"] * 7), metadata=SERVICE
    ),
}


@pytest.mark.parametrize("field", BAD)
async def test_bad_field_is_named(live: Running, field: str) -> None:
    code, info = await refused(BAD[field](live.stub))

    assert (grpc.StatusCode.INVALID_ARGUMENT, "INVALID_FIELD") == (code, info.reason)
    assert field == info.metadata["field"]


async def test_reasons_are_those_of_the_contract() -> None:
    from opolyx.progression.v1.error_pb2 import ErrorReason

    names = {name.removeprefix("ERROR_REASON_") for name in ErrorReason.keys()}  # noqa: SIM118
    assert {"INVALID_FIELD", "PLAYER_NOT_FOUND", "STORE_UNAVAILABLE"} <= names


async def test_store_that_is_away_is_unavailable(live: Running) -> None:
    await live.close_store()

    code, info = await refused(live.stub.GetProfile(pb.GetProfileRequest(), metadata=PLAYER))

    assert (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE") == (code, info.reason)


async def test_player_may_not_make_itself_a_vip(live: Running) -> None:
    request = pb.SetEntitlementsRequest(player_id="p_a", vip=True, reason="please")

    code, _ = await refused(live.stub.SetEntitlements(request, metadata=PLAYER))

    assert grpc.StatusCode.PERMISSION_DENIED == code


async def test_audit_sets_the_metric_of_drift(live: Running) -> None:
    await live.told(finished_fact(1, duel("g1", "p_a", "p_b")))

    report = await live.service.audit()

    assert (1, 0) == (report.games, report.drift)
    assert 0 == live.service.metrics.award_drift._value.get()
    assert live.service.metrics.audited_unix_seconds._value.get() > 0


@pytest.mark.parametrize(
    "code",
    [
        grpc.StatusCode.CANCELLED,
        grpc.StatusCode.INTERNAL,
        grpc.StatusCode.UNKNOWN,
        grpc.StatusCode.UNAUTHENTICATED,
        grpc.StatusCode.RESOURCE_EXHAUSTED,
    ],
)
async def test_stream_goes_on_whatever_it_broke_with(tmp_path: Path, code: grpc.StatusCode) -> None:
    teller = FactTeller([finished_fact(n, duel(f"g{n}", "p_a", "p_b")) for n in range(1, 10)])
    teller.batch, teller.break_after, teller.break_code = 2, 1, code

    async with running(tmp_path / "p.db", teller) as live:
        await live.applied(9)

    assert [0, 2, 4, 6, 8] == teller.asked_after[:5]


async def test_engine_that_restarts_is_found_again(tmp_path: Path) -> None:
    teller = FactTeller([finished_fact(1, duel("g1", "p_a", "p_b"))])
    async with open_store(tmp_path / "p.db") as store:
        async with serving(teller) as address:
            channel = grpc.aio.insecure_channel(address)
            service = service_on(store, channel)
            await service.__aenter__()
            await eventually(partial(reached, store, 1))
        await teller.tell(finished_fact(2, duel("g2", "p_a", "p_b")))
        async with serving(teller, address):
            await eventually(partial(reached, store, 2))
            await service.__aexit__(None, None, None)
        await channel.close()


@pytest.mark.rule("XP-7")
async def test_xp_7_broken_streams_pay_each_game_once(tmp_path: Path) -> None:
    teller = FactTeller(
        [
            senseless_fact(n, f"g{n}")
            if n % 7 == 0
            else finished_fact(n, duel(f"g{n}", "p_a", "p_b"))
            for n in range(1, 41)
        ]
    )
    teller.refusals, teller.break_after = 3, 2

    async with running(tmp_path / "p.db", teller) as live:
        await live.applied(40)
        report = await live.service.audit()

        assert (35, 0) == (report.games, report.drift)
        assert 35 * 250 == (await live.store.profile("p_a")).standing.xp
        assert 5 == await live.store.dead_letter_count()
    assert len(teller.asked_after) >= 3 + 40 // 6
