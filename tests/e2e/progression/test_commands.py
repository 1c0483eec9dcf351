"""`opolyx profile`, `leaderboard` and `admin` as people run them, on a server that served a game."""

import asyncio
import json
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from opolyx_progression.levels import level_of
from opolyx_sdk import AsyncClient, Award, BotRunner, RoomOptions, SteadyBot
from opolyx_sdk.cli import main
from opolyx_server.embedded import DATABASE, EmbeddedServer
from support_sdk import ServeProcess, eventually_awards

ROUNDS = 22


@dataclass(frozen=True)
class Served:
    """A server that goes on, and the game it served."""

    address: str
    data: Path
    tokens: dict[str, str]
    players: dict[str, str]
    game_id: str
    awards: dict[str, Award]


async def play(
    server: ServeProcess,
) -> tuple[dict[str, str], dict[str, str], str, dict[str, Award]]:
    """A game of two people that ends after so many rounds, all awards paid."""
    async with AsyncClient(server.address) as ada, AsyncClient(server.address) as bo:
        logins = {"ada": await ada.create_guest("Ada"), "bo": await bo.create_guest("Bo")}
        room = await ada.create_room("classic@full", 2, options=RoomOptions(round_cap=ROUNDS))
        await bo.join_room(code=room.code)
        game_id = await ada.start_game(room.room_id)
        await asyncio.gather(*[BotRunner(one, SteadyBot).play(game_id) for one in (ada, bo)])
        awards = {
            name: (await eventually_awards(client, game_id, 1))[0]
            for name, client in (("ada", ada), ("bo", bo))
        }
        return (
            {name: login.token.jwt for name, login in logins.items()},
            {name: login.account.player_id for name, login in logins.items()},
            game_id,
            awards,
        )


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    data = tmp_path_factory.mktemp("served")
    with asyncio.Runner() as runner:
        server = ServeProcess(data)
        runner.run(server.start())
        try:
            tokens, players, game_id, awards = runner.run(play(server))
            tokens["operator"] = EmbeddedServer.sign_operator_token(data)
            yield Served(server.address, data, tokens, players, game_id, awards)
        finally:
            runner.run(server.kill())


class Terminal:
    """Runs commands as somebody."""

    def __init__(
        self,
        served: Served,
        monkeypatch: pytest.MonkeyPatch,
        capsys: pytest.CaptureFixture[str],
    ) -> None:
        self._served = served
        self._monkeypatch = monkeypatch
        self._capsys = capsys

    def run(self, *arguments: str, who: str = "ada") -> tuple[int, str, str]:
        """The exit code, and what was printed."""
        self._monkeypatch.setenv("OPOLYX_SERVER", self._served.address)
        if who:
            self._monkeypatch.setenv("OPOLYX_TOKEN", self._served.tokens[who])
        else:
            self._monkeypatch.delenv("OPOLYX_TOKEN", raising=False)
        with pytest.raises(SystemExit) as ended:
            main(arguments)
        printed = self._capsys.readouterr()
        code = ended.value.code
        assert isinstance(code, int)
        return code, printed.out, printed.err

    def json(self, *arguments: str, who: str = "ada", code: int = 0) -> Any:
        """The object that a command prints."""
        ended, out, err = self.run(*arguments, "--json", who=who)
        assert code == ended, err
        return json.loads(out)


