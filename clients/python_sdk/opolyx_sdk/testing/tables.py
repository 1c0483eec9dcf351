"""Tables to begin with, and how to change them: views are frozen, so each change is a new one."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from opolyx_sdk.actions import Action
from opolyx_sdk.board import SQUARES
from opolyx_sdk.decisions import TradeTemplate
from opolyx_sdk.enums import God, Phase
from opolyx_sdk.views import GameView, PlayerView, PropertyView, TurnView

START_CASH: Final = 15_000
"""What each seat has in `opening_view`, in k."""


@dataclass(frozen=True, slots=True)
class Awaited:
    """An answer that is awaited; the server gives it an id and a deadline."""

    seat: int
    """Who is awaited."""

    phase: Phase
    """What for."""

    legal_actions: tuple[Action, ...]
    """What would be accepted."""

    seconds: float = 75.0
    """Until its deadline."""

    trade_template: TradeTemplate | None = None
    """Bounds of trades."""

    offer_id: int = 0
    """The offer to answer, in Phase.OFFER."""

    amount_owed: int = 0
    """What is owed, in Phase.PAYMENT, in k."""


def awaited(
    seat: int,
    phase: Phase,
    *legal_actions: Action,
    seconds: float = 75.0,
    trade_template: TradeTemplate | None = None,
    offer_id: int = 0,
    amount_owed: int = 0,
) -> Awaited:
    """An answer that is awaited."""
    return Awaited(seat, phase, legal_actions, seconds, trade_template, offer_id, amount_owed)


def opening_view(seats: int = 4) -> GameView:
    """A game that has just begun: seat 0 is to roll, nobody owns anything."""
    return GameView(
        players=tuple(
            PlayerView(
                seat=seat,
                cash=START_CASH,
                position=0,
                in_game=True,
                in_jail=False,
                jail_attempts=0,
                missed_turns=0,
                god=God.UNSPECIFIED,
                god_until_round=0,
                financed_square=None,
                financed_price=0,
                financed_due_round=0,
                net_worth=START_CASH,
                out_order=0,
            )
            for seat in range(seats)
        ),
        properties=tuple(
            PropertyView(square.number, None, 0, False, 0, 0) for square in SQUARES if square.group
        ),
        turn=TurnView(
            round=1,
            seat=0,
            first_seat=0,
            turn_number=1,
            phase=Phase.ROLL,
            awaited_seat=0,
            dice=(),
            doubles=0,
            rolls_again=False,
            jump_due=False,
        ),
        auction=None,
        debts=(),
        offers=(),
        result=None,
    )


def with_player(view: GameView, seat: int, **changes: Any) -> GameView:
    """The view with other values for a player, for instance `cash=0`."""
    players = [replace(one, **changes) if one.seat == seat else one for one in view.players]
    return replace(view, players=tuple(players))


def with_property(view: GameView, square: int, **changes: Any) -> GameView:
    """The view with other values for a property, for instance `owner=1`."""
    changed = [replace(one, **changes) if one.square == square else one for one in view.properties]
    return replace(view, properties=tuple(changed))


def with_turn(view: GameView, **changes: Any) -> GameView:
    """The view with other values for the turn, for instance `seat=1`."""
    return replace(view, turn=replace(view.turn, **changes))


def awaiting_view(view: GameView, awaits: Sequence[Awaited]) -> GameView:
    """The view whose turn says what is awaited, as the table's own decision has it."""
    table = next((one for one in awaits if one.phase is not Phase.OFFER), None)
    if table is None:
        return view
    return with_turn(view, phase=table.phase, awaited_seat=table.seat)
