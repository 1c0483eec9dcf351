"""Trades: what may be offered, and what becomes of offers (TRADE)."""

import pytest

from opolyx.engine.v1 import action_pb2
from opolyx_engine.rpc.convert_actions import trade_from_proto
from opolyx_rules import Action, Refusal, State, actors, get_ruleset, legal_actions
from opolyx_rules import events as ev
from opolyx_rules.actions import (
    ACCEPT_TRADE,
    BUILD_BY,
    BUY_BY,
    DECLINE_TRADE,
    LAPSE_OFFER,
    MORTGAGE_BY,
    PAY_DEBT_BY,
    PROPOSE_TRADE,
    REDEEM_BY,
    ROLL_BY,
    SURRENDER_BY,
    WITHDRAW_TRADE,
    propose_trade,
)
from opolyx_rules.ids import (
    CASH_TRADE,
    OFFER_ACCEPTED,
    OFFER_CHANGED,
    OFFER_DECLINED,
    OFFER_LAPSED,
    OFFER_SEAT_OUT,
    OFFER_WITHDRAWN,
    PROPERTY_TRADE,
)
from opolyx_rules.queries import current_step
from opolyx_rules.reasons import (
    DUPLICATE_LINE,
    EMPTY_OFFER,
    FINANCED,
    GROUP_HAS_BUILDINGS,
    INVALID_ACTION,
    INVALID_CASH,
    MORTGAGED,
    NO_TRADE_NOW,
    NOT_A_PROPERTY,
    NOT_ENOUGH_CASH,
    NOT_OWNER,
    NOT_PROPOSER,
    NOT_RECIPIENT,
    OFFER_CLOSED,
    PARTNER_OUT,
    TOO_MANY_OFFERS,
    TRADE_WITH_SELF,
    UNFAIR,
)
from opolyx_rules.trade_template import trade_template
from opolyx_rules.views import public_view
from support_rules import (
    ALL,
    act,
    cash_moves,
    draw,
    found,
    idle_until,
    is_legal,
    refused,
    roll,
    rulesets_with,
    stop_on,
    table,
    why,
)

IN_DEBT = rulesets_with(trade_in_debt=True)
NOT_IN_DEBT = rulesets_with(trade_in_debt=False)
WITH_MORTGAGES = rulesets_with(trade_mortgaged=True)
WITHOUT_MORTGAGES = rulesets_with(trade_mortgaged=False)
TEAM = rulesets_with(sides=2)

X = 6
"""A street of list price 1000."""


def offered(state: State, action: Action) -> State:
    """Make the offer; it is the only one."""
    act(state, action)
    return state


