"""The procedures of docs/operations.md on a rehearsal's stage, as an operator does them."""

import asyncio
import base64
import json
import shutil
import ssl
import sys
from pathlib import Path
from typing import Final

from opolyx_sdk import AsyncClient, ClientOptions
from support_redis import RedisServer
from support_stage import Stage, secrets_of

_BIN: Final = Path(sys.executable).parent
_REREAD_SECONDS: Final = 4.0
"""Services look at their keys and certificates every two seconds, and with the next call."""


async def scale(stage: Stage, service: str) -> None:
    """One pod more, and when it serves, one of the old ones less."""
    new = await stage.add(service)
    await new.until_ready()
    old = stage.pods[service].pop(0)
    await old.delete()


async def rotate_keys(stage: Stage, folder: Path, store_url: str, options: ClientOptions) -> str:
    """A new key signs, and no token that was good is refused meanwhile; what is wrong, or nothing.

    The old key stays, as its tokens are still about.
    """
    keys = folder / "keys.json"
    for step in ("add", "promote"):
        await _run("opolyx-keys", step, str(keys))
        made = await asyncio.to_thread(secrets_of, folder, store_url)
        for name, files in made.items():
            stage.replace_secret(name, files)
        await asyncio.sleep(_REREAD_SECONDS)
    newest = json.loads(keys.read_text())["keys"][0]["kid"]
    async with AsyncClient(f"{stage.address}:7443", options=options) as client:
        login = await client.create_guest("Late")
        header = login.token.jwt.partition(".")[0]
    kid = json.loads(base64.urlsafe_b64decode(header + "=" * (-len(header) % 4)))["kid"]
    return "" if kid == newest else f"tokens are signed with {kid}, not with the new key {newest}"


async def rotate_certificates(stage: Stage, options: ClientOptions) -> str:
    """New certificates of the same authority, read without a restart; what is wrong, or nothing."""
    renewed = stage.certificates()
    for name, files in renewed.items():
        stage.replace_secret(name, files)
    await asyncio.sleep(_REREAD_SECONDS)
    host, port = stage.address, 7443
    shown = await asyncio.to_thread(ssl.get_server_certificate, (host, port), timeout=10)
    async with AsyncClient(f"{host}:{port}", options=options) as client:
        await client.create_guest("Later")
        await client.list_rooms()
    fresh = renewed["opolyx-edge-tls"]["tls.crt"]
    return "" if shown.strip() == fresh.strip() else "the edge still shows its old certificate"


def back_up(redis: RedisServer, source: Path, target: Path) -> RedisServer:
    """A Redis made from the files of another that runs, as one is restored; not started yet."""
    redis.command("CONFIG", "SET", "auto-aof-rewrite-percentage", "0")
    try:
        target.mkdir(parents=True)
        for path in source.iterdir():
            if path.name.startswith("appendonly"):
                shutil.copy(path, target / path.name)
    finally:
        redis.command("CONFIG", "SET", "auto-aof-rewrite-percentage", "100")
    return RedisServer(target)


async def _run(*words: str) -> None:
    process = await asyncio.create_subprocess_exec(
        str(_BIN / words[0]), *words[1:], stdout=asyncio.subprocess.DEVNULL
    )
    assert await asyncio.wait_for(process.wait(), 30) == 0, words
