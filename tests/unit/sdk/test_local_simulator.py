"""Games in this process: reproducible, recorded, and fair to bots that fail."""

import signal
import threading
import time
from pathlib import Path

import pytest

from opolyx_rules import RULESETS
from opolyx_sdk import (
    Action,
    Bot,
    BotError,
    Decision,
    GameInfo,
    GameView,
    RandomBot,
    SteadyBot,
    Update,
    actions,
    fallback_action,
)
from opolyx_sdk._digest import state_digest
from opolyx_sdk.enums import EndCause, GameState, OfferCause, Phase, SeatKind
from opolyx_sdk.events import OfferClosed, TurnEnded, TurnSkipped
from opolyx_sdk.local import GameRecord, SeatReport, TableOptions, simulate
from opolyx_sdk.local.verify import verify_file, verify_replay

SHORT = TableOptions(house={"round_cap": 12})


def steady(seats: int = 4) -> list[Bot | str]:
    return [SteadyBot(reserve=500 * seat) for seat in range(seats)]


@pytest.mark.parametrize("name", RULESETS)
def test_every_ruleset_is_played_to_its_end_and_verified(name: str) -> None:
    record = simulate(name, [SteadyBot(), "steady", RandomBot(3), "trader"], 5, options=SHORT)

    found = verify_replay(record.as_replay())
    assert found.fair, found.problem
    assert len(record.steps) == found.updates
    assert record.places == found.places
    assert record.rounds == found.rounds
    assert record.log_digest == found.log_digest
    assert [] == [one for report in record.reports for one in report.refusals + report.failures]


def test_the_same_arguments_give_the_same_game(tmp_path: Path) -> None:
    first, again = (simulate("blitz@full", steady(), "x") for _ in range(2))
    other = simulate("blitz@full", steady(), "x", number=1)

    assert first == again
    assert first.digest == again.digest
    assert first.turn_digests() == again.turn_digests()
    first.save(tmp_path / "first.jsonl")
    again.save(tmp_path / "again.jsonl")
    assert (tmp_path / "first.jsonl").read_bytes() == (tmp_path / "again.jsonl").read_bytes()
    assert verify_file(tmp_path / "first.jsonl").fair
    assert other.digest != first.digest
    assert other.secret != first.secret


def test_numbers_and_texts_that_read_alike_are_the_same_seed() -> None:
    assert simulate("blitz@full", steady(), 7) == simulate("blitz@full", steady(), "7")


def test_the_digest_covers_the_moves_and_the_dice() -> None:
    plain = simulate("blitz@full", steady(), 1, options=SHORT)
    bolder = simulate("blitz@full", [SteadyBot(9_000), *steady()[1:]], 1, options=SHORT)
    nonces = TableOptions(house=SHORT.house, nonces=(b"a", b"", b"", b""))
    other_dice = simulate("blitz@full", steady(), 1, options=nonces)

    assert 3 == len({plain.digest, bolder.digest, other_dice.digest})


def test_turn_digests_are_those_of_the_views_that_bots_see() -> None:
    seen: list[str] = []

    class Notes(SteadyBot):
        def on_update(self, update: Update) -> None:
            ended = any(isinstance(event, TurnEnded) for event in update.events)
            if ended or update.state is GameState.FINISHED:
                seen.append(state_digest(update.view).hex())

    record = simulate("classic@full", [Notes(), *steady(3)], 4, options=SHORT)

    assert record.turn_digests() == tuple(seen)
    assert record.final_digest.hex() == seen[-1]


class Diary(SteadyBot):
    """Notes all that it is told."""

    def __init__(self) -> None:
        super().__init__()
        self.infos: list[GameInfo] = []
        self.updates: list[Update] = []
        self.ends: list[Update] = []

    def on_start(self, info: GameInfo) -> None:
        self.infos.append(info)

    def on_update(self, update: Update) -> None:
        self.updates.append(update)

    def on_end(self, update: Update) -> None:
        self.ends.append(update)


def test_a_bot_is_told_what_it_is_told_live() -> None:
    diary = Diary()
    options = TableOptions(
        names=("Ada", "Bo"), house={"round_cap": 5}, cards={1: {5: 300}}, vip=frozenset({0})
    )
    record = simulate("halal@full", ["steady", diary], 3, options=options)

    (info,) = diary.infos
    assert record.game_id == info.game_id
    assert ("halal@full", 1) == (info.ruleset, info.your_seat)
    assert (SeatKind.BUILT_IN, SeatKind.BOT) == (info.seats[0].kind, info.seats[1].kind)
    assert ("Ada", "Bo") == tuple(seat.name for seat in info.seats)
    assert (5, 300) == (info.seats[1].cards[0].square, info.seats[1].cards[0].bonus_bp)
    assert (True, False) == tuple(seat.vip for seat in info.seats)
    assert list(range(1, len(record.steps) + 1)) == [one.seq for one in diary.updates]
    assert all(one.events for one in diary.updates)
    assert GameState.FINISHED is diary.updates[-1].state
    assert () == diary.updates[-1].decisions
    (end,) = diary.ends
    assert () == end.events
    assert record.result == end.view.result


