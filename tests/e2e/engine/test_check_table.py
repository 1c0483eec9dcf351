"""Whether a game could be played so is said before anybody sits down."""

from collections.abc import AsyncIterator
from pathlib import Path

import grpc
import pytest

from opolyx.engine.v1 import allocation_service_pb2 as pb
from opolyx_rules import RULESETS
from support_engine import Caller, Engine, running_engine
from support_matchmaker import bad_fields


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with running_engine(tmp_path) as made:
        yield made


async def wrong_fields(service: Caller, ruleset: str, seats: int, **options: int) -> list[str]:
    """The fields refused; none if the table is good."""
    request = pb.CheckTableRequest(
        ruleset=ruleset,
        seats=seats,
        options=pb.HouseOptions(**options),  # type: ignore[arg-type]
    )
    try:
        await service.allocation.CheckTable(request, metadata=service.metadata)
    except grpc.aio.AioRpcError as error:
        return bad_fields(error)
    return []


@pytest.mark.rule("TABLE-1", "TABLE-2")
@pytest.mark.parametrize("ruleset", sorted(RULESETS))
async def test_every_ruleset_has_the_seats_that_the_rules_say(engine: Engine, ruleset: str) -> None:
    service = await engine.caller("s_m", "service")

    possible = [n for n in range(9) if not await wrong_fields(service, ruleset, n)]

    assert list(RULESETS[ruleset].seat_counts()) == possible


@pytest.mark.parametrize(
    ("option", "low", "high"),
    [("start_cash", 1_000, 1_000_000), ("round_cap", 1, 1_000), ("turn_seconds", 5, 600)],
)
async def test_house_options_have_the_rulesets_bounds(
    engine: Engine, option: str, low: int, high: int
) -> None:
    service = await engine.caller("s_m", "service")

    for value in (low, high):
        assert [] == await wrong_fields(service, "classic@full", 4, **{option: value})
    for value in (low - 1, high + 1):
        wrong = await wrong_fields(service, "classic@full", 4, **{option: value})
        assert [f"options.{option}"] == wrong


async def test_all_that_is_wrong_is_said_at_once(engine: Engine) -> None:
    service = await engine.caller("s_m", "service")

    wrong = await wrong_fields(service, "team@full", 3, start_cash=1, turn_seconds=0)

    assert ["seats", "options.start_cash", "options.turn_seconds"] == wrong
    assert ["ruleset"] == await wrong_fields(service, "chess@full", 4)
    assert not engine.service.registry.running()


async def test_players_do_not_ask_it(engine: Engine) -> None:
    player = await engine.caller("p_1", "player")

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await player.allocation.CheckTable(pb.CheckTableRequest(), metadata=player.metadata)

    assert grpc.StatusCode.PERMISSION_DENIED is caught.value.code()
