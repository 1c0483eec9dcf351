"""The short form of `make fuzz`, and that it would find what it looks for."""

import random
from pathlib import Path
from typing import Any

import pytest

import support_fuzz_parsers
from opolyx.engine.v1 import engine_service_pb2 as pb
from support_callers import message_class, methods
from support_fuzz_inputs import KINDS, HostileInputs
from support_fuzz_run import Plan, Report, run


@pytest.mark.timeout(180)
async def test_hostile_inputs_crash_nothing_and_touch_no_game_of_others(tmp_path: Path) -> None:
    report = Report()
    plan = Plan(KINDS, inputs=400, seconds=60.0, seed=7, directory=tmp_path)

    await run(plan, report, lambda line: None)

    assert [] == report.problems
    assert all(report.inputs[kind] >= 400 for kind in KINDS)
    assert report.outcomes["INVALID_ARGUMENT"] > 20
    assert report.outcomes["OK"] > 20


def test_inputs_are_made_for_every_rpc_and_the_same_again() -> None:
    for method in methods():
        kind = message_class(method.input_type)
        first, again = (HostileInputs(random.Random(3)) for _ in range(2))
        made = [first.encoded(kind) for _ in range(20)]
        assert made == [again.encoded(kind) for _ in range(20)]


def test_every_kind_of_frame_is_made() -> None:
    inputs = HostileInputs(random.Random(5))
    made = {inputs.message(pb.PlayRequest).WhichOneof("kind") for _ in range(200)}

    assert {one.name for one in pb.PlayRequest.DESCRIPTOR.oneofs_by_name["kind"].fields} <= made


async def found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, verify: Any) -> list[str]:
    monkeypatch.setattr(support_fuzz_parsers, "verify", verify)
    report = Report()
    await run(Plan(("replays",), 3, 10.0, 1, tmp_path), report, lambda line: None)
    return report.problems


async def test_a_parser_that_raises_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    def verify(data: bytes) -> None:
        raise ZeroDivisionError(len(data))

    assert 3 == len(await found(monkeypatch, tmp_path, verify))


async def test_a_made_up_game_that_is_believed_is_found(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    class Believed:
        ok = True
        complete = True

    problems = await found(monkeypatch, tmp_path, lambda data: Believed())
    assert ["believed"] * 3 == [problem.split()[1] for problem in problems]


def test_a_token_that_is_taken_is_found(tmp_path: Path) -> None:
    gate = support_fuzz_parsers.TokenGate(tmp_path)
    good = gate.signer.sign(subject="p_1", role="operator", ttl_seconds=60)

    with pytest.raises(support_fuzz_parsers.Accepted):
        gate.try_token(good.encode())
