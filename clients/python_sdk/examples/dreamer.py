"""Flat Monte Carlo: plays each choice out some rounds with a built-in bot, takes the best on average.

opolyx arena clients/python_sdk/examples/dreamer.py:Dreamer steady --ruleset blitz@full --games 10
"""

import random

from opolyx_sdk import Action, Decision, GameInfo, GameView, SteadyBot
from opolyx_sdk.enums import Phase
from opolyx_sdk.local import Position


class Dreamer(SteadyBot):
    """Dreams of every purchase; everything else it does as SteadyBot."""

    DREAMS = 6
    """Games dreamt for each choice."""

    ROUNDS = 4
    """How far a dream goes."""

    def __init__(self) -> None:
        super().__init__()
        self.info: GameInfo | None = None
        self.luck = random.Random(0)  # noqa: S311 - its own dice, no secret

    def on_start(self, info: GameInfo) -> None:
        """Keeps what positions are made of; the game's id makes its dreams its own."""
        self.info = info
        self.luck = random.Random(f"{info.game_id} {info.your_seat}")  # noqa: S311 - as above

    def decide(self, view: GameView, decision: Decision) -> Action:
        """The choice that turned out best."""
        if decision.phase is not Phase.BUY or self.info is None:
            return super().decide(view, decision)
        now = Position.of(self.info, view)
        return max(decision.legal_actions, key=lambda one: self.worth(now, one, decision.seat))

    def worth(self, now: Position, action: Action, seat: int) -> int:
        """Net worth ahead of the others, summed over the dreams."""
        total = 0
        for _ in range(self.DREAMS):
            dream = now.clone()
            dream.play(action, self.luck)
            dream.play_out(self.luck, rounds=self.ROUNDS)
            worth = [dream.net_worth(other) for other in range(dream.state.seats)]
            total += 2 * worth[seat] - sum(worth)
        return total
