"""Ghost runs: the bot that played agrees with itself; another one differs where it would."""

import json
import re
import sys
from pathlib import Path

import pytest

from opolyx_sdk import (
    Action,
    Bot,
    BotError,
    Decision,
    GameView,
    ReplayError,
    SteadyBot,
    Update,
    actions,
)
from opolyx_sdk.cli import main
from opolyx_sdk.enums import Phase
from opolyx_sdk.local import TableOptions, simulate
from opolyx_sdk.local.ghost import GhostMove, GhostRun

SHORT = TableOptions(house={"round_cap": 10})


class Spender(SteadyBot):
    """Buys everything."""

    def decide(self, view: GameView, decision: Decision) -> Action:
        return actions.Buy() if decision.allows(actions.Buy()) else super().decide(view, decision)


class Proposer(SteadyBot):
    """Offers one k for one k, once in each of its turns."""

    def __init__(self) -> None:
        super().__init__()
        self.turn = 0

    def decide(self, view: GameView, decision: Decision) -> Action:
        template = decision.trade_template
        if template is not None and self.turn != view.turn.turn_number:
            self.turn = view.turn.turn_number
            return actions.ProposeTrade(template.partners[0], 1, (), 1, ())
        return super().decide(view, decision)


class Taker(SteadyBot):
    """Accepts every offer, and remembers what it was told."""

    def __init__(self) -> None:
        super().__init__()
        self.told: list[tuple[int, GameView]] = []

    def on_update(self, update: Update) -> None:
        self.told.append((update.seq, update.view))

    def decide(self, view: GameView, decision: Decision) -> Action:
        accept = actions.AcceptTrade(decision.offer_id)
        return accept if decision.allows(accept) else super().decide(view, decision)


class Haggler(Bot):
    """Never rolls."""

    def decide(self, view: GameView, decision: Decision) -> Action:
        if decision.trade_template is not None:
            return actions.ProposeTrade(decision.trade_template.partners[0], 1, (), 1, ())
        return decision.legal_actions[-1]


def played(*bots: Bot | str, rounds: int = 10) -> bytes:
    options = TableOptions(house={"round_cap": rounds})
    return simulate("classic@full", bots, 3, options=options, strict=True).as_replay()


def moves(data: bytes, seat: int, bot: Bot) -> list[GhostMove]:
    return list(GhostRun(data, seat, bot).moves())


def test_a_bot_agrees_with_itself_and_is_told_what_it_was_told() -> None:
    live, ghost = Taker(), Taker()
    record = simulate("classic@full", [Proposer(), live, "random"], 3, options=SHORT)
    found = moves(record.as_replay(), 1, ghost)

    assert record.reports[1].decisions == len(found) > 10
    assert [] == [move for move in found if move.differs]
    assert {Phase.OFFER, Phase.ROLL} <= {move.decision.phase for move in found}
    assert len(live.told) == len(ghost.told)
    assert [seq for seq, _ in live.told] == [seq for seq, _ in ghost.told]
    assert live.told[-1][1] == ghost.told[-1][1]


def test_offers_to_others_are_not_put_to_the_bot() -> None:
    record = simulate("classic@full", [Proposer(), Taker(), "random"], 3, options=SHORT)
    found = moves(record.as_replay(), 0, Proposer())

    assert record.reports[0].decisions == len(found)
    assert [] == [move for move in found if move.differs]
    assert {0} == {move.decision.seat for move in found}


def test_another_bot_differs_where_it_would() -> None:
    data = played(SteadyBot(reserve=9_000), "steady", "random")
    found = moves(data, 0, Spender())

    differing = [move for move in found if move.differs]
    first = next(move for move in differing if move.decision.phase is Phase.BUY)
    assert (actions.DeclinePurchase(), actions.Buy()) == (first.played, first.ghost)
    assert "" == first.refusal
    assert 0 == first.decision.seat == first.view.turn.awaited_seat
    assert len(differing) < len(found)


def test_what_the_rules_would_refuse_is_said() -> None:
    class Cheat(Bot):
        def decide(self, view: GameView, decision: Decision) -> Action:
            return actions.Build(0)

    found = moves(played("steady", "steady"), 0, Cheat())

    assert all(move.differs and move.refusal for move in found)


def test_where_the_clock_ran_out_nothing_was_played() -> None:
    found = moves(played(Haggler(), "steady", rounds=1), 0, SteadyBot())

    assert any(move.played is None and move.differs for move in found)
    assert any(isinstance(move.played, actions.ProposeTrade) for move in found)