def test_time_left_counts_from_when_the_decision_was_made() -> None:
    left: list[float] = []

    class Watcher(SteadyBot):
        def decide(self, view: GameView, decision: Decision) -> Action:
            if decision.phase is Phase.ROLL:
                left.append(decision.time_left())
            return super().decide(view, decision)

    simulate("classic@full", [Watcher(), "steady"], 1, options=SHORT)

    assert all(0 < seconds <= 75 for seconds in left)
    assert max(left) > 74


class Broken(Bot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        raise RuntimeError("no idea")


class Cheat(Bot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        return actions.Build(0)


class Dreamer(Bot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        return None  # type: ignore[return-value]


class Sleeper(Bot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        try:
            while decision.phase is Phase.BUY:
                time.sleep(0.001)
        except Exception:
            return decision.legal_actions[0]
        return fallback_action(decision)


FAILING = [
    (Broken, "RuntimeError: no idea"),
    (Dreamer, "None is no action"),
]


@pytest.mark.parametrize(("bot", "words"), FAILING)
def test_a_bot_that_fails_is_answered_for(bot: type[Bot], words: str) -> None:
    record = simulate("blitz@full", [bot(), "steady"], 2, options=SHORT)

    report = record.reports[0]
    assert report.decisions == report.fallbacks == len(report.failures) > 5
    assert words in report.failures[0]
    assert verify_replay(record.as_replay()).fair


def test_what_the_rules_refuse_is_noted_and_answered_for() -> None:
    report = simulate("blitz@full", [Cheat(), "steady"], 2, options=SHORT).reports[0]

    assert report.decisions == report.fallbacks == len(report.refusals)
    assert "Build(square=0): " in report.refusals[0]
    assert [] == report.failures


def test_a_bot_that_is_too_slow_is_interrupted() -> None:
    table = TableOptions(house={"round_cap": 2})
    report = simulate("blitz@full", [Sleeper(), "steady"], 2, options=table, budget_s=0.1).reports[
        0
    ]

    assert "in BUY: too slow" in report.failures
    assert report.fallbacks == len(report.failures) < report.decisions


class Slow(SteadyBot):
    """Answers, but late, whenever it may buy."""

    def decide(self, view: GameView, decision: Decision) -> Action:
        until = time.monotonic() + (0.02 if decision.phase is Phase.BUY else 0)
        while time.monotonic() < until:
            pass
        return super().decide(view, decision)


def test_where_nothing_can_be_interrupted_a_late_answer_is_not_used() -> None:
    reports: list[SeatReport] = []

    def play() -> None:
        table = TableOptions(house={"round_cap": 2})
        record = simulate("blitz@full", [Slow(), "steady"], 2, options=table, budget_s=0.01)
        reports.append(record.reports[0])

    thread = threading.Thread(target=play)
    thread.start()
    thread.join()

    assert "in BUY: too slow" in reports[0].failures
    assert reports[0].fallbacks == len(reports[0].failures)


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no such timer")
def test_a_bot_that_takes_the_timer_away_is_found_out_when_it_answers() -> None:
    class Thief(Slow):
        def decide(self, view: GameView, decision: Decision) -> Action:
            signal.setitimer(signal.ITIMER_REAL, 0)
            return super().decide(view, decision)

    table = TableOptions(house={"round_cap": 2})
    report = simulate("blitz@full", [Thief(), "steady"], 2, options=table, budget_s=0.01).reports[0]

    assert "in BUY: too slow" in report.failures
    assert report.fallbacks == len(report.failures)


def test_the_timer_of_the_process_is_given_back() -> None:
    handler, before = signal.getsignal(signal.SIGALRM), signal.getitimer(signal.ITIMER_REAL)
    simulate("blitz@full", steady(2), 2, options=SHORT, budget_s=5)
    after = signal.getitimer(signal.ITIMER_REAL)

    assert handler is signal.getsignal(signal.SIGALRM)
    assert bool(before[0]) is bool(after[0])
    assert after[0] <= before[0]


@pytest.mark.parametrize("bot", [Broken, Cheat, Dreamer])
def test_strict_stops_at_the_first_failure(bot: type[Bot]) -> None:
    with pytest.raises(BotError):
        simulate("blitz@full", [bot(), "steady"], 2, strict=True)


@pytest.mark.parametrize("hook", ["on_start", "on_update", "on_end"])
def test_a_hook_that_raises_is_noted(hook: str) -> None:
    def fail(self: Bot, told: object) -> None:
        raise ValueError("oh")

    bot = type("Hooked", (SteadyBot,), {hook: fail})
    record = simulate("blitz@full", [bot(), "steady"], 2, options=SHORT)

    assert f"in {hook}: ValueError: oh" == record.reports[0].failures[0]
    assert 0 == record.reports[0].fallbacks
    with pytest.raises(BotError, match=hook):
        simulate("blitz@full", [bot(), "steady"], 2, options=SHORT, strict=True)


class Haggler(SteadyBot):
    """Offers its neighbour one k for nothing, again and again, and never rolls."""

    def decide(self, view: GameView, decision: Decision) -> Action:
        if decision.trade_template is not None and decision.trade_template.partners:
            return actions.ProposeTrade(decision.trade_template.partners[0], 1, (), 1, ())
        return super().decide(view, decision)


def test_a_bot_that_never_ends_its_turn_loses_it_by_the_clock() -> None:
    diary = Diary()
    record = simulate(
        "blitz@full", [Haggler(), diary], 2, options=TableOptions(house={"round_cap": 3})
    )

    events = [event for update in diary.updates for event in update.events]
    assert [0] * 3 == [event.seat for event in events if isinstance(event, TurnSkipped)]
    assert 0 == diary.ends[0].view.player(0).position
    assert EndCause.ROUND_CAP is record.result.cause
    assert verify_replay(record.as_replay()).fair


class Proposer(SteadyBot):
    """Offers half its cash for the partner's first property, once a turn."""

    def __init__(self) -> None:
        super().__init__()
        self.offered_in = 0

    def decide(self, view: GameView, decision: Decision) -> Action:
        template, turn = decision.trade_template, view.turn.turn_number
        if template is not None and self.offered_in != turn:
            for partner in template.partner_squares:
                if partner.squares:
                    self.offered_in = turn
                    cash = template.max_give_cash // 2
                    return actions.ProposeTrade(partner.seat, cash, (), 0, partner.squares[:1])
        return super().decide(view, decision)


def test_offers_are_answered_before_the_game_goes_on() -> None:
    diary = Diary()
    record = simulate("classic@full", [Proposer(), diary, "trader"], 6, options=SHORT)

    closed = [
        event.cause
        for update in diary.updates
        for event in update.events
        if isinstance(event, OfferClosed)
    ]
    assert OfferCause.ACCEPTED in closed
    assert OfferCause.DECLINED in closed
    assert OfferCause.LAPSED not in closed
    assert all(len(update.view.offers) <= 1 for update in diary.updates)
    assert verify_replay(record.as_replay()).fair


class Roller(SteadyBot):
    """Rolls when it is asked about an offer."""

    def decide(self, view: GameView, decision: Decision) -> Action:
        if decision.phase is Phase.OFFER:
            return actions.Roll()
        return super().decide(view, decision)


def test_what_was_not_asked_is_refused() -> None:
    report = simulate("classic@full", [Proposer(), Roller()], 6, options=SHORT).reports[1]

    assert report.refusals
    assert {"Roll(): it answers something that was not asked (CLOCK-2)"} == set(report.refusals)
    assert report.fallbacks == len(report.refusals)


class Mute(Exception):
    def __str__(self) -> str:
        raise RuntimeError("no words")


class Odd:
    def __repr__(self) -> str:
        raise RuntimeError("no words")


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        (SystemExit(3), "SystemExit: 3"),
        (GeneratorExit(), "GeneratorExit"),
        (Mute(), "Mute: a Mute that can't be printed"),
        (ValueError("one\ntwo \x1b[31m"), "ValueError: one\\ntwo \\x1b[31m"),
        (ValueError("x" * 10_000), "ValueError: " + "x" * 200 + "..."),
        (ValueError(object()), "ValueError: <object object>"),
    ],
)
@pytest.mark.parametrize("hook", ["on_start", "on_update", "on_end", "decide"])
def test_whatever_a_bot_raises_is_told_in_one_line(
    hook: str, fault: BaseException, words: str
) -> None:
    def fail(self: Bot, *told: object) -> None:
        raise fault

    bot = type("Faulty", (SteadyBot,), {hook: fail})
    table = TableOptions(house={"round_cap": 2})
    report = simulate("blitz@full", [bot(), "steady"], 2, options=table).reports[0]

    assert report.failures[0].endswith(f": {words}")
    with pytest.raises(BotError) as error:
        simulate("blitz@full", [bot(), "steady"], 2, options=table, strict=True)
    assert str(error.value).endswith(words)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (Odd(), "a Odd that can't be printed is no action"),
        (object(), "<object object> is no action"),
        (actions.Build(Odd()), "square is a Odd that can't be printed, which is no number"),  # type: ignore[arg-type]
        (actions.Roll, "<class 'opolyx_sdk.actions.Roll'> is no action"),
    ],
)
def test_whatever_a_bot_answers_is_told(answer: object, words: str) -> None:
    bot = type("Strange", (SteadyBot,), {"decide": lambda *_: answer})
    table = TableOptions(house={"round_cap": 2})
    report = simulate("blitz@full", [bot(), "steady"], 2, options=table).reports[0]

    assert {words} == {one.partition(": ")[2] for one in report.failures}


