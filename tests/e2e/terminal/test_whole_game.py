"""A whole game by keys, on the smallest screen, in every language."""

from functools import partial
from pathlib import Path

import pytest
from rich.cells import cell_len

from opolyx_sdk import AsyncClient, Decision, RoomOptions, SteadyBot
from opolyx_sdk.messages import LANGUAGES, catalogue
from opolyx_sdk.terminal.app import Plan, TableApp
from opolyx_sdk.terminal.dialog_screen import DialogScreen
from opolyx_sdk.terminal.dialogs.standings import StandingsDialog
from opolyx_sdk.terminal.lobby.wish import Wish
from opolyx_sdk.terminal.table_screen import TableScreen
from opolyx_server.embedded import EmbeddedServer
from support_terminal import keys_to, text_of, until

RULESETS = {"en": "speed@full", "id": "halal@full", "zh-Hant": "fortune@full", "hi": "classic@full"}


@pytest.mark.parametrize("language", LANGUAGES)
async def test_a_whole_game_is_played_by_keys(language: str, tmp_path: Path) -> None:
    words = catalogue(language).text
    plan = Plan(
        name="Ada",
        wish=Wish(RULESETS[language], 2),
        options=RoomOptions(start_cash=3_000, round_cap=6),
        own_server=True,
        folder=tmp_path,
    )
    async with (
        EmbeddedServer(tmp_path, seed="keys", bot_delay_ms=0) as server,
        AsyncClient(server.address) as client,
    ):
        app = TableApp(client, plan, language=language)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: isinstance(app.screen, TableScreen))
            table = app.screen
            assert isinstance(table, TableScreen)
            played = 0
            while True:
                await until(pilot, lambda: over(app) or asked(table))
                if over(app):
                    break
                scene = table.feed.scene
                assert scene is not None
                decision = scene.hand.decisions[0]
                page = text_of(app)
                assert all(cell_len(line) <= 80 for line in page.splitlines())
                assert "screen." not in page
                assert "{" not in page
                assert played or words("screen.your_turn") in page
                action = SteadyBot().decide(scene.moment.view, decision)
                await pilot.press(*keys_to(action, decision, scene.moment.view))
                await until(pilot, partial(answered, app, table, decision))
                played += 1
            end = text_of(app)
            assert words("screen.standings.title") in end
            assert "Ada" in end
            await pilot.press("s")
            await until(pilot, lambda: any(tmp_path.glob("g_*.jsonl")))
            await pilot.press("q")
        assert played >= 6
        assert app.return_value == ""


async def test_after_a_game_another_begins_with_a_key(tmp_path: Path) -> None:
    plan = Plan(
        name="Ada",
        wish=Wish("classic@full", 2),
        options=RoomOptions(round_cap=1),
        own_server=True,
    )
    async with (
        EmbeddedServer(tmp_path, seed="again", bot_delay_ms=0) as server,
        AsyncClient(server.address) as client,
    ):
        app = TableApp(client, plan)
        async with app.run_test(size=(80, 24)) as pilot:
            await until(pilot, lambda: isinstance(app.screen, TableScreen))
            first = app.screen
            while not over(app):
                await pilot.press("enter")
            await pilot.press("g")
            await until(
                pilot, lambda: isinstance(app.screen, TableScreen) and app.screen is not first
            )
            await until(pilot, lambda: "classic@full · round 1" in text_of(app))


def asked(table: TableScreen) -> bool:
    scene = table.feed.scene
    return scene is not None and bool(scene.hand.decisions) and not table.feed.acting


def answered(app: TableApp, table: TableScreen, decision: Decision) -> bool:
    scene = table.feed.scene
    return over(app) or scene is None or decision not in scene.hand.decisions


def over(app: TableApp) -> bool:
    return isinstance(app.screen, DialogScreen) and isinstance(app.screen.dialog, StandingsDialog)
