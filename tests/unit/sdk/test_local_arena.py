"""The arena: fair seats, the same games everywhere, honest numbers, failures shown."""

import json
import math
import multiprocessing
import os
import random
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

import pytest

from opolyx_sdk import Bot, BotError, OpolyxError, SteadyBot
from opolyx_sdk.cli import main
from opolyx_sdk.local import TableOptions, arena, arena_plan, simulate
from opolyx_sdk.local._thinking import ThinkingTime
from opolyx_sdk.local.arena import ArenaPlan, ArenaResult, play_games, run_arena
from opolyx_sdk.local.arena_plot import average_win_rate, save_plot
from opolyx_sdk.local.ratings import rate
from opolyx_sdk.local.standings import GameRow, SeatRow, standings, wilson
from opolyx_sdk.local.verify import verify_file

FOUR = ("opolyx_sdk:SteadyBot", "steady", "steady", "random")


def quick(*entrants: str, games: int = 6, **more: object) -> ArenaPlan:
    options: dict[str, object] = {"ruleset": "blitz@full", "round_cap": 6, "seed": "s", **more}
    return ArenaPlan(entrants, games=games, **options)  # type: ignore[arg-type]


def without_times(result: ArenaResult) -> tuple[object, ...]:
    lines = [
        (
            line.name,
            line.games,
            line.wins,
            line.win_rate,
            line.mean_place,
            line.rating,
            line.decisions,
            line.refusals,
            line.failures,
            line.fallbacks,
            line.mean_net_worth,
        )
        for line in result.standings
    ]
    games = [
        (
            row.number,
            row.game_id,
            row.digest,
            row.rounds,
            row.actions,
            [(seat.entrant, seat.place, seat.net_worth) for seat in row.seats],
        )
        for row in result.games
    ]
    return lines, games, result.digest


@pytest.mark.timeout(120)
def test_the_result_is_the_same_with_one_and_with_two_processes(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "two").mkdir()
    seen: list[int] = []
    one = run_arena(quick(*FOUR, replays=tmp_path / "one"))
    two = run_arena(
        quick(*FOUR, replays=tmp_path / "two"),
        workers=2,
        on_game=lambda row: seen.append(row.number),
    )

    assert without_times(one) == without_times(two)
    assert [0, 1, 2, 3, 4, 5] == sorted(seen)
    for number in range(6):
        first, second = (tmp_path / name / f"game-{number:05}.jsonl" for name in ("one", "two"))
        assert first.read_bytes() == second.read_bytes()
        assert verify_file(first).fair


def test_a_run_that_is_over_at_once_starts_no_process(monkeypatch: pytest.MonkeyPatch) -> None:
    def start(*_: object, **__: object) -> NoReturn:
        raise AssertionError("a process was started")

    monkeypatch.setattr(arena, "play_in_processes", start)
    monkeypatch.setattr(arena, "_cores", lambda: 2)

    assert 6 == len(run_arena(quick(*FOUR), workers=None).games)


@pytest.mark.timeout(120)
def test_a_run_that_proves_long_goes_on_in_processes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arena, "_cores", lambda: 2)
    monkeypatch.setattr(arena, "_TRIAL_S", 0.0)
    monkeypatch.setattr(arena, "_WORTH_S", 0.0)
    one = run_arena(quick(*FOUR))
    started: list[int] = []
    many = run_arena(
        quick(*FOUR),
        workers=None,
        on_game=lambda _: started.append(len(multiprocessing.active_children())),
    )

    assert without_times(one) == without_times(many)
    assert 0 == started[0]
    assert 2 == max(started)


def test_a_game_of_the_arena_is_that_of_the_simulator() -> None:

    plan = quick(*FOUR)
    (row,) = [row for row in run_arena(plan).games if row.number == 2]
    bots: list[Bot | str] = [
        SteadyBot() if seat.entrant == 0 else FOUR[seat.entrant] for seat in row.seats
    ]
    names = tuple(plan.names[seat.entrant] for seat in row.seats)
    record = simulate(
        "blitz@full",
        bots,
        "s",
        number=2,
        options=TableOptions(names=names, house={"round_cap": 6}),
    )

    assert record.digest == row.digest
    assert record.places == tuple(seat.place for seat in row.seats)


