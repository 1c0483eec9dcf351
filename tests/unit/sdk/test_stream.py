"""What a client promises about its stream, over a real channel with a scripted engine."""

import asyncio
from collections.abc import AsyncIterator

import grpc
import pytest

from opolyx.engine.v1 import engine_service_pb2
from opolyx_sdk import (
    AsyncClient,
    ClientOptions,
    ConnectionLost,
    GameClosed,
    MirrorBroken,
    NotAuthenticated,
    OutcomeUnknown,
    Refused,
    Update,
)
from opolyx_sdk._convert import read
from opolyx_sdk._digest import state_digest
from opolyx_sdk.actions import Build, Roll
from opolyx_sdk.enums import DetachReason, GameState
from opolyx_sdk.game import Game
from opolyx_sdk.views import GameView
from support_sdk import Cut, ScriptedEngine, accepted, digest_of, refused, scripted_server

FAST = ClientOptions(patience_s=5, command_timeout_s=5, connect_timeout_s=1)


@pytest.fixture
async def served() -> AsyncIterator[tuple[ScriptedEngine, AsyncClient]]:
    async with scripted_server() as (engine, address):
        engine.game()
        async with AsyncClient(address, token="the-token", options=FAST) as client:
            yield engine, client


async def take(game: Game, count: int) -> list[Update]:
    async with asyncio.timeout(10):
        return [await anext(game) for _ in range(count)]


