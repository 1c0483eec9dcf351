"""What operators see and have done, over a real channel."""

from pathlib import Path
from typing import Any

import grpc
import pytest
from prometheus_client import CollectorRegistry

from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx_progression.service import ProgressionService
from opolyx_servicekit.errors import Unavailable
from support_progression import (
    FactTeller,
    Running,
    bearer,
    duel,
    finished_fact,
    open_store,
    refused,
    running,
    senseless_fact,
)

OPERATOR = bearer("operator:o_1")
OTHER_OPERATOR = bearer("operator:o_2")


@pytest.fixture
async def live(tmp_path: Path) -> Any:
    async with running(tmp_path / "p.db", FactTeller()) as started:
        yield started


async def test_audit_reports_drift_and_sets_the_metric(live: Running) -> None:
    await live.told(*[finished_fact(n, duel(f"g{n}", "p_a", "p_b")) for n in range(1, 4)])

    clean = (await live.stub.Audit(pb.AuditRequest(count_boards=True), metadata=OPERATOR)).report
    await live.change("UPDATE progression_players SET xp = 9 WHERE player_id = 'p_b'")
    drifted = (await live.stub.Audit(pb.AuditRequest(), metadata=OPERATOR)).report

    assert (3, 6, 2, 0, 0) == (
        clean.games,
        clean.awards,
        clean.players,
        clean.drift,
        len(clean.drifts),
    )
    assert clean.at_unix_ms > 0
    assert [("standing", "p_b")] == [(drift.kind, drift.subject) for drift in drifted.drifts]
    assert "xp=9" in drifted.drifts[0].stored
    assert "xp=120" in drifted.drifts[0].computed
    assert 1 == drifted.drift == live.service.metrics.award_drift._value.get()


async def test_audit_counts_the_boards_only_if_asked(live: Running) -> None:
    await live.told(finished_fact(1, duel("g1", "p_a", "p_b")))
    await live.change("UPDATE progression_score_counts SET players = 7 WHERE board = 'xp'")

    plain = (await live.stub.Audit(pb.AuditRequest(), metadata=OPERATOR)).report
    counted = (await live.stub.Audit(pb.AuditRequest(count_boards=True), metadata=OPERATOR)).report

    assert 0 == plain.drift
    assert [("counts", "xp")] == [(drift.kind, drift.subject) for drift in counted.drifts]


async def test_entitlement_that_nobody_gave_is_drift(live: Running) -> None:
    await live.stub.SetEntitlements(
        pb.SetEntitlementsRequest(player_id="p_a", vip=True, reason="paid"), metadata=OPERATOR
    )
    await live.change("UPDATE progression_entitlements SET vip = 0")
    await live.change("INSERT INTO progression_entitlements VALUES ('p_b', 1)")

    report = (await live.stub.Audit(pb.AuditRequest(), metadata=OPERATOR)).report

    assert [
        ("entitlement", "p_a", "False", "True"),
        ("entitlement", "p_b", "True", "None"),
    ] == [(one.kind, one.subject, one.stored, one.computed) for one in report.drifts]


async def test_audits_asked_for_at_once_are_one(live: Running) -> None:
    first = live.service._auditing._start(False)

    report = await live.service.audit()

    assert first.done()
    assert first.result() is report


async def test_audit_of_a_service_that_ended_may_be_asked_again(tmp_path: Path) -> None:
    async with (
        open_store(tmp_path / "p.db") as store,
        grpc.aio.insecure_channel("127.0.0.1:1") as engine,
    ):
        service = ProgressionService(
            Running.settings, store=store, engine=engine, registry=CollectorRegistry()
        )
        async with service:
            pass
        with pytest.raises(Unavailable):
            await service.audit()