@pytest.mark.parametrize(
    ("entrants", "seats", "games"), [(2, 2, 2), (3, 3, 6), (4, 4, 24), (3, 2, 6), (5, 4, 120)]
)
def test_every_seating_is_played_as_often(entrants: int, seats: int, games: int) -> None:
    plan = ArenaPlan(("steady",) * entrants, seats=seats)
    seatings = Counter(plan.seating(number) for number in range(games))

    assert games == len(seatings) == math.perm(entrants, seats)
    for number in range(0, games, seats * math.comb(entrants, seats)):
        block = [plan.seating(number + more) for more in range(seats * math.comb(entrants, seats))]
        for seat in range(seats):
            sat = Counter(seating[seat] for seating in block)
            assert 1 == len(set(sat.values()))
            assert entrants == len(sat)


@pytest.mark.parametrize(
    ("entrants", "seats", "apart"), [(8, 4, 0.2), (10, 6, 0.2), (12, 2, 0.2), (100, 6, 0.7)]
)
def test_after_few_games_all_have_played_and_sat_about_as_often(
    entrants: int, seats: int, apart: float
) -> None:
    plan = ArenaPlan(("steady",) * entrants, seats=seats)
    games = 20 * entrants
    seatings = [plan.seating(number) for number in range(games)]
    fair = games * seats / entrants

    played = Counter(entrant for seating in seatings for entrant in seating)
    assert entrants == len(played)
    assert max(played.values()) - min(played.values()) <= apart * fair
    for seat in range(seats):
        sat = Counter(seating[seat] for seating in seatings)
        assert max(sat.values()) <= 2 * fair / seats


def test_names_tell_entrants_apart() -> None:
    plan = ArenaPlan(("a.b:Mine", "steady", "a.b:Mine", "c:Mine", "steady"))

    assert ("Mine", "steady", "Mine 2", "Mine 3", "steady 2") == plan.names


