"""What a client promises about its stream, over a real channel with the scripted server."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from dataclasses import replace

import pytest

from opolyx_sdk import (
    AsyncClient,
    AuctionView,
    ClaimView,
    ClientOptions,
    DebtView,
    GameClosed,
    GameView,
    MirrorBroken,
    NotAuthenticated,
    OfferView,
    Refused,
    Update,
)
from opolyx_sdk.actions import Build, Roll
from opolyx_sdk.enums import CashCause, DetachReason, GameState, RefusalReason
from opolyx_sdk.errors import Failure
from opolyx_sdk.game import Game
from opolyx_sdk.testing import (
    Refuse,
    RetryAfter,
    ScriptedGame,
    ScriptedServer,
    Silence,
    with_player,
    with_property,
    with_turn,
)

FAST = ClientOptions(patience_s=5, command_timeout_s=5, connect_timeout_s=1)


@pytest.fixture
async def served() -> AsyncIterator[tuple[ScriptedServer, AsyncClient]]:
    with ScriptedServer() as server:
        server.game()
        async with AsyncClient(server.address, token="the-token", options=FAST) as client:
            yield server, client


async def until(server: ScriptedServer, true: Callable[[], bool]) -> None:
    await asyncio.to_thread(server.wait_until, true, 20)


async def until_closed(server: ScriptedServer) -> None:
    await until(server, lambda: server.open_streams == 0)


def streams_opened(server: ScriptedServer) -> int:
    return [one.method for one in server.calls].count("Play")


def asked_after(game: ScriptedGame) -> list[int | None]:
    """What was known at each attach."""
    return [one.after_seq for one in game.attaches]


def stirred(view: GameView, rng: random.Random) -> GameView:
    """A view in which anything may have changed."""
    view = with_player(
        view, rng.randrange(4), cash=rng.randrange(-500, 900), position=rng.randrange(40)
    )
    square = view.properties[rng.randrange(len(view.properties))].square
    view = with_property(view, square, owner=rng.randrange(4), level=rng.randrange(6))
    view = with_turn(view, dice=(rng.randrange(1, 7), rng.randrange(1, 7)))
    auction = AuctionView(5, rng.randrange(5000), None, 10, (0, 1))
    debt = DebtView(0, (ClaimView(1, rng.randrange(1, 900), CashCause.RENT),))
    offer = OfferView(rng.randrange(9), 1, 0, 7, (1,), 0, (), 0)
    return replace(
        view,
        auction=auction if rng.random() < 0.3 else None,
        debts=(debt,) if rng.random() < 0.3 else (),
        offers=(offer,) if rng.random() < 0.3 else (),
    )


async def take(game: Game, count: int) -> list[Update]:
    async with asyncio.timeout(10):
        return [await anext(game) for _ in range(count)]


async def test_mirror_equals_a_fresh_snapshot_after_every_update(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script, rng = server.games["g1"], random.Random(1)
    async with client.play("g1") as game:
        for seq in range(1, 101):
            script.update(view=stirred(script.view, rng))
            (update,) = await take(game, 1)

            assert seq == update.seq
            assert script.view == update.view == game.view


async def test_a_cut_stream_resumes_and_every_update_comes_once(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.games["g1"]
    seen: list[int] = []
    async with client.play("g1") as game:
        for status in ("UNAVAILABLE", "INTERNAL", "UNKNOWN", "CANCELLED", "RESOURCE_EXHAUSTED"):
            script.update()
            seen += [update.seq for update in await take(game, 1)]
            server.cut(Failure(status, "cut"))
            script.update()
            script.update()
            updates = await take(game, 2)
            seen += [update.seq for update in updates]
            assert [0, 0] == [update.missed for update in updates]

    assert list(range(1, 16)) == seen
    first, *others = asked_after(script)
    assert first is None
    assert others
    assert None not in others


async def test_a_channel_closed_under_the_stream_is_an_outage_like_any_other(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.games["g1"]
    async with client.play("g1") as game:
        script.update()
        await client._transport.drop()
        script.update()

        assert [1, 2] == [update.seq for update in await take(game, 2)]


async def test_what_comes_twice_is_dropped(served: tuple[ScriptedServer, AsyncClient]) -> None:
    server, client = served
    script = server.games["g1"]
    async with client.play("g1") as game:
        for _ in range(2):
            script.repeat_next()
            script.update()
            script.update()

        assert [1, 2, 3, 4] == [update.seq for update in await take(game, 4)]
    assert [None] == asked_after(script)


async def test_a_gap_attaches_again_after_the_last_update_seen(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.games["g1"]
    async with client.play("g1") as game:
        script.update()
        script.lose_next()
        for _ in range(3):
            script.update()

        assert [1, 2, 3, 4] == [update.seq for update in await take(game, 4)]
    assert [None, 1] == asked_after(script)


async def test_what_the_server_no_longer_has_is_told_as_missed(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.games["g1"]
    async with client.play("g1") as game:
        script.oldest_kept = 100
        script.lose_next(5)
        for _ in range(5):
            script.update()
        server.cut()
        (update,) = await take(game, 1)

        assert (5, 5) == (update.seq, update.missed)
        assert script.view == update.view


async def test_a_wrong_digest_replaces_the_mirror_by_a_snapshot(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.games["g1"]
    async with client.play("g1") as game:
        script.send_wrong_digest()
        first, second = await take(game, 2)

        assert 1 == first.seq == second.seq
        assert script.view == second.view == game.view
    assert [None, None] == asked_after(script)


async def test_a_snapshot_that_contradicts_its_digest_ends_the_game(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.games["g1"]
    wrong = replace(script.snapshot(), state_digest=b"x" * 32)
    script.snapshot = lambda spectator=False: wrong  # type: ignore[method-assign]
    with pytest.raises(MirrorBroken):
        async with client.play("g1"):
            pass


async def test_a_pending_command_is_sent_again_with_the_same_id(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.games["g1"]
    script.answer_next(Silence())
    async with client.play("g1") as game:
        submitting = asyncio.create_task(game.submit(Roll()))
        await until(server, lambda: len(script.commands) == 1)
        server.cut()

        assert 1 == await submitting
        assert 1 == game.seq
    first, second = script.commands
    assert first == second
    assert "d0" == first.decision_id


async def test_a_retry_answer_is_obeyed_with_the_same_id(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.games["g1"]
    script.answer_next(RetryAfter(0.02))
    async with client.play("g1") as game:
        assert 1 == await game.submit(Roll())
    assert 1 == len({command.command_id for command in script.commands})
    assert 2 == len(script.commands)


async def test_a_refusal_raises_and_the_stream_goes_on(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    numbers = {"cash": 10, "price": 600}
    server.games["g1"].answer_next(Refuse(RefusalReason.NOT_ENOUGH_CASH, "BUY-2", numbers=numbers))
    async with client.play("g1") as game:
        with pytest.raises(Refused, match="BUY-2") as caught:
            await game.submit(Build(square=1))

        assert numbers == caught.value.refusal.numbers
        assert 1 == await game.submit(Roll())
        assert [1] == [update.seq for update in await take(game, 1)]
    assert 1 == streams_opened(server)


async def test_iteration_ends_with_the_game(served: tuple[ScriptedServer, AsyncClient]) -> None:
    server, client = served
    script = server.games["g1"]
    async with client.play("g1") as game:
        script.update()
        script.finish()

        assert [1, 2] == [update.seq async for update in game]
        assert game.over
        assert GameState.FINISHED is game.state
    await until_closed(server)


async def test_iteration_ends_when_the_game_becomes_void(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    async with client.play("g1") as game:
        waiting = asyncio.create_task(anext(game, None))
        server.games["g1"].void()

        assert await asyncio.wait_for(waiting, 5) is None
        assert GameState.VOID is game.state


async def test_many_games_share_one_stream(served: tuple[ScriptedServer, AsyncClient]) -> None:
    server, client = served
    scripts = [server.game(f"m{number}") for number in range(20)]

    async def follow(game_id: str) -> list[int]:
        async with client.play(game_id) as game:
            return [update.seq async for update in game]

    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(follow(script.game_id)) for script in scripts]
        await until(server, lambda: all(script.attaches for script in scripts))
        for script in scripts:
            script.update()
            script.finish()

    assert [[1, 2]] * 20 == [task.result()[-2:] for task in tasks]
    assert 1 == streams_opened(server)


async def test_an_unknown_game_says_why_and_leaves_others_alone(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    async with client.play("g1") as game:
        with pytest.raises(GameClosed) as caught:
            async with client.play("nowhere"):
                pass
        server.games["g1"].update()

        assert DetachReason.NOT_FOUND is caught.value.reason
        assert [1] == [update.seq for update in await take(game, 1)]


async def test_a_bad_token_is_not_tried_again(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    refusal = Failure("UNAUTHENTICATED", "not now")
    for method in ("Play", "GetGame"):  # a write that the refusal overtakes hides it: a call asks
        server.fail_next(method, refusal, times=9)
    with pytest.raises(NotAuthenticated):
        async with client.play("g1"):
            pass
    assert 1 == streams_opened(server)


async def test_a_server_that_drains_is_left_and_the_game_resumes(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    script = server.games["g1"]
    async with client.play("g1") as game:
        script.update()
        server.drain(0.03)
        await until(server, lambda: streams_opened(server) == 2)
        script.update()

        assert [1, 2] == [update.seq for update in await take(game, 2)]


async def test_patience_begins_with_the_outage_however_quiet_the_game_was() -> None:
    with ScriptedServer() as server:
        script = server.game()
        options = ClientOptions(patience_s=0.5)
        async with (
            AsyncClient(server.address, options=options) as client,
            client.play("g1") as game,
        ):
            await asyncio.sleep(0.7)
            server.cut()
            script.update()

            assert [1] == [update.seq for update in await take(game, 1)]


async def test_a_slow_reader_gets_the_newest_update_and_the_number_missed() -> None:
    with ScriptedServer() as server:
        script = server.game()
        options = ClientOptions(updates_kept=10)
        async with (
            AsyncClient(server.address, options=options) as client,
            client.play("g1") as game,
        ):
            await asyncio.to_thread(lambda: [script.update() for _ in range(100)])
            await until(server, lambda: game.seq == 100)
            updates = [await anext(game)]
            while updates[-1].seq < 100:
                updates += await take(game, 1)

            assert len(updates) <= 10
            assert 100 == len(updates) + sum(update.missed for update in updates)


@pytest.mark.parametrize("ahead_s", [-1e6, 1e6])
async def test_the_deadline_is_read_by_the_servers_clock(ahead_s: float) -> None:
    with ScriptedServer(ahead_s=ahead_s) as server:
        script = server.game()
        async with AsyncClient(server.address) as client, client.play("g1") as game:
            script.update()
            await take(game, 1)
            assert game.decision is not None

            assert 75 == pytest.approx(game.decision.time_left(), abs=5)


async def test_leaving_the_last_game_leaves_no_stream_and_no_task(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    before = asyncio.all_tasks()
    for _ in range(3):
        async with client.play("g1"):
            pass
    await until_closed(server)

    named = [task.get_name() for task in asyncio.all_tasks() - before]
    assert not [name for name in named if name.startswith("opolyx")]


async def test_a_game_opened_while_the_last_one_is_left_goes_on(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    second_script = server.game("g2")
    first = await client.play("g1").__aenter__()
    leaving = asyncio.create_task(first.__aexit__(None, None, None))
    await asyncio.sleep(0)
    async with asyncio.timeout(5), client.play("g2") as second:
        await leaving
        second_script.update()

        assert [1] == [update.seq for update in await take(second, 1)]


async def test_a_game_opened_after_a_late_answer_goes_on(
    served: tuple[ScriptedServer, AsyncClient],
) -> None:
    server, client = served
    second_script = server.game("g2")
    server.games["g1"].answer_next(Silence())
    async with client.play("g1") as first:
        submitting = asyncio.create_task(first.submit(Roll()))
        await until(server, lambda: bool(server.games["g1"].commands))
    submitting.cancel()
    await asyncio.wait([submitting])
    async with asyncio.timeout(5), client.play("g2") as second:
        second_script.update()

        assert [1] == [update.seq for update in await take(second, 1)]


async def test_the_same_game_opens_once(served: tuple[ScriptedServer, AsyncClient]) -> None:
    _, client = served
    async with client.play("g1"):
        with pytest.raises(ValueError, match="open already"):
            await client.play("g1").__aenter__()