def test_ctrl_c_is_no_fault_of_a_bot() -> None:
    def interrupted(self: Bot, *told: object) -> None:
        raise KeyboardInterrupt

    bot = type("Interrupted", (SteadyBot,), {"decide": interrupted})
    with pytest.raises(KeyboardInterrupt):
        simulate("blitz@full", [bot(), "steady"], 2)


def test_an_answer_that_swallowed_the_interruption_comes_too_late() -> None:
    class Deaf(SteadyBot):
        def decide(self, view: GameView, decision: Decision) -> Action:
            rung = 0
            while decision.phase is Phase.BUY and rung < 2:
                try:
                    while True:
                        pass
                except BaseException:
                    rung += 1
            return super().decide(view, decision)

    table = TableOptions(house={"round_cap": 1})
    report = simulate("blitz@full", [Deaf(), "steady"], 2, options=table, budget_s=0.02).reports[0]

    assert "in BUY: too slow" in report.failures
    assert report.fallbacks == len(report.failures)


def test_all_who_listen_are_told_the_same_update() -> None:
    one, other = Diary(), Diary()
    simulate("classic@full", [one, other], 6, options=SHORT)

    assert all(first is second for first, second in zip(one.updates, other.updates, strict=True))


@pytest.mark.parametrize("number", [-1, 1 << 64])
def test_games_are_counted_from_0(number: int) -> None:
    with pytest.raises(ValueError, match=f"there is no game {number}"):
        simulate("blitz@full", steady(2), number=number)


