"""The replay of a game of thousands of records: in pages that any client takes, running and ended."""

import asyncio
from pathlib import Path

import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.header import GameHeader
from opolyx_engine.store.base import Append, GameStore, Record
from opolyx_engine.table import Table
from opolyx_rules.actions import KIND, TIME_OUT
from opolyx_rules.engine import default_action, legal_actions
from opolyx_rules.queries import awaited_seat
from opolyx_rules.verification import verify
from support_engine import Caller, people, running_engine

RECORDS = 6_000
DEFAULT_MESSAGE_BYTES = 4 << 20
"""What a gRPC client takes when nobody told it otherwise."""


async def write_long_game(store: GameStore, game_id: str, records: int) -> bool:
    """Play a game in which nobody buys, and store it in one piece; whether it is over."""
    stored = await store.game(game_id)
    assert stored is not None
    table, _ = Table.begin(GameHeader.decode(stored.header), stored.secret, stored.started_ms)
    made: list[Record] = []
    while table.seq < records and not table.state.over:
        seat = awaited_seat(table.state)
        action = default_action(table.state, seat)
        if action[KIND] == TIME_OUT:
            action = legal_actions(table.state, seat)[0]
        step = table.plan(action, f"c{table.seq}", table.started_ms + table.seq + 1)
        made.append(step.entry.encode())
        table = table.after(step)
        if table.seq % 500 == 0:
            await asyncio.sleep(0)
    append = Append(game_id=game_id, expected_seq=0, records=made, epoch=stored.epoch)
    await store.append(append)
    return table.state.over


async def pages(caller: Caller, game_id: str) -> list[pb.GetReplayResponse]:
    got: list[pb.GetReplayResponse] = []
    token = ""
    while True:
        request = pb.GetReplayRequest(game_id=game_id, page_token=token)
        got.append(await caller.engine.GetReplay(request, metadata=caller.metadata))
        token = got[-1].next_page_token
        if not token:
            return got


@pytest.mark.timeout(180)
async def test_a_long_game_comes_in_pages_below_the_default_message_size(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(4))
        # Behind the actor's back: it finds out when it writes, and reads don't ask it.
        over = await write_long_game(engine.store, game_id, RECORDS)
        assert not over
        stored = await engine.store.game(game_id)
        assert stored is not None
        assert stored.seq >= RECORDS
        caller = await engine.caller("p_0")
        got = await pages(caller, game_id)
        assert len(got) >= 2
        assert max(page.ByteSize() for page in got) < DEFAULT_MESSAGE_BYTES
        data = b"".join(page.chunk for page in got)
        assert len(data) > 512 << 10
        assert not any(page.complete for page in got)
        assert stored.secret.hex().encode() not in data
        assert b'"complete":false' in data.splitlines()[-1]
        assert stored.seq + 3 == len(data.splitlines()), "header, start, updates, footer"
        assert "" == verify(data).problem
