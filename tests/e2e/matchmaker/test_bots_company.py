"""With whom an offered bot plays holds for whoever comes later, too."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.progression.v1 import progression_service_pb2 as progression_pb
from support_matchmaker import Guest, Peers, Running, reason_of, running_matchmaker


@asynccontextmanager
async def offered(mm: Running, name: str = "Robo", **fields: Any) -> AsyncIterator[Guest]:
    """A bot that offers itself for the length of a block."""
    bot = await mm.bot(await mm.guest("Owner"), name)
    call = mm.rooms.OfferBot(metadata=bot.auth)
    wanted: dict[str, Any] = {"max_games": 2, "plays_people": True, **fields}
    await call.write(pb.OfferBotRequest(offer=pb.BotOffer(**wanted)))
    await call.read()
    yield bot
    call.cancel()


async def seat(mm: Running, host: Guest, room: pb.Room, bot: Guest) -> pb.Room:
    request = pb.AddBotRequest(room_id=room.room_id, player_id=bot.player_id)
    return (await mm.rooms.AddBot(request, metadata=host.auth)).room


async def reason(call: Any) -> str:
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await call
    return reason_of(caught.value)


def rate(peers: Peers, guest: Guest, ordinal: int) -> None:
    peers.progression.grants[guest.player_id] = progression_pb.Grant(
        player_id=guest.player_id,
        ratings=[progression_pb.Rating(mode="classic", ordinal=ordinal)],
    )


async def test_later_joiner_must_be_rated_as_the_bot_plays(mm: Running, peers: Peers) -> None:
    ada, weak, strong = [await mm.guest(name) for name in ("Ada", "Weak", "Strong")]
    for guest, ordinal in ((ada, 1500), (weak, 1199), (strong, 1200)):
        rate(peers, guest, ordinal)
    room = await mm.create(ada, seats=4)
    async with offered(mm, min_rating=1200, max_rating=1500) as bot:
        await seat(mm, ada, room, bot)

        assert "BOT_UNAVAILABLE" == await reason(mm.join(weak, room))
        assert 2 == (await mm.join(strong, room)).seat
        newcomer = await mm.guest("New")
        assert "BOT_UNAVAILABLE" == await reason(mm.join(newcomer, room))
        await mm.add_bot(ada, room)  # a built-in one has no rating


async def test_newcomer_counts_as_one_and_not_as_nobody(mm: Running) -> None:
    room = await mm.create(await mm.guest("Ada"), seats=3)
    ada_room = await mm.create(host := await mm.guest("Bo"), seats=3)
    async with offered(mm, min_rating=1000, max_rating=1000) as bot:
        await seat(mm, host, ada_room, bot)
        await mm.join(await mm.guest("New"), ada_room)
    assert room.room_id != ada_room.room_id


async def test_bot_that_plays_people_only_meets_no_other_bot(mm: Running) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    room, other = await mm.create(ada, seats=4), await mm.create(bo, seats=4)
    await mm.add_bot(bo, other)
    async with offered(mm, plays_bots=False) as proud, offered(mm, "Any") as any_bot:
        assert "BOT_UNAVAILABLE" == await reason(seat(mm, bo, other, proud))
        await seat(mm, ada, room, proud)

        assert "BOT_UNAVAILABLE" == await reason(mm.add_bot(ada, room))
        assert "BOT_UNAVAILABLE" == await reason(seat(mm, ada, room, any_bot))
        await mm.join(await mm.guest("Cy"), room)


async def test_bots_play_among_themselves_and_people_do_not_join(mm: Running) -> None:
    host = await mm.bot(await mm.guest("Owner"), "Host")
    room = await mm.create(host, seats=3)
    async with offered(mm, "Shy", plays_people=False) as shy:
        seated = await seat(mm, host, room, shy)
        assert [pb.OCCUPANT_BOT] * 2 == [one.occupant for one in seated.seats[:2]]
        assert "BOT_UNAVAILABLE" == await reason(mm.join(await mm.guest("Ada"), room))
        await mm.add_bot(host, room, "trader")

        game_id = await mm.start(host, room)

    assert room.game_id == game_id


async def test_offer_to_play_with_nobody_is_refused(mm: Running) -> None:
    bot = await mm.bot(await mm.guest("Owner"))
    call = mm.rooms.OfferBot(metadata=bot.auth)
    offer = pb.BotOffer(max_games=1, plays_people=False, plays_bots=False)
    await call.write(pb.OfferBotRequest(offer=offer))

    assert grpc.StatusCode.INVALID_ARGUMENT is await call.code()


async def test_people_see_which_seats_are_bots(mm: Running, peers: Peers) -> None:
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    room = await mm.create(ada, seats=4)
    await mm.join(bo, room)
    await mm.add_bot(ada, room, "steady")
    async with offered(mm, "Robo") as bot:
        await seat(mm, ada, room, bot)
        shown = await mm.get(bo, room)

    kinds = [one.occupant for one in shown.seats]
    person, built_in = pb.OCCUPANT_PERSON, pb.OCCUPANT_BUILT_IN
    assert [person, person, built_in, pb.OCCUPANT_BOT] == kinds
    assert ["Ada", "Bo", "Steady 1", "Robo"] == [one.name for one in shown.seats]


async def test_game_never_starts_with_a_bot_that_went_away_unnoticed(
    tmp_path: Path, peers: Peers
) -> None:
    """The process ends, and the bot does not come back to the next one."""
    async with running_matchmaker(tmp_path, peers) as mm, offered(mm) as bot:
        ada = await mm.guest("Ada")
        room = await mm.create(ada)
        await seat(mm, ada, room, bot)
        # What a killed process leaves: a seat by an offer, and nobody who offers.
        mm.service._parts.bots._streams.clear()

        assert "BOT_UNAVAILABLE" == await reason(mm.start(ada, room))

        assert pb.OCCUPANT_UNSPECIFIED == (await mm.get(ada, room)).seats[1].occupant
        assert not peers.engine.games
        await mm.add_bot(ada, room)
        await mm.start(ada, room)
