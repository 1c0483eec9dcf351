"""One bot, one seed, one game: in the simulator, in the arena, over gRPC, in any process."""

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from opolyx_sdk import (
    Action,
    AsyncClient,
    Bot,
    BotRunner,
    Decision,
    GameView,
    RandomBot,
    SteadyBot,
    Update,
)
from opolyx_sdk.local import TableOptions, simulate
from opolyx_sdk.local.verify import verify_file
from opolyx_server.embedded import EmbeddedServer

SEED: Final = "12345"
RULESET: Final = "blitz@full"
NONCES: Final = (b"ada's share", b"bruno's", b"", b"")
PLAYERS: Final[tuple[Callable[[], Bot], ...]] = (
    partial(SteadyBot, reserve=700),
    partial(RandomBot, seed=9),
)
BUILT_IN: Final = ("steady", "random")


class Witness(Bot):
    """Plays as another bot, and keeps every view and decision it is shown."""

    def __init__(self, bot: Bot) -> None:
        self.bot = bot
        self.asked: list[object] = []
        self.told: list[object] = []

    def on_update(self, update: Update) -> None:
        self.told.append((update.seq, update.events, update.view))

    def decide(self, view: GameView, decision: Decision) -> Action:
        self.asked.append((view, decision.decision_id, decision.legal_actions))
        self.asked.append((decision.trade_template, decision.amount_owed, decision.phase))
        return self.bot.decide(view, decision)


def replay_of(path: Path) -> tuple[list[tuple[list[int], list[int]]], list[str]]:
    """Actions and draws of a replay, and its turn digests."""
    records = [json.loads(line) for line in path.read_text().splitlines()[1:-1]]
    moves = [(record["action"], record["draws"]) for record in records]
    return moves, [record["state_digest"] for record in records if record["state_digest"]]


async def play_live(data: Path, replay: Path, *, watchers: int, games_before: int) -> list[Witness]:
    """The seed's game number `games_before` over gRPC; its replay is kept."""
    witnesses = [Witness(make()) for make in PLAYERS]
    async with EmbeddedServer(data, seed=SEED) as server, AsyncExitStack() as stack:
        clients = [await stack.enter_async_context(AsyncClient(server.address)) for _ in PLAYERS]
        for client, name in zip(clients, ("Ada", "Bruno"), strict=True):
            await client.create_guest(name)
        for _ in range(games_before):
            await play_another(server.address)
        room = await clients[0].create_room(RULESET, 4, public=True, nonce=NONCES[0])
        await clients[1].join_room(code=room.code, nonce=NONCES[1])
        for policy in BUILT_IN:
            await clients[0].add_bot(room.room_id, policy=policy)
        game_id = await clients[0].start_game(room.room_id)
        async with asyncio.TaskGroup() as group:
            for client, witness in zip(clients, witnesses, strict=True):
                group.create_task(
                    BotRunner(client, lambda bot=witness: bot, strict=True).play(game_id)  # type: ignore[misc]
                )
            for _ in range(watchers):
                group.create_task(watch(server.address, game_id))
        await clients[0].get_replay(game_id, replay)
    return witnesses


async def play_another(address: str) -> None:
    async with AsyncClient(address) as client:
        await client.create_guest("Dora")
        room = await client.create_room(RULESET, 2)
        await client.add_bot(room.room_id, policy="steady")
        game_id = await client.start_game(room.room_id)
        await BotRunner(client, SteadyBot).play(game_id)


async def watch(address: str, game_id: str) -> None:
    async with AsyncClient(address) as client:
        await client.create_guest("Cleo")
        async with client.watch(game_id) as game:
            async for _ in game:
                pass


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("watchers", "games_before"), [(0, 0), (2, 1)])
async def test_a_live_game_is_the_simulated_one(
    tmp_path: Path, watchers: int, games_before: int
) -> None:
    """Case A-42."""
    live_path, here_path = tmp_path / "live.jsonl", tmp_path / "here.jsonl"
    live = await play_live(
        tmp_path / "data", live_path, watchers=watchers, games_before=games_before
    )

    here = [Witness(make()) for make in PLAYERS]
    record = simulate(
        RULESET,
        [*here, *BUILT_IN],
        SEED,
        number=games_before,
        options=TableOptions(nonces=NONCES),
        strict=True,
    )
    record.save(here_path)

    assert verify_file(live_path).fair
    assert verify_file(here_path).fair
    assert replay_of(live_path) == replay_of(here_path)
    assert list(record.turn_digests()) == replay_of(live_path)[1]
    for there, ours in zip(live, here, strict=True):
        assert there.asked == ours.asked
        assert len(ours.asked) > 20
        # A live player may come after the built-in bots' first moves: then it has a snapshot.
        assert there.told == ours.told[-len(there.told) :]
        assert len(there.told) > len(ours.told) - 10


PROGRAM: Final = """
import sys
from opolyx_sdk import RandomBot, SteadyBot
from opolyx_sdk.local import simulate
for number in range(int(sys.argv[1])):
    bots = [SteadyBot(), RandomBot(number), "steady", "trader"]
    record = simulate("speed@full", bots, "12345", number=number)
    print(record.digest, record.log_digest, record.places, record.rounds)
"""


def digests(hash_seed: str, games: int) -> list[str]:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(games)],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout.splitlines()


@pytest.mark.timeout(180)
def test_neither_process_nor_hash_seed_nor_games_before_change_a_game() -> None:
    """Case A-42."""
    first = digests("0", 2)

    assert 2 == len(first)
    assert first == digests("1", 2)
    assert first[:1] == digests("4242", 1)