async def test_audit_without_a_store_is_unavailable(live: Running) -> None:
    await live.close_store()

    code, info = await refused(live.stub.Audit(pb.AuditRequest(), metadata=OPERATOR))

    assert (grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE") == (code, info.reason)


async def test_dead_letter_is_seen_retried_and_blocks_no_other(
    live: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("bug")

    with monkeypatch.context() as patched:
        patched.setattr("opolyx_progression.store.ledger.settle", broken)
        await live.told(finished_fact(1, duel("g1", "p_a", "p_b")))
    await live.told(senseless_fact(2, "g2"), finished_fact(3, duel("g3", "p_a", "p_b")))
    metrics = live.service.metrics

    seen = await live.stub.ListDeadLetters(pb.ListDeadLettersRequest(), metadata=OPERATOR)

    assert 2 == seen.total == metrics.dead_letters._value.get()
    assert [(1, "g1"), (2, "g2")] == [(one.fact_number, one.game_id) for one in seen.dead_letters]
    assert "ZeroDivisionError" in seen.dead_letters[0].problem
    assert "xp_scheme" in seen.dead_letters[1].problem
    assert seen.dead_letters[0].at_unix_ms > 0
    assert 250 == (await live.store.profile("p_a")).standing.xp  # g3 is paid

    request = pb.RetryDeadLettersRequest(fact_numbers=[1])
    once = await live.stub.RetryDeadLetters(request, metadata=OPERATOR)
    again = await live.stub.RetryDeadLetters(request, metadata=OPERATOR)
    every = await live.stub.RetryDeadLetters(pb.RetryDeadLettersRequest(), metadata=OPERATOR)

    assert (1, 1, 1) == (once.tried, once.processed, once.left)
    assert (0, 0, 1) == (again.tried, again.processed, again.left)
    assert (1, 0, 1) == (every.tried, every.processed, every.left)
    assert 1 == metrics.dead_letters._value.get()
    assert 2 == metrics.facts.labels("settled")._value.get()
    assert 500 == (await live.store.profile("p_a")).standing.xp
    assert 0 == (await live.service.audit()).drift
    left = (
        await live.stub.ListDeadLetters(pb.ListDeadLettersRequest(), metadata=OPERATOR)
    ).dead_letters
    assert [seen.dead_letters[1]] == list(left)  # with the time it was given up first


async def test_dead_letters_come_page_by_page(live: Running) -> None:
    await live.told(*[senseless_fact(n, f"g{n}") for n in range(1, 8)])

    pages: list[list[int]] = []
    token = ""
    while True:
        page = await live.stub.ListDeadLetters(
            pb.ListDeadLettersRequest(page_size=3, page_token=token), metadata=OPERATOR
        )
        pages.append([one.fact_number for one in page.dead_letters])
        assert 7 == page.total
        token = page.next_page_token
        if not token:
            break

    assert [[1, 2, 3], [4, 5, 6], [7]] == pages


async def test_every_dead_letter_is_retried_however_many(
    live: Running, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*args: Any) -> None:
        raise ZeroDivisionError("bug")

    facts = [finished_fact(n, duel(f"g{n}", "p_a", "p_b")) for n in range(1, 451)]
    with monkeypatch.context() as patched:
        patched.setattr("opolyx_progression.store.ledger.settle", broken)
        await live.told(*facts)

    done = await live.stub.RetryDeadLetters(pb.RetryDeadLettersRequest(), metadata=OPERATOR)

    assert (450, 450, 0) == (done.tried, done.processed, done.left)


async def test_who_made_whom_a_vip_when_and_why_is_seen(live: Running) -> None:
    said = [("p_a", True, "paid", OPERATOR), ("p_b", True, "friend", OTHER_OPERATOR)]
    said.append(("p_a", False, "refund", OTHER_OPERATOR))
    for player_id, vip, reason, operator in said:
        await live.stub.SetEntitlements(
            pb.SetEntitlementsRequest(player_id=player_id, vip=vip, reason=reason),
            metadata=operator,
        )

    everybody = await live.stub.ListEntitlementChanges(
        pb.ListEntitlementChangesRequest(page_size=2), metadata=OPERATOR
    )
    rest = await live.stub.ListEntitlementChanges(
        pb.ListEntitlementChangesRequest(page_size=2, page_token=everybody.next_page_token),
        metadata=OPERATOR,
    )
    one = await live.stub.ListEntitlementChanges(
        pb.ListEntitlementChangesRequest(player_id="p_a"), metadata=OPERATOR
    )

    shown = [
        (change.player_id, change.vip, change.reason, change.operator_id)
        for change in [*everybody.changes, *rest.changes]
    ]
    assert [
        ("p_a", False, "refund", "o_2"),
        ("p_b", True, "friend", "o_2"),
        ("p_a", True, "paid", "o_1"),
    ] == shown
    assert all(change.at_unix_ms > 0 for change in everybody.changes)
    assert "" == rest.next_page_token
    assert ["refund", "paid"] == [change.reason for change in one.changes]


BAD: dict[str, tuple[str, Any]] = {
    "reason": ("SetEntitlements", pb.SetEntitlementsRequest(player_id="p_a", reason=" \n")),
    "fact_numbers": ("RetryDeadLetters", pb.RetryDeadLettersRequest(fact_numbers=[1] * 101)),
    "page_size": ("ListDeadLetters", pb.ListDeadLettersRequest(page_size=101)),
    "page_token": ("ListEntitlementChanges", pb.ListEntitlementChangesRequest(page_token="x")),
    "player_id": ("ListEntitlementChanges", pb.ListEntitlementChangesRequest(player_id="p" * 65)),
}


@pytest.mark.parametrize("field", BAD)
async def test_bad_field_is_named(live: Running, field: str) -> None:
    method, request = BAD[field]

    code, info = await refused(getattr(live.stub, method)(request, metadata=OPERATOR))

    assert (grpc.StatusCode.INVALID_ARGUMENT, field) == (code, info.metadata["field"])


async def test_signals_are_told_of_what_was_settled(live: Running) -> None:
    """Case A-44: who meets again and again, and who always wins, is seen by operators."""
    facts = [finished_fact(n, duel(f"g{n}", "p_a", "p_b", ended_in=10)) for n in range(1, 13)]
    facts[-1].game_finished.gifts.add(giver=1, taker=0, value=12_000)
    await live.told(*facts)

    answer = await live.stub.ListSignals(pb.ListSignalsRequest(), metadata=OPERATOR)
    few = await live.stub.ListSignals(pb.ListSignalsRequest(games=3), metadata=OPERATOR)

    kinds = [pb.SignalKind.Name(one.kind).removeprefix("SIGNAL_KIND_") for one in answer.signals]
    assert ["REPEATED_PAIR", "ONE_SIDED_PAIR", "GIFTS", "QUICK_SURRENDERS"] == kinds
    assert [["p_a", "p_b"]] * 3 + [["p_b"]] == [list(one.player_ids) for one in answer.signals]
    assert [12, 12, 12_000, 12] == [one.value for one in answer.signals]
    assert ["g12", "g11", "g10", "g9", "g8"] == list(answer.signals[0].game_ids)
    assert (12, 3) == (answer.games, few.games)
    assert ["GIFTS"] == [pb.SignalKind.Name(one.kind)[12:] for one in few.signals]


async def test_more_results_than_there_may_be_are_refused(live: Running) -> None:
    code, info = await refused(
        live.stub.ListSignals(pb.ListSignalsRequest(games=10_001), metadata=OPERATOR)
    )
    assert (grpc.StatusCode.INVALID_ARGUMENT, "games") == (code, info.metadata["field"])