def closed(log: list[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """(offer, cause) of every offer closed."""
    return [event[1:] for event in found(log, ev.OFFER_CLOSED)]


def give_x(price: int = 800) -> Action:
    """Seat 0 offers X to seat 1."""
    return propose_trade(0, 1, give_squares=(X,), want_cash=price)


@pytest.mark.rule("TRADE-1")
@pytest.mark.statement("R123")
@pytest.mark.parametrize("name", ALL)
def test_cash_and_properties_change_hands_both_ways(name: str) -> None:
    state = table(name, owns={0: (5, 1), 1: (12,)})
    trade = propose_trade(
        0, 1, give_cash=300, give_squares=(1, 5), want_cash=200, want_squares=(12,)
    )
    log = act(state, trade)
    assert [(ev.OFFER_MADE, 1, 0, 1)] == found(log, ev.OFFER_MADE)
    assert [0] == actors(state)

    log = act(state, (ACCEPT_TRADE, 1, 1))
    assert [
        (ev.CASH_MOVED, 0, 1, 300, CASH_TRADE),
        (ev.CASH_MOVED, 1, 0, 200, CASH_TRADE),
    ] == cash_moves(log)
    assert [
        (1, 0, 1, PROPERTY_TRADE),
        (5, 0, 1, PROPERTY_TRADE),
        (12, 1, 0, PROPERTY_TRADE),
    ] == [event[1:] for event in found(log, ev.PROPERTY_MOVED)]
    assert [(1, OFFER_ACCEPTED)] == closed(log)
    assert ([14_900, 15_100], [1, 1, 0]) == (
        state.cash[:2],
        [state.owner[square] for square in (1, 5, 12)],
    )
    assert [] == state.offers


@pytest.mark.rule("TRADE-1")
@pytest.mark.statement("R127")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("answer", "cause"),
    [((DECLINE_TRADE, 1, 1), OFFER_DECLINED), ((WITHDRAW_TRADE, 0, 1), OFFER_WITHDRAWN)],
)
def test_declined_or_withdrawn_nothing_moves(name: str, answer: Action, cause: int) -> None:
    """Case A-17: the offer was withdrawn."""
    state = offered(table(name, owns={0: (X,)}), give_x())
    log = act(state, answer)

    assert [(1, cause)] == closed(log)
    assert (0, [15_000] * 4, []) == (state.owner[X], state.cash, state.offers)
    assert (OFFER_CLOSED, "TRADE-6") == why(state, (ACCEPT_TRADE, 1, 1))


@pytest.mark.rule("TRADE-1")
def test_only_the_recipient_answers_and_only_the_proposer_withdraws() -> None:
    state = offered(table(owns={0: (X,)}), give_x())

    for seat in (0, 2, 3):
        assert (NOT_RECIPIENT, "TRADE-1") == why(state, (ACCEPT_TRADE, seat, 1))
        assert (NOT_RECIPIENT, "TRADE-1") == why(state, (DECLINE_TRADE, seat, 1))
    for seat in (1, 2, 3):
        assert (NOT_PROPOSER, "TRADE-1") == why(state, (WITHDRAW_TRADE, seat, 1))
    assert (("offer_id", 1),) == refused(state, (ACCEPT_TRADE, 2, 1)).numbers
    assert (("offer_id", 1),) == refused(state, (WITHDRAW_TRADE, 2, 1)).numbers
    assert [(ACCEPT_TRADE, 1, 1), (DECLINE_TRADE, 1, 1)] == legal_actions(state, 1)
    assert (WITHDRAW_TRADE, 0, 1) in legal_actions(state, 0)
    assert [] == legal_actions(state, 2)


@pytest.mark.rule("TRADE-1")
@pytest.mark.parametrize("name", ALL)
def test_partners_are_others_who_are_in(name: str) -> None:
    state = table(name, owns={0: (X,)}, out=[3])

    def with_seat(seat: int) -> Action:
        return propose_trade(0, seat, give_squares=(X,), want_cash=1000)

    assert (TRADE_WITH_SELF, "TRADE-1") == why(state, with_seat(0))
    assert (PARTNER_OUT, "TRADE-1") == why(state, with_seat(3))
    assert (INVALID_ACTION, "TRADE-1") == why(state, with_seat(4))
    assert (INVALID_ACTION, "TRADE-1") == why(state, with_seat(-1))
    assert is_legal(state, with_seat(1))


@pytest.mark.rule("TRADE-1")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("terms", "reason", "rule"),
    [
        ({"give_cash": -500}, INVALID_CASH, "TRADE-1"),
        ({"give_squares": (19,), "want_cash": -1}, INVALID_CASH, "TRADE-1"),
        ({"give_squares": (19,), "want_squares": (19,)}, DUPLICATE_LINE, "TRADE-1"),
        ({"give_squares": (5,), "want_cash": 2000}, NOT_OWNER, "TRADE-1"),
        ({"give_squares": (25,), "want_cash": 2000}, NOT_OWNER, "TRADE-1"),
        ({"want_squares": (19,), "give_cash": 2000}, NOT_OWNER, "TRADE-1"),
        ({"give_squares": (20,), "want_cash": 2000}, NOT_A_PROPERTY, "TRADE-1"),
        ({"give_squares": (40,), "want_cash": 2000}, NOT_A_PROPERTY, "TRADE-1"),
        ({"give_cash": 3001, "want_squares": (12,)}, NOT_ENOUGH_CASH, "TRADE-7"),
        ({"give_squares": (6,), "want_cash": 1000}, GROUP_HAS_BUILDINGS, "TRADE-4"),
        ({"give_squares": (19,), "want_cash": 999}, UNFAIR, "TRADE-5"),
        ({}, EMPTY_OFFER, "TRADE-1"),
        ({"want_cash": 100}, UNFAIR, "TRADE-5"),
    ],
)
def test_odd_offers_are_refused_and_use_no_slot(
    name: str, terms: dict[str, int | tuple[int, ...]], reason: int, rule: str
) -> None:
    """Case A-18: 19 is worth 2000; 5 is another's, 25 nobody's; a sibling of 6 has a building."""
    state = table(name, cash={0: 3000}, owns={0: (19, 6, 8, 9), 1: (12,), 2: (5,)}, levels={8: 1})

    assert (reason, rule) == why(state, propose_trade(0, 1, **terms))  # type: ignore[arg-type]
    assert ([], 0) == (state.offers, state.last_offer)


