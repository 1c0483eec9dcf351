"""A game goes on through a server that is killed and a connection that is cut, in one program."""

import asyncio
from pathlib import Path

from opolyx_sdk import AsyncClient, ClientOptions, RoomOptions
from opolyx_sdk.messages import catalogue
from opolyx_sdk.terminal.app import Plan, TableApp
from opolyx_sdk.terminal.lobby.visit import table_of_bots
from opolyx_sdk.terminal.lobby.wish import Wish
from opolyx_sdk.terminal.table_screen import TableScreen
from support_proxy import FlakyProxy
from support_sdk import ServeProcess
from support_terminal import text_of, until

OFFLINE = catalogue("en").text("screen.offline")
IMPATIENT = ClientOptions(patience_s=0.5, connect_timeout_s=0.3)
"""So that an outage outlasts the SDK's patience, and the program's own begins."""


def played(table: TableScreen) -> int:
    """How many turns the table has seen."""
    scene = table.feed.scene
    return scene.moment.view.turn.turn_number if scene else 0


async def test_a_game_goes_on_after_a_cut_connection_and_a_killed_server(tmp_path: Path) -> None:
    async with (
        ServeProcess(tmp_path) as serving,
        FlakyProxy(int(serving.address.rpartition(":")[2])) as proxy,
        AsyncClient(proxy.address, options=IMPATIENT) as client,
    ):
        account = (await client.create_guest("Ada")).account
        options = RoomOptions(round_cap=100, turn_seconds=600)
        await table_of_bots(client, Wish("classic@full", 2), options)
        app = TableApp(client, Plan(name="Ada"), account=account)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: isinstance(app.screen, TableScreen))
            table = app.screen
            assert isinstance(table, TableScreen)

            async def go_on() -> None:
                """Play by Enter until two more turns have begun."""
                before = played(table)
                async with asyncio.timeout(30):
                    while played(table) < before + 2:
                        scene = table.feed.scene
                        if scene and scene.online and scene.hand.decision and not table.feed.acting:
                            await pilot.press("enter")
                        await asyncio.sleep(0.02)

            await go_on()
            proxy.refuses = True
            proxy.cut_all()
            await until(pilot, lambda: OFFLINE[:20] in text_of(app))
            proxy.refuses = False
            await until(pilot, lambda: OFFLINE[:20] not in text_of(app))
            await go_on()

            await serving.kill()
            await until(pilot, lambda: OFFLINE[:20] in text_of(app))
            await asyncio.sleep(1.0)  # longer than the SDK's patience here
            await serving.spawn()
            await until(pilot, lambda: OFFLINE[:20] not in text_of(app))
            await go_on()
            assert app.screen is table
