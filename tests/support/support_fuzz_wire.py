"""Hostile calls and frames over real channels, while games of others go on beside them."""

import asyncio
import collections
import random
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import grpc
from google.protobuf.descriptor import MethodDescriptor

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1 import operations_service_pb2 as operations_pb
from opolyx.identity.v1 import identity_service_pb2 as identity_pb
from opolyx_server.embedded import KEYS
from opolyx_servicekit.tokens import TokenSigner
from support_callers import message_class, methods, short_name
from support_engine import Caller, awaited, new_game, person
from support_fuzz_inputs import HostileInputs

BUGS: Final = {"INTERNAL", "UNKNOWN", "DATA_LOSS"}
"""Codes that say that the fault is the server's."""

AT_ONCE: Final = 24
FRAMES: Final = 100
_VICTIM_GAMES: Final = 4
_CUT_WHILE_WRITING: Final = "Internal error from Core"  # the client's word for a stream that ended
_SPARED: Final = {"Drain", "PauseNewGames"}  # a server that takes nothing shows nothing


@dataclass
class Findings:
    """What the server answered, and what must not be."""

    codes: collections.Counter[str] = field(default_factory=collections.Counter)
    problems: list[str] = field(default_factory=list)

    def answered(self, where: str, error: grpc.aio.AioRpcError | None, data: bytes) -> None:
        """Note how a call ended."""
        code = "OK" if error is None else error.code().name
        if error is not None and error.details() == _CUT_WHILE_WRITING:
            code = "CUT"
        self.codes[code] += 1
        if code in BUGS and len(self.problems) < 50:
            assert error is not None
            self.problems.append(f"{where}: {code} {error.details()} for {data[:300]!r}")