@pytest.mark.rule("TRADE-1")
@pytest.mark.parametrize("field", ["give_squares", "want_squares"])
def test_a_property_listed_twice_is_refused_where_it_arrives(field: str) -> None:
    """Case A-18: the core has sets of squares, in which nothing stands twice."""
    message = action_pb2.ProposeTrade(recipient=1, want_cash=3000)
    getattr(message, field).extend([19, 19])
    refusal = trade_from_proto(message, 0)

    assert isinstance(refusal, Refusal)
    assert (DUPLICATE_LINE, "TRADE-1") == (refusal.reason, refusal.rule)


@pytest.mark.rule("TRADE-2")
@pytest.mark.statement("R070")
@pytest.mark.parametrize("name", ALL)
def test_offers_are_made_before_one_s_own_roll(name: str) -> None:
    state = table(name, owns={0: (X,), 1: (5,)})
    mine, theirs = give_x(), propose_trade(1, 0, give_squares=(5,), want_cash=2000)
    assert is_legal(state, mine)
    assert (NO_TRADE_NOW, "TRADE-2") == why(state, theirs)
    assert trade_template(state, 0) is not None
    assert trade_template(state, 1) is None

    stop_on(state, 21)
    assert (NO_TRADE_NOW, "TRADE-2") == why(state, mine)
    act(state, BUY_BY[0])
    assert (NO_TRADE_NOW, "TRADE-2") == why(state, mine)
    assert is_legal(state, theirs)


@pytest.mark.rule("TRADE-2")
@pytest.mark.parametrize("name", ALL)
def test_prisoners_offer_before_their_roll(name: str) -> None:
    assert is_legal(table(name, owns={0: (X,)}, jailed={0: 1}), give_x())


@pytest.mark.rule("TRADE-2")
@pytest.mark.statement("R129")
@pytest.mark.parametrize("name", IN_DEBT)
def test_a_debtor_trades_to_raise_the_cash(name: str) -> None:
    state = table(name, owns={0: (X,)}, cash={0: 1300})
    stop_on(state, 4)
    act(state, give_x())
    act(state, (ACCEPT_TRADE, 1, 1))
    act(state, PAY_DEBT_BY[0])

    assert (100, 1, [1]) == (state.cash[0], state.owner[X], actors(state))


@pytest.mark.rule("TRADE-2")
@pytest.mark.parametrize("name", IN_DEBT)
def test_a_debtor_who_is_not_on_turn_trades_too(name: str) -> None:
    state = table(name, owns={1: (X,)}, cash={1: 50})
    draw(state, "birthday")
    assert [1] == actors(state)

    assert is_legal(state, propose_trade(1, 2, give_squares=(X,), want_cash=800))
    assert (NO_TRADE_NOW, "TRADE-2") == why(state, propose_trade(0, 2, give_cash=1, want_cash=1))


@pytest.mark.rule("TRADE-2")
@pytest.mark.statement("R129")
@pytest.mark.parametrize("name", NOT_IN_DEBT)
def test_under_the_oldest_rules_a_debtor_makes_no_offer(name: str) -> None:
    state = table(name, owns={0: (X,)}, cash={0: 1300})
    stop_on(state, 4)

    assert (NO_TRADE_NOW, "TRADE-2") == why(state, give_x())
    assert trade_template(state, 0) is None