@pytest.fixture
def terminal(
    served: Served, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    return Terminal(served, monkeypatch, capsys)


@pytest.mark.timeout(120)
@pytest.mark.rule("XP-1")
def test_profile_shows_the_award_with_its_terms(served: Served, terminal: Terminal) -> None:
    told = terminal.json("profile")
    (award,) = told["awards"]

    assert served.players["ada"] == told["profile"]["player_id"]
    assert served.game_id == award["game_id"]
    assert ROUNDS > 20  # or nothing would be paid
    kinds = [term["kind"] for term in award["terms"]]
    assert "place" == kinds[0]
    assert sum(term["xp"] for term in award["terms"]) == award["xp"] == told["profile"]["xp"] > 0
    assert {1: 200, 2: 40}[award["place"]] == award["terms"][0]["xp"]
    assert (1, level_of(award["xp"])) == (told["profile"]["games"], told["profile"]["level"])
    assert len(told["cards"]) == told["profile"]["cards"]


def test_profile_reads_as_text(served: Served, terminal: Terminal) -> None:
    code, out, _ = terminal.run("profile", served.players["bo"], who="ada")

    assert 0 == code
    assert served.players["bo"] == out.splitlines()[0]
    assert f"{served.awards['bo'].xp} XP, 1 games" in out
    assert f"\t{served.game_id}\tclassic@full\t" in out
    assert "place +" in out


def test_a_profile_without_games_says_how_players_are_named(terminal: Terminal) -> None:
    code, out, _ = terminal.run("profile", "nobody", who="ada")

    assert 0 == code
    assert "a player is named by id, p_... or b_..." in out


def test_leaderboards_rank_by_xp_and_by_rating(served: Served, terminal: Terminal) -> None:
    by_xp = terminal.json("leaderboard")
    by_rating = terminal.json("leaderboard", "classic")
    around = terminal.json("leaderboard", "classic", "--me", "--most=1", who="bo")
    bots = terminal.json("leaderboard", "classic", "--bots")

    xp = sorted((award.xp for award in served.awards.values()), reverse=True)
    assert xp == [row["score"] for row in by_xp["rows"]]
    winner = min(served.awards, key=lambda name: served.awards[name].place)
    assert served.players[winner] == by_rating["rows"][0]["player_id"]
    assert [1, 2] == [row["rank"] for row in by_rating["rows"]]
    assert [served.players["bo"]] == [row["player_id"] for row in around["rows"]]
    assert [] == bots["rows"]
    assert "rank\tname\tXP\tplayer" == terminal.run("leaderboard")[1].splitlines()[0]
    assert "nobody is on the leaderboard of blitz yet\n" == terminal.run("leaderboard", "blitz")[1]


@pytest.mark.parametrize(
    ("mode", "told"),
    [
        ("clasic", "there is no mode 'clasic'; there are classic, "),
        ("classic@full", "mode is a ruleset: ratings go by the mode alone, before the @"),
    ],
)
def test_a_slip_in_the_mode_is_told(terminal: Terminal, mode: str, told: str) -> None:
    code, out, error = terminal.run("leaderboard", mode, "--json")

    assert (2, "") == (code, out)
    assert told in error


def test_audit_finds_no_drift_and_then_what_was_changed(served: Served, terminal: Terminal) -> None:
    clean = terminal.json("admin", "audit", "--count-boards", who="operator")
    assert (1, 2, 2, 0, []) == tuple(
        clean[name] for name in ("games", "awards", "players", "drift", "drifts")
    )

    with closing(sqlite3.connect(served.data / DATABASE)) as connection, connection:
        connection.execute("UPDATE progression_players SET xp = xp + 1")
    code, out, _ = terminal.run("admin", "audit", who="operator")
    with closing(sqlite3.connect(served.data / DATABASE)) as connection, connection:
        connection.execute("UPDATE progression_players SET xp = xp - 1")

    assert 1 == code
    assert out.splitlines()[-1] == "1 games, 2 awards, 2 players: 2 differ"
    assert out.startswith("standing of p_")


def test_vip_is_made_ended_and_recorded(served: Served, terminal: Terminal) -> None:
    bo = served.players["bo"]

    made = terminal.json("admin", "vip", bo, "--reason=paid", who="operator")
    seen = terminal.run("profile", bo)[1]
    code, ended, _ = terminal.run("admin", "vip", bo, "--off", "--reason=refund", who="operator")
    changes = terminal.json("admin", "entitlements", bo, who="operator")["changes"]

    assert made["profile"]["vip"] is True
    assert f"{bo}, VIP" == seen.splitlines()[0]
    assert (0, f"{bo} is no VIP\n") == (code, ended)
    assert [(False, "refund", "s_operator"), (True, "paid", "s_operator")] == [
        (one["vip"], one["reason"], one["operator_id"]) for one in changes
    ]
    assert "refund" in terminal.run("admin", "entitlements", who="operator")[1]


def test_dead_letters_are_shown_and_retried(served: Served, terminal: Terminal) -> None:
    assert (0, "no dead letters\n", "") == terminal.run("admin", "dead-letters", who="operator")
    with closing(sqlite3.connect(served.data / DATABASE)) as connection, connection:
        connection.execute(
            "INSERT INTO progression_dead_letters VALUES (900, 'g_bad', 0, 'no idea', x'ffff'),"
            " (901, 'g_nothing', 0, 'none either', x'')"
        )

    table = terminal.run("admin", "dead-letters", who="operator")[1].splitlines()
    one = terminal.json("admin", "dead-letters", "--fact=901", who="operator")
    code, left, _ = terminal.run("admin", "dead-letters", "--retry", who="operator")
    with closing(sqlite3.connect(served.data / DATABASE)) as connection, connection:
        connection.execute("DELETE FROM progression_dead_letters")

    assert ["fact", "900", "901"] == [line.split("\t")[0] for line in table]
    assert table[1].endswith("\tno idea")
    assert {"tried": 1, "processed": 1, "left": 1} == one  # a fact that means nothing here
    assert (1, "1 tried, 0 processed, 1 left\n") == (code, left)


def test_operators_token_is_signed_with_the_servers_keys(
    served: Served, terminal: Terminal, tmp_path: Path
) -> None:
    signed = terminal.json("admin", "token", f"--data={served.data}", who="")
    served.tokens["signed"] = signed["token"]

    assert 0 == terminal.json("admin", "audit", who="signed")["drift"]
    code, out, err = terminal.run("admin", "token", f"--data={tmp_path}", who="")
    assert (2, "") == (code, out)
    assert "can't use the keys" in err


@pytest.mark.timeout(120)
def test_operators_see_that_nothing_stands_out(terminal: Terminal) -> None:
    assert {"signals": []} == terminal.json("admin", "signals", who="operator")
    code, out, _ = terminal.run("admin", "signals", "--games", "5", who="operator")

    assert (0, "nothing stands out\n") == (code, out)


@pytest.mark.parametrize(
    ("arguments", "who", "words"),
    [
        (["profile"], "", "no token: set OPOLYX_TOKEN, or give --token"),
        (["profile", "--token=a b"], "", "what was given as the token is no JWT"),
        (["profile", "--token=abc"], "", "TOKEN"),
        (["profile", "--server=127.0.0.1:1"], "ada", "no answer from 127.0.0.1:1"),
        (["profile", "--ca=/no/such/file"], "ada", "can't read /no/such/file"),
        (["profile", "p" * 65], "ada", "player_id"),
        (["leaderboard", "--bots"], "ada", "name a mode"),
        (["leaderboard", "--me", "--around=p_x"], "ada", "give one of them"),
        (["leaderboard", "--around=p_x"], "ada", "p_x is not on this leaderboard"),
        (["bot", "run", "opolyx_sdk:RandomBot"], "operator", "plays no games: unset OPOLYX_TOKEN"),
        (["admin", "audit"], "ada", "player may not"),
        (["admin", "signals"], "ada", "player may not"),
        (["admin", "dead-letters", "--retry"], "ada", "player may not"),
        (["admin", "vip", "p_x", "--reason="], "operator", "reason"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else None,
)
def test_what_is_wrong_is_said_in_one_line(
    terminal: Terminal, arguments: list[str], who: str, words: str
) -> None:
    code, out, err = terminal.run(*arguments, who=who)

    assert (2, "") == (code, out)
    assert words in err
    assert 1 == len(err.splitlines())
    assert err.startswith("opolyx: ")
