"""Clocks: how long a step has, what running out does, missed turns (CLOCK).

The service keeps the time (tests/unit/engine); the rules say how long, which step, and what then.
"""

import pytest

from opolyx_rules import RULESETS, IllegalAction, ScriptedChance, actors, apply, default_action
from opolyx_rules.actions import (
    BID,
    BID_BY,
    BUILD_BY,
    CHOOSE_BUS,
    CHOOSE_SQUARE_BY,
    DECLINE_PURCHASE_BY,
    DECLINE_TRADE,
    DECLINE_WAGER_BY,
    MORTGAGE_BY,
    PASS_BID_BY,
    PAY_BAIL_BY,
    PAY_DEBT_BY,
    REDEEM_BY,
    ROLL_BY,
    SELL_BUILDING_BY,
    STAY_IN_JAIL_BY,
    TIME_OUT_BY,
    WITHDRAW_TRADE,
    propose_trade,
)
from opolyx_rules.codec import encode
from opolyx_rules.events import (
    AUCTION_STARTED,
    BID_PASSED,
    CLOCK_RAN_OUT,
    DICE_ROLLED,
    PURCHASE_DECLINED,
    SURRENDERED,
    TURN_SKIPPED,
    WAGER_DECLINED,
)
from opolyx_rules.ids import (
    BUS_SUM,
    PASS_CLOCK,
    PHASE_AUCTION,
    PHASE_BUS,
    PHASE_JAIL_BAIL,
    PHASE_ROLL,
    PHASE_TRIPLE,
    SURRENDER_MISSED_TURNS,
)
from opolyx_rules.queries import awaited_phase, current_step, step_seconds
from opolyx_rules.reasons import NOT_AWAITED
from opolyx_rules.ruleset import BAIL_AFTER_ROLL, BAIL_BEFORE_ROLL, CORNER_WAGER
from support_rules import (
    ALL,
    act,
    draw,
    found,
    idle_until,
    is_legal,
    names,
    refused,
    roll,
    rules,
    rulesets_with,
    stop_on,
    table,
    time_out,
    why,
)

SPEED = rulesets_with(third_die_from=7)
SECONDS = {"classic": 75, "team": 75, "halal": 75, "fortune": 75, "blitz": 60, "speed": 45}


# How long


@pytest.mark.rule("CLOCK-1")
@pytest.mark.statement("R173")
@pytest.mark.parametrize("ruleset", ALL)
def test_turn_has_its_seconds(ruleset: str) -> None:
    assert RULESETS[ruleset].turn_seconds == step_seconds(table(ruleset))


@pytest.mark.rule("CLOCK-1")
@pytest.mark.statement("R174", "R175", "R176")
@pytest.mark.parametrize("ruleset", [name for name in ALL if name.split("@")[0] in SECONDS])
def test_seconds_of_the_published_modes(ruleset: str) -> None:
    """75; Blitz 60, slightly shorter; Speed 45, the shortest."""
    assert SECONDS[ruleset.split("@", maxsplit=1)[0]] == RULESETS[ruleset].turn_seconds
    assert SECONDS["speed"] < SECONDS["blitz"] < SECONDS["classic"]


@pytest.mark.rule("CLOCK-1", "AUCTION-6")
@pytest.mark.statement("R093")
@pytest.mark.parametrize("ruleset", ALL)
def test_bid_has_ten_seconds(ruleset: str) -> None:
    state = table(ruleset)
    stop_on(state, 6)
    act(state, DECLINE_PURCHASE_BY[0])

    assert 10 == step_seconds(state)


@pytest.mark.rule("CLOCK-1", "DEBT-3")
@pytest.mark.statement("R177")
@pytest.mark.parametrize("seconds", [(45, 75), (75, 75), (90, 90)])
def test_pause_has_the_longer_of_turn_and_75(seconds: tuple[int, int]) -> None:
    turn, pause = seconds
    state = table(rules("classic@full", turn_seconds=turn))
    stop_on(state, 4)

    assert pause == step_seconds(state)


# Which step