@pytest.mark.rule("TRADE-3")
@pytest.mark.statement("R126")
@pytest.mark.parametrize("name", ALL)
def test_three_offers_of_a_proposer_are_open_at_most(name: str) -> None:
    """Case A-18: a fourth open offer."""
    state = table(name, owns={0: (X,), 1: (5,)})
    for _ in range(3):
        act(state, give_x())
    refusal = refused(state, give_x())
    assert (TOO_MANY_OFFERS, "TRADE-3", (("limit", 3),)) == (
        refusal.reason,
        refusal.rule,
        refusal.numbers,
    )
    assert trade_template(state, 0) is None

    act(state, (DECLINE_TRADE, 1, 2))
    act(state, give_x())
    assert [1, 3, 4] == [offer[0] for offer in state.offers]
    idle_until(state, 1)
    assert is_legal(state, propose_trade(1, 0, give_squares=(5,), want_cash=2000))


@pytest.mark.rule("TRADE-4")
@pytest.mark.statement("R124")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("side", ["give_squares", "want_squares"])
def test_nothing_of_a_group_with_a_building_is_traded(name: str, side: str) -> None:
    owner = 0 if side == "give_squares" else 1
    state = table(name, owns={owner: (6, 8, 9, 5)}, levels={8: 1})
    cash = "want_cash" if owner == 0 else "give_cash"

    for square in (6, 8, 9):
        trade = propose_trade(0, 1, **{side: (square,), cash: 1000})  # type: ignore[arg-type]
        assert (GROUP_HAS_BUILDINGS, "TRADE-4") == why(state, trade)
    assert is_legal(state, propose_trade(0, 1, **{side: (5,), cash: 2000}))  # type: ignore[arg-type]


@pytest.mark.rule("TRADE-4")
@pytest.mark.statement("R125")
@pytest.mark.parametrize("name", WITHOUT_MORTGAGES)
def test_mortgaged_property_is_not_traded(name: str) -> None:
    state = table(name, owns={0: (5,), 1: (15,)}, mortgaged=[5, 15])

    give = propose_trade(0, 1, give_squares=(5,), want_cash=1000)
    want = propose_trade(0, 1, want_squares=(15,), give_cash=1000)
    assert (MORTGAGED, "TRADE-4") == why(state, give)
    assert (MORTGAGED, "TRADE-4") == why(state, want)


@pytest.mark.rule("TRADE-4")
@pytest.mark.statement("R125")
@pytest.mark.parametrize("name", WITH_MORTGAGES)
def test_mortgaged_property_is_traded_with_its_mortgage(name: str) -> None:
    state = table(name, owns={0: (5,)}, mortgaged={5: 3}, round_number=5)
    act(state, propose_trade(0, 1, give_squares=(5,), want_cash=1000))
    act(state, (ACCEPT_TRADE, 1, 1))

    assert (1, 3) == (state.owner[5], state.mortgaged[5])


@pytest.mark.rule("TRADE-4")
@pytest.mark.parametrize("name", [name for name in ALL if get_ruleset(name).financing])
def test_financed_property_is_not_traded(name: str) -> None:
    state = table(name, owns={0: (5,)}, vip=(0,))
    state.financed[0], state.financed_round[0] = 5, 1

    trade = propose_trade(0, 1, give_squares=(5,), want_cash=2000)
    assert (FINANCED, "FIN-3") == why(state, trade)


