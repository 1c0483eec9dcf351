"""A token appears in no log line of any level, in none of the services and not in the SDK."""

import asyncio
import io
import logging
import os
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
import structlog

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx.engine.v1.engine_service_pb2_grpc import EngineServiceStub
from opolyx_engine.rpc.reads import GameReads
from opolyx_sdk import AsyncClient, ClientOptions
from opolyx_sdk.errors import OpolyxError
from opolyx_server.embedded import KEYS, EmbeddedServer
from opolyx_servicekit.key_set import ensure_keys
from opolyx_servicekit.logs import configure_logs
from opolyx_servicekit.tokens import TokenSigner
from support_callers import methods

CANARY: Final = "canary0123456789abcdefghijklmnopqrstuvwxyz"
"""What is no JWT: nothing recognises it by its form."""


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """Everything that anybody logs in this process, at the lowest level."""
    stream = io.StringIO()
    configure_logs(form="json", level="debug", stream=stream)
    yield stream
    structlog.reset_defaults()
    logging.getLogger().handlers.clear()


def parts_of(token: str) -> list[str]:
    """The token, its claims and its signature; its head is the same in all."""
    return [token, *token.split(".")[1:]]


def assert_silent(text: str, *tokens: str) -> None:
    """No part of any token is in the text."""
    assert text, "nothing was logged: nothing is shown"
    for token in tokens:
        for part in parts_of(token):
            assert part not in text, [line for line in text.splitlines() if part in line][:1]


async def call_everything(channel: grpc.aio.Channel, *values: str) -> None:
    """Every RPC with each value as its authorization, and an empty request."""
    for value in values:
        for method in methods():
            start: Any = channel.unary_stream if method.server_streaming else channel.unary_unary
            path = f"/{method.containing_service.full_name}/{method.name}"
            call = start(path)(b"", metadata=(("authorization", value),), timeout=0.5)
            with suppress(grpc.aio.AioRpcError):
                if method.server_streaming:
                    await call.read()
                    call.cancel()
                else:
                    await call


@pytest.mark.timeout(120)
async def test_no_service_logs_a_token(tmp_path: Path, log: io.StringIO) -> None:
    async with (
        EmbeddedServer(tmp_path) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        signer = TokenSigner(tmp_path / KEYS)
        good = signer.sign(subject="p_1", role="player", ttl_seconds=600)
        operator = signer.sign(subject="o_1", role="operator", ttl_seconds=600)
        expired = signer.sign(subject="p_1", role="player", ttl_seconds=-600)
        altered = good[:-4] + ("AAAA" if not good.endswith("AAAA") else "BBBB")
        headers = [f"Bearer {token}" for token in (good, expired, altered, CANARY)]
        await call_everything(channel, *headers, f"Basic {CANARY}", CANARY)
        engine = EngineServiceStub(channel)
        for odd in (good, CANARY):  # where it doesn't belong
            metadata = (
                ("authorization", f"Bearer {good}"),
                ("x-request-id", odd),
                ("x-token", odd),
            )
            with suppress(grpc.aio.AioRpcError):
                await engine.GetGame(pb.GetGameRequest(game_id=good), metadata=metadata)
        asked = engine.ListGames(
            pb.ListGamesRequest(), metadata=(("authorization", f"Bearer {operator}"),)
        )
        await asked

    assert "rpc_refused" in log.getvalue()
    assert "operator_called" in log.getvalue()
    assert_silent(log.getvalue(), good, operator, expired, altered)
    assert CANARY not in log.getvalue().replace(f'"request_id": "{CANARY}"', "")


async def test_a_crash_with_the_token_at_hand_does_not_log_it(
    tmp_path: Path, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def crash(reads: GameReads, request: Any) -> None:
        token = good
        raise ZeroDivisionError(f"while {token} was looked at")

    monkeypatch.setattr(GameReads, "list_games", crash)
    async with (
        EmbeddedServer(tmp_path) as server,
        grpc.aio.insecure_channel(server.address) as channel,
    ):
        signer = TokenSigner(tmp_path / KEYS)
        good = signer.sign(subject="p_1", role="player", ttl_seconds=600)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await EngineServiceStub(channel).ListGames(
                pb.ListGamesRequest(), metadata=(("authorization", f"Bearer {good}"),)
            )

    assert grpc.StatusCode.INTERNAL is caught.value.code()
    assert "ZeroDivisionError" in log.getvalue()
    assert_silent(log.getvalue() + str(caught.value), good)


@pytest.mark.timeout(120)
async def test_the_sdk_logs_no_token(tmp_path: Path, log: io.StringIO) -> None:
    async with EmbeddedServer(tmp_path) as server:
        address = server.address
        signer = TokenSigner(tmp_path / KEYS)
        tokens = [
            signer.sign(subject="p_1", role="player", ttl_seconds=600),
            signer.sign(subject="p_1", role="player", ttl_seconds=-600),
        ]
        said = []
        for token in [*tokens, CANARY]:
            async with AsyncClient(address, token=token) as client:
                for call in (
                    client.profile(),
                    client.list_rooms(),
                    client.set_vip("p", True, reason="r"),
                ):
                    try:
                        await call
                    except OpolyxError as error:
                        said.append(f"{error!r} {error}")
                said.append(repr(client))
    async with AsyncClient(
        address, token=tokens[0], options=ClientOptions(call_timeout_s=0.2, patience_s=0.2)
    ) as client:
        with pytest.raises(OpolyxError) as caught:  # nobody is there any more
            await client.profile()
        said.append(f"{caught.value!r}")

    assert_silent(log.getvalue() + "\n".join(said), *tokens)
    assert CANARY not in log.getvalue() + "\n".join(said)


PROGRAMS: Final = {
    "engine": "opolyx_engine.main",
    "matchmaker": "opolyx_matchmaker.main",
    "progression": "opolyx_progression.main",
}


@pytest.mark.parametrize("name", PROGRAMS)
async def test_a_program_started_with_a_secret_does_not_log_it(tmp_path: Path, name: str) -> None:
    prefix = f"OPOLYX_{name.upper()}_"
    public = ensure_keys(tmp_path / "keys.json")
    signer = TokenSigner(tmp_path / "keys.json")
    token = signer.sign(subject=f"s_{name}", role="service", ttl_seconds=600)
    settings = {
        "LOG_LEVEL": "debug",
        "LOG_FORMAT": "json",
        "STORE_URL": f"sqlite:///{tmp_path / 'store.db'}",
        "VERIFICATION_KEYS_FILE": str(public),
        "SERVICE_TOKEN": token,
        "IDENTITY_ADDRESS": "127.0.0.1:1",
        "ENGINE_ADDRESS": "127.0.0.1:1",
        "SIGNING_KEYS_FILE": str(tmp_path / "keys.json"),
        "DEVELOPMENT_SEED": CANARY,
    }
    environment = {prefix + variable: value for variable, value in settings.items()}
    log = tmp_path / "log"
    with log.open("wb") as file:
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-m", PROGRAMS[name]),
            env={**os.environ, **environment},
            stdout=file,
            stderr=file,
        )
        async with asyncio.timeout(50):
            while b"server_started" not in log.read_bytes():
                assert child.returncode is None, log.read_text()
                await asyncio.sleep(0.05)
            await asyncio.sleep(0.3)  # it calls the others, with its token, and doesn't reach them
            child.send_signal(signal.SIGTERM)
            await child.wait()

    assert_silent(log.read_text(), token)
    assert CANARY not in log.read_text()
    assert '"service_token": "***"' in log.read_text()