@pytest.mark.rule("CLOCK-2")
@pytest.mark.statement("R182")
@pytest.mark.parametrize("ruleset", ALL)
def test_managing_and_trading_restart_nothing(ruleset: str) -> None:
    """Case A-21: building at D-10 s does not move D."""
    state = table(ruleset, owns={0: (1, 3, 5)})
    step = current_step(state)

    act(state, BUILD_BY[0][1])
    act(state, SELL_BUILDING_BY[0][1])
    act(state, MORTGAGE_BY[0][5])
    act(state, REDEEM_BY[0][5])
    act(state, propose_trade(0, 1, give_cash=100, want_cash=100))
    act(state, (WITHDRAW_TRADE, 0, state.last_offer))

    assert step == current_step(state)


@pytest.mark.rule("CLOCK-2")
@pytest.mark.statement("R182")
@pytest.mark.parametrize("ruleset", ALL)
def test_raising_cash_restarts_no_pause(ruleset: str) -> None:
    state = table(ruleset, cash={0: 900}, owns={0: (5,)})
    stop_on(state, 38)
    step = current_step(state)

    act(state, MORTGAGE_BY[0][5])

    assert step == current_step(state)


@pytest.mark.rule("CLOCK-2")
@pytest.mark.parametrize("ruleset", ALL)
def test_rolling_and_each_decision_start_a_fresh_clock(ruleset: str) -> None:
    """The roll, the purchase, each bid, the next turn: a step each."""
    state = table(ruleset, seats=4, at={0: 3})
    steps = [current_step(state)]

    roll(state, 1, 2)
    steps.append(current_step(state))
    act(state, DECLINE_PURCHASE_BY[0])
    steps.append(current_step(state))
    act(state, BID_BY[1])
    steps.append(current_step(state))
    for seat in (2, 3, 0):
        act(state, PASS_BID_BY[seat])
        steps.append(current_step(state))

    assert len(steps) == len(set(steps))


# Running out


@pytest.mark.rule("CLOCK-3")
@pytest.mark.statement("R178")
@pytest.mark.parametrize("ruleset", ALL)
def test_time_out_before_the_roll_skips_the_turn(ruleset: str) -> None:
    state = table(ruleset)

    log = time_out(state)

    assert [(CLOCK_RAN_OUT, 0, 1)] == found(log, CLOCK_RAN_OUT)
    assert [(TURN_SKIPPED, 0)] == found(log, TURN_SKIPPED)
    assert [] == found(log, DICE_ROLLED)
    assert [1] == actors(state)


@pytest.mark.rule("CLOCK-3")
@pytest.mark.statement("R178")
@pytest.mark.parametrize("ruleset", ALL)
def test_time_out_before_a_further_roll_forfeits_it(ruleset: str) -> None:
    state = table(ruleset, owns={0: (14,)}, at={0: 6})
    roll(state, 4, 4)

    log = time_out(state)

    assert [(TURN_SKIPPED, 0)] == found(log, TURN_SKIPPED)
    assert 1 == state.missed[0]
    assert [1] == actors(state)


@pytest.mark.rule("CLOCK-3", "JAIL-3")
@pytest.mark.parametrize("ruleset", ALL)
def test_time_out_in_jail_uses_no_attempt(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 1})

    time_out(state)

    assert (1, 1) == (state.jailed[0], state.attempts[0])
    assert [1] == actors(state)


@pytest.mark.rule("CLOCK-3", "JAIL-2")
@pytest.mark.parametrize("ruleset", rulesets_with(bail_timing=BAIL_AFTER_ROLL))
def test_time_out_after_the_roll_in_jail_stays(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 0})
    roll(state, 1, 2)
    assert PHASE_JAIL_BAIL == awaited_phase(state)

    time_out(state)

    assert (1, 1, 15_000) == (state.jailed[0], state.attempts[0], state.cash[0])


