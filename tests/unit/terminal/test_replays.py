"""Replays: wound by keys, played at a speed, written down."""

import json
from functools import cache
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from rich.cells import cell_len

from opolyx_sdk.errors import ReplayError
from opolyx_sdk.local import GameRecord, TableOptions, simulate
from opolyx_sdk.local.replay_run import ReplayRun
from opolyx_sdk.messages import LANGUAGES
from opolyx_sdk.terminal.chart import draw_chart, nice_ceiling
from opolyx_sdk.terminal.dialogs.dialog import Do, Open
from opolyx_sdk.terminal.exports.write import form_of, write_form
from opolyx_sdk.terminal.replays.playback import Playback
from opolyx_sdk.terminal.replays.scene import ReplayScene
from opolyx_sdk.terminal.tape import Tape
from opolyx_sdk.terminal.worths import Worths
from opolyx_sdk.text import Table

NAMES = ("Ada", "<Bruno & Co>", "陳大文")
FORMS = ("text", "json", "chart", "board")


@cache
def record() -> GameRecord:
    options = TableOptions(names=NAMES, house={"round_cap": 9})
    return simulate("fortune@full", ["steady", "random", "trader"], seed=4, options=options)


@cache
def tape() -> Tape:
    run = ReplayRun(record().as_replay())
    return Tape(run.info, run.updates())


def table(language: str = "en") -> Table:
    return Table(NAMES, "fortune@full", language)


def test_a_replay_gives_every_update_as_it_was_seen() -> None:
    updates = tape().updates

    assert [update.seq for update in updates] == list(range(len(record().steps) + 1))
    assert updates[-1].view.result == record().result
    assert [update.at_unix_ms for update in updates[1:]] == [at for at, _ in record().steps]


def test_a_replay_that_was_changed_is_not_shown() -> None:
    data = record().as_replay().replace(b'"at_unix_ms":', b'"at_unix_ms":1', 1)

    with pytest.raises(ReplayError, match="can't be trusted"):
        ReplayRun(data)


def test_rounds_begin_where_the_tape_says() -> None:
    found = tape()

    assert found.rounds == 9
    for number in range(1, 10):
        start = found.start_of(number)
        assert number == found.updates[start].view.turn.round
        assert number == found.round_at(start)
        assert start == 0 or number == found.updates[start - 1].view.turn.round + 1
    assert 0 == found.start_of(-3)
    assert found.start_of(9) == found.start_of(99)


def test_keys_wind_the_tape() -> None:
    playback, last = Playback(tape()), tape().last

    def at(key: str) -> int:
        assert playback.press(key, 0.0)
        return playback.at

    assert [1, 2, 1] == [at("right"), at("right"), at("left")]
    assert tape().start_of(2) == at("down")
    assert [tape().start_of(3), tape().start_of(2), 0] == [at("down"), at("up"), at("up")]
    assert [0, last, last] == [at("left"), at("end"), at("right")]
    assert [tape().start_of(9), 0] == [at("up"), at("home")]
    assert not playback.press("x", 0.0)


def test_a_replay_counts_down_no_clock_of_then() -> None:
    head = ReplayScene(Playback(tape()), "en").paint(80, 24, 0.0).lines[0].plain

    assert head.rstrip().endswith(("Ada", "<Bruno & Co>", "陳大文"))


def test_playing_goes_on_with_the_clock_it_is_given() -> None:
    playback = Playback(tape())
    playback.press("space", 100.0)

    assert not playback.tick(100.4)
    assert playback.tick(101.0)
    assert 2 == playback.at
    playback.press("+", 101.0)
    playback.tick(102.0)
    assert 6 == playback.at
    playback.press("space", 102.0)
    assert not playback.tick(200.0)


def test_playing_stops_at_the_end() -> None:
    playback = Playback(tape())
    playback.press("space", 0.0)
    playback.tick(1e6)

    assert playback.at == tape().last
    assert not playback.playing
    playback.press("space", 0.0)
    assert not playback.playing


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_replay_fits_on_the_screen_at_every_step(language: str) -> None:
    scene = ReplayScene(Playback(tape()), language)
    for step in range(0, tape().last, 37):
        scene.playback.go(step)
        scene.wind()
        lines = scene.paint(80, 24, 0.0).lines
        assert 24 == len(lines)
        assert all(line.cell_len <= 80 for line in lines)
        assert "screen." not in "".join(line.plain for line in lines)


def test_a_round_is_jumped_to_by_its_number() -> None:
    scene = ReplayScene(Playback(tape()), "en")
    opened = scene.press_at("j", 0.0)
    assert isinstance(opened, Open)

    assert opened.dialog.press("enter") is None
    for key in "7x":
        assert opened.dialog.press(key) is None
    assert Do("jump:7") == opened.dialog.press("enter")


def test_the_chart_has_every_seat_and_ends_where_the_game_did() -> None:
    lines = draw_chart(tape().worths, table(), 70, 14)
    shown = "\n".join(line.plain for line in lines)

    assert all(shape in shown for shape in "●■▲")
    assert all(name in shown for name in NAMES)
    assert all(cell_len(line.plain) <= 70 for line in lines)
    assert dict(tape().worths.of(0))[9] == record().net_worth[0]


def test_a_chart_of_one_round_says_that_it_is_too_early() -> None:
    worths = Worths()
    worths.add(tape().updates[0].view)

    assert ["There is not enough to draw yet"] == [
        line.plain for line in draw_chart(worths, table(), 70, 14)
    ]


@pytest.mark.parametrize(
    ("amount", "ceiling"), [(1, 4), (5, 8), (15_000, 20_000), (79_070, 80_000)]
)
def test_the_scale_ends_with_a_round_number(amount: int, ceiling: int) -> None:
    assert ceiling == nice_ceiling(amount)


def test_the_text_tells_every_round_and_the_places() -> None:
    lines = form_of("text", tape(), 0, table()).splitlines()

    assert [f"round {number}" for number in range(1, 10)] == [
        line for line in lines if line.startswith("round ")
    ]
    winner = record().places.index(1)
    assert f"1. {NAMES[winner]}: {table().money(record().net_worth[winner])}" in lines


def test_the_json_has_what_the_record_has() -> None:
    found: dict[str, Any] = json.loads(form_of("json", tape(), 0, table("zh-Hant")))

    assert tuple(seat["net_worth"] for seat in found["seats"]) == record().net_worth
    assert tuple(seat["place"] for seat in found["seats"]) == record().places
    assert [one["round"] for one in found["rounds"]] == list(range(1, 10))
    assert found["rounds"][-1]["net_worth"] == list(record().net_worth)
    assert len(found["updates"]) == tape().last + 1
    assert 28 == len(found["board"])


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("form", ["chart", "board"])
def test_pictures_are_whole_xml_whatever_names_are(form: str, language: str) -> None:
    svg = ElementTree.fromstring(form_of(form, tape(), tape().last, table(language)))
    texts = " ".join(element.text or "" for element in svg.iter())

    assert svg.tag.endswith("svg")
    assert all(name in texts for name in NAMES)


def test_each_form_has_a_file_of_its_own(tmp_path: Path) -> None:
    files = {write_form(form, tape(), 3, table(), tmp_path) for form in FORMS}

    assert len(FORMS) == len(files)
    assert all(file.parent == tmp_path for file in files)
    with pytest.raises(OSError, match="No such file"):
        write_form("text", tape(), 0, table(), tmp_path / "gone")