@pytest.mark.rule("TRADE-5")
@pytest.mark.statement("R128")
@pytest.mark.parametrize("name", ALL)
def test_half_is_fair_and_one_less_is_not_either_way(name: str) -> None:
    """Case A-18: exactly half is fair; nothing for 100 is not."""
    state = table(name, owns={0: (19,), 1: (39,)})

    assert is_legal(state, propose_trade(0, 1, give_squares=(19,), want_cash=1000))
    assert is_legal(state, propose_trade(0, 1, give_squares=(19,), want_cash=4000))
    assert is_legal(state, propose_trade(0, 1, give_squares=(19,), want_squares=(39,)))
    assert is_legal(state, propose_trade(0, 1, give_cash=2000, want_squares=(39,)))
    for trade, given, wanted in (
        (propose_trade(0, 1, give_squares=(19,), want_cash=999), 2000, 999),
        (propose_trade(0, 1, give_squares=(19,), want_cash=4001), 2000, 4001),
        (propose_trade(0, 1, give_cash=1999, want_squares=(39,)), 1999, 4000),
        (propose_trade(0, 1, give_cash=100), 100, 0),
    ):
        refusal = refused(state, trade)
        assert (UNFAIR, "TRADE-5") == (refusal.reason, refusal.rule)
        assert (("given", given), ("wanted", wanted)) == refusal.numbers


@pytest.mark.rule("TRADE-5")
@pytest.mark.parametrize("name", WITH_MORTGAGES)
def test_mortgaged_property_counts_half(name: str) -> None:
    state = table(name, owns={0: (39,)}, mortgaged=[39])

    assert is_legal(state, propose_trade(0, 1, give_squares=(39,), want_cash=1000))
    assert is_legal(state, propose_trade(0, 1, give_squares=(39,), want_cash=4000))
    assert (UNFAIR, "TRADE-5") == why(state, propose_trade(0, 1, give_squares=(39,), want_cash=999))
    assert (UNFAIR, "TRADE-5") == why(
        state, propose_trade(0, 1, give_squares=(39,), want_cash=4001)
    )


@pytest.mark.rule("TRADE-5")
@pytest.mark.statement("R022")
@pytest.mark.parametrize("name", TEAM)
def test_allies_give_as_they_like_and_rivals_do_not(name: str) -> None:
    """Case A-18: between allies anything goes, but not nothing for nothing."""
    state = table(name, owns={0: (39,)})
    gift = propose_trade(0, 2, give_squares=(39,), give_cash=5000)
    assert (UNFAIR, "TRADE-5") == why(state, propose_trade(0, 1, give_squares=(39,)))
    assert (EMPTY_OFFER, "TRADE-1") == why(state, propose_trade(0, 2))

    act(state, gift)
    act(state, (ACCEPT_TRADE, 2, 1))
    assert (2, 10_000, 20_000) == (state.owner[39], state.cash[0], state.cash[2])


@pytest.mark.rule("TRADE-6")
@pytest.mark.statement("R130")
@pytest.mark.parametrize("name", ALL)
def test_an_offer_lapses_after_a_minute(name: str) -> None:
    state = offered(table(name, owns={0: (X,)}), give_x())
    assert 60 == get_ruleset(name).offer_seconds
    step = current_step(state)
    log = act(state, (LAPSE_OFFER, 0, 1))

    assert [(1, OFFER_LAPSED)] == closed(log)
    assert (OFFER_CLOSED, "TRADE-6") == why(state, (ACCEPT_TRADE, 1, 1))
    assert (OFFER_CLOSED, "TRADE-6") == why(state, (LAPSE_OFFER, 0, 1))
    assert step == current_step(state)


@pytest.mark.rule("TRADE-6")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("gone", [0, 1])
def test_offers_of_and_to_a_seat_that_goes_out_are_closed(name: str, gone: int) -> None:
    state = table(name, owns={0: (X,)})
    act(state, give_x())
    act(state, propose_trade(0, 3, give_squares=(X,), want_cash=800))
    log = act(state, SURRENDER_BY[gone])

    assert ([(1, OFFER_SEAT_OUT), (2, OFFER_SEAT_OUT)] if gone == 0 else [(1, OFFER_SEAT_OUT)]) == (
        closed(log)
    )


@pytest.mark.rule("TRADE-6", "TRADE-7")
@pytest.mark.parametrize("name", ALL)
def test_a_mortgage_on_the_property_closes_the_offer(name: str) -> None:
    """Case A-17: the property was mortgaged, even where mortgaged property may be traded."""
    state = offered(table(name, owns={0: (X,)}), give_x())
    log = act(state, MORTGAGE_BY[0][X])

    assert [(1, OFFER_CHANGED)] == closed(log)
    assert (OFFER_CLOSED, "TRADE-6") == why(state, (ACCEPT_TRADE, 1, 1))
    assert (0, 15_000 + 500) == (state.owner[X], state.cash[0])


