"""One server with everything, and everybody who may come: good tokens, bad ones, and their seats."""

import base64
import itertools
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.descriptor import Descriptor, MethodDescriptor
from google.protobuf.message_factory import GetMessageClass
from google.rpc import error_details_pb2  # type: ignore[import-untyped]
from grpc_status import rpc_status

from opolyx.engine.v1 import (
    action_pb2,
    allocation_service_pb2,
    engine_service_pb2,
    operations_service_pb2,
    refusal_pb2,
    replica_service_pb2,
)
from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx.matchmaker.v1 import matchmaker_service_pb2 as matchmaker_pb
from opolyx.progression.v1 import progression_service_pb2
from opolyx_server.embedded import KEYS, EmbeddedServer
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.tokens import TokenSigner
from opolyx_servicekit.wall_clock import ManualClock
from support_engine import Caller, awaited, new_game, person

MODULES: Final = (
    engine_service_pb2,
    allocation_service_pb2,
    operations_service_pb2,
    replica_service_pb2,
    identity_pb,
    matchmaker_pb,
    progression_service_pb2,
)
"""Whoever adds a file with a service adds it here; a test looks that none is missing."""

GOOD: Final = ("player", "other seat", "spectator", "out", "bot", "service", "operator")
BAD: Final = (
    "none",
    "expired",
    "wrong audience",
    "wrong issuer",
    "alg none",
    "other key",
    "altered",
)


@dataclass
class Scene:
    """A game of three: `player` is awaited, `other seat` isn't, `out` has surrendered.

    Nobody else may watch it. `room` is somebody else's, open and public.
    """

    address: str
    channel: grpc.aio.Channel
    game_id: str
    decision_id: str
    reserved: str
    room_id: str
    ids: dict[str, str]
    tokens: dict[str, str] = field(repr=False)

    def metadata(self, caller: str) -> tuple[tuple[str, str], ...]:
        token = self.tokens[caller]
        return (("authorization", f"Bearer {token}"),) if token else ()


def methods() -> Iterator[MethodDescriptor]:
    """Every RPC of every service, in the protos' order."""
    for module in MODULES:
        for service in module.DESCRIPTOR.services_by_name.values():
            yield from service.methods