def test_the_table_is_as_large_as_the_entrants_allow() -> None:
    assert 2 == ArenaPlan(("steady",) * 2).table_size
    assert 6 == ArenaPlan(("steady",) * 9).table_size
    assert 4 == ArenaPlan(("steady",) * 5, ruleset="team@full").table_size
    assert 3 == ArenaPlan(("steady",) * 5, seats=3).table_size


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (quick(), "at least two bots to play each other; nobody was named"),
        (quick("steady"), "at least two bots to play each other; steady was named"),
        (quick("steady", "steady", seats=4), "4 seats for 2 entrants"),
        (quick("steady", "steady", ruleset="x@y"), "no ruleset 'x@y'"),
        (quick("steady", "steady", games=0), "0 games"),
        (quick("steady", "steady", budget_s=0.0), "no time to think"),
        (quick("steady", "steady", round_cap=0), "round_cap must be from 1"),
    ],
)
def test_a_plan_that_can_not_be_played_is_said(plan: ArenaPlan, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        run_arena(plan)


@pytest.mark.parametrize("name", ["clever", "opolyx_sdk:Nobody", "nowhere:Bot"])
def test_an_entrant_that_is_not_there_is_said(name: str) -> None:
    with pytest.raises(OpolyxError):
        run_arena(quick(name, "steady"))


BROKEN = """
import os
from opolyx_sdk import Bot, SteadyBot

class Broken(Bot):
    def decide(self, view, decision):
        raise RuntimeError("no idea")

class Leaver(Bot):
    def decide(self, view, decision):
        os._exit(7)

class Printer(SteadyBot):
    def decide(self, view, decision):
        print("what I think")
        return super().decide(view, decision)

class Forker(SteadyBot):
    forked = False

    def decide(self, view, decision):
        if not Forker.forked:
            Forker.forked = True
            child = os.fork()
            if child:
                os.waitpid(child, 0)
        return super().decide(view, decision)

class Moody(SteadyBot):
    made = 0

    def __init__(self):
        super().__init__()
        Moody.made += 1
        if Moody.made > 3:
            raise RuntimeError("not again")
"""


@pytest.fixture
def broken(tmp_path: Path) -> Iterator[str]:
    (tmp_path / "broken_of_an_arena.py").write_text(BROKEN)
    yield f"{tmp_path}/broken_of_an_arena.py"
    sys.modules.pop("broken_of_an_arena", None)


def test_a_bot_that_raises_is_shown_and_the_games_go_on(broken: str) -> None:
    result = run_arena(quick(f"{broken}:Broken", "steady", games=2))

    line = next(one for one in result.standings if one.name == "Broken")
    assert 2 == line.games
    assert line.decisions == line.failures == line.fallbacks > 0
    assert "RuntimeError: no idea" in line.notes[0]


def test_strict_stops_the_arena(broken: str) -> None:
    with pytest.raises(BotError, match="no idea"):
        run_arena(quick(f"{broken}:Broken", "steady", strict=True))


@pytest.mark.timeout(120)
def test_failures_in_other_processes_arrive(broken: str) -> None:
    with pytest.raises(BotError, match="no idea"):
        run_arena(quick(f"{broken}:Broken", "steady", strict=True), workers=2)
    with pytest.raises(BotError, match="ended, with exit code 7"):
        run_arena(quick(f"{broken}:Leaver", "steady"), workers=2)


@pytest.mark.timeout(120)
def test_stopping_leaves_no_process_behind() -> None:
    games = play_games(quick(*FOUR, games=50), workers=2)
    next(games)
    assert 2 == len(multiprocessing.active_children())
    games.close()

    assert [] == multiprocessing.active_children()


def rows(places: list[tuple[int, ...]]) -> list[GameRow]:
    return [
        GameRow(
            number,
            "g",
            tuple(SeatRow(entrant, place, 1000) for entrant, place in enumerate(line)),
            1,
            1,
            "d",
        )
        for number, line in enumerate(places)
    ]


def test_the_better_player_is_rated_higher_and_surer_with_more_games() -> None:
    luck = random.Random(4)

    def games(count: int) -> list[GameRow]:
        return rows([(1, 2) if luck.random() < 0.75 else (2, 1) for _ in range(count)])

    few, many = standings(("good", "bad"), games(20)), standings(("good", "bad"), games(400))

    assert ["good", "bad"] == [line.name for line in many]
    assert many[0].rating.low > many[1].rating.high
    for one, other in zip(few, many, strict=True):
        assert other.rating.high - other.rating.low < one.rating.high - one.rating.low
        assert one.rating.low < one.rating.value < one.rating.high
    assert 280 / 400 == many[0].win_rate.value
    assert 520 / 400 == many[0].mean_place


def test_nobody_is_rated_before_the_first_game() -> None:
    for line in standings(("one", "two"), []):
        assert (0, 0, 1000.0) == (line.games, line.wins, line.rating.value)
        assert (0.0, 1.0) == (line.win_rate.low, line.win_rate.high)


def test_who_shares_a_place_is_rated_alike() -> None:
    (game,) = rows([(1, 2, 1, 2)])
    ratings = {line.name: line.rating.value for line in standings("abcd", [game])}

    assert ratings["a"] == ratings["c"] > 1000 > ratings["b"] == ratings["d"]


def test_ratings_find_the_strengths_that_rankings_were_drawn_from() -> None:
    luck, strengths = random.Random(8), [4.0, 2.0, 1.0, 0.125]
    games = [ranking(strengths, luck) for _ in range(4_000)]
    mean = math.prod(strengths) ** 0.25

    for strength, rating in zip(strengths, rate(4, games), strict=True):
        truth = 1000 + 400 * math.log10(strength / mean)
        assert truth == pytest.approx(rating.value, abs=12)
        assert rating.low < truth < rating.high
        assert rating.high - rating.low < 40


def test_the_interval_holds_the_truth_as_often_as_it_says() -> None:
    luck, strengths = random.Random(2), [2.0, 1.0, 0.5]
    held = 0
    for _ in range(60):
        best = rate(3, [ranking(strengths, luck) for _ in range(80)])[0]
        held += best.low <= 1000 + 400 * math.log10(2) <= best.high
    assert 52 <= held <= 60


def test_a_few_games_that_went_alike_make_nobody_sure() -> None:
    for games in (1, 2, 3):
        best, *_, worst = rate(4, [((0, 1), (1, 2), (2, 3), (3, 4))] * games)
        assert best.low < worst.high
    many, other = rate(2, [((0, 1), (1, 2))] * 30)
    assert other.high < 900
    assert many.low > 1100


def test_neither_order_nor_repetition_changes_ratings() -> None:
    luck = random.Random(3)
    games = [ranking([2.0, 1.0, 1.0], luck) for _ in range(50)]

    assert rate(3, games) == rate(3, games)
    assert rate(3, games) == rate(3, games[::-1])


def ranking(strengths: list[float], luck: random.Random) -> tuple[tuple[int, int], ...]:
    """A ranking of Plackett-Luce: who is next is drawn by strength."""
    left, found = list(range(len(strengths))), []
    for place in range(1, len(strengths) + 1):
        (chosen,) = luck.choices(left, [strengths[one] for one in left])
        left.remove(chosen)
        found.append((chosen, place))
    return tuple(found)


@pytest.mark.parametrize(
    ("wins", "games", "low", "high"),
    [
        (0, 10, 0.0, 0.2775),
        (10, 10, 0.7225, 1.0),
        (50, 100, 0.4038, 0.5962),
        (1, 4, 0.0456, 0.6994),
    ],
)
def test_intervals_are_wilsons(wins: int, games: int, low: float, high: float) -> None:
    found = wilson(wins, games)

    assert low == pytest.approx(found.low, abs=5e-5)
    assert high == pytest.approx(found.high, abs=5e-5)


def test_thinking_times_add_up() -> None:
    first, second = ThinkingTime.of([0.001] * 98), ThinkingTime.of([0.5, 0.0])
    first.add(second)

    assert 100 == first.count
    assert pytest.approx(first.mean_s) == 0.00598
    assert pytest.approx(first.percentile_s(0.9), rel=0.025) == 0.001
    assert pytest.approx(first.percentile_s(1.0), rel=0.025) == 0.5
    assert 0 == ThinkingTime().percentile_s(0.99) == ThinkingTime().mean_s


def test_the_command_prints_and_writes_the_result(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    args = ["arena", *FOUR, "--games=4", "--ruleset=blitz@full", "--round-cap=5", "--workers=1"]
    files = [f"--json={tmp_path}/r.json", f"--save-replays={tmp_path}/kept/here"]
    with pytest.raises(SystemExit) as ended:
        main([*args, *files, f"--plot={tmp_path}/r.svg"])
    assert 0 == ended.value.code
    out = capsys.readouterr().out

    document = json.loads((tmp_path / "r.json").read_text())
    assert {"steady", "steady 2", "random", "SteadyBot"} == {
        one["name"] for one in document["entrants"]
    }
    assert 4 == document["games_played"] == len(document["games"])
    assert document["digest"] in out
    assert 4 == len(list((tmp_path / "kept" / "here").iterdir()))
    assert b"<svg" in (tmp_path / "r.svg").read_bytes()
    for one in document["games"]:
        assert sorted(document["games"][0]["seats"]) == sorted(one["seats"])
        assert {1, 2, 3, 4} == set(one["places"])
    with pytest.raises(SystemExit):
        main([*args, "--json=-"])
    again = json.loads(capsys.readouterr().out)
    document.pop("timing"), again.pop("timing")
    assert document == again


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["clever", "steady"], "no built-in bot 'clever'"),
        (["steady"], "name at least two bots"),
        (["steady", "steady", "--plot=x.gif"], "x.gif ends with none of .svg, .png, .pdf"),
        (["steady", "steady", "--json=/nowhere/x.json"], "there is no directory /nowhere"),
        (["steady", "steady", "--json=/"], "can't write /: Is a directory"),
        (["steady", "steady", "--save-replays=/dev/null/x"], "can't make /dev/null/x"),
    ],
)
def test_the_command_says_what_can_not_be(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(["arena", *arguments])

    assert 2 == ended.value.code
    assert words in capsys.readouterr().err


QUICK = ["--games=4", "--ruleset=blitz@full", "--round-cap=2"]


@pytest.mark.timeout(120)
@pytest.mark.parametrize("workers", [1, 2])
def test_what_bots_print_is_not_mixed_with_the_result(
    workers: int, broken: str, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        main(["arena", f"{broken}:Printer", "steady", *QUICK, f"--workers={workers}", "--json=-"])
    said = capfd.readouterr()

    assert 4 == json.loads(said.out)["games_played"]
    assert "what I think" in said.err


@pytest.mark.timeout(120)
@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
@pytest.mark.parametrize("workers", [1, 2])
def test_the_copy_of_a_process_that_a_bot_made_tells_nothing(workers: int, broken: str) -> None:
    plan = quick(f"{broken}:Forker", "steady", games=2)
    numbers = [row.number for row in play_games(plan, workers=workers)]

    assert [0, 1] == sorted(numbers)


@pytest.mark.parametrize(
    ("bot", "more", "words"),
    [
        ("Moody", [], "Moody() failed: RuntimeError: not again"),
        ("Broken", ["--strict"], "no idea"),
    ],
)
def test_a_failure_shows_what_was_played_and_what_failed(
    bot: str, more: list[str], words: str, broken: str, capsys: pytest.CaptureFixture[str]
) -> None:
    arena_plan._maker.cache_clear()
    with pytest.raises(SystemExit) as ended:
        main(["arena", f"{broken}:{bot}", "steady", *QUICK, "--workers=1", *more])
    said = capsys.readouterr()

    assert 2 == ended.value.code
    assert words in said.err
    played = "the first" if bot == "Broken" else "2 of 4 games"
    assert played in said.out


def test_a_replay_that_can_not_be_written_ends_the_arena_with_what_was_played(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "game-00001.jsonl").mkdir()
    with pytest.raises(SystemExit) as ended:
        main(["arena", "steady", "steady", *QUICK, "--workers=1", f"--save-replays={tmp_path}"])
    said = capsys.readouterr()

    assert 2 == ended.value.code
    assert "stopped after 1 of 4 games" in said.out
    assert f"can't write {tmp_path}/game-00001.jsonl: Is a directory" in said.err


def test_ctrl_c_while_the_command_is_loaded_is_no_traceback(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def interrupted(arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("opolyx_sdk.cli.app.main", interrupted)
    with pytest.raises(SystemExit) as ended:
        main([])

    assert 130 == ended.value.code


@pytest.mark.parametrize(
    ("ended_games", "words"),
    [(3, "stopped after 3 of 9 games\n"), (0, "stopped before the first of 9 games ended\n")],
)
def test_an_interrupted_arena_shows_what_was_played(
    ended_games: int,
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    played = arena_plan.play_game

    def interrupted(plan: ArenaPlan, number: int) -> GameRow:
        if number == ended_games:
            raise KeyboardInterrupt
        return played(plan, number)

    monkeypatch.setattr(arena, "play_game", interrupted)
    options = ["--games=9", "--ruleset=blitz@full", "--round-cap=3", "--workers=1"]
    with pytest.raises(SystemExit) as ended:
        main(["arena", "steady", "steady", *options])

    assert 130 == ended.value.code
    out = capsys.readouterr().out
    assert words in out
    assert ("rating" in out) == bool(ended_games)


def test_the_same_result_gives_the_same_picture(tmp_path: Path) -> None:
    result = run_arena(quick("steady", "random", games=2))
    for name in ("a.svg", "b.svg", "c.png"):
        save_plot(result, tmp_path / name)

    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "c.png").read_bytes().startswith(b"\x89PNG")


def test_the_average_that_the_picture_shows_counts_sides() -> None:
    assert 50 == average_win_rate(standings("abcd", rows([(1, 2, 1, 2), (2, 1, 2, 1)])))
    assert 25 == average_win_rate(standings("abcd", rows([(1, 2, 3, 4)])))
    assert 0 == average_win_rate(())
