"""The scripted server that the SDK ships: it keeps the wire's promises, and breaks what it is told."""

import asyncio
import re
import threading

import pytest

from opolyx_sdk import (
    Action,
    AsyncClient,
    Client,
    ClientOptions,
    GameClosed,
    LimitReached,
    NotFound,
    OutcomeUnknown,
    Profile,
    Refused,
    RequestError,
    SyncGame,
    testing,
)
from opolyx_sdk.actions import Buy, DeclinePurchase, Roll
from opolyx_sdk.enums import DetachReason, GameState, Phase, Rank, RefusalReason, RoomState
from opolyx_sdk.errors import Failure
from opolyx_sdk.events import DiceRolled
from opolyx_sdk.testing import (
    Accept,
    Refuse,
    RetryAfter,
    ScriptedServer,
    Silence,
    awaited,
    with_player,
    with_property,
)

FAST = ClientOptions(patience_s=5)


def test_the_script_of_the_docstring_runs() -> None:
    example = re.findall(r"```python\n(.*?)```", testing.__doc__ or "", re.DOTALL)[0]
    play = "[_submit(table, one) for one in (Buy(), DeclinePurchase())]"
    names: dict[str, object] = {"_submit": submit}
    exec(compile(example.replace("...", play), "docstring", "exec"), names)

    assert isinstance(names["game"], testing.ScriptedGame)
    assert 2 == names["game"].seq, "the example asserts the rest"


def submit(table: SyncGame, action: Action) -> None:
    try:
        table.submit(action)
    except Refused:
        assert Buy() == action


def test_a_game_is_played_as_scripted() -> None:
    with ScriptedServer() as server, Client(server.address, options=FAST) as client:
        script = server.game(seats=("Ada", "Bruno"))
        bought = with_property(with_player(script.view, 0, cash=14_400), 6, owner=0)
        landing = DiceRolled(0, 2, 4, 0)
        script.answer_next(
            Accept([landing], awaits=[awaited(0, Phase.BUY, Buy(), DeclinePurchase())]),
            Refuse(RefusalReason.NOT_ENOUGH_CASH, "BUY-1", numbers={"cash": 1}),
            RetryAfter(0.01),
            Accept(view=bought, awaits=[]),
            Accept(ends=True),
        )
        with client.play("g1") as game:
            assert (0, "Bruno") == (game.seat, game.info.seats[1].name)
            game.submit(Roll())
            assert (Phase.BUY, Phase.BUY) == (
                game.decision and game.decision.phase,
                game.view.turn.phase,
            )
            with pytest.raises(Refused, match=r"not_enough_cash \(BUY-1, cash 1\)"):
                game.submit(Buy())
            game.submit(Buy())
            assert ((14_400, 0), None) == (
                (game.view.player(0).cash, bought.properties_of(0)[0].owner),
                game.decision,
            )
            script.update(awaits=[awaited(0, Phase.ROLL, Roll())])
            seen = [next(iter(game)) for _ in range(3)]
            game.submit(Roll())
            seen += game
            assert [landing] == [one for update in seen for one in update.events]
            assert (GameState.FINISHED, [1, 2]) == (
                game.state,
                [one.place for one in game.view.result.seats] if game.view.result else [],
            )
    sent = [one.action for one in script.commands]
    assert [Roll(), Buy(), Buy(), Buy(), Roll()] == sent


async def test_lost_doubled_and_wrong_updates_are_put_right_by_the_client() -> None:
    with ScriptedServer() as server:
        script = server.game()
        async with AsyncClient(server.address, options=FAST) as client, client.play("g1") as game:
            script.lose_next()
            script.update()
            script.repeat_next()
            script.update()
            assert [1, 2] == [(await anext(game)).seq for _ in range(2)]
            assert [None, 0] == [one.after_seq for one in script.attaches]
            script.send_wrong_digest()
            assert [3, 3] == [(await anext(game)).seq for _ in range(2)]
            assert [None, 0, None] == [one.after_seq for one in script.attaches]
            server.cut()
            script.finish()

            assert [4] == [update.seq async for update in game]
            assert script.view == game.view


async def test_a_lost_answer_is_asked_for_with_the_same_command() -> None:
    with ScriptedServer() as server:
        script = server.game()
        script.answer_next(Silence(takes_effect=True))
        async with AsyncClient(server.address, options=FAST) as client, client.play("g1") as game:
            submitting = asyncio.create_task(game.submit(Roll()))
            await asyncio.to_thread(server.wait_until, lambda: bool(script.commands))
            server.cut(Failure("INTERNAL", "RST_STREAM"))

            assert 1 == await submitting == script.seq == game.seq
        assert 1 == len({one.command_id for one in script.commands})


def test_failures_lost_answers_and_scripted_answers() -> None:
    with ScriptedServer() as server, Client(server.address) as client:
        client.create_guest("Ada")
        failure = Failure(
            "RESOURCE_EXHAUSTED",
            "too many",
            reason="LIMIT",
            domain="opolyx.matchmaker",
            metadata={"limit": "rooms"},
            retry_after_s=7200.5,
            fields={"seats": "too few"},
        )
        server.fail_next("CreateRoom", failure)
        with pytest.raises(LimitReached, match=r"try again in 7200\.5 s") as caught:
            client.create_room("blitz@full", 4)
        assert failure == caught.value.failure

        server.lose_answer("CreateRoom")
        room = client.create_room("blitz@full", 4)
        assert ["CreateRoom"] * 3 == [one.method for one in server.calls if "Create" in one.method][
            1:
        ]
        for _ in range(3):
            room = client.add_bot(room.room_id, policy="steady")
        client.start_game(room.room_id)
        watched = [one.state for one in client.watch_room(room.room_id)]
        assert [RoomState.STARTED] == watched
        assert room.game_id == client.current_game().game_id
        with client.play(room.game_id) as game:
            assert "Steady 3" == game.info.seats[3].name

        profile = Profile("p", 9, 2, Rank(1), 0, 1, 1, 1, 0, (), False)
        server.answer("GetProfile", profile=profile)
        assert profile == client.profile()
        with pytest.raises(RequestError, match=r"script it: server.answer\('ListCards'"):
            client.cards()
        with pytest.raises(NotFound):
            client.get_room("nowhere")
        with pytest.raises(ValueError, match="no method 'GetRoms'"):
            server.fail_next("GetRoms", failure)


def test_games_are_closed_and_voided() -> None:
    with ScriptedServer() as server, Client(server.address, options=FAST) as client:
        first, second = server.game("g1"), server.game("g2")
        with client.play("g1") as game:
            first.void()
            assert [] == [*game]
            assert GameState.VOID is game.state
        with client.watch("g2") as game:
            assert game.seat is None
            second.close(DetachReason.FAULT, "a fault")
            with pytest.raises(GameClosed, match="a fault"):
                next(iter(game))
        with pytest.raises(GameClosed), client.play("nowhere"):
            pass
        assert 0 == server.games["g1"].seq


def test_a_command_without_an_answer_is_unknown_and_nothing_is_left() -> None:
    options = ClientOptions(command_timeout_s=0.05)
    with ScriptedServer() as server, Client(server.address, options=options) as client:
        server.game().answer_next(Silence())
        with client.play("g1") as game, pytest.raises(OutcomeUnknown):
            game.submit(Roll())
        server.wait_until(lambda: server.open_streams == 0)
    assert not [one for one in threading.enumerate() if one.name.startswith("opolyx")]
