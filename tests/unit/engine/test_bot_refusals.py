"""A built-in bot whose command came too late thinks again; one that errs is not asked for ever."""

import asyncio
from dataclasses import replace
from typing import Any

from opolyx_engine.bots import BotDriver
from opolyx_engine.command import Answer, Command
from opolyx_engine.header import BUILT_IN, GameHeader, Holder
from opolyx_engine.settings import EngineSettings
from opolyx_engine.table import Table
from opolyx_rules.actions import ROLL
from opolyx_rules.reasons import NOT_ENOUGH_CASH, Refusal
from opolyx_servicekit.wall_clock import SystemClock

REFUSED = Answer(refusal=Refusal(NOT_ENOUGH_CASH, "BUILD-1"))
HEADER = GameHeader("g_1", "classic@full", tuple([Holder("", "", BUILT_IN, "steady")] * 2))


class FakeGame:
    """Refuses every command; before the first ones the table changes."""

    def __init__(self, changes: int) -> None:
        self.game_id, self.stopped = "g_1", False
        self.table = Table.begin(HEADER, b"s" * 32, 1_000)[0]
        self.commands: list[Command] = []
        self._changes = changes

    def submit(self, command: Command) -> None:
        self.commands.append(command)
        if len(self.commands) <= self._changes:
            self.table = replace(self.table)
        command.reply(REFUSED)


async def kinds_asked(game: Any) -> list[int]:
    """Kinds of the actions that a driver sends until it has nothing more to do."""
    driver = BotDriver(EngineSettings(bot_think_ms=0), SystemClock())
    thinking = asyncio.create_task(driver.run())
    driver.changed(game)
    for _ in range(50):
        await asyncio.sleep(0)
    thinking.cancel()
    return [command.action[0] for command in game.commands]


async def test_bot_thinks_again_when_the_table_has_changed_under_it() -> None:
    """Else its clock would have to run out, and the turn would be missed."""
    assert [ROLL] * 3 == await kinds_asked(FakeGame(2))


async def test_bot_is_not_asked_again_about_the_same_table() -> None:
    assert [ROLL] == await kinds_asked(FakeGame(0))