class Quitter(SteadyBot):
    def decide(self, view: GameView, decision: Decision) -> Action:
        return actions.Surrender()


def test_a_bot_may_surrender() -> None:
    record = simulate("blitz@full", [Quitter(), "steady", Quitter()], 1)

    assert 1 == record.places[1]
    assert () == tuple(one for report in record.reports for one in report.refusals)


@pytest.mark.parametrize(
    ("ruleset", "bots", "options", "words"),
    [
        ("nope@full", steady(), SHORT, "no ruleset 'nope@full'; there are classic@"),
        ("classic@full", ["steady"], SHORT, "classic@full is for 2, 3, 4, 5, 6 seats, not 1"),
        ("team@full", steady(3), SHORT, "team@full is for 4, 6 seats, not 3"),
        ("classic@full", ["steady", "clever"], SHORT, "no built-in bot 'clever'; there are random"),
        ("classic@full", [SteadyBot()] * 2, SHORT, "one bot object sits on two seats"),
        ("classic@full", steady(), TableOptions(names=("A",)), "as many as the seats"),
        ("classic@full", steady(), TableOptions(house={"salary": 3}), "no house option 'salary'"),
        (
            "classic@full",
            steady(),
            TableOptions(house={"round_cap": 0}),
            "round_cap must be from 1",
        ),
    ],
)
def test_what_can_not_be_played_is_said(
    ruleset: str, bots: list[Bot | str], options: TableOptions, words: str
) -> None:
    with pytest.raises(ValueError, match=words):
        simulate(ruleset, bots, options=options)


def test_a_changed_game_is_not_verified() -> None:
    record = simulate("blitz@full", steady(), 1, options=SHORT)
    at_ms, last = record.steps[-1]
    changed = GameRecord(
        header=record.header,
        secret=record.secret,
        steps=(*record.steps[:-1], (at_ms + 1, last)),
        result=record.result,
        final_digest=record.final_digest,
        reports=record.reports,
    )

    assert changed != record
    assert changed.digest != record.digest
    assert changed.log_digest != record.log_digest
