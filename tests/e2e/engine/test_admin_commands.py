"""`opolyx admin games` and what else operators type, asked of a running engine."""

import asyncio
import json
import sqlite3
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import structlog

from opolyx_sdk.cli import main
from support_engine import Engine, people, running_engine


class Operator:
    """Types commands, each in a thread, as commands have loops of their own."""

    def __init__(self, engine: Engine, capsys: pytest.CaptureFixture[str]) -> None:
        self._capsys = capsys
        self._server = f"--server=127.0.0.1:{engine.port}"
        self._engine = engine

    async def run(self, *words: str, role: str = "operator") -> tuple[int, str, str]:
        """The exit code, and what was printed."""
        token = self._engine.token("o_1", role)
        words = ("admin", *words, self._server, f"--token={token}")
        code = await asyncio.to_thread(_ended, words)
        printed = self._capsys.readouterr()
        return code, printed.out, printed.err

    async def json(self, *words: str, code: int = 0) -> Any:
        """The object that a command prints."""
        ended, out, err = await self.run(*words, "--json")
        assert code == ended, err
        return json.loads(out)


def _ended(words: tuple[str, ...]) -> int:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert isinstance(ended.value.code, int)
    return ended.value.code


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """The engine's log isn't among what commands print."""
    with structlog.testing.capture_logs():
        yield


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[Engine]:
    async with running_engine(tmp_path) as engine:
        yield engine


@pytest.fixture
def operator(engine: Engine, capsys: pytest.CaptureFixture[str]) -> Operator:
    return Operator(engine, capsys)


async def test_games_are_listed_with_what_they_wait_for(engine: Engine, operator: Operator) -> None:
    made = sorted([await engine.new_game(people(2)) for _ in range(3)])

    code, out, _ = await operator.run("games", "--most=2")
    head, *rows = [line.split("\t") for line in out.splitlines()]
    told = await operator.json("games")

    assert code == 0
    assert (head[0], head[-1]) == ("game", "waits for")
    assert made[:2] == [row[0] for row in rows]
    assert all(row[1] == "in memory" and row[-1].startswith("an answer until 2") for row in rows)
    assert made == [game["game_id"] for game in told["games"]]
    assert (told["takes_new_games"], told["draining"]) == (True, False)
    assert await operator.json("games", "--stuck") == {**told, "games": []}


async def test_a_held_game_is_found_and_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with running_engine(tmp_path) as engine:
        game_id, other = [await engine.new_game(people(2)) for _ in range(2)]
    damage = "CAST(replace(CAST(header AS TEXT), 'classic@full', 'chess@full') AS BLOB)"
    with sqlite3.connect(tmp_path / "engine.db") as db:
        db.execute(f"UPDATE engine_games SET header = {damage} WHERE game_id = ?", (game_id,))
    db.close()

    async with running_engine(tmp_path) as engine:
        operator = Operator(engine, capsys)
        _, out, _ = await operator.run("games", "--at=held")
        (row,) = [line.split("\t") for line in out.splitlines()[1:]]
        ended = await operator.json("void", game_id, "--reason=its log is damaged")
        after = await operator.json("games")
        closely = await operator.json("inspect", game_id)

    assert (game_id, "held") == (row[0], row[1])
    assert row[-1].startswith("an operator")
    assert {"game_id": game_id, "state": "void"} == ended
    assert [other] == [game["game_id"] for game in after["games"]]
    assert ("void", "its log is damaged") == (closely["state"], closely["end_reason"])


async def test_a_game_is_inspected_closely(engine: Engine, operator: Operator) -> None:
    game_id = await engine.new_game(people(2))
    told = await operator.json("inspect", game_id)
    _, out, _ = await operator.run("inspect", game_id)
    rows = dict(line.split("\t") for line in out.splitlines())

    assert ("running", "roll") == (told["state"], told["phase"])
    assert len(bytes.fromhex(told["log_digest"])) == 32
    assert f"seat {told['awaited_seat']}, roll" == rows["awaited"]
    assert told["game"]["seats"][1]["player_id"] in rows["seat 1"]


async def test_new_games_are_paused_resumed_and_the_engine_drained(
    engine: Engine, operator: Operator
) -> None:
    seen = []
    for word in ("pause", "resume", "drain"):
        code, _, err = await operator.run(word)
        assert code == 0, err
        told = await operator.json("games")
        seen.append((told["takes_new_games"], told["draining"]))

    assert [(False, False), (True, False), (False, True)] == seen


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (("void", "g_1"), "--reason"),
        (("void", "g_1", "--reason= "), "say why"),
        (("games", "--at=nowhere"), "--at"),
        (("games", "--most=0"), "--most"),
        (("games", "--cert=cert.pem"), "--cert and --key belong together"),
        (("games", "--ca=absent.pem"), "can't read absent.pem"),
        (("inspect", "g_absent"), "g_absent"),
    ],
)
async def test_what_cannot_be_done_is_said(
    operator: Operator, words: tuple[str, ...], complaint: str
) -> None:
    code, out, err = await operator.run(*words)

    assert code != 0
    assert complaint in out + err


@pytest.mark.parametrize("words", [("games",), ("void", "g_1", "--reason=x"), ("drain",)])
async def test_players_do_nothing_of_it(operator: Operator, words: tuple[str, ...]) -> None:
    code, _, err = await operator.run(*words, role="player")

    assert code == 2
    assert err