class Attack:
    """Accounts that send nonsense, with games of their own to send it to."""

    def __init__(self, address: str, directory: Path, luck: random.Random) -> None:
        """Attack the server at `address`, which serves from `directory`."""
        self.findings = Findings()
        self.luck = luck
        self.inputs = HostileInputs(luck)
        self._address = address
        self._signer = TokenSigner(directory / KEYS)
        self._channels: list[grpc.aio.Channel] = []
        self._tokens: dict[str, str] = {}
        self._games = 0
        self._methods = [one for one in methods() if one.name not in _SPARED]
        self._victims: dict[str, bytes] = {}

    async def begin(self) -> None:
        """Make accounts, the games of others, and the first own one."""
        options = (("grpc.use_local_subchannel_pool", 1),)
        self._channels = [
            grpc.aio.insecure_channel(self._address, options=options) for _ in range(4)
        ]
        for name in ("evil_0", "evil_1", "watcher", "leaver", "victim_0", "victim_1"):
            self._tokens[name] = self._token(f"p_{name}", "player")
        self._tokens["service"] = self._token("s_matchmaker", "service")
        self._tokens["operator"] = self._token("o_1", "operator")
        self._tokens["bot"] = await self._bot()
        seats = [person(seat, f"p_victim_{seat}") for seat in range(2)]
        for number in range(_VICTIM_GAMES):
            game_id = await new_game(
                self._caller("service"), f"victims{number}", seats, turn_seconds=600
            )
            await self._play_a_little(game_id)
            self._victims[game_id] = b""
        for game_id in self._victims:
            self._victims[game_id] = await self._looks(game_id)
        await self.renew_game()

    async def end(self) -> None:
        """Compare the games of others with what they were, and leave."""
        for game_id, before in self._victims.items():
            if await self._looks(game_id) != before:
                self.findings.problems.append(f"game {game_id} of others was touched")
        for channel in self._channels:
            await channel.close()

    async def renew_game(self) -> None:
        """A new game to attack, as hostile input may have ended the last; and tokens that are good."""
        for name in ("evil_0", "evil_1", "watcher", "leaver"):
            self._tokens[name] = self._token(f"p_{name}", "player")
        operator = self._caller("operator")
        await operator.operations.ResumeNewGames(
            operations_pb.ResumeNewGamesRequest(), metadata=operator.metadata
        )
        self._games += 1
        seats = [person(seat, f"p_evil_{seat}") for seat in range(2)]
        game_id = await new_game(self._caller("service"), f"evil{self._games}", seats)
        snapshot = await self._caller("evil_0").game(game_id)
        self.inputs.known = {
            "game_id": [game_id],
            "decision_id": [awaited(snapshot.decisions).decision_id, "d2", "o1"],
            "command_id": [f"c{number}" for number in range(50)],
            "ruleset": ["classic@full", "blitz@full"],
            "player_id": ["p_evil_0", "p_evil_1", "b_1"],
            "request_id": [f"r{number}" for number in range(50)],
            "policy": ["steady", "trader"],
        }

    async def calls(self, count: int) -> None:
        """Send so many single calls, and streams with one request."""
        for _ in range(count // AT_ONCE + 1):
            await asyncio.gather(*(self._call() for _ in range(AT_ONCE)))

    async def frames(self, count: int) -> None:
        """Send so many frames on Play streams."""
        streams = max(1, count // FRAMES)
        for start in range(0, streams, AT_ONCE):
            batch = min(AT_ONCE, streams - start)
            await asyncio.gather(*(self._stream() for _ in range(batch)))

    async def _call(self) -> None:
        method = self.luck.choice(self._methods)
        data = self.inputs.encoded(message_class(method.input_type))
        metadata = self._metadata(method)
        channel: Any = self.luck.choice(self._channels)
        path = f"/{method.containing_service.full_name}/{method.name}"
        error = None
        try:
            if method.client_streaming:
                call = channel.stream_stream(path)(iter([data]), metadata=metadata, timeout=5)
            elif method.server_streaming:
                call = channel.unary_stream(path)(data, metadata=metadata, timeout=5)
            else:
                await channel.unary_unary(path)(data, metadata=metadata, timeout=20)
                call = None
            if call is not None:
                await _first_of(call)
        except grpc.aio.AioRpcError as failed:
            error = failed
        self.findings.answered(short_name(method), error, data)

    async def _stream(self) -> None:
        """Frames of every sort; the last may be none at all, which ends the stream."""
        channel: Any = self.luck.choice(self._channels)
        token = self._tokens[self.luck.choice(("evil_0", "evil_0", "evil_1", "watcher"))]
        frames = [self.inputs.message(pb.PlayRequest).SerializeToString() for _ in range(FRAMES)]
        frames[-1] = self.inputs.encoded(pb.PlayRequest)
        call = channel.stream_stream("/opolyx.engine.v1.EngineService/Play")(
            iter(frames), metadata=(("authorization", f"Bearer {token}"),), timeout=30
        )
        error = None
        try:
            while await call.read() is not grpc.aio.EOF:
                pass
            await call.code()
        except grpc.aio.AioRpcError as failed:
            error = failed
        self.findings.answered("EngineService.Play", error, frames[-1])

    def _metadata(self, method: MethodDescriptor) -> tuple[tuple[str, str], ...]:
        """Mostly somebody who may call it: who may not is turned away before the input is read."""
        names = ["evil_0", "evil_1", "watcher", "bot", "none"]
        if method.name == "RevokeToken":  # whose token is gone attacks no more
            names = ["leaver"]
        service = method.containing_service.name
        if service in ("AllocationService", "ReplicaService") or method.name == "GetGrants":
            names = ["service"] * 4 + names
        elif service == "OperationsService":
            names = ["operator"] * 4 + names
        elif service == "ProgressionService":
            names = ["operator"] * 3 + names
        name = self.luck.choice(names)
        return (("authorization", f"Bearer {self._tokens[name]}"),) if name != "none" else ()

    async def _bot(self) -> str:
        identity: Any = self._channels[0]
        call = identity.unary_unary(
            "/opolyx.identity.v1.IdentityService/CreateBotToken",
            identity_pb.CreateBotTokenRequest.SerializeToString,
            identity_pb.CreateBotTokenResponse.FromString,
        )
        metadata = (("authorization", f"Bearer {self._tokens['evil_0']}"),)
        made = await call(identity_pb.CreateBotTokenRequest(name="Robo"), metadata=metadata)
        return str(made.token.jwt)

    async def _play_a_little(self, game_id: str) -> None:
        for number in range(3):
            snapshot = await self._caller("victim_0").game(game_id)
            decision = awaited(snapshot.decisions)
            caller = self._caller(f"victim_{decision.seat}")
            request = pb.SubmitCommandRequest(
                command=pb.Command(
                    game_id=game_id,
                    command_id=f"c{number}",
                    decision_id=decision.decision_id,
                    action=decision.legal_actions[0],
                )
            )
            await caller.engine.SubmitCommand(request, metadata=caller.metadata)

    async def _looks(self, game_id: str) -> bytes:
        """All of a game but the time of the look: its state, its digests, its clocks."""
        snapshot = await self._caller("victim_0").game(game_id)
        snapshot.ClearField("now_unix_ms")
        return snapshot.SerializeToString(deterministic=True)

    def _caller(self, name: str) -> Caller:
        return Caller(self._channels[0], self._tokens[name])

    def _token(self, subject: str, role: str) -> str:
        return self._signer.sign(
            subject=subject,
            role=role,
            name="Evil",
            ttl_seconds=86_400,
            extra={"iat_ms": time.time_ns() // 1_000_000},
        )


async def _first_of(call: Any) -> None:
    """The first answer of a stream, or none for a moment; then the call is cancelled."""
    try:
        async with asyncio.timeout(0.2):
            if await call.read() is grpc.aio.EOF:
                await call.code()
    except TimeoutError:
        pass
    finally:
        call.cancel()
