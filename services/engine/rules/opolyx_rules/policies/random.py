"""The policy `random`: any legal action, each as likely as the others."""

from opolyx_rules.actions import Action
from opolyx_rules.chance import DICE, Chance
from opolyx_rules.engine import legal_actions
from opolyx_rules.ids import Seat
from opolyx_rules.state import State


def choose_randomly(state: State, seat: Seat, chance: Chance) -> Action:
    """One of the seat's legal actions."""
    actions = legal_actions(state, seat)
    return actions[chance.draw(DICE, len(actions))]
