"""From a server to a table: a room by its code, a quick match, a game to watch, the same guest again."""

import asyncio
import json
import re
from pathlib import Path

import pytest

from opolyx_sdk import AsyncClient, BotRunner, Found, RoomOptions, SteadyBot
from opolyx_sdk.cli.connection import Connection
from opolyx_sdk.cli.play import _new_guest, _pass_of_last_time
from opolyx_sdk.cli.watch import _tell
from opolyx_sdk.terminal.app import Plan, TableApp
from opolyx_sdk.terminal.lobby.visit import table_of_bots
from opolyx_sdk.terminal.lobby.wish import Wish
from opolyx_sdk.terminal.table_screen import TableScreen
from opolyx_server.embedded import EmbeddedServer
from support_terminal import text_of, until
from support_waiting import until as waited_until

SHORT = RoomOptions(round_cap=4, watchable=True)


async def test_two_people_meet_in_a_room_by_its_code(tmp_path: Path) -> None:
    async with (
        EmbeddedServer(tmp_path) as server,
        AsyncClient(server.address) as ada,
        AsyncClient(server.address) as bruno,
    ):
        host = TableApp(ada, Plan(name="Ada", wish=Wish("blitz@full", 3)))
        async with host.run_test(size=(80, 24)) as keys:
            await until(keys, lambda: "Quick match" in text_of(host))
            await keys.press("2")
            await until(keys, lambda: "Room " in text_of(host))
            code = re.search(r"Room (\w{8})", text_of(host))
            assert code is not None
            guest = TableApp(bruno, Plan(name="Bruno", code=code.group(1)))
            async with guest.run_test(size=(80, 24)) as other:
                await until(other, lambda: "Waiting for the host" in text_of(guest))
                await until(keys, lambda: "Bruno" in text_of(host))
                await keys.press("b")
                await until(keys, lambda: "Start the game" in text_of(host))
                await keys.press("3")  # the bot goes, and another comes
                await until(keys, lambda: "Seat a bot" in text_of(host))
                await keys.press("b")
                await until(keys, lambda: "Start the game" in text_of(host))
                await keys.press("s")
                await until(keys, lambda: "blitz@full · round 1" in text_of(host))
                await until(other, lambda: "blitz@full · round 1" in text_of(guest))
                await other.press("q", "y")
                await until(other, lambda: guest.return_value is not None)
            await keys.press("q", "y")
            await until(keys, lambda: host.return_value is not None)
        assert ["", ""] == [host.return_value, guest.return_value]

        again = TableApp(bruno, Plan(name="Bruno"), account=await bruno.who_am_i())
        async with again.run_test(size=(80, 24)) as keys:
            await until(keys, lambda: "blitz@full · round 1" in text_of(again))


async def test_a_quick_match_leads_to_a_table_and_a_wrong_code_back_to_the_lobby(
    tmp_path: Path,
) -> None:
    async with (
        EmbeddedServer(tmp_path) as server,
        AsyncClient(server.address) as ada,
        AsyncClient(server.address) as bruno,
    ):
        app = TableApp(ada, Plan(name="Ada", wish=Wish("classic@full", 2)))
        async with app.run_test(size=(80, 24)) as keys:
            await until(keys, lambda: "Quick match" in text_of(app))
            await keys.press("3")
            await until(keys, lambda: "Code: " in text_of(app))
            await keys.press(*"nosuch", "enter")
            await until(keys, lambda: "⚠" in text_of(app))
            await keys.press("1")
            await until(keys, lambda: "Looking for players" in text_of(app))
            await bruno.create_guest("Bruno")
            async for progress in bruno.quick_match("classic@full", 2):
                if isinstance(progress, Found):
                    break
            await until(keys, lambda: "classic@full · round 1" in text_of(app))


async def test_a_game_is_watched_on_the_screen(tmp_path: Path) -> None:
    async with (
        EmbeddedServer(tmp_path, seed="watch") as server,
        AsyncClient(server.address) as player,
        AsyncClient(server.address) as spectator,
    ):
        await player.create_guest("Ada")
        await spectator.create_guest("Zoe")
        chosen = await table_of_bots(player, Wish("classic@full", 2), SHORT)
        app = TableApp(spectator, Plan(only_watch=True))
        async with app.run_test(size=(80, 24)) as keys:
            await until(keys, lambda: "classic@full, round 1: Ada" in text_of(app))
            await keys.press("enter")
            await until(keys, lambda: "You are watching" in text_of(app))
            await BotRunner(player, SteadyBot).play(chosen.game_id)
            await until(keys, lambda: "The game is over" in text_of(app))
            assert isinstance(app.screen_stack[1], TableScreen)


async def test_a_game_is_watched_line_by_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with (
        EmbeddedServer(tmp_path, seed="watch") as server,
        AsyncClient(server.address) as player,
    ):
        await player.create_guest("Ada")
        chosen = await table_of_bots(player, Wish("classic@full", 2), SHORT)
        connection = Connection(server=server.address)
        async with asyncio.TaskGroup() as group:
            group.create_task(_tell(connection, None, "en", as_json=False))
            group.create_task(_tell(connection, chosen.game_id, "en", as_json=True))
            await waited_until(lambda: "classic@full: Ada" in capsys.readouterr().out)
            await BotRunner(player, SteadyBot).play(chosen.game_id)
    lines = capsys.readouterr().out.splitlines()
    sentences = [line for line in lines if not line.startswith("{")]
    objects = [json.loads(line) for line in lines if line.startswith("{")]

    assert "round 2" in sentences
    assert "  the last round is over" in sentences
    assert [one["seq"] for one in objects] == sorted({one["seq"] for one in objects})
    assert "the last round is over" in objects[-1]["text"]


async def test_the_same_command_is_the_same_guest_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    async with EmbeddedServer(tmp_path / "data") as server:
        connection = Connection(server=server.address)
        assert await _pass_of_last_time(connection) is None
        async with AsyncClient(server.address) as client:
            ada = await _new_guest(client, connection, "Ada")
        token = await _pass_of_last_time(connection)
        assert token is not None
        async with AsyncClient(server.address, token=token) as client:
            assert ada == await client.who_am_i()
        file = tmp_path / "state" / "opolyx" / "guests.json"
        assert 0o600 == file.stat().st_mode & 0o777
        file.write_text('{"' + server.address + '": "a.b.c"}')
        assert await _pass_of_last_time(connection) is None
        file.write_text("broken")
        assert await _pass_of_last_time(connection) is None
