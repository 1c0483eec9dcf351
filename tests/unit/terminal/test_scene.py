"""What the table shows, and what keys and clicks do there, without a terminal."""

import random
from dataclasses import replace
from functools import cache

import pytest
from rich.cells import cell_len

from opolyx_rules import RULESETS
from opolyx_sdk import Refusal
from opolyx_sdk.actions import Build, Buy, DeclineWager, PayDebt, Roll, Surrender
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import CashCause, GameState, Phase, RefusalReason
from opolyx_sdk.local._local_game import LocalGame
from opolyx_sdk.local.simulator import set_up
from opolyx_sdk.messages import LANGUAGES
from opolyx_sdk.terminal.dialogs.confirm import ConfirmDialog
from opolyx_sdk.terminal.dialogs.dialog import Act, Do, Open
from opolyx_sdk.terminal.dialogs.pick import PickDialog
from opolyx_sdk.terminal.moment import Moment
from opolyx_sdk.terminal.scene import Scene
from opolyx_sdk.testing import opening_view, with_player, with_property, with_turn
from opolyx_sdk.text import refusal_text
from opolyx_sdk.updates import Update
from opolyx_sdk.views import AuctionView, ClaimView, DebtView, GameView

NAMES = ("Ada", "Bruno", "Chandra", "Dewi", "Emeka", "Farida")
SIZES = ((80, 24), (97, 31), (120, 40), (220, 70))


@cache
def midgame(ruleset: str) -> tuple[Moment, tuple[Update, ...]]:
    """A game some way on, and the updates that led there."""
    seats = 6
    game, _ = set_up(ruleset, [""] * seats, NAMES, "scene", 0)
    rng, updates = random.Random(5), []
    for _ in range(250):
        seat, offer = game.asked()
        play(game, rng)
        updates.append(game.update())
        assert seat >= 0
        assert offer is None
    return Moment(game.info(0), game.view, game.decisions()), tuple(updates)


def play(game: LocalGame, rng: random.Random) -> None:
    """Anything."""
    from opolyx_rules.engine import legal_actions
    from opolyx_rules.queries import awaited_seat

    game.act(rng.choice(legal_actions(game.state, awaited_seat(game.state))))


def decision(phase: Phase, *actions: object, seat: int = 0, owed: int = 0) -> Decision:
    return Decision(
        decision_id=f"d{phase}",
        seat=seat,
        phase=phase,
        deadline_unix_ms=100_000,
        legal_actions=actions,  # type: ignore[arg-type]
        trade_template=None,
        offer_id=0,
        amount_owed=owed,
    )


def scene_of(view: GameView, *decisions: Decision, seat: int | None = 0) -> Scene:
    moment, _ = midgame("classic@full")
    info = replace(moment.info, seats=moment.info.seats[: len(view.players)])
    return Scene(Moment(info, view, decisions), seat, "en")


def page(scene: Scene, now: float = 0.0, size: tuple[int, int] = (80, 24)) -> str:
    return scene.paint(*size, now).plain()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("ruleset", sorted(RULESETS))
def test_six_players_fit_on_any_screen_in_any_language(ruleset: str, language: str) -> None:
    moment, updates = midgame(ruleset)
    scene = Scene(moment, 0, language)
    for update in updates[-40:]:
        scene.chronicle.add(update.events)

    for width, height in SIZES if ruleset == "classic@full" else SIZES[:1]:
        lines = scene.paint(width, height, 0.0).lines
        assert height == len(lines)
        assert all(line.cell_len <= width for line in lines)
        shown = "\n".join(line.plain for line in lines)
        assert "screen." not in shown
        assert "{" not in shown
        assert all(name in shown for name in NAMES)


def test_a_screen_that_is_too_small_says_so() -> None:
    assert "80 columns and 24 lines" in page(scene_of(opening_view(2)), size=(79, 24))


def test_more_room_brings_names_and_prices() -> None:
    small, large = page(scene_of(opening_view(2))), page(scene_of(opening_view(2)), size=(180, 40))

    assert "Saffron Market" not in small
    assert "Saffron Market" in large
    assert "2,200k" in large


@pytest.mark.parametrize(
    "changes",
    [
        {"owner": 1},
        {"owner": 0, "level": 3},
        {"owner": 0, "level": 4},
        {"owner": 0, "mortgaged": True, "mortgaged_round": 1},
    ],
)
def test_what_colours_tell_is_told_without_them_too(changes: dict[str, int]) -> None:
    owned = with_property(opening_view(2), 39, owner=0)
    scene, other = scene_of(owned), scene_of(with_property(owned, 39, **changes))
    for one in (scene, other):
        one.cursor = 5

    assert page(scene) != page(other)


def test_a_token_in_jail_differs_from_one_that_visits() -> None:
    visiting = with_player(opening_view(2), 1, position=10)

    assert page(scene_of(visiting)) != page(scene_of(with_player(visiting, 1, in_jail=True)))


def test_the_countdown_follows_the_given_clock() -> None:
    scene = scene_of(opening_view(2), decision(Phase.ROLL, Roll()))

    assert "58 s left" in page(scene, now=41.5)
    assert "time is up" in page(scene, now=100.0)


def test_an_outage_is_told_above_the_board() -> None:
    scene = scene_of(opening_view(2), decision(Phase.ROLL, Roll()))
    scene.online = False

    assert "No connection" in page(scene).splitlines()[0]


