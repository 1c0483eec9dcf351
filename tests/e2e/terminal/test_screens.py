"""Keys, clicks and dialogs on the real screens, against scripted games."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from textual.pilot import Pilot

from opolyx_sdk import AsyncClient, TradeTemplate
from opolyx_sdk.actions import Buy, DeclinePurchase, ProposeTrade, Roll
from opolyx_sdk.cli import main
from opolyx_sdk.decisions import PartnerSquares
from opolyx_sdk.enums import Phase, RefusalReason
from opolyx_sdk.local import TableOptions, simulate
from opolyx_sdk.local.replay_run import ReplayRun
from opolyx_sdk.terminal.app import Plan, TableApp
from opolyx_sdk.terminal.replays.screen import ReplayApp
from opolyx_sdk.terminal.tape import Tape
from opolyx_sdk.testing import (
    Accept,
    Refuse,
    ScriptedGame,
    ScriptedServer,
    awaited,
    with_property,
)
from support_terminal import text_of, until

TEMPLATE = TradeTemplate((1,), (1,), (PartnerSquares(1, (5,), 900, ally=False),), 1_500, 4_000, 2)


async def at_the_table(
    play: Callable[[TableApp, Pilot[str], ScriptedGame], object], width: int = 80
) -> None:
    """Let `play` happen to somebody who sits at a scripted game."""
    with ScriptedServer() as server:
        game = server.game("g1", seats=("Ada", "Bruno"))
        server.answer("GetCurrentGame", game_id="g1", seat=0)
        server.answer("CheckTrade", allowed=True, give_value=600, want_value=2_000)
        async with AsyncClient(server.address) as client:
            app = TableApp(client, Plan(name="Ada"), clock=lambda: 0.0)
            async with app.run_test(size=(width, 24)) as pilot:
                await until(pilot, lambda: "[r] Roll" in text_of(app))
                await play(app, pilot, game)  # type: ignore[misc]


async def test_a_refusal_is_shown_and_the_next_try_counts() -> None:
    async def play(app: TableApp, pilot: Pilot[str], game: ScriptedGame) -> None:
        game.answer_next(Refuse(RefusalReason.NOT_ENOUGH_CASH), Accept())
        await pilot.press("r")
        await until(pilot, lambda: "enough cash" in text_of(app))
        await pilot.press("enter")
        await until(pilot, lambda: len(game.commands) == 2)
        assert [Roll(), Roll()] == [one.action for one in game.commands]

    await at_the_table(play)


async def test_a_click_takes_an_entry_and_looks_at_a_square() -> None:
    async def play(app: TableApp, pilot: Pilot[str], game: ScriptedGame) -> None:
        game.update(awaits=[awaited(0, Phase.BUY, Buy(), DeclinePurchase())])
        await until(pilot, lambda: "[d] Leave" in text_of(app))
        await pilot.click(offset=(12, 2))
        await until(pilot, lambda: "E21 Lantern Alley: Free for 2,200k" in flat(app))
        lines = text_of(app).splitlines()
        y = next(y for y, line in enumerate(lines) if "[d] Leave" in line)
        await pilot.click(offset=(3, y))
        await until(pilot, lambda: bool(game.commands))
        assert DeclinePurchase() == game.commands[0].action

    await at_the_table(play)


async def test_a_trade_is_judged_while_it_is_made_and_then_offered() -> None:
    async def play(app: TableApp, pilot: Pilot[str], game: ScriptedGame) -> None:
        view = with_property(with_property(game.view, 1, owner=0), 5, owner=1)
        game.update(view=view, awaits=[awaited(0, Phase.ROLL, Roll(), trade_template=TEMPLATE)])
        await until(pilot, lambda: "[t] Trade" in text_of(app))
        await pilot.press("t", "down", "space", "right", "space")
        await until(pilot, lambda: "Worth 600k against 2,000k: Fair enough" in text_of(app))
        await pilot.press("enter")
        await until(pilot, lambda: bool(game.commands))
        assert ProposeTrade(1, 0, (1,), 0, (5,)) == game.commands[0].action

    await at_the_table(play)


async def test_reading_and_another_language_leave_the_game_alone() -> None:
    async def play(app: TableApp, pilot: Pilot[str], game: ScriptedGame) -> None:
        for key, words in (("question_mark", "Help"), ("l", "What happened"), ("a", "What ● Ada")):
            await pilot.press(key)
            await until(pilot, lambda words=words: words in text_of(app))  # type: ignore[misc]
            await pilot.press("escape")
        await pilot.press("n", "2")
        await until(pilot, lambda: "Lempar dadu" in text_of(app))
        await pilot.resize_terminal(70, 24)
        await until(pilot, lambda: "80" in text_of(app))
        await pilot.resize_terminal(120, 40)
        await until(pilot, lambda: "Pasar Safron" in text_of(app))
        assert not game.commands

    await at_the_table(play)


async def test_a_game_that_the_server_voids_says_so() -> None:
    async def play(app: TableApp, pilot: Pilot[str], game: ScriptedGame) -> None:
        game.void()
        await until(pilot, lambda: "ended without a result" in text_of(app))

    await at_the_table(play)


async def test_a_replay_is_wound_and_written_down_by_keys(tmp_path: Path) -> None:
    options = TableOptions(house={"round_cap": 5})
    run = ReplayRun(simulate("classic@full", ["steady"] * 3, seed=2, options=options).as_replay())
    tape, now = Tape(run.info, run.updates()), [0.0]
    app = ReplayApp(tape, folder=tmp_path, clock=lambda: now[0])
    async with app.run_test(size=(80, 24)) as pilot:
        await until(pilot, lambda: f"Step 0 of {tape.last}, round 1 of 5" in text_of(app))
        await pilot.press("right", "right")
        await until(pilot, lambda: "Step 2 of" in text_of(app))
        await pilot.press("j", "4", "enter")
        await until(pilot, lambda: "round 4 of 5" in text_of(app))
        await pilot.press("space")
        now[0] = 2.0
        await until(pilot, lambda: f"Step {tape.start_of(4) + 4} of" in text_of(app))
        await pilot.press("c")
        await until(pilot, lambda: "Net worth over the rounds" in text_of(app))
        await pilot.press("c")
        for form in "1234":
            await pilot.press("x", form)
            await until(pilot, lambda: "Saved " in text_of(app))
        await pilot.press("q")
    assert 4 == len(os.listdir(tmp_path))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["play"], "play needs a terminal"),
        (["replay", "gone.jsonl"], "can't read gone.jsonl"),
        (["play", "--lang=xx"], "no texts in 'xx'"),
    ],
)
def test_commands_say_what_can_not_be(
    arguments: list[str], words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(arguments)

    assert 2 == ended.value.code
    assert words in capsys.readouterr().err


@pytest.mark.parametrize("form", ["text", "json", "chart", "board"])
def test_a_replay_is_written_down_without_a_terminal(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = TableOptions(house={"round_cap": 2})
    file, out = tmp_path / "game.jsonl", tmp_path / "out"
    simulate("classic@full", ["steady"] * 2, options=options).save(file)
    for arguments in ([f"--form={form}"], [f"--form={form}", f"--out={out}"]):
        with pytest.raises(SystemExit) as ended:
            main(["replay", str(file), "--lang=en", *arguments])
        assert 0 == ended.value.code

    assert capsys.readouterr().out == out.read_text("utf-8")


def flat(app: TableApp) -> str:
    """What is within the ring, in one line."""
    inner = [line.split("│")[2] for line in text_of(app).splitlines()[4:13]]
    return " ".join(" ".join(inner).split())