@pytest.mark.rule("TRADE-6")
@pytest.mark.parametrize("name", WITH_MORTGAGES)
def test_redeeming_closes_the_offer_of_a_mortgaged_property(name: str) -> None:
    state = table(name, owns={0: (X,)}, mortgaged=[X])
    act(state, propose_trade(0, 1, give_squares=(X,), want_cash=500))
    log = act(state, REDEEM_BY[0][X])

    assert [(1, OFFER_CHANGED)] == closed(log)


@pytest.mark.rule("TRADE-6")
@pytest.mark.parametrize("name", ALL)
def test_selling_to_another_closes_the_offer(name: str) -> None:
    """Case A-17: the property was sold to somebody else."""
    state = offered(table(name, owns={0: (X,)}), give_x())
    act(state, propose_trade(0, 3, give_squares=(X,), want_cash=900))
    log = act(state, (ACCEPT_TRADE, 3, 2))

    assert [(2, OFFER_ACCEPTED), (1, OFFER_CHANGED)] == closed(log)
    assert (OFFER_CLOSED, "TRADE-6") == why(state, (ACCEPT_TRADE, 1, 1))
    assert 3 == state.owner[X]


@pytest.mark.rule("TRADE-6")
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("built", [6, 8])
def test_a_building_in_the_group_closes_the_offer(name: str, built: int) -> None:
    """Case A-17: the property or its sibling was built on."""
    state = offered(table(name, owns={0: (6, 8, 9)}), give_x())
    log = act(state, BUILD_BY[0][built])

    assert [(1, OFFER_CHANGED)] == closed(log)
    assert (OFFER_CLOSED, "TRADE-6") == why(state, (ACCEPT_TRADE, 1, 1))


@pytest.mark.rule("TRADE-6")
@pytest.mark.parametrize("name", ALL)
def test_what_the_recipient_was_to_give_counts_as_well(name: str) -> None:
    state = table(name, owns={0: (X,), 1: (5,)})
    act(state, propose_trade(0, 1, give_squares=(X,), want_squares=(5,)))
    idle_until(state, 1)
    log = act(state, MORTGAGE_BY[1][5])

    assert [(1, OFFER_CHANGED)] == closed(log)


@pytest.mark.rule("TRADE-6")
def test_changes_of_other_things_close_nothing() -> None:
    state = offered(table(owns={0: (X, 5, 1, 3)}), give_x())
    act(state, MORTGAGE_BY[0][5])
    act(state, BUILD_BY[0][1])
    roll(state, 5, 6)
    act(state, BUY_BY[0])

    assert [1] == [offer[0] for offer in state.offers]
    act(state, (ACCEPT_TRADE, 1, 1))
    assert 1 == state.owner[X]


@pytest.mark.rule("TRADE-6")
@pytest.mark.parametrize("name", ALL)
def test_another_price_is_another_offer(name: str) -> None:
    """Case A-17: an answer names its offer; who accepts the old one never pays the new price."""
    state = offered(table(name, owns={0: (X,)}), give_x(800))
    act(state, (WITHDRAW_TRADE, 0, 1))
    act(state, give_x(900))

    assert (OFFER_CLOSED, "TRADE-6") == why(state, (ACCEPT_TRADE, 1, 1))
    act(state, (ACCEPT_TRADE, 1, 2))
    assert 15_000 - 900 == state.cash[1]


@pytest.mark.rule("TRADE-7")
@pytest.mark.parametrize("name", ALL)
def test_without_the_cash_acceptance_is_refused_and_nothing_moves(name: str) -> None:
    """Case A-17: the recipient's cash was spent."""
    state = offered(table(name, owns={0: (X,)}), give_x(800))
    state.cash[1] = 799
    refusal = refused(state, (ACCEPT_TRADE, 1, 1))

    assert (NOT_ENOUGH_CASH, "TRADE-7") == (refusal.reason, refusal.rule)
    assert (("seat", 1), ("needed", 800), ("cash", 799)) == refusal.numbers
    assert [(DECLINE_TRADE, 1, 1)] == legal_actions(state, 1)
    state.cash[1] = 800
    act(state, (ACCEPT_TRADE, 1, 1))
    assert (1, 0) == (state.owner[X], state.cash[1])


