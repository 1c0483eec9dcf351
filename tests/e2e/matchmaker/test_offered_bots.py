"""Bots that offer themselves."""

import asyncio
from typing import Any

import grpc
import pytest

from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from support_matchmaker import Guest, Peers, Running, eventually, reason_of


class Offer:
    """A bot's open stream."""

    def __init__(self, mm: Running, bot: Guest) -> None:
        self.bot = bot
        self.call = mm.rooms.OfferBot(metadata=bot.auth)

    async def say(self, **fields: Any) -> None:
        offer = pb.BotOffer(**{"max_games": 1, "plays_people": True, **fields})
        await self.call.write(pb.OfferBotRequest(offer=offer))

    async def hear(self) -> Any:
        answer = await asyncio.wait_for(self.call.read(), 5)
        assert isinstance(answer, pb.OfferBotResponse), answer
        return getattr(answer, str(answer.WhichOneof("kind")))


async def offered(mm: Running, name: str = "Robo", **fields: Any) -> Offer:
    offer = Offer(mm, await mm.bot(await mm.guest("Owner"), name))
    await offer.say(**fields)
    assert isinstance(await offer.hear(), pb.OfferTaken)
    return offer


async def seat(mm: Running, host: Guest, room: pb.Room, bot: Guest) -> pb.Room:
    request = pb.AddBotRequest(room_id=room.room_id, player_id=bot.player_id)
    return (await mm.rooms.AddBot(request, metadata=host.auth)).room


async def test_offered_bot_is_seated_told_and_released(mm: Running, peers: Peers) -> None:
    offer, ada = await offered(mm), await mm.guest("Ada")
    room = await mm.create(ada)

    seated = await seat(mm, ada, room, offer.bot)
    assert (pb.OCCUPANT_BOT, "Robo") == (seated.seats[1].occupant, seated.seats[1].name)
    game_id = await mm.start(ada, room)

    told = await offer.hear()
    assert (game_id, 1, "classic@full") == (told.game_id, told.seat, told.ruleset)
    await offer.call.write(pb.OfferBotRequest(ready=pb.BotReady(game_id=game_id)))
    peers.engine.finish(game_id)
    assert pb.BotReleased(game_id=game_id) == await offer.hear()
    offer.call.cancel()


async def test_capacity_is_never_exceeded_by_parallel_rooms(mm: Running) -> None:
    offer = await offered(mm, max_games=3)
    hosts = [await mm.guest(f"Host {number}") for number in range(12)]
    rooms = [await mm.create(host) for host in hosts]

    outcomes = await asyncio.gather(
        *(seat(mm, host, room, offer.bot) for host, room in zip(hosts, rooms, strict=True)),
        return_exceptions=True,
    )

    assert 3 == sum(isinstance(one, pb.Room) for one in outcomes)
    errors = [one for one in outcomes if isinstance(one, grpc.aio.AioRpcError)]
    assert {"BOT_UNAVAILABLE"} == {reason_of(error) for error in errors}
    offer.call.cancel()


async def test_offered_bot_that_is_asked_for_again_is_seated_once(mm: Running) -> None:
    """Though it is at its capacity by then, and even when its offer has ended."""
    offer, ada = await offered(mm), await mm.guest("Ada")
    room = await mm.create(ada, seats=3)
    request = pb.AddBotRequest(
        room_id=room.room_id, player_id=offer.bot.player_id, request_id="once"
    )

    async def seated() -> list[str]:
        room = (await mm.rooms.AddBot(request, metadata=ada.auth)).room
        return [seat.name for seat in room.seats]

    assert ["Ada", "Robo", ""] == await seated()
    assert ["Ada", "Robo", ""] == await seated()
    offer.call.cancel()

    async def is_gone() -> bool:
        return ["Ada", "", ""] == await seated()

    await eventually(is_gone)


@pytest.mark.parametrize(
    "fields",
    [
        {"rulesets": ["speed@full"]},
        {"plays_people": False},
        {"min_rating": 1001},
        {"max_rating": 999},
    ],
)
async def test_bot_is_not_seated_where_it_does_not_play(
    mm: Running, fields: dict[str, Any]
) -> None:
    offer, ada = await offered(mm, **fields), await mm.guest("Ada")
    room = await mm.create(ada)

    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await seat(mm, ada, room, offer.bot)

    assert "BOT_UNAVAILABLE" == reason_of(caught.value)
    offer.call.cancel()


async def test_withdrawn_bot_leaves_open_rooms_and_keeps_its_games(mm: Running) -> None:
    offer = await offered(mm, max_games=2)
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    waiting, playing = await mm.create(ada), await mm.create(bo)
    await seat(mm, ada, waiting, offer.bot)
    await seat(mm, bo, playing, offer.bot)
    await mm.start(bo, playing)

    await offer.call.done_writing()

    async def is_withdrawn() -> bool:
        return not (await mm.get(ada, waiting)).seats[1].player_id

    await eventually(is_withdrawn)
    assert offer.bot.player_id == (await mm.get(bo, playing)).seats[1].player_id
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await seat(mm, ada, waiting, offer.bot)
    assert "UNKNOWN_BOT" == reason_of(caught.value)


