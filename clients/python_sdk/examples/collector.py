"""Buys whatever it stops on and keeps little in hand: the simplest bot with a plan.

opolyx arena clients/python_sdk/examples/collector.py:Collector steady steady random --games 20
"""

from opolyx_sdk import Action, Decision, GameView, SteadyBot
from opolyx_sdk.actions import Buy


class Collector(SteadyBot):
    """Plays as SteadyBot does, but never declines a purchase that it can pay for."""

    def __init__(self) -> None:
        super().__init__(reserve=600)

    def decide(self, view: GameView, decision: Decision) -> Action:
        """Buys, or does what SteadyBot would."""
        if decision.allows(Buy()):
            return Buy()
        return super().decide(view, decision)
