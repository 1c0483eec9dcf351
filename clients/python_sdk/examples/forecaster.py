"""Looks one turn ahead: keeps in hand what the next rival's roll may cost it, and no more.

opolyx arena clients/python_sdk/examples/forecaster.py:Forecaster steady steady random --games 20
"""

from opolyx_sdk import Action, Decision, GameInfo, GameView, SteadyBot
from opolyx_sdk.actions import Build, Roll
from opolyx_sdk.board import SQUARES
from opolyx_sdk.local import Position


class Forecaster(SteadyBot):
    """Builds as long as the worst of its next rolls that is at all likely stays payable."""

    RISK = 0.1
    """How likely a roll may be that it can't pay for without raising cash."""

    def __init__(self) -> None:
        super().__init__(reserve=600)
        self.info: GameInfo | None = None

    def on_start(self, info: GameInfo) -> None:
        """Keeps what positions are made of."""
        self.info = info

    def decide(self, view: GameView, decision: Decision) -> Action:
        """Builds the dearest street that it can afford; else plays as SteadyBot does."""
        builds = [one for one in decision.legal_actions if isinstance(one, Build)]
        if builds and decision.allows(Roll()) and self.info is not None:
            spare = view.player(decision.seat).cash - self.needed(view, decision.seat)
            for build in sorted(builds, key=lambda one: -SQUARES[one.square].build_cost):
                if SQUARES[build.square].build_cost <= spare:
                    return build
        return super().decide(view, decision)

    def needed(self, view: GameView, seat: int) -> int:
        """What the next roll costs at most, but for the worst `RISK` of all rolls."""
        assert self.info is not None  # noqa: S101 - asked for by the caller
        costs: list[tuple[int, float]] = []
        for outcome in Position.of(self.info, view).outcomes(Roll()):
            owed = sum(
                claim.amount
                for debt in outcome.position.view.debts
                if debt.debtor == seat
                for claim in debt.claims
            )
            costs.append((owed, outcome.odds))
        risk = 0.0
        for owed, odds in sorted(costs, reverse=True):
            risk += odds
            if risk > self.RISK:
                return owed
        return 0
