"""Finished games: the stored form, and what can't be awarded."""

from dataclasses import replace

import pytest

from opolyx_progression.games import FinishedGame
from support_progression import bot, duel, finished_game, person


def test_stored_form_reads_back_the_same() -> None:
    game = finished_game(
        person("p_a", 1, survived=True, full_groups=3), bot("b_a", 2), bot("", 3), game_id="g東"
    )

    assert game == FinishedGame.from_json(game.to_json())


def test_unknown_stored_form_is_refused() -> None:
    text = duel("g1", "p_a", "p_b").to_json().replace('"form":1', '"form":9')

    with pytest.raises(ValueError, match="unknown form"):
        FinishedGame.from_json(text)


GAME = duel("g1", "p_a", "p_b")


@pytest.mark.parametrize(
    ("game", "problem"),
    [
        (replace(GAME, game_id=""), "game_id"),
        (replace(GAME, ruleset="classic"), "mode@edition"),
        (replace(GAME, round=0), "round 0"),
        (replace(GAME, places=1), "1 places"),
        (replace(GAME, places=3), "3 places"),
        (replace(GAME, seats=GAME.seats[:1]), "1 seats"),
        (replace(GAME, seats=GAME.seats[::-1]), "numbered"),
        (finished_game(person("p_a", 2), person("p_b", 2)), "nobody has place 1"),
        (finished_game(person("p_a", 1), person("p_b", 3)), "seat 1 has place 3"),
        (finished_game(person("p_a", 1), person("p_a", 2)), "two seats"),
        (finished_game(person("p_a", 1), person("", 2)), "seat 1 has no player_id"),
        (finished_game(person("p_a", 1), person("p_b", 2, full_groups=-1)), "-1 full groups"),
        (finished_game(person("p_a", 1), person("p_b", 2, full_groups=9)), "9 full groups"),
        (replace(GAME, ended_unix_ms=-1), "year 1970"),
        (replace(GAME, ended_unix_ms=1 << 62), "year 9999"),
        (replace(GAME, game_id="g" * 65), "game_id is over 64"),
        (replace(GAME, ruleset="m@" + "e" * 63), "ruleset is over 64"),
        (duel("g1", "p" * 65, "p_b"), "player_id of seat 0 is over 64"),
        (replace(GAME, seats=(replace(GAME.seats[0], name="n" * 65), GAME.seats[1])), "name of"),
    ],
)
def test_impossible_result_is_refused(game: FinishedGame, problem: str) -> None:
    with pytest.raises(ValueError, match=problem):
        game.check()