async def test_mirror_equals_a_fresh_snapshot_after_every_update(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    async with client.play("g1") as game:
        for seq in range(1, 201):
            engine.advance()
            (update,) = await take(game, 1)

            assert seq == update.seq
            assert read(engine.game().view, GameView) == update.view == game.view
            assert digest_of(engine.game().view) == state_digest(game.view)


async def test_a_cut_stream_resumes_and_every_update_comes_once(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    seen: list[int] = []
    async with client.play("g1") as game:
        for code in (
            grpc.StatusCode.UNAVAILABLE,
            grpc.StatusCode.INTERNAL,
            grpc.StatusCode.UNKNOWN,
            grpc.StatusCode.CANCELLED,
            grpc.StatusCode.RESOURCE_EXHAUSTED,
        ):
            engine.advance()
            seen += [update.seq for update in await take(game, 1)]
            engine.cut(code)
            engine.advance()
            await engine.until(lambda: not engine.streams)
            engine.advance()
            updates = await take(game, 2)
            seen += [update.seq for update in updates]
            assert [0, 0] == [update.missed for update in updates]

    assert list(range(1, 16)) == seen
    assert ("g1", None) == engine.attaches[0]
    assert all(after is not None for _, after in engine.attaches[1:])


async def test_a_channel_closed_under_the_stream_is_an_outage_like_any_other(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    async with client.play("g1") as game:
        engine.advance()
        await client._transport.drop()
        engine.advance()

        assert [1, 2] == [update.seq for update in await take(game, 2)]


async def test_what_comes_twice_is_dropped(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.doubled = {1, 3}
    async with client.play("g1") as game:
        for _ in range(4):
            engine.advance()

        assert [1, 2, 3, 4] == [update.seq for update in await take(game, 4)]
    assert [("g1", None)] == engine.attaches


async def test_a_gap_attaches_again_after_the_last_update_seen(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.lost = {2}
    async with client.play("g1") as game:
        for _ in range(4):
            engine.advance()

        assert [1, 2, 3, 4] == [update.seq for update in await take(game, 4)]
    assert [("g1", None), ("g1", 1)] == engine.attaches


async def test_what_the_server_no_longer_has_is_told_as_missed(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    async with client.play("g1") as game:
        engine.cut()
        await engine.until(lambda: not engine.streams)
        engine.too_old_below = 100
        for _ in range(5):
            engine.advance()
        (update,) = await take(game, 1)

        assert (5, 5) == (update.seq, update.missed)
        assert read(engine.game().view, GameView) == update.view


async def test_a_wrong_digest_replaces_the_mirror_by_a_snapshot(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    async with client.play("g1") as game:
        await engine.until(lambda: bool(engine.streams))
        update = engine.game().advance()
        wrong = engine_service_pb2.Update()
        wrong.CopyFrom(update)
        del wrong.delta.players[:]
        engine.send(engine_service_pb2.Frame(game_id="g1", update=wrong))
        first, second = await take(game, 2)

        assert 1 == first.seq == second.seq
        assert read(engine.game().view, GameView) == second.view == game.view


async def test_a_snapshot_that_contradicts_its_digest_ends_the_game(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    snapshot = engine.game().snapshot()
    snapshot.state_digest = b"x" * 32
    engine.game().snapshot = lambda: snapshot  # type: ignore[method-assign]
    with pytest.raises(MirrorBroken):
        async with client.play("g1"):
            pass


async def test_a_pending_command_is_sent_again_with_the_same_id(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.answer = lambda command: None
    async with client.play("g1") as game:
        submitting = asyncio.create_task(game.submit(Roll()))
        await engine.until(lambda: len(engine.commands) == 1)
        engine.advance(command_id=engine.commands[0].command_id)
        engine.answer = lambda command: accepted(command, 1)
        engine.cut()

        assert 1 == await submitting
        assert 1 == game.seq
    first, second = engine.commands
    assert first == second
    assert "d0" == first.decision_id


async def test_a_retry_answer_is_obeyed_with_the_same_id(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served

    def later(command: engine_service_pb2.Command) -> engine_service_pb2.CommandResult:
        engine.answer = engine.accept
        return engine_service_pb2.CommandResult(
            command_id=command.command_id, retry=engine_service_pb2.Retry(retry_after_ms=20)
        )

    engine.answer = later
    async with client.play("g1") as game:
        assert 1 == await game.submit(Roll())
    assert 1 == len({command.command_id for command in engine.commands})
    assert 2 == len(engine.commands)


async def test_a_refusal_raises_and_the_stream_goes_on(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.answer = refused
    async with client.play("g1") as game:
        with pytest.raises(Refused, match="BUY-2") as caught:
            await game.submit(Build(square=1))
        engine.answer = engine.accept

        assert {"cash": 10, "price": 600} == caught.value.refusal.numbers
        assert 1 == await game.submit(Roll())
        assert [1] == [update.seq for update in await take(game, 1)]
    assert 1 == engine.streams_opened


async def test_a_command_without_an_answer_has_an_unknown_outcome(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, _ = served
    engine.answer = lambda command: None
    options = ClientOptions(command_timeout_s=0.1)
    async with (
        AsyncClient(_.address, options=options) as client,
        client.play("g1") as game,
    ):
        with pytest.raises(OutcomeUnknown) as caught:
            await game.submit(Roll())
        engine.answer = engine.accept

        assert 1 == await game.submit(Roll(), command_id=caught.value.command_id)
    assert 1 == len({command.command_id for command in engine.commands})


async def test_iteration_ends_with_the_game(served: tuple[ScriptedEngine, AsyncClient]) -> None:
    engine, client = served
    async with client.play("g1") as game:
        engine.advance()
        engine.advance(over=True)

        assert [1, 2] == [update.seq async for update in game]
        assert game.over
        assert GameState.FINISHED is game.state
    await engine.until(lambda: not engine.streams)


async def test_iteration_ends_when_the_game_becomes_void(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    async with client.play("g1") as game:
        waiting = asyncio.create_task(anext(game, None))
        engine.game().state = engine_service_pb2.GAME_STATE_VOID
        frame = engine_service_pb2.Frame(game_id="g1", snapshot=engine.game().snapshot())
        engine.send(frame)

        assert await asyncio.wait_for(waiting, 5) is None
        assert GameState.VOID is game.state


async def test_many_games_share_one_stream(served: tuple[ScriptedEngine, AsyncClient]) -> None:
    engine, client = served
    for number in range(20):
        engine.game(f"m{number}", seed=number)

    async def follow(game_id: str) -> list[int]:
        async with client.play(game_id) as game:
            return [update.seq async for update in game]

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(follow(f"m{number}")) for number in range(20)]
        await engine.until(lambda: len(engine.attaches) == 20)
        for number in range(20):
            engine.advance(f"m{number}")
            engine.advance(f"m{number}", over=True)

    assert [[1, 2]] * 20 == [task.result() for task in tasks]
    assert 1 == engine.streams_opened


async def test_an_unknown_game_says_why_and_leaves_others_alone(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    async with client.play("g1") as game:
        with pytest.raises(GameClosed) as caught:
            async with client.play("nowhere"):
                pass
        engine.advance()

        assert DetachReason.NOT_FOUND is caught.value.reason
        assert [1] == [update.seq for update in await take(game, 1)]


async def test_a_bad_token_is_not_tried_again(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.refuse_stream = Cut(grpc.StatusCode.UNAUTHENTICATED)
    with pytest.raises(NotAuthenticated):
        async with client.play("g1"):
            pass
    # A write that the refusal overtakes may hide it once behind an internal error.
    assert engine.streams_opened <= 2


async def test_a_revoked_token_ends_the_game_with_its_cause(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    async with client.play("g1") as game:
        engine.cut(grpc.StatusCode.UNAUTHENTICATED)
        with pytest.raises(NotAuthenticated):
            await take(game, 1)
    assert 1 == engine.streams_opened


async def test_a_server_that_drains_is_left_and_the_game_resumes(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    async with client.play("g1") as game:
        engine.advance()
        await engine.until(lambda: bool(engine.streams))
        draining = engine_service_pb2.Draining(retry_after_ms=30)
        engine.send(engine_service_pb2.Frame(draining=draining))
        await engine.until(lambda: engine.streams_opened == 2)
        engine.advance()

        assert [1, 2] == [update.seq for update in await take(game, 2)]


async def test_patience_ends_and_says_so() -> None:
    async with scripted_server() as (engine, address):
        engine.game()
        client = AsyncClient(address, options=ClientOptions(patience_s=0.3))
        game = await client.play("g1").__aenter__()
        submitting = asyncio.create_task(asyncio.sleep(0))
        await submitting
    with pytest.raises(ConnectionLost):
        await take(game, 1)
    await client.close()


async def test_patience_begins_with_the_outage_however_quiet_the_game_was() -> None:
    async with scripted_server() as (engine, address):
        engine.game()
        options = ClientOptions(patience_s=0.5)
        async with AsyncClient(address, options=options) as client, client.play("g1") as game:
            await asyncio.sleep(0.7)
            engine.cut()
            await engine.until(lambda: not engine.streams)
            engine.advance()

            assert [1] == [update.seq for update in await take(game, 1)]


async def test_a_slow_reader_gets_the_newest_update_and_the_number_missed() -> None:
    async with scripted_server() as (engine, address):
        engine.game()
        options = ClientOptions(updates_kept=10)
        async with AsyncClient(address, options=options) as client, client.play("g1") as game:
            for _ in range(300):
                engine.advance()
            await engine.until(lambda: game.seq == 300)
            updates = [await anext(game)]
            while updates[-1].seq < 300:
                updates += await take(game, 1)

            assert len(updates) <= 10
            assert 300 == len(updates) + sum(update.missed for update in updates)


async def test_the_deadline_is_read_by_the_servers_clock(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    async with client.play("g1") as game:
        await asyncio.sleep(0.05)
        engine.advance()
        await take(game, 1)
        assert game.decision is not None

        assert 3600 == pytest.approx(game.decision.time_left(), abs=2)


async def test_leaving_the_last_game_leaves_no_stream_and_no_task(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    before = asyncio.all_tasks()
    for _ in range(3):
        async with client.play("g1"):
            pass
    await engine.until(lambda: not engine.streams)

    named = [task.get_name() for task in asyncio.all_tasks() - before]
    assert not [name for name in named if name.startswith("opolyx")]


async def test_a_game_opened_while_the_last_one_is_left_goes_on(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.game("g2")
    first = await client.play("g1").__aenter__()
    leaving = asyncio.create_task(first.__aexit__(None, None, None))
    await asyncio.sleep(0)
    async with asyncio.timeout(5), client.play("g2") as second:
        await leaving
        engine.advance("g2")

        assert [1] == [update.seq for update in await take(second, 1)]


async def test_a_game_opened_after_a_late_answer_goes_on(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.game("g2")
    engine.answer = lambda command: None
    async with client.play("g1") as first:
        submitting = asyncio.create_task(first.submit(Roll()))
        await engine.until(lambda: bool(engine.commands))
    submitting.cancel()
    await asyncio.wait([submitting])
    async with asyncio.timeout(5), client.play("g2") as second:
        engine.advance("g2")

        assert [1] == [update.seq for update in await take(second, 1)]


async def test_the_stream_names_a_game_that_is_open(
    served: tuple[ScriptedEngine, AsyncClient],
) -> None:
    engine, client = served
    engine.game("g2")
    for game_id in ("g1", "g2"):
        async with client.play(game_id):
            pass

    assert ["g1", "g2"] == engine.named_games


async def test_the_same_game_opens_once(served: tuple[ScriptedEngine, AsyncClient]) -> None:
    _, client = served
    async with client.play("g1"):
        with pytest.raises(ValueError, match="open already"):
            await client.play("g1").__aenter__()
