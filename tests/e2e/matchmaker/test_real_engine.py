"""The matchmaker with the real engine: who is free when, and what a bot that vanishes leaves."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from opolyx.engine.v1 import action_pb2
from opolyx.engine.v1 import allocation_service_pb2 as allocation_pb
from opolyx.engine.v1 import engine_service_pb2 as engine_pb
from opolyx.engine.v1.allocation_service_pb2_grpc import AllocationServiceStub
from opolyx.engine.v1.engine_service_pb2_grpc import EngineServiceStub
from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.identity.v1.identity_service_pb2_grpc import IdentityServiceStub
from opolyx.matchmaker.v1 import matchmaker_service_pb2 as pb
from opolyx.matchmaker.v1.matchmaker_service_pb2_grpc import MatchmakerServiceStub
from opolyx_server.embedded import EmbeddedServer
from support_matchmaker import Guest, bad_fields, eventually


class House:
    """Stubs of all that one server serves."""

    def __init__(self, channel: grpc.aio.Channel, operator_token: str) -> None:
        self.identity = IdentityServiceStub(channel)
        self.rooms = MatchmakerServiceStub(channel)
        self.engine = EngineServiceStub(channel)
        self.allocation = AllocationServiceStub(channel)
        self.operator = (("authorization", f"Bearer {operator_token}"),)

    async def guest(self, name: str) -> Guest:
        made = await self.identity.CreateGuest(identity_pb.CreateGuestRequest(name=name))
        return Guest(made.account.player_id, name, made.token.jwt)

    async def create(self, host: Guest, seats: int, **fields: Any) -> pb.Room:
        wanted: dict[str, Any] = {"ruleset": "classic@full", "public": True, **fields}
        request = pb.CreateRoomRequest(request_id=f"{fields}", seats=seats, **wanted)
        return (await self.rooms.CreateRoom(request, metadata=host.auth)).room

    async def add_bot(self, host: Guest, room: pb.Room, **bot: str) -> None:
        request = pb.AddBotRequest(room_id=room.room_id, **bot)  # type: ignore[arg-type]
        await self.rooms.AddBot(request, metadata=host.auth)

    async def start(self, host: Guest, room: pb.Room) -> str:
        request = pb.StartGameRequest(room_id=room.room_id)
        return (await self.rooms.StartGame(request, metadata=host.auth)).game_id

    async def surrender(self, guest: Guest, game_id: str) -> None:
        action = action_pb2.Action(surrender=action_pb2.Surrender())
        command = engine_pb.Command(game_id=game_id, command_id="s", action=action)
        request = engine_pb.SubmitCommandRequest(command=command)
        await self.engine.SubmitCommand(request, metadata=guest.auth)

    async def is_free(self, guest: Guest) -> bool:
        request = pb.GetCurrentGameRequest()
        found = await self.rooms.GetCurrentGame(request, metadata=guest.auth)
        return not (found.room_id or found.game_id)

    async def state(self, game_id: str) -> engine_pb.GameState.ValueType:
        request = engine_pb.GetGameRequest(game_id=game_id)
        found = await self.engine.GetGame(request, metadata=self.operator)
        return found.snapshot.state


@asynccontextmanager
async def house(directory: Path) -> AsyncIterator[House]:
    async with (
        EmbeddedServer(directory) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        yield House(channel, server.operator_token())


@pytest.mark.rule("TABLE-6")
@pytest.mark.timeout(180)
async def test_surrender_end_and_void_free_at_once(tmp_path: Path) -> None:
    async with house(tmp_path) as all_:
        ada, bo = await all_.guest("Ada"), await all_.guest("Bo")
        room = await all_.create(ada, 3)
        await all_.rooms.JoinRoom(pb.JoinRoomRequest(room_id=room.room_id), metadata=bo.auth)
        await all_.add_bot(ada, room, policy="random")
        game_id = await all_.start(ada, room)
        assert not await all_.is_free(bo)

        await all_.surrender(ada, game_id)
        await eventually(lambda: all_.is_free(ada), 60)
        assert engine_pb.GAME_STATE_RUNNING == await all_.state(game_id)
        assert not await all_.is_free(bo)
        again = await all_.create(ada, 2, public=False)
        await all_.surrender(bo, game_id)  # the last person: the game ends
        await eventually(lambda: all_.is_free(bo), 60)
        assert engine_pb.GAME_STATE_FINISHED == await all_.state(game_id)

        join = pb.JoinRoomRequest(code=again.code)
        await all_.rooms.JoinRoom(join, metadata=bo.auth)
        voided = await all_.start(ada, again)
        end = allocation_pb.EndGameRequest(game_id=voided, reason="test")
        await all_.allocation.EndGame(end, metadata=all_.operator)
        await eventually(lambda: all_.is_free(ada), 60)
        assert await all_.is_free(bo)


@pytest.mark.timeout(240)
async def test_vanished_bots_seat_falls_to_its_clock(tmp_path: Path) -> None:
    """It offers itself, is seated, and is never heard of again: the game goes on without it."""
    async with house(tmp_path) as all_:
        ada, owner = await all_.guest("Ada"), await all_.guest("Owner")
        made = await all_.identity.CreateBotToken(
            identity_pb.CreateBotTokenRequest(name="Ghost"), metadata=owner.auth
        )
        ghost = Guest(made.account.player_id, "Ghost", made.token.jwt)
        call = all_.rooms.OfferBot(metadata=ghost.auth)
        offer = pb.BotOffer(max_games=1, plays_people=True)
        await call.write(pb.OfferBotRequest(offer=offer))
        await call.read()
        room = await all_.create(ada, 3, options=pb.RoomOptions(turn_seconds=5))
        await all_.add_bot(ada, room, player_id=ghost.player_id)
        await all_.add_bot(ada, room, policy="random")
        game_id = await all_.start(ada, room)
        call.cancel()
        await all_.surrender(ada, game_id)
        assert not await all_.is_free(ghost)

        await eventually(lambda: all_.is_free(ghost), 180)

        assert engine_pb.GAME_STATE_FINISHED == await all_.state(game_id)


async def test_house_options_are_refused_in_the_words_of_the_rules(tmp_path: Path) -> None:
    async with house(tmp_path) as all_:
        ada = await all_.guest("Ada")
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await all_.create(ada, 5, ruleset="team@full", options=pb.RoomOptions(round_cap=5000))

    assert ["seats", "options.round_cap"] == bad_fields(caught.value)
    assert "must be from 1 to 1000, is 5000" in str(caught.value.details())