@pytest.mark.rule("TRADE-7")
@pytest.mark.parametrize("name", ALL)
def test_the_proposer_s_cash_is_checked_as_well(name: str) -> None:
    state = table(name, owns={1: (X,)})
    act(state, propose_trade(0, 1, give_cash=1000, want_squares=(X,)))
    state.cash[0] = 999

    assert (NOT_ENOUGH_CASH, "TRADE-7") == why(state, (ACCEPT_TRADE, 1, 1))


@pytest.mark.rule("TRADE-7")
def test_two_offers_of_the_same_cash_are_good_for_one() -> None:
    """Nothing is held back for an open offer."""
    state = table(cash={0: 1000}, owns={1: (6,), 2: (8,)})
    act(state, propose_trade(0, 1, give_cash=1000, want_squares=(6,)))
    act(state, propose_trade(0, 2, give_cash=1000, want_squares=(8,)))
    act(state, (ACCEPT_TRADE, 1, 1))

    assert (NOT_ENOUGH_CASH, "TRADE-7") == why(state, (ACCEPT_TRADE, 2, 2))
    assert (0, 0) == (state.cash[0], state.owner[6])


@pytest.mark.rule("TRADE-8")
@pytest.mark.parametrize("name", ALL)
def test_offers_are_in_everybody_s_view(name: str) -> None:
    state = table(name, owns={0: (X,), 1: (5,)})
    act(state, propose_trade(0, 1, give_cash=900, give_squares=(X,), want_squares=(5,)))

    assert [(1, 0, 1, 900, 0, [X], [5])] == public_view(state)[5]


@pytest.mark.rule("TRADE-8")
@pytest.mark.parametrize("name", ALL)
def test_trading_starts_no_clock_afresh(name: str) -> None:
    state = table(name, owns={0: (X, 5, 15)})
    step = current_step(state)
    for action in (
        give_x(),
        propose_trade(0, 1, give_squares=(5,), want_cash=2000),
        propose_trade(0, 1, give_squares=(15,), want_cash=2000),
        (ACCEPT_TRADE, 1, 1),
        (DECLINE_TRADE, 1, 2),
        (WITHDRAW_TRADE, 0, 3),
    ):
        act(state, action)
        assert step == current_step(state)

    assert is_legal(state, ROLL_BY[0])


@pytest.mark.rule("TRADE-8")
def test_an_answer_of_somebody_else_leaves_the_awaited_decision_as_it_is() -> None:
    state = offered(table(owns={0: (X,)}), give_x())
    decision = state.decision
    act(state, (ACCEPT_TRADE, 1, 1))

    assert decision == state.decision


@pytest.mark.rule("TRADE-8")
def test_an_offer_that_lapses_leaves_the_awaited_proposers_decision_as_it_is() -> None:
    """The roll that is on its way when the minute is over still counts."""
    state = offered(table(owns={0: (X,)}), give_x())
    decision = state.decision
    act(state, (LAPSE_OFFER, 0, 1))

    assert decision == state.decision


@pytest.mark.rule("TRADE-3", "TRADE-5")
def test_the_template_says_what_may_be_offered() -> None:
    state = table("team@full", owns={0: (5, 6, 8, 9, 15), 1: (25,)}, levels={6: 1}, mortgaged=[15])
    act(state, propose_trade(0, 1, give_squares=(5,), want_cash=2000))
    template = trade_template(state, 0)

    assert template is not None
    assert ([5, 15], 15_000, 5_000, 2) == (
        template.own_squares,
        template.max_give_cash,
        template.fairness_bp,
        template.offers_left,
    )
    assert [(1, [25], 15_000, False), (2, [], 15_000, True), (3, [], 15_000, False)] == (
        template.partners
    )
    assert PROPOSE_TRADE not in {action[0] for action in legal_actions(state, 0)}