@pytest.mark.parametrize(
    ("bot", "words"),
    [
        (type("Raises", (SteadyBot,), {"decide": lambda *_: 1 / 0}), "at update .*ZeroDivision"),
        (type("Empty", (SteadyBot,), {"decide": lambda *_: None}), "None is no action"),
        (type("Leaver", (SteadyBot,), {"decide": lambda *_: sys.exit(3)}), "SystemExit: 3"),
        (type("Deaf", (SteadyBot,), {"on_update": lambda *_: 1 / 0}), "in on_update"),
        (type("Lame", (SteadyBot,), {"on_start": lambda *_: 1 / 0}), "in on_start"),
        (type("Sad", (SteadyBot,), {"on_end": lambda *_: 1 / 0}), "in on_end"),
    ],
)
def test_a_bot_that_fails_stops_the_run(bot: type[Bot], words: str) -> None:
    with pytest.raises(BotError, match=words):
        moves(played("steady", "steady", rounds=3), 0, bot())


def test_a_part_of_a_replay_will_do_and_a_changed_one_will_not() -> None:
    data = played("steady", "random")
    header, *records, _ = data.splitlines(keepends=True)
    last = json.loads(records[40])["log_digest"]
    footer = {
        "complete": False,
        "records": 41,
        "log_digest": last,
        "secret": "",
        "result": None,
    }
    part = (
        b"".join([header, *records[:41]])
        + json.dumps(footer, separators=(",", ":")).encode()
        + b"\n"
    )

    assert 3 < len(moves(part, 1, SteadyBot())) < 41
    with pytest.raises(ReplayError, match="can't be trusted"):
        GhostRun(data.replace(b'"seq":5,', b'"seq":6,'), 0, SteadyBot())
    for seat in (-1, 2):
        with pytest.raises(ReplayError, match=f"no seat {seat}: the game has the seats 0 to 1"):
            GhostRun(data, seat, SteadyBot())


def test_the_command_shows_the_first_difference_or_all(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "game.jsonl"
    path.write_bytes(played(SteadyBot(reserve=9_000), "steady"))
    (tmp_path / "spender_of_a_ghost.py").write_text(
        "from opolyx_sdk import SteadyBot\n"
        "class Spender(SteadyBot):\n"
        "    def __init__(self):\n"
        "        super().__init__(reserve=0)\n"
    )
    bot = f"--bot={tmp_path}/spender_of_a_ghost.py:Spender"

    def said(*more: str) -> str:
        with pytest.raises(SystemExit) as ended:
            main(["replay", str(path), "--as=0", bot, *more])
        assert 0 == ended.value.code
        return capsys.readouterr().out

    one, everything = said(), said("--all")
    assert 1 == one.count("your bot: ")
    assert "SteadyBot: DeclinePurchase()\n  your bot: Buy()\n" in one
    assert re.search(r", on [A-Z][^\n]* \(\d+\) with [\d,]+k\n", one)
    assert everything.startswith(one)
    assert everything.splitlines()[-1].endswith("decisions differ")
    document = json.loads(said("--json", "--all"))
    assert everything.count("your bot: ") == len(document["moves"])
    assert {"action": "Buy"} == document["moves"][0]["ghost"]
    with pytest.raises(SystemExit) as ended:
        main(["replay", str(path), "--as=1", "--bot=opolyx_sdk:RandomBot"])
    assert 0 == ended.value.code


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["game.jsonl"], "can't be trusted: the file is"),
        (["game.jsonl", "--bot=opolyx_sdk:SteadyBot"], "--as SEAT --bot MODULE:CLASS"),
        (["game.jsonl", "--as=0"], "--as SEAT --bot MODULE:CLASS"),
        (["gone.jsonl", "--as=0", "--bot=opolyx_sdk:SteadyBot"], "can't read gone.jsonl: No such"),
        (["game.jsonl", "--as=0", "--bot=opolyx_sdk:SteadyBot"], "can't be trusted: the file is"),
        (["game.jsonl", "--as=0", "--bot=nowhere:Bot"], "can't import nowhere"),
    ],
)
def test_the_command_says_what_can_not_be(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("game.jsonl").write_text("{}\n")
    with pytest.raises(SystemExit) as ended:
        main(["replay", *arguments])

    assert 2 == ended.value.code
    assert words in capsys.readouterr().err
