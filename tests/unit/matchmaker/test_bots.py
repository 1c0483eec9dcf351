"""What offered bots are told, and which bots there are."""

import pytest

from opolyx_matchmaker.bots import (
    POLICIES,
    BotDirectory,
    BotNews,
    BotNewsKind,
    BotOffer,
    OfferStream,
    built_in,
)
from opolyx_servicekit.errors import FailedPrecondition, NotFound, Unavailable

SEATED = BotNews(BotNewsKind.SEATED, "g_1", seat=2, ruleset="classic@full")
RELEASED = BotNews(BotNewsKind.RELEASED, "g_1")


def stream() -> OfferStream:
    return OfferStream("b_1", "Robo")


async def test_each_game_is_told_once() -> None:
    told = stream()
    for news in (SEATED, SEATED, RELEASED, RELEASED):
        told.tell(news)

    assert [SEATED, RELEASED, None] == [await told.next(0.01) for _ in range(3)]


async def test_game_that_was_over_before_its_start_was_told_is_not_told() -> None:
    told = stream()
    told.tell(RELEASED)
    told.tell(SEATED)

    assert await told.next(0.01) is None


async def test_bot_that_reads_nothing_loses_its_stream() -> None:
    told = stream()
    for number in range(5000):
        told.tell(BotNews(BotNewsKind.SEATED, f"g_{number}"))

    with pytest.raises(Unavailable):
        await _read_all(told)


async def _read_all(told: OfferStream) -> None:
    while True:
        await told.next(0.01)


def test_policies_are_known_by_name() -> None:
    assert [built_in(policy, 1).name for policy in POLICIES] == ["Random 1", "Steady 1", "Trader 1"]
    with pytest.raises(NotFound):
        built_in("genius", 1)


async def test_seat_of_an_offered_bot_says_with_whom_it_plays() -> None:
    bots = BotDirectory()
    with bots.offering("b_1", "Robo") as stream:
        stream.offer = BotOffer(
            3, plays_people=True, plays_bots=False, min_rating=-5, max_rating=10
        )
        seat, offer = bots.offer_for("b_1", "classic@full")

    assert (3, False, True) == (offer.max_games, seat.bots_only, seat.people_only)
    assert (-5, 10, "Robo") == (seat.min_rating, seat.max_rating, seat.name)


async def test_newer_stream_takes_the_place_of_the_older() -> None:
    bots = BotDirectory()
    with bots.offering("b_1", "Robo") as older, bots.offering("b_1", "Robo") as newer:
        newer.offer = BotOffer(max_games=7)

        assert 7 == bots.capacity("b_1")
        assert (False, True) == (bots.is_current(older), bots.is_current(newer))
        with pytest.raises(FailedPrecondition):
            await older.next(0.01)

    assert 1 == bots.capacity("b_1")


async def test_drained_directory_takes_no_offer() -> None:
    bots = BotDirectory()
    with bots.offering("b_1", "Robo") as open_offer:
        bots.drain()
        with pytest.raises(Unavailable):
            await open_offer.next(0.01)

    with pytest.raises(Unavailable), bots.offering("b_2", "Other"):
        pass
