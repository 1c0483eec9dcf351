"""Takes the pictures of the terminal client in docs/images: plays, and writes what is on the screen."""

import argparse
import asyncio
import re
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any, Final, cast

from rich.cells import cell_len
from rich.segment import Segment
from textual.app import App
from textual.pilot import Pilot

from opolyx_sdk import AsyncClient, Decision, RoomOptions, SteadyBot
from opolyx_sdk.enums import Phase
from opolyx_sdk.local import TableOptions, simulate
from opolyx_sdk.local.replay_run import ReplayRun
from opolyx_sdk.terminal.app import Plan, TableApp
from opolyx_sdk.terminal.exports.svg import element, safe
from opolyx_sdk.terminal.lobby.wish import Wish
from opolyx_sdk.terminal.replays.screen import ReplayApp
from opolyx_sdk.terminal.scene import Scene
from opolyx_sdk.terminal.table_screen import TableScreen
from opolyx_sdk.terminal.tape import Tape
from opolyx_server.embedded import EmbeddedServer

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "support"))

from support_terminal import keys_to, until

FOLDER: Final = Path(__file__).resolve().parents[1] / "docs" / "images"

_COLUMN: Final = 8
_LINE: Final = 17
_FONT: Final = "DejaVu Sans Mono, Menlo, Consolas, Noto Sans Mono CJK TC, monospace"
_WORDS: Final = re.compile(r"│|[^\s│]+(?: [^\s│]+)*")
"""What is placed by itself, so that a font of another width shifts nothing far."""
_GROUND: Final = "#12161c"
_INK: Final = "#e8e8e8"

Wanted = Callable[[Scene], bool]


def picture(app: App[Any]) -> str:
    """What is on the screen, as a small SVG: a rectangle for each ground, a text for each run."""
    strips = app.screen._compositor.render_strips(app.size)
    width, height = app.size.width * _COLUMN + 16, app.size.height * _LINE + 12
    parts = [element("rect", width=width, height=height, rx=6, fill=_GROUND)]
    for row, strip in enumerate(strips):
        parts += _line(strip, row * _LINE + 6)
    return element(
        "svg",
        "\n".join(["", *parts, ""]),
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {width} {height}",
        font_family=_FONT,
        font_size=13.3,
        fill=_INK,
        **{"xml:space": "preserve"},
    )


def _line(segments: Iterable[Segment], y: int) -> Iterator[str]:
    x = 8
    for segment in Segment.simplify(segments):
        wide = segment.cell_length * _COLUMN
        style = segment.style
        ink = style.color.get_truecolor().hex if style and style.color else _INK
        ground = style.bgcolor.get_truecolor().hex if style and style.bgcolor else _GROUND
        if style and style.reverse:
            ink, ground = ground, ink
        if ground not in (_GROUND, "#000000"):
            yield element("rect", x=x, y=y, width=wide, height=_LINE, fill=ground)
        looks: dict[str, object] = {} if ink == _INK else {"fill": ink}
        if style and style.bold:
            looks["font_weight"] = "bold"
        if style and style.italic:
            looks["font_style"] = "italic"
        if style and style.dim:
            looks["opacity"] = "0.65"
        for found in _WORDS.finditer(segment.text):
            start = x + _COLUMN * cell_len(segment.text[: found.start()])
            yield element("text", safe(found.group()), x=start, y=y + 13, **looks)
        x += wide