@asynccontextmanager
async def scene(directory: Path) -> AsyncIterator[Scene]:
    """A running server with its callers."""
    async with (
        EmbeddedServer(directory / "data", seed="scene") as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        yield await _set_up(server.address, channel, directory)


async def _set_up(address: str, channel: grpc.aio.Channel, directory: Path) -> Scene:
    identity = _Calls(channel, "/opolyx.identity.v1.IdentityService/")
    ids: dict[str, str] = {}
    tokens: dict[str, str] = {}
    for name in ("first", "second", "out", "spectator", "host"):
        request = identity_pb.CreateGuestRequest(name=name.title())
        made = await identity("CreateGuest", request, identity_pb.CreateGuestResponse)
        ids[name], tokens[name] = made.account.player_id, made.token.jwt
    made = await identity(
        "CreateBotToken",
        identity_pb.CreateBotTokenRequest(name="Robo"),
        identity_pb.CreateBotTokenResponse,
        tokens["host"],
    )
    ids["bot"], tokens["bot"] = made.account.player_id, made.token.jwt
    signer = TokenSigner(directory / "data" / KEYS)
    for role in ("service", "operator"):
        ids[role] = f"s_{role}"
        tokens[role] = signer.sign(subject=ids[role], role=role, ttl_seconds=600)
    game_id, reserved = await _games(channel, tokens, ids)
    awaited_id = await _seat_them(channel, game_id, tokens, ids)
    room = await _room(channel, tokens["host"])
    tokens |= _bad_tokens(directory, ids["player"], tokens["player"])
    return Scene(address, channel, game_id, awaited_id, reserved, room, ids, tokens)


async def _games(
    channel: grpc.aio.Channel, tokens: dict[str, str], ids: dict[str, str]
) -> tuple[str, str]:
    service = Caller(channel, tokens["service"])
    seats = [person(seat, ids[name]) for seat, name in enumerate(("first", "second", "out"))]
    game_id = await new_game(service, "scene", seats, watchable=False)
    reserved = await service.allocation.ReserveGame(
        allocation_service_pb2.ReserveGameRequest(request_id="spare"), metadata=service.metadata
    )
    out = Caller(channel, tokens["out"])
    await out.submit(game_id, "leave", "", surrender=action_pb2.Surrender())
    return game_id, reserved.game_id


async def _seat_them(
    channel: grpc.aio.Channel, game_id: str, tokens: dict[str, str], ids: dict[str, str]
) -> str:
    """Name those who still play by whether they are awaited; the decision they are awaited for."""
    snapshot = await Caller(channel, tokens["first"]).game(game_id)
    decision = awaited(snapshot.decisions)
    order = ("first", "second") if decision.seat == 0 else ("second", "first")
    for name, was in zip(("player", "other seat"), order, strict=True):
        ids[name], tokens[name] = ids[was], tokens[was]
    return decision.decision_id


async def _room(channel: grpc.aio.Channel, token: str) -> str:
    rooms = _Calls(channel, "/opolyx.matchmaker.v1.MatchmakerService/")
    request = matchmaker_pb.CreateRoomRequest(
        request_id="scene", ruleset="classic@full", seats=3, public=True
    )
    made = await rooms("CreateRoom", request, matchmaker_pb.CreateRoomResponse, token)
    return str(made.room.room_id)


def _bad_tokens(directory: Path, subject: str, good: str) -> dict[str, str]:
    """Tokens for the player's account that must be worth nothing."""
    keys, others = directory / "data" / KEYS, directory / "others.json"
    ensure_keys(others)
    long_ago = ManualClock()

    def signed(signer: TokenSigner) -> str:
        return signer.sign(subject=subject, role="player", ttl_seconds=600)

    head, body, signature = good.split(".")
    claims = json.loads(base64.urlsafe_b64decode(body + "=="))
    raised = _part({**claims, "role": "operator"})
    kid = json.loads(base64.urlsafe_b64decode(head + "=="))["kid"]
    return {
        "none": "",
        "expired": signed(TokenSigner(keys, clock=long_ago)),
        "wrong audience": signed(TokenSigner(keys, audience="another")),
        "wrong issuer": signed(TokenSigner(keys, issuer="another")),
        "alg none": f"{_part({'alg': 'none', 'typ': 'JWT', 'kid': kid})}.{raised}.",
        "other key": signed(TokenSigner(others)),
        "altered": f"{head}.{raised}.{signature}",
    }


def _part(content: dict[str, Any]) -> str:
    return base64.urlsafe_b64encode(json.dumps(content).encode()).rstrip(b"=").decode()


class _Calls:
    """Single calls of one service."""

    def __init__(self, channel: grpc.aio.Channel, service: str) -> None:
        self._channel = channel
        self._service = service

    async def __call__(self, name: str, request: Any, answer: Any, token: str = "") -> Any:
        call = self._channel.unary_unary(
            f"{self._service}{name}",
            request_serializer=type(request).SerializeToString,
            response_deserializer=answer.FromString,
        )
        metadata = (("authorization", f"Bearer {token}"),) if token else ()
        return await call(request, metadata=metadata, timeout=10)


_numbers = itertools.count(1)


def _nothing(_: Scene, __: str) -> dict[str, Any]:
    return {}


_REQUESTS: Final[dict[str, Callable[[Scene, str], dict[str, Any]]]] = {
    "EngineService.Play": lambda scene, _: {
        "attach": engine_service_pb2.Attach(game_id=scene.game_id)
    },
    "EngineService.SubmitCommand": lambda scene, _: {
        "command": engine_service_pb2.Command(
            game_id=scene.game_id,
            command_id=f"c{next(_numbers)}",
            decision_id=scene.decision_id,
            action=action_pb2.Action(roll=action_pb2.Roll()),
        )
    },
    "EngineService.WatchGame": lambda scene, _: {"game_id": scene.game_id},
    "EngineService.GetGame": lambda scene, _: {"game_id": scene.game_id},
    "EngineService.CheckTrade": lambda scene, _: {"game_id": scene.game_id},
    "EngineService.GetReplay": lambda scene, _: {"game_id": scene.game_id},
    "AllocationService.CheckTable": lambda scene, _: {"ruleset": "classic@full", "seats": 2},
    "AllocationService.ReserveGame": lambda scene, _: {"request_id": f"r{next(_numbers)}"},
    "AllocationService.CreateGame": lambda scene, _: {
        "game_id": scene.reserved,
        "ruleset": "classic@full",
        "seats": [person(0), person(1)],
    },
    "AllocationService.EndGame": lambda scene, _: {"game_id": scene.reserved, "reason": "test"},
    "AllocationService.SetAdmission": lambda scene, _: {"open": True},
    "OperationsService.InspectGame": lambda scene, _: {"game_id": scene.game_id},
    "IdentityService.CreateGuest": lambda scene, _: {"name": "Newcomer"},
    "IdentityService.CreateBotToken": lambda scene, _: {"name": "Mine"},
    "IdentityService.RevokeToken": lambda scene, _: {"player_id": scene.ids["player"]},
    "MatchmakerService.CreateRoom": lambda scene, _: {
        "request_id": "mine",
        "ruleset": "classic@full",
        "seats": 2,
    },
    "MatchmakerService.JoinRoom": lambda scene, _: {"room_id": scene.room_id},
    "MatchmakerService.LeaveRoom": lambda scene, _: {"room_id": scene.room_id},
    "MatchmakerService.GetRoom": lambda scene, _: {"room_id": scene.room_id},
    "MatchmakerService.WatchRoom": lambda scene, _: {"room_id": scene.room_id},
    "MatchmakerService.AddBot": lambda scene, _: {"room_id": scene.room_id, "policy": "steady"},
    "MatchmakerService.RemoveBot": lambda scene, _: {"room_id": scene.room_id, "seat": 1},
    "MatchmakerService.Kick": lambda scene, _: {
        "room_id": scene.room_id,
        "player_id": scene.ids["host"],
    },
    "MatchmakerService.StartGame": lambda scene, _: {"room_id": scene.room_id},
    "MatchmakerService.Rematch": lambda scene, _: {"game_id": scene.game_id},
    "MatchmakerService.QuickMatch": lambda scene, _: {"ruleset": "classic@full", "seats": 2},
    "MatchmakerService.OfferBot": lambda scene, _: {
        "offer": matchmaker_pb.BotOffer(max_games=1, plays_people=True)
    },
    "ProgressionService.GetLeaderboard": lambda scene, _: {
        "kind": progression_service_pb2.LEADERBOARD_KIND_XP
    },
    "ProgressionService.SetEntitlements": lambda scene, _: {
        "player_id": scene.ids["player"],
        "vip": True,
        "reason": "test",
    },
    "ProgressionService.GetGrants": lambda scene, _: {"player_ids": [scene.ids["player"]]},
}
"""What each RPC is asked, where an empty request would say nothing."""


_LATE: Final = {"CreateRoom": 1, "Drain": 2, "RevokeToken": 3}
_ATTEMPTS: Final = 20
_CUT_WHILE_WRITING: Final = "Internal error from Core"
"""What grpc.aio's client says of a stream that the server ended while a request was written."""


def message_class(message: Descriptor) -> Any:
    """The class of a message's descriptor."""
    return GetMessageClass(message)


def short_name(method: MethodDescriptor) -> str:
    """`Service.Method`."""
    return f"{method.containing_service.name}.{method.name}"


async def outcomes(scene: Scene, caller: str) -> dict[str, str]:
    """What becomes of every RPC for a caller, by short name; what would end the rest comes last."""
    found = {}
    for method in sorted(methods(), key=lambda one: _LATE.get(one.name, 0)):
        found[short_name(method)] = await _outcome(scene, method, caller)
    return found


async def _outcome(scene: Scene, method: MethodDescriptor, caller: str) -> str:
    """What becomes of a call: `served`, or the reason why not."""
    for _ in range(_ATTEMPTS):
        outcome = await _attempt(scene, method, caller)
        if outcome != _CUT_WHILE_WRITING:
            return outcome
    raise AssertionError(f"{short_name(method)} was cut off while it was written, each time")


async def _attempt(scene: Scene, method: MethodDescriptor, caller: str) -> str:
    make = _REQUESTS.get(short_name(method), _nothing)
    kind, answer = message_class(method.input_type), message_class(method.output_type)
    request = kind(**make(scene, caller))
    start: Any = {
        (False, False): scene.channel.unary_unary,
        (False, True): scene.channel.unary_stream,
        (True, True): scene.channel.stream_stream,
    }[method.client_streaming, method.server_streaming]
    full_name = f"/{method.containing_service.full_name}/{method.name}"
    call: Any = start(full_name, kind.SerializeToString, answer.FromString)
    sent: Any = iter([request]) if method.client_streaming else request
    try:
        opened = call(sent, metadata=scene.metadata(caller), timeout=10)
        if not method.server_streaming:
            return _told(await opened)
        first = await opened.read()
        if first is grpc.aio.EOF:
            await opened.code()
        opened.cancel()
        return _told(first)
    except grpc.aio.AioRpcError as error:
        return reason_of(error)


def reason_of(error: grpc.aio.AioRpcError) -> str:
    """The reason in a failed call's ErrorInfo; its code or what the client says if it has none."""
    status: Any = rpc_status.from_call(error)  # type: ignore[arg-type]
    info = error_details_pb2.ErrorInfo()
    for detail in status.details if status is not None else ():
        if detail.Unpack(info):
            return str(info.reason)
    if error.details() == _CUT_WHILE_WRITING:
        return _CUT_WHILE_WRITING
    return error.code().name


def _told(answer: Any) -> str:
    """`served`; or the reason why a command was refused or a game can't be received."""
    if isinstance(answer, engine_service_pb2.SubmitCommandResponse):
        if answer.result.HasField("refusal"):
            name = refusal_pb2.RefusalReason.Name(answer.result.refusal.reason)
            return name.removeprefix("REFUSAL_REASON_")
    elif isinstance(answer, engine_service_pb2.PlayResponse):
        for frame in answer.frames:
            if frame.HasField("detached"):
                name = engine_service_pb2.DetachReason.Name(frame.detached.reason)
                return name.removeprefix("DETACH_REASON_")
    return "served"
