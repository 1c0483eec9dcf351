"""The rules of opolyx, pure: no I/O, no clock, no randomness of its own, no dependencies.

```python
from opolyx_rules import SeededChance, actors, apply, get_ruleset, legal_actions, result, start

chance = SeededChance(b"any key")
state = start(get_ruleset("classic@full"), 4, chance)
while not state.over:
    seat = actors(state)[0]
    events = apply(state, legal_actions(state, seat)[0], chance)
print(result(state).seats[0].place)
```
"""

from typing import Final

from opolyx_rules import engine as _engine
from opolyx_rules.actions import Action
from opolyx_rules.chance import (
    Chance,
    RecordedChance,
    RecordingChance,
    ScriptedChance,
    SeededChance,
    commitment_of,
    derive_game_key,
)
from opolyx_rules.editions import RULESETS, get_ruleset
from opolyx_rules.engine import (
    actors,
    apply,
    apply_checked,
    check,
    default_action,
    legal_actions,
    result,
    start,
)
from opolyx_rules.events import Event
from opolyx_rules.mechanics.ending import Result, SeatResult
from opolyx_rules.reasons import IllegalAction, InvariantError, Refusal
from opolyx_rules.ruleset import Ruleset
from opolyx_rules.state import State
from opolyx_rules.trade_template import TradeTemplate, trade_template
from opolyx_rules.views import state_digest

compiled: Final = not str(_engine.__file__).endswith(".py")
"""Whether this is the compiled core (`make core-wheel`): the same rules, only faster."""

__all__ = [
    "RULESETS",
    "Action",
    "Chance",
    "Event",
    "IllegalAction",
    "InvariantError",
    "RecordedChance",
    "RecordingChance",
    "Refusal",
    "Result",
    "Ruleset",
    "ScriptedChance",
    "SeatResult",
    "SeededChance",
    "State",
    "TradeTemplate",
    "actors",
    "apply",
    "apply_checked",
    "check",
    "commitment_of",
    "compiled",
    "default_action",
    "derive_game_key",
    "get_ruleset",
    "legal_actions",
    "result",
    "start",
    "state_digest",
    "trade_template",
]
