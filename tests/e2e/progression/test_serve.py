"""The program's own composition: real tokens both ways, its settings, its end."""

import asyncio
import socket
from pathlib import Path

import grpc
import pytest

from opolyx.progression.v1 import progression_service_pb2 as pb
from opolyx.progression.v1.progression_service_pb2_grpc import ProgressionServiceStub
from opolyx_progression.main import main, serve
from opolyx_progression.settings import ProgressionSettings
from opolyx_servicekit.key_set import create_keys
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier
from support_identity import identity_served
from support_progression import FactTeller, bearer, duel, eventually, finished_fact, serving


def free_address() -> str:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{held.getsockname()[1]}"


async def test_program_consumes_serves_and_ends(tmp_path: Path) -> None:
    private = tmp_path / "keys.json"
    public = create_keys(private)
    teller = FactTeller([finished_fact(1, duel("g1", "p_a", "p_b"))])
    token = TokenSigner(private).sign(subject="p_a", role="player", ttl_seconds=60)
    stop = asyncio.Event()
    async with serving(teller) as engine:
        settings = ProgressionSettings(
            listen_address=free_address(),
            engine_address=engine,
            store_url=f"sqlite:///{tmp_path / 'p.db'}",
            signing_keys_file=private,
            verification_keys_file=public,
            grace_seconds=0.1,
        )
        program = asyncio.create_task(serve(settings, stop))
        async with grpc.aio.insecure_channel(settings.listen_address) as channel:
            stub = ProgressionServiceStub(channel)

            async def awarded() -> bool:
                answer = await stub.GetProfile(
                    pb.GetProfileRequest(), metadata=bearer(token), wait_for_ready=True
                )
                return answer.profile.xp == 250

            await eventually(awarded)
            with pytest.raises(grpc.aio.AioRpcError) as caught:
                await stub.GetProfile(pb.GetProfileRequest(), metadata=bearer("forged"))
        stop.set()
        await program

    assert grpc.StatusCode.UNAUTHENTICATED == caught.value.code()
    verifier = TokenVerifier(public, roles={"service"})
    principal = verifier.verify(teller.tokens[0].removeprefix("Bearer "))
    assert ("s_progression", "service") == (principal.subject, principal.role)


async def test_token_is_refused_once_it_is_revoked(tmp_path: Path) -> None:
    private = tmp_path / "keys.json"
    public = create_keys(private)
    verifier = TokenVerifier(public, roles={"player", "service"})
    signer = TokenSigner(private)
    token = signer.sign(subject="p_a", role="player", ttl_seconds=60)
    kept = signer.sign(subject="p_b", role="player", ttl_seconds=60)
    stop = asyncio.Event()
    async with serving(FactTeller()) as engine, identity_served() as (identity, address):
        settings = ProgressionSettings(
            listen_address=free_address(),
            engine_address=engine,
            identity_address=address,
            store_url=f"sqlite:///{tmp_path / 'p.db'}",
            signing_keys_file=private,
            verification_keys_file=public,
            grace_seconds=0.1,
        )
        program = asyncio.create_task(serve(settings, stop))
        async with grpc.aio.insecure_channel(settings.listen_address) as channel:
            stub = ProgressionServiceStub(channel)
            ask = pb.GetProfileRequest()
            await stub.GetProfile(ask, metadata=bearer(token), wait_for_ready=True)
            identity.says.put_nowait([verifier.verify(token).token_id])

            async def is_refused() -> bool:
                try:
                    await stub.GetProfile(ask, metadata=bearer(token))
                except grpc.aio.AioRpcError as error:
                    return error.details() == "token is revoked"
                return False

            await eventually(is_refused)
            await stub.GetProfile(ask, metadata=bearer(kept))
        stop.set()
        await program

    own = verifier.verify(identity.metadata[0]["authorization"].removeprefix("Bearer "))
    assert ("s_progression", "service") == (own.subject, own.role)


async def test_identity_service_without_a_token_for_it_is_a_mistake(tmp_path: Path) -> None:
    settings = ProgressionSettings(
        listen_address=free_address(),
        identity_address="127.0.0.1:1",
        store_url=f"sqlite:///{tmp_path / 'p.db'}",
    )
    with pytest.raises(ValueError, match="identity_address needs"):
        await serve(settings, asyncio.Event())


async def test_without_keys_nobody_is_let_in(tmp_path: Path) -> None:
    settings = ProgressionSettings(
        listen_address=free_address(),
        engine_address=free_address(),
        store_url=f"sqlite:///{tmp_path / 'p.db'}",
        grace_seconds=0.1,
    )
    stop = asyncio.Event()
    program = asyncio.create_task(serve(settings, stop))
    async with grpc.aio.insecure_channel(settings.listen_address) as channel:
        stub = ProgressionServiceStub(channel)
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await stub.GetLevelTable(
                pb.GetLevelTableRequest(), metadata=bearer("player"), wait_for_ready=True
            )
    stop.set()
    await program

    assert grpc.StatusCode.UNAUTHENTICATED == caught.value.code()


@pytest.mark.parametrize(
    ("setting", "value", "complaint"),
    [
        ("STORE_URL", "sqlite:///nowhere/p.db", "No such file or directory: 'nowhere/p.db'"),
        ("STORE_URL", "sqlite:///garbage.db", "file is not a database"),
        ("STORE_URL", "postgres://p", "store url 'postgres://p' is not sqlite:///<file>"),
        ("AUDIT_SECONDS", "-1", "setting audit_seconds: "),
    ],
)
def test_audit_of_what_is_no_store_is_one_line_and_no_success(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    setting: str,
    value: str,
    complaint: str,
) -> None:
    (tmp_path / "garbage.db").write_bytes(b"no database" * 1000)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(f"OPOLYX_PROGRESSION_{setting}", value)
    monkeypatch.setenv("OPOLYX_PROGRESSION_LOG_FORMAT", "json")

    code = main(["audit"])

    output = capsys.readouterr()
    assert (2, "", 1) == (code, output.out, len(output.err.splitlines()))
    assert complaint in output.err
    assert ["garbage.db"] == [found.name for found in tmp_path.iterdir()]


def test_unknown_command_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["fly"])

    assert "invalid choice" in capsys.readouterr().err
