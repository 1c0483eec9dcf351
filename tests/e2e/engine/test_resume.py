"""Coming back: exactly what was missed, or a snapshot; never anything twice."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.store.base import GameStore, Record
from opolyx_rules.views import state_digest
from support_engine import Caller, Engine, Stream, awaited, built_in, people, running_engine


async def play_steps(callers: list[Caller], game_id: str, count: int) -> None:
    """Play the first legal action of whoever is awaited, `count` times."""
    for _ in range(count):
        snapshot = await callers[0].game(game_id)
        decision = awaited(snapshot.decisions)
        request = pb.SubmitCommandRequest(
            command=pb.Command(
                game_id=game_id,
                command_id=f"c{snapshot.seq}",
                decision_id=decision.decision_id,
                action=decision.legal_actions[0],
            )
        )
        caller = callers[decision.seat]
        response = await caller.engine.SubmitCommand(request, metadata=caller.metadata)
        assert response.result.HasField("accepted"), response


async def opened(engine: Engine, steps: int) -> tuple[str, list[Caller]]:
    game_id = await engine.new_game(people(2))
    callers = [await engine.caller(f"p_{seat}") for seat in range(2)]
    await play_steps(callers, game_id, steps)
    return game_id, callers


async def seqs_until_attached(stream: Stream) -> list[str]:
    """What a client gets on attaching, in short."""
    got: list[str] = []
    while True:
        frame = await stream.frame()
        kind = frame.WhichOneof("kind")
        if kind == "update":
            got.append(f"u{frame.update.seq}")
        elif kind == "snapshot":
            got.append(f"s{frame.snapshot.seq}")
        elif kind == "attached":
            got.append(f"a{frame.attached.seq}")
            return got


@pytest.mark.parametrize(
    ("after_seq", "expected"),
    [
        (None, ["s12", "a12"]),
        (12, ["a12"]),
        (9, ["u10", "u11", "u12", "a12"]),
        (0, [*(f"u{seq}" for seq in range(1, 13)), "a12"]),
        (13, ["s12", "a12"]),
        (1 << 60, ["s12", "a12"]),
    ],
)
@pytest.mark.parametrize("recent_updates", [64, 2])
async def test_attaching_gives_what_was_missed_from_memory_or_from_the_store(
    tmp_path: Path, after_seq: int | None, expected: list[str], recent_updates: int
) -> None:
    async with running_engine(tmp_path, recent_updates=recent_updates, snapshot_every=5) as engine:
        game_id, callers = await opened(engine, 12)
        given = {} if after_seq is None else {"after_seq": after_seq}
        stream = await callers[0].play(game_id, **given)
        assert expected == await seqs_until_attached(stream)


async def test_too_many_missed_updates_become_a_snapshot(tmp_path: Path) -> None:
    limits: dict[str, Any] = {"recent_updates": 2, "most_missed_updates": 4}
    async with running_engine(tmp_path, **limits) as engine:
        game_id, callers = await opened(engine, 12)
        stream = await callers[0].play(game_id, after_seq=3)
        assert ["s12", "a12"] == await seqs_until_attached(stream)


class EventfulStore:
    """A store in which something happens whenever a log is read."""

    def __init__(self, inner: GameStore) -> None:
        self._inner = inner
        self.happens: Callable[[], Awaitable[None]] | None = None
        self.reads = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._inner, name)

    async def records(self, game_id: str, after_seq: int, limit: int) -> list[Record]:
        if self.happens is not None:
            self.reads += 1
            await self.happens()
        return await self._inner.records(game_id, after_seq, limit)


async def test_a_game_that_goes_on_while_its_past_is_read_skips_nothing(tmp_path: Path) -> None:
    stores: list[EventfulStore] = []

    def wrap(inner: GameStore) -> Any:
        stores.append(EventfulStore(inner))
        return stores[0]

    async with running_engine(tmp_path, wrap=wrap, recent_updates=4) as engine:
        game_id, callers = await opened(engine, 12)
        stores[0].happens = lambda: play_steps(callers, game_id, 1)
        watcher = await engine.caller("p_watcher")
        stream = await watcher.play(game_id, spectator=True, after_seq=3)
        expected = [*(f"u{seq}" for seq in range(4, 14)), "a13"]
        assert expected == await seqs_until_attached(stream)
        assert 1 == stores[0].reads


async def test_updates_are_the_same_bytes_live_and_read_back(tmp_path: Path) -> None:
    async with running_engine(tmp_path, snapshot_every=4) as engine:
        game_id = await engine.new_game(people(2))
        callers = [await engine.caller(f"p_{seat}") for seat in range(2)]
        live = await callers[0].play(game_id)
        await play_steps(callers, game_id, 9)
        seen = [await live.next("update") for _ in range(9)]
    async with running_engine(tmp_path, recent_updates=1) as engine:
        caller = await engine.caller("p_1")
        stream = await caller.play(game_id, after_seq=0)
        assert seen == [await stream.next("update") for _ in range(9)]


async def test_a_client_cut_off_sees_every_update_exactly_once(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(
            [built_in(seat, "random") for seat in range(4)], round_cap=8
        )
        seen: list[int] = []
        over = False
        while not over:
            watcher = await engine.caller("p_watcher")
            stream = await watcher.play(game_id, spectator=True, after_seq=len(seen))
            for _ in range(25):
                frame = await stream.frame()
                assert frame.WhichOneof("kind") in ("update", "attached", "presence")
                if frame.WhichOneof("kind") == "update":
                    seen.append(frame.update.seq)
                    over = frame.update.state == pb.GAME_STATE_FINISHED
                    if over:
                        break
            await watcher.channel.close()
        assert list(range(1, len(seen) + 1)) == seen


async def test_attaching_again_on_a_stream_sends_nothing_twice(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id, callers = await opened(engine, 3)
        stream = await callers[0].play(game_id)
        await stream.next("attached")
        await stream.send(attach=pb.Attach(game_id=game_id, after_seq=3))
        assert ["a3"] == await seqs_until_attached(stream)
        await play_steps(callers, game_id, 1)
        frames = await stream.drained()
        assert ["update"] == [frame.WhichOneof("kind") for frame in frames]


async def test_one_stream_carries_many_games_and_detaches(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        games = [await opened(engine, 1) for _ in range(3)]
        stream = await games[0][1][0].play()
        for game_id, _ in games:
            await stream.send(attach=pb.Attach(game_id=game_id))
            await stream.next("attached")
        await stream.send(detach=pb.Detach(game_id=games[0][0]))
        assert pb.DETACH_REASON_REQUESTED == (await stream.next("detached")).reason
        for game_id, callers in games:
            await play_steps(callers, game_id, 1)
        frames = await stream.drained()
        assert {games[1][0], games[2][0]} == {frame.game_id for frame in frames}


async def test_who_may_not_receive_a_game_is_told_so(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id = await engine.new_game(people(2), watchable=False)
        stream = await (await engine.caller("p_other")).play(game_id)
        assert pb.DETACH_REASON_NOT_SEATED == (await stream.next("detached")).reason
        await stream.send(attach=pb.Attach(game_id=game_id, spectator=True))
        assert pb.DETACH_REASON_NOT_WATCHABLE == (await stream.next("detached")).reason
        await stream.send(attach=pb.Attach(game_id="g_unknown"))
        assert pb.DETACH_REASON_NOT_FOUND == (await stream.next("detached")).reason


async def test_presence_and_clocks_are_in_the_snapshot(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id, callers = await opened(engine, 1)
        first = await callers[0].play(game_id)
        await first.next("attached")
        second = await callers[1].play(game_id)
        snapshot = await second.next("snapshot")
        assert [0, 1] == list(snapshot.connected_seats)
        assert 1 == snapshot.your_seat
        left_ms = awaited(snapshot.decisions).deadline_unix_ms - snapshot.now_unix_ms
        assert 9_000 < left_ms <= 75_000
        assert [0, 1] == list((await first.next("presence")).connected_seats)
        second.call.cancel()
        assert [0] == list((await first.next("presence")).connected_seats)
        assert first.call.done() is False


async def test_a_watch_stream_follows_a_game(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id, callers = await opened(engine, 2)
        watcher = await engine.caller("p_watcher")
        call = watcher.engine.WatchGame(
            pb.WatchGameRequest(game_id=game_id, after_seq=1), metadata=watcher.metadata
        )
        stream = Stream(call)
        assert ["u2", "a2"] == await seqs_until_attached(stream)
        await play_steps(callers, game_id, 1)
        assert 3 == (await stream.next("update")).seq
        call.cancel()


async def test_snapshots_tell_the_digest_of_the_state(tmp_path: Path) -> None:
    async with running_engine(tmp_path) as engine:
        game_id, callers = await opened(engine, 5)
        game = engine.service.registry.find_running(game_id)
        assert game is not None
        snapshot = await callers[0].game(game_id)
        assert state_digest(game.table.state) == snapshot.state_digest
        assert game.table.log_digest == snapshot.log_digest