@pytest.mark.rule("CLOCK-3", "BUY-1")
@pytest.mark.statement("R179")
@pytest.mark.parametrize("ruleset", ALL)
def test_time_out_declines_the_purchase(ruleset: str) -> None:
    state = table(ruleset)
    stop_on(state, 6)

    log = time_out(state)

    assert [(PURCHASE_DECLINED, 0, 6)] == found(log, PURCHASE_DECLINED)
    assert 1 == len(found(log, AUCTION_STARTED))
    assert (PHASE_AUCTION, [1]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("CLOCK-3", "CORNER-2")
@pytest.mark.statement("R179")
@pytest.mark.parametrize("ruleset", rulesets_with(third_corner=CORNER_WAGER))
def test_time_out_declines_the_wager(ruleset: str) -> None:
    state = table(ruleset)
    stop_on(state, 20)

    assert [(WAGER_DECLINED, 0)] == found(time_out(state), WAGER_DECLINED)


@pytest.mark.rule("CLOCK-3", "DIE-3")
@pytest.mark.statement("R179")
@pytest.mark.parametrize("ruleset", SPEED)
def test_time_out_moves_the_sum_of_the_bus(ruleset: str) -> None:
    state = table(ruleset, round_number=7)
    roll(state, 4, 6, third=[3])
    assert PHASE_BUS == awaited_phase(state)
    assert (CHOOSE_BUS, 0, BUS_SUM) == default_action(state, 0)

    time_out(state)

    assert 10 == state.position[0]


@pytest.mark.rule("CLOCK-3", "DIE-5")
@pytest.mark.statement("R179")
@pytest.mark.parametrize("ruleset", SPEED)
def test_time_out_stays_put_on_a_triple_and_rolls_again(ruleset: str) -> None:
    state = table(ruleset, round_number=7, at={0: 38})
    roll(state, 2, 2, third=[1])
    assert PHASE_TRIPLE == awaited_phase(state)

    log = time_out(state)

    assert 38 == state.position[0]
    assert "debt_opened" not in names(log)
    assert (PHASE_ROLL, [0]) == (awaited_phase(state), actors(state))


@pytest.mark.rule("CLOCK-3", "AUCTION-6")
@pytest.mark.statement("R094")
@pytest.mark.parametrize("ruleset", ALL)
def test_time_out_passes_the_bid(ruleset: str) -> None:
    state = table(ruleset)
    stop_on(state, 6)
    act(state, DECLINE_PURCHASE_BY[0])

    assert [(BID_PASSED, 1, PASS_CLOCK)] == found(time_out(state), BID_PASSED)


# Missed turns


@pytest.mark.rule("CLOCK-4")
@pytest.mark.statement("R180")
@pytest.mark.parametrize("ruleset", ALL)
def test_missed_turns_in_a_row_surrender(ruleset: str) -> None:
    allowed = RULESETS[ruleset].missed_turns
    state = table(ruleset)

    for missed in range(1, allowed):
        log = time_out(state)
        assert [(CLOCK_RAN_OUT, 0, missed)] == found(log, CLOCK_RAN_OUT)
        idle_until(state, 0)
    log = time_out(state)

    assert [(SURRENDERED, 0, SURRENDER_MISSED_TURNS)] == found(log, SURRENDERED)
    assert 1 == state.out_order[0]
    assert [1] == actors(state)


@pytest.mark.rule("CLOCK-4")
@pytest.mark.statement("R180")
@pytest.mark.parametrize(
    ("edition", "allowed"), [("origins", 2), ("guide", 3), ("teams", 2), ("full", 2)]
)
def test_missed_turns_of_the_editions(edition: str, allowed: int) -> None:
    rulesets = [RULESETS[name] for name in ALL if RULESETS[name].edition == edition]

    assert {allowed} == {ruleset.missed_turns for ruleset in rulesets}


@pytest.mark.rule("CLOCK-4")
@pytest.mark.statement("R181")
@pytest.mark.parametrize("ruleset", ALL)
def test_any_accepted_action_sets_the_count_to_nothing(ruleset: str) -> None:
    state = table(ruleset, owns={0: (5,)})
    time_out(state)
    idle_until(state, 0)
    assert 1 == state.missed[0]

    act(state, MORTGAGE_BY[0][5])
    assert 0 == state.missed[0]
    time_out(state)

    assert (1, 0) == (state.missed[0], state.out_order[0])


@pytest.mark.rule("CLOCK-4")
@pytest.mark.statement("R181")
@pytest.mark.parametrize("ruleset", ALL)
def test_answering_an_offer_is_an_action_too(ruleset: str) -> None:
    state = table(ruleset)
    time_out(state)
    act(state, propose_trade(1, 0, give_cash=100, want_cash=100))

    act(state, (DECLINE_TRADE, 0, state.last_offer))

    assert 0 == state.missed[0]


@pytest.mark.rule("CLOCK-4")
@pytest.mark.parametrize("ruleset", ALL)
def test_clock_that_runs_out_twice_in_a_turn_is_one_missed_turn(ruleset: str) -> None:
    """The purchase and, in the same turn, the roll after the double."""
    state = table(ruleset, at={0: 4})
    roll(state, 1, 1)
    time_out(state)
    assert 1 == state.turn_missed
    while awaited_phase(state) == PHASE_AUCTION:
        time_out(state)
    assert ([0], PHASE_ROLL) == (actors(state), awaited_phase(state))

    time_out(state)

    assert (1, 0) == (state.missed[0], state.out_order[0])
    assert [1] == actors(state)


@pytest.mark.rule("CLOCK-4", "AUCTION-6")
@pytest.mark.parametrize("ruleset", ALL)
def test_bid_that_runs_out_is_no_missed_turn(ruleset: str) -> None:
    """Neither the others' nor, in the auction of its own turn, the decliner's."""
    state = table(ruleset)
    stop_on(state, 6)
    act(state, DECLINE_PURCHASE_BY[0])

    for _ in range(4):
        time_out(state)

    assert [0, 0, 0, 0] == state.missed
    assert [1] == actors(state)


@pytest.mark.rule("CLOCK-4", "CHANCE-5")
@pytest.mark.parametrize("ruleset", ALL)
def test_debt_from_anothers_card_that_runs_out_is_no_missed_turn(ruleset: str) -> None:
    state = table(ruleset, cash={1: 50}, owns={1: (1,)})
    state.missed[1] = RULESETS[ruleset].missed_turns - 1
    draw(state, "birthday")

    time_out(state)

    assert (RULESETS[ruleset].missed_turns - 1, 0) == (state.missed[1], state.out_order[1])


@pytest.mark.rule("CLOCK-4", "DEBT-9")
@pytest.mark.parametrize("ruleset", ALL)
def test_last_missed_turn_in_the_pause_surrenders_and_pays_what_it_can(ruleset: str) -> None:
    state = table(ruleset, cash={0: 100}, owns={1: (24,)})
    state.missed[0] = RULESETS[ruleset].missed_turns - 1
    stop_on(state, 24)

    log = time_out(state)

    assert 1 == len(found(log, SURRENDERED))
    assert 15_100 == state.cash[1]


# One of the two


@pytest.mark.rule("CLOCK-5")
@pytest.mark.parametrize("ruleset", ALL)
def test_after_the_clock_the_answer_is_refused(ruleset: str) -> None:
    """Case A-21: the timer took effect, so the roll does not; the log has a skip and no roll."""
    state = table(ruleset)
    decision, step = state.decision, current_step(state)

    time_out(state)

    assert (NOT_AWAITED, "TURN-1") == why(state, ROLL_BY[0])
    assert decision + 1 == state.decision
    assert step != current_step(state)


@pytest.mark.rule("CLOCK-5")
@pytest.mark.parametrize("ruleset", ALL)
def test_after_the_answer_the_clock_of_the_step_is_gone(ruleset: str) -> None:
    """Case A-21: a timer that fires late finds another step, and the seat not awaited."""
    state = table(ruleset)
    step = current_step(state)

    roll(state, 4, 6)

    assert step != current_step(state)
    assert (NOT_AWAITED, "TURN-1") == why(state, TIME_OUT_BY[0])
    assert [0, 0, 0, 0] == state.missed


@pytest.mark.rule("CLOCK-6")
@pytest.mark.parametrize("ruleset", ALL)
def test_refused_command_changes_nothing(ruleset: str) -> None:
    """Neither the state nor the step nor the count of missed turns, however often it is sent."""
    state = table(ruleset)
    state.missed[0] = 1
    before = encode(state)

    for action in (
        BID_BY[0],
        PAY_DEBT_BY[0],
        PAY_BAIL_BY[0],
        STAY_IN_JAIL_BY[0],
        DECLINE_WAGER_BY[0],
        CHOOSE_SQUARE_BY[0][5],
        BUILD_BY[0][1],
        (BID, 0, 5_000),
        ROLL_BY[1],
    ):
        assert not is_legal(state, action)
        refused(state, action)
        with pytest.raises(IllegalAction):
            apply(state, action, ScriptedChance())

    assert before == encode(state)
    assert 1 == state.missed[0]


@pytest.mark.rule("CLOCK-3")
@pytest.mark.parametrize("ruleset", rulesets_with(bail_timing=BAIL_BEFORE_ROLL))
def test_time_out_after_bail_was_paid_skips_the_roll(ruleset: str) -> None:
    state = table(ruleset, jailed={0: 0})
    act(state, PAY_BAIL_BY[0])

    time_out(state)

    assert (0, 10) == (state.jailed[0], state.position[0])
    assert [1] == actors(state)
