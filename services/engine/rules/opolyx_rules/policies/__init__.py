"""Built-in bots: each a function of what its seat may see to one action.

A policy reads only public parts of the state (never `deck`), and draws from a chance of its own,
never from the game's.
"""

from collections.abc import Callable
from typing import Final

from opolyx_rules.actions import Action
from opolyx_rules.chance import Chance
from opolyx_rules.ids import Seat
from opolyx_rules.policies.random import choose_randomly
from opolyx_rules.policies.steady import choose_steadily
from opolyx_rules.policies.trader import choose_like_a_trader
from opolyx_rules.state import State

Policy = Callable[[State, Seat, Chance], Action]

POLICIES: Final[dict[str, Policy]] = {
    "random": choose_randomly,
    "steady": choose_steadily,
    "trader": choose_like_a_trader,
}
"""Every policy by name. Called for a seat that has something to answer; gives a legal action."""