async def test_bot_that_comes_back_hears_of_its_games(mm: Running) -> None:
    offer, ada = await offered(mm), await mm.guest("Ada")
    room = await mm.create(ada)
    await seat(mm, ada, room, offer.bot)
    game_id = await mm.start(ada, room)
    offer.call.cancel()

    again = Offer(mm, offer.bot)
    await again.say()

    assert pb.OfferTaken(games=1) == await again.hear()
    assert game_id == (await again.hear()).game_id
    again.call.cancel()


async def test_newer_offer_of_the_same_bot_ends_the_older(mm: Running) -> None:
    older = await offered(mm)
    newer = Offer(mm, older.bot)
    await newer.say()
    await newer.hear()

    assert grpc.StatusCode.FAILED_PRECONDITION is await asyncio.wait_for(older.call.code(), 5)
    ada = await mm.guest("Ada")
    await seat(mm, ada, await mm.create(ada), older.bot)
    newer.call.cancel()


async def test_bad_offers_are_refused(mm: Running) -> None:
    for fields in ({"max_games": 0}, {"max_games": 1001}):
        offer = Offer(mm, await mm.bot(await mm.guest()))
        await offer.say(**fields)
        assert grpc.StatusCode.INVALID_ARGUMENT is await asyncio.wait_for(offer.call.code(), 5)


async def test_bots_that_join_by_themselves_are_in_one_game(mm: Running) -> None:
    robo = await mm.bot(await mm.guest("Owner"))
    ada, bo = await mm.guest("Ada"), await mm.guest("Bo")
    one, other = await mm.create(ada), await mm.create(bo)

    joined = await mm.join(robo, one)

    assert pb.OCCUPANT_BOT == joined.room.seats[joined.seat].occupant
    with pytest.raises(grpc.aio.AioRpcError) as caught:
        await mm.join(robo, other)
    assert "ALREADY_PLAYING" == reason_of(caught.value)


@pytest.mark.timeout(240)
async def test_many_offered_bots_play_many_games_within_their_capacity(
    mm: Running, peers: Peers
) -> None:
    """Hosts fight for 12 bots of 2 games each; every game ends, and frees them for the next."""
    owner = await mm.guest("Owner")
    offers = [Offer(mm, await mm.bot(owner, f"Robo {number}")) for number in range(12)]
    most: dict[str, int] = {}
    for offer in offers:
        await offer.say(max_games=2)
    listeners = [asyncio.create_task(_count_games(offer, most)) for offer in offers]
    await eventually(lambda: len(most) == len(offers))

    played = await asyncio.gather(*(_host_games(mm, peers, offers, n) for n in range(24)))

    assert 24 * 4 == sum(played) == peers.engine.created
    assert max(most.values()) <= 2
    for offer in offers:
        offer.call.cancel()
    await asyncio.gather(*listeners, return_exceptions=True)


async def _host_games(mm: Running, peers: Peers, offers: list[Offer], number: int) -> int:
    """Four games in a row, each with the first bot that is free; how many were played."""
    host = await mm.guest(f"Host {number}")
    for game in range(4):
        room = await mm.create(host)
        for attempt in range(10_000):
            try:
                bot = offers[(number + game + attempt) % len(offers)].bot
                await seat(mm, host, room, bot)
                break
            except grpc.aio.AioRpcError as error:
                if reason_of(error) != "BOT_UNAVAILABLE":
                    raise
                await asyncio.sleep(0.01)
        game_id = await mm.start(host, room)
        peers.engine.finish(game_id)
        await eventually(lambda: _is_free(mm, host), 20)
    return 4


async def _is_free(mm: Running, guest: Guest) -> bool:
    current = await mm.current(guest)
    return not (current.game_id or current.room_id)


async def _count_games(offer: Offer, most: dict[str, int]) -> None:
    """The most games that the bot was in at once, as its stream tells."""
    games: set[str] = set()
    while (answer := await offer.call.read()) is not grpc.aio.EOF:
        assert isinstance(answer, pb.OfferBotResponse)
        if answer.HasField("seated"):
            games.add(answer.seated.game_id)
        elif answer.HasField("released"):
            games.discard(answer.released.game_id)
        most[offer.bot.player_id] = max(most.get(offer.bot.player_id, 0), len(games))


async def test_bot_that_changes_its_offer_all_the_time_hears_everything(
    mm: Running, peers: Peers
) -> None:
    """GRPC allows one write at a time: answers and news must not be written at once."""
    offer = await offered(mm, max_games=40)
    changes = 60

    async def change() -> None:
        for number in range(changes):
            await offer.say(max_games=40 + number)

    async def play() -> str:
        host = await mm.guest("Host")
        room = await mm.create(host)
        await seat(mm, host, room, offer.bot)
        return await mm.start(host, room)

    changing = asyncio.create_task(change())
    games = await asyncio.gather(*(play() for _ in range(8)))
    await changing
    heard = [await offer.hear() for _ in range(changes + len(games))]

    told = {news.game_id for news in heard if isinstance(news, pb.BotSeated)}
    assert set(games) == told
    assert changes == sum(isinstance(news, pb.OfferTaken) for news in heard)
    offer.call.cancel()
