"""`opolyx bot run`, against a scripted server."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from opolyx_sdk import Client
from opolyx_sdk.cli import main
from opolyx_sdk.enums import RefusalReason, RoomState
from opolyx_sdk.offers import BotOffer
from opolyx_sdk.testing import Accept, Refuse, ScriptedGame, ScriptedServer


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedServer]:
    monkeypatch.chdir(tmp_path)
    with ScriptedServer() as server:
        monkeypatch.setenv("OPOLYX_SERVER", server.address)
        monkeypatch.delenv("OPOLYX_TOKEN", raising=False)
        yield server


BOT = "opolyx_sdk:RandomBot"


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as ended:
        main(["bot", "run", *arguments])
    assert isinstance(ended.value.code, int)
    return ended.value.code


def short(server: ScriptedServer, game_id: str) -> ScriptedGame:
    game = server.game(game_id)
    game.answer_next(Accept(), Accept(), Accept(ends=True))
    return game


def meanwhile(work: Callable[[], None]) -> threading.Thread:
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def test_it_plays_a_game_against_built_in_bots(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    game = short(server, "g_r1")
    assert 0 == run(BOT)

    told = capsys.readouterr().out.splitlines()
    assert ["playing g_r1", "g_r1: place 1; 3 decisions, 0 refused, 0 answered for the bot"] == told
    assert 3 == len(game.commands)
    assert ["AddBot"] * 3 == [one.method for one in server.calls if one.method == "AddBot"]


def test_a_program_gets_one_object_a_game(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    short(server, "g_r1")
    assert 0 == run(BOT, "--json", "--against", "random")

    told_all = capsys.readouterr()
    (line,) = told_all.out.splitlines()
    assert "playing g_r1\n" == told_all.err
    told = json.loads(line)
    assert ("g_r1", 1, 3, [], None) == tuple(
        told[name] for name in ("game_id", "place", "decisions", "refusals", "error")
    )


def test_it_joins_a_room_and_waits_for_its_start(server: ScriptedServer) -> None:
    short(server, "g_r1")
    with Client(server.address) as host:
        room = host.create_room("classic@full", 2)

        def start_when_full() -> None:
            server.wait_until(lambda: any(one.method == "WatchRoom" for one in server.calls))
            full = host.get_room(room.room_id)
            server.room(replace(full, state=RoomState.STARTED, revision=full.revision + 1))

        starting = meanwhile(start_when_full)
        assert 0 == run(BOT, "--room", room.code)
        starting.join(5)


def test_a_room_that_closes_is_an_error(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    with Client(server.address) as host:
        room = host.create_room("classic@full", 2)

        def close() -> None:
            server.wait_until(lambda: any(one.method == "WatchRoom" for one in server.calls))
            server.room(replace(room, state=RoomState.CLOSED, revision=9))

        closing = meanwhile(close)
        assert 2 == run(BOT, "--room", room.code)
        closing.join(5)
    assert "closed without a game" in capsys.readouterr().err


def test_it_looks_for_a_game(server: ScriptedServer) -> None:
    short(server, "g7")

    def match() -> None:
        server.wait_until(lambda: any(one.method == "QuickMatch" for one in server.calls))
        server.match("g7")

    matching = meanwhile(match)
    assert 0 == run(BOT, "--quick-match")
    matching.join(5)


def test_it_is_offered_as_a_bot_of_the_guest(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    short(server, "g1")

    def seat() -> None:
        server.wait_until(lambda: bool(server.offers))
        server.seat_bot("g1", seat=2)

    seating = meanwhile(seat)
    options = ("--max-games", "3", "--modes", "blitz@full", "speed@full", "--bots-only")
    assert 0 == run(BOT, "--offer", "--stop-after", "1", "--account", "Ada", *options)
    seating.join(5)

    rulesets = ("blitz@full", "speed@full")
    assert [BotOffer(rulesets, max_games=3, plays_people=False)] == server.offers
    told = capsys.readouterr().out
    assert "Ada (b_Ada) is offered; Ctrl-C withdraws it" in told
    assert "playing g1 (classic@full, seat 2)" in told
    assert told.endswith("withdrawn\n")


def test_the_token_of_a_file_is_used_and_not_shown(
    server: ScriptedServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    short(server, "g_r1")
    (tmp_path / "bot.jwt").write_text("canary.token\n")
    assert 0 == run(BOT, "--token-file", "bot.jwt")

    assert {"canary.token"} == {one.token for one in server.calls}
    assert "CreateGuest" not in [one.method for one in server.calls]
    told = capsys.readouterr()
    assert "canary" not in told.out + told.err


@pytest.mark.parametrize("option", ["--modes", "--ruleset"])
def test_the_ruleset_of_the_game_may_be_named(server: ScriptedServer, option: str) -> None:
    short(server, "g_r1")
    assert 0 == run(BOT, option, "speed@full")

    with Client(server.address) as client:
        assert "speed@full" == client.get_room("r1").ruleset


def test_a_refusal_stops_a_strict_run(
    server: ScriptedServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.game("g_r1").answer_next(Refuse(RefusalReason.UNEVEN, "BUILD-2"))
    assert 1 == run(BOT, "--strict")

    assert "was refused: uneven (BUILD-2)" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nonsense"], "names no bot"),
        (["opolyx_sdk:Nope"], "has no Nope"),
        ([BOT, "--offer", "--quick-match"], "one of --offer, --room and --quick-match"),
        ([BOT, "--modes", "a@b", "c@d"], "give --modes once"),
        ([BOT, "--room", "nowhere"], "ROOM_NOT_FOUND"),
        ([BOT, "--token-file", "nowhere.jwt"], "can't read the token in nowhere.jwt"),
        ([BOT, "--token-file", "."], "can't read the token in ."),
        ([BOT, "--token", "no token"], "is no JWT"),
        ([BOT, "--max-games", "0"], "--max-games"),
        ([BOT, "--budget-s", "0"], "--budget-s"),
        ([BOT, "--ca", "nowhere.pem"], "can't read nowhere.pem"),
    ],
    ids=lambda one: one if isinstance(one, str) else one[-1],
)
def test_a_mistake_is_named_without_a_traceback(
    server: ScriptedServer,
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert 0 < run(*arguments)

    said = capsys.readouterr().err
    assert words in said
    assert "Traceback" not in said
    assert 0 == server.open_streams


def test_a_server_that_is_not_there_is_named(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPOLYX_TOKEN", raising=False)
    assert 2 == run(BOT, "--server", "127.0.0.1:1")

    said = capsys.readouterr().err
    assert "no answer from 127.0.0.1:1" in said
    assert "`opolyx serve` starts one here" in said
