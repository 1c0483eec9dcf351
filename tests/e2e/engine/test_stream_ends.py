"""Streams that end in every way leave nothing behind; the full form is `tests/chaos/leaks.py`."""

import asyncio
from pathlib import Path

import pytest

from support_engine import Engine, people, running_engine
from support_stream_ends import StreamEnder

STREAMS = 400


async def settle(engine: Engine, tasks: int) -> None:
    """Wait, 5 s at most, until no stream is open and no handler runs."""
    async with asyncio.timeout(5):
        while len(engine.service.streams) or len(asyncio.all_tasks()) > tasks:  # noqa: ASYNC110
            await asyncio.sleep(0.02)


@pytest.mark.timeout(120)
async def test_hundreds_of_streams_ended_in_four_ways_leave_no_task(tmp_path: Path) -> None:
    """Case A-31: subscribers and handler tasks are 0 within 5 s."""
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2))
        game = engine.service.registry.find_running(game_id)
        assert game is not None
        ender = StreamEnder(engine.port, engine.token("p_w"), game_id)
        await ender.end(8)
        await settle(engine, 1 << 30)
        tasks = len(asyncio.all_tasks())
        await ender.end(STREAMS)
        await settle(engine, tasks)
        assert 0 == len(game.hub)
        assert ender.received > STREAMS * 3 / 4, "most were ended before they had begun"