async def at_the_table(
    name: str,
    *,
    wanted: Wanted,
    keys: tuple[str, ...] = (),
    ruleset: str = "classic@full",
    language: str = "en",
    size: tuple[int, int] = (80, 24),
    seats: int = 4,
) -> None:
    """Play by keys until the screen is `wanted`, press further keys, and take the picture."""
    plan = Plan(name="Ada", wish=Wish(ruleset, seats), options=RoomOptions(), own_server=True)
    with tempfile.TemporaryDirectory() as folder:
        async with (
            EmbeddedServer(Path(folder), seed="pictures") as server,
            AsyncClient(server.address) as client,
        ):
            app = TableApp(client, plan, language=language)
            async with app.run_test(size=size) as pilot:
                await until(pilot, lambda: isinstance(app.screen, TableScreen))
                await _play(pilot, cast(TableScreen, app.screen), wanted)
                for key in keys:
                    await pilot.press(key)
                await asyncio.sleep(1.0)  # what the server is asked for
                await pilot.pause()
                _write(name, app)


async def _play(pilot: Pilot[Any], table: TableScreen, wanted: Wanted) -> None:
    bot = SteadyBot(reserve=800)

    def asked() -> bool:
        scene = table.feed.scene
        return scene is not None and bool(scene.hand.decisions) and not table.feed.acting

    while True:
        await until(pilot, asked)
        scene = cast(Scene, table.feed.scene)
        if wanted(scene):
            return
        decision = scene.hand.decisions[0]
        view = scene.moment.view
        await pilot.press(*keys_to(bot.decide(view, decision), decision, view))
        await until(pilot, partial(_answered, scene, decision))


def _answered(scene: Scene, decision: Decision) -> bool:
    return decision not in scene.hand.decisions


async def of_a_replay(name: str, keys: tuple[str, ...]) -> None:
    """Take a picture of a replay after some keys."""
    names = ("Ada", "Bruno", "Chandra", "Dewi")
    bots = ("steady", "trader", "random", "steady")
    record = simulate("classic@full", bots, seed=3, options=TableOptions(names=names))
    run = ReplayRun(record.as_replay())
    app = ReplayApp(Tape(run.info, run.updates()))
    async with app.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        for key in keys:
            await pilot.press(key)
        await pilot.pause()
        _write(name, app)


async def of_a_room(name: str) -> None:
    """Take a picture of a room that fills."""
    with tempfile.TemporaryDirectory() as folder:
        async with (
            EmbeddedServer(Path(folder), seed="pictures") as server,
            AsyncClient(server.address) as client,
        ):
            app = TableApp(client, Plan(name="Ada"))
            async with app.run_test(size=(80, 24)) as pilot:
                for key in ("2", "b", "b"):
                    await asyncio.sleep(1.0)
                    await pilot.press(key)
                await asyncio.sleep(1.0)
                await pilot.pause()
                _write(name, app)


def _write(name: str, app: App[Any]) -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    file = FOLDER / f"{name}.svg"
    file.write_text(f"{picture(app)}\n", encoding="utf-8")
    print(f"{file.relative_to(FOLDER.parents[1])}: {file.stat().st_size // 1024} KiB")


def _turn(number: int, phase: Phase = Phase.ROLL) -> Wanted:
    """From a round on, one's own decision of a phase."""

    def wanted(scene: Scene) -> bool:
        decision = scene.hand.decision
        late = scene.moment.view.turn.round >= number
        return late and decision is not None and decision.phase is phase

    return wanted


async def take_all() -> None:
    """Every picture."""
    await at_the_table("terminal-table", wanted=_turn(9))
    await at_the_table("terminal-buy", wanted=_turn(2, Phase.BUY), language="id")
    await at_the_table("terminal-auction", wanted=_turn(1, Phase.AUCTION), language="hi")
    trade = ("t", "5", "0", "0", "right", "down", "space")
    await at_the_table("terminal-trade", wanted=_turn(7), keys=trade)
    await at_the_table(
        "terminal-large",
        wanted=_turn(12),
        ruleset="fortune@full",
        language="zh-Hant",
        size=(132, 43),
    )
    await of_a_room("terminal-room")
    await of_a_replay("terminal-replay", ("end",))
    await of_a_replay("terminal-chart", ("end", "c"))


def main() -> None:
    """Take the pictures."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    asyncio.run(take_all())


if __name__ == "__main__":
    main()
