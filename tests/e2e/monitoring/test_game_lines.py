"""What the log says of a game: one line for each turn of its life, none for a command."""

import asyncio
import io
import json
import logging
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from opolyx_sdk.bots import SteadyBot
from opolyx_sdk.client import AsyncClient
from opolyx_sdk.rooms import RoomOptions
from opolyx_sdk.runner import BotRunner
from opolyx_server.embedded import EmbeddedServer
from opolyx_servicekit.logs import configure_logs


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    stream = io.StringIO()
    configure_logs(form="json", level="info", stream=stream)
    yield stream
    root.handlers[:] = handlers
    root.setLevel(level)
    logging.captureWarnings(False)
    structlog.reset_defaults()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


async def test_a_game_has_a_line_for_its_life_and_none_for_a_command(
    tmp_path: Path, log: io.StringIO
) -> None:
    async with EmbeddedServer(tmp_path / "data") as server, AsyncClient(server.address) as client:
        await client.create_guest("Ada")
        room = await client.create_room("blitz@full", 2, options=RoomOptions(round_cap=12))
        await client.add_bot(room.room_id, policy="steady")
        game_id = await client.start_game(room.room_id)
        report = await BotRunner(client, SteadyBot).play(game_id)
        async with asyncio.timeout(10):
            while not await client.awards(game_id=game_id):  # noqa: ASYNC110 - over the wire
                await asyncio.sleep(0.05)

    assert report.updates > 10
    told = [line for line in lines(log) if line.get("game_id") == game_id]
    assert Counter((line["logger"].split(".")[0], line["event"]) for line in told) == {
        ("opolyx_matchmaker", "game_started"): 1,
        ("opolyx_engine", "game_started"): 1,
        ("opolyx_engine", "game_ended"): 1,
        ("opolyx_progression", "game_settled"): 1,
    }
    (ended,) = [line for line in told if line["event"] == "game_ended"]
    assert ended["how"] == "finished"
    assert ended["updates"] >= report.updates
    assert len(lines(log)) < 15


async def test_a_line_says_who_asked_for_what_and_in_which_game(
    tmp_path: Path, log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A bug in a call: its line has the request, the player and the game."""

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr("opolyx_engine.rpc.reads.GameReads.get_game", fail, raising=True)
    async with EmbeddedServer(tmp_path / "data") as server, AsyncClient(server.address) as client:
        login = await client.create_guest("Ada")
        room = await client.create_room("blitz@full", 2)
        await client.add_bot(room.room_id, policy="steady")
        game_id = await client.start_game(room.room_id)
        await client._transport.ask_for_refusal(game_id)

    crashed = [line for line in lines(log) if line["event"] == "rpc_crashed"]
    assert {(line["game_id"], line["subject"], line["role"]) for line in crashed} == {
        (game_id, login.account.player_id, "player")
    }
    assert all(line["request_id"] and line["rpc"].endswith("/GetGame") for line in crashed)