def test_a_refusal_is_told_until_something_else_is_decided() -> None:
    scene = scene_of(opening_view(2), decision(Phase.ROLL, Roll()))
    refusal = Refusal(RefusalReason.UNEVEN, "BUILD-2", "", {})
    scene.notice = lambda table: refusal_text(refusal, table)
    assert refusal_text(refusal, scene.table) in page(scene)

    scene.show(replace(scene.moment, decisions=(decision(Phase.BUY, Buy()),)))
    assert refusal_text(refusal, scene.table) not in page(scene)


def test_enter_takes_the_marked_entry_and_tab_marks_the_next() -> None:
    asked = decision(Phase.WAGER, DeclineWager(), Build(1))
    scene = scene_of(opening_view(2), asked)

    assert Act(DeclineWager(), asked) == scene.press("enter")
    assert scene.press("tab") is None
    opened = scene.press("enter")
    assert isinstance(opened, Open)
    assert isinstance(opened.dialog, PickDialog)


def test_enter_never_surrenders_by_itself() -> None:
    scene = scene_of(opening_view(2), decision(Phase.ROLL, Roll(), seat=1))

    assert scene.press("enter") is None
    opened = scene.press("z")
    assert isinstance(opened, Open)
    assert isinstance(opened.dialog, ConfirmDialog)
    assert opened.dialog.press("enter") is None
    assert Act(Surrender()) == opened.dialog.press("y")


def test_a_click_on_an_entry_is_its_key() -> None:
    scene = scene_of(opening_view(2), decision(Phase.ROLL, Roll()))
    painting = scene.paint(80, 24, 0.0)
    lines = painting.plain().splitlines()
    y = next(number for number, line in enumerate(lines) if "[r] Roll" in line)

    assert "r" == painting.hit(3, y)
    assert "" == painting.hit(3, y + 3)


@pytest.mark.parametrize("size", SIZES)
def test_a_click_on_a_square_looks_at_it(size: tuple[int, int]) -> None:
    scene = scene_of(opening_view(2))
    painting = scene.paint(*size, 0.0)
    hits = [hit for hit in painting.hits if hit.key.startswith("square:")]
    highest = {
        key: min(hit.y for hit in hits if hit.key == key) for key in {hit.key for hit in hits}
    }

    assert set(highest) == {f"square:{number}" for number in range(40)}
    for hit in hits:
        if hit.y == highest[hit.key]:
            shown = painting.lines[hit.y].plain[hit.x : hit.x + hit.width]
            assert hit.key.removeprefix("square:") in shown
    assert scene.press("square:39") is None
    assert "H39" in page(scene).splitlines()[5]


@pytest.mark.parametrize(
    ("start", "arrow", "end"),
    [
        (0, "left", 1),
        (0, "right", 0),
        (0, "up", 39),
        (5, "up", 25),
        (15, "right", 35),
        (20, "down", 19),
    ],
)
def test_arrows_move_over_the_board_as_it_is_drawn(start: int, arrow: str, end: int) -> None:
    scene = scene_of(opening_view(2))
    scene.cursor = start

    scene.press(arrow)

    assert end == scene.cursor


def test_an_auction_is_shown_to_everybody() -> None:
    view = replace(opening_view(3), auction=AuctionView(39, 1_200, 1, 1_300, (1, 2)))
    shown = page(scene_of(view, seat=None))

    assert "Auction of Starlight Tower" in " ".join(shown.split())
    assert "Bruno leads with 1,200k" in shown
    assert "Still in it: ■ ▲" in shown


def test_a_payment_says_what_is_owed_to_whom_and_what_is_missing() -> None:
    claims = (ClaimView(1, 900, CashCause.RENT), ClaimView(None, 100, CashCause.RENT_TAX))
    view = with_player(opening_view(2), 0, cash=300)
    view = replace(view, debts=(DebtView(0, claims),))
    shown = page(scene_of(view, decision(Phase.PAYMENT, PayDebt(), owed=1_000)))

    assert "900k to Bruno; 100k to the bank; 700k are missing" in shown


def test_a_spectator_has_nothing_to_decide() -> None:
    scene = scene_of(opening_view(2), decision(Phase.ROLL, Roll()), seat=None)

    assert () == scene.entries()
    assert scene.press("r") is None
    assert "You are watching" in page(scene)


def test_after_the_end_one_may_play_again_or_save_the_replay() -> None:
    scene = scene_of(with_turn(opening_view(2), awaited_seat=None))
    scene.show(replace(scene.moment, state=GameState.FINISHED))

    assert Do("again") == scene.press("g")
    assert Do("save") == scene.press("s")
    assert "[g] Play again" in page(scene)


def test_texts_change_with_the_language_also_those_of_the_past() -> None:
    moment, updates = midgame("classic@full")
    scene = Scene(moment, 0, "en")
    for update in updates[-5:]:
        scene.chronicle.add(update.events)
    before = scene.chronicle.lines(scene.table)[-1]

    scene.speak("id")

    assert before not in scene.chronicle.lines(scene.table)
    assert all(cell_len(line) <= 80 for line in page(scene).splitlines())


def test_a_name_that_would_command_the_terminal_is_only_shown() -> None:
    moment, _ = midgame("classic@full")
    hostile = "\x1b[2J\x07Eve\u202e\u200d"
    seats = (replace(moment.info.seats[0], name=hostile), *moment.info.seats[1:])
    scene = Scene(replace(moment, info=replace(moment.info, seats=seats)), 0, "en")

    assert "�[2J�Eve�\u200d" == scene.table.who(0)
    assert "\x1b" not in page(scene)
