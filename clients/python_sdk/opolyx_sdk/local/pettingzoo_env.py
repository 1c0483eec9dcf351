"""The game as a PettingZoo environment (AEC), for learners. Extra `pettingzoo`.

```python
from opolyx_sdk.local.pettingzoo_env import env

table = env("blitz@full", seats=4)
table.reset(seed=1)
for agent in table.agent_iter():
    observation, reward, termination, truncation, info = table.last()
    if termination or truncation:
        action = None
    else:
        action = table.action_space(agent).sample(observation["action_mask"])
    table.step(action)
```

An observation is `{"observation": float32 (observation.size_of(seats),), "action_mask": int8
(196,)}`, see `observation` and `action_space`; the mask is all zeros for who isn't asked. Rewards
come at the end alone, from 1 for the first place down to -1 for the last, and sum to 0. Who goes
out stays an agent, and isn't asked, until the game ends for all.
"""

import secrets
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, ClassVar, Final

from opolyx_rules import engine
from opolyx_rules.queries import awaited_seat
from opolyx_rules.state import Offer, State
from opolyx_sdk.errors import MissingExtra
from opolyx_sdk.local import action_space
from opolyx_sdk.local._core_decisions import awaited_actions
from opolyx_sdk.local._dice_secret import BuiltInLuck
from opolyx_sdk.local._local_game import LocalGame
from opolyx_sdk.local._players import BUILT_IN, BuiltInPlayer, default_answer
from opolyx_sdk.local.game_record import SeatReport
from opolyx_sdk.local.simulator import check_table, set_up
from opolyx_sdk.local.table_options import TableOptions

try:
    import numpy as np
    from gymnasium import spaces
    from pettingzoo.utils import wrappers
    from pettingzoo.utils.env import AECEnv

    from opolyx_sdk.local.observation import observe, size_of
except ModuleNotFoundError as error:
    raise MissingExtra(
        "PettingZoo is not installed: install the SDK with its extra `pettingzoo`"
    ) from error

_NOBODY_BUILT_IN: Final[Mapping[int, str]] = MappingProxyType({})


def env(
    ruleset: str = "classic@full",
    *,
    seats: int = 4,
    opponents: Mapping[int, str] = _NOBODY_BUILT_IN,
    round_cap: int | None = None,
    render_mode: str | None = None,
) -> AECEnv:
    """The environment, in PettingZoo's wrappers that see to the order of calls.

    Args:
        ruleset: the ruleset, "mode@edition".
        seats: seats at the table; agents are called `seat_0` and so on.
        opponents: seats that a built-in bot plays, with its name; they are no agents. What they
            offer to an agent is declined for it.
        round_cap: ends games earlier than the ruleset does.
        render_mode: None, or "ansi": `render` gives a few lines of text.

    Raises:
        ValueError: no such ruleset or bot, or a number of seats that can't be.
    """
    raw = OpolyxEnv(
        ruleset, seats=seats, opponents=opponents, round_cap=round_cap, render_mode=render_mode
    )
    return wrappers.OrderEnforcingWrapper(wrappers.AssertOutOfBoundsWrapper(raw))


class OpolyxEnv(AECEnv):  # type: ignore[misc] # PettingZoo has no types
    """The environment itself; see `env` for the arguments.

    The version in its name rises whenever rewards, observations or actions change.
    """

    metadata: ClassVar[dict[str, Any]] = {
        "name": "opolyx_v0",
        "render_modes": ["ansi"],
        "is_parallelizable": False,
    }

    def __init__(
        self,
        ruleset: str = "classic@full",
        *,
        seats: int = 4,
        opponents: Mapping[int, str] = _NOBODY_BUILT_IN,
        round_cap: int | None = None,
        render_mode: str | None = None,
    ) -> None:
        super().__init__()
        check_table(ruleset, seats)
        _check_opponents(seats, opponents)
        self.render_mode = render_mode
        self._ruleset = ruleset
        self._policies = [opponents.get(seat, "") for seat in range(seats)]
        self._house = {} if round_cap is None else {"round_cap": round_cap}
        self._seats = {
            f"seat_{seat}": seat for seat, policy in enumerate(self._policies) if not policy
        }
        self.possible_agents = list(self._seats)
        box = spaces.Box(-1.0, 1.0, (size_of(seats),), np.float32)
        mask = spaces.Box(0, 1, (action_space.SIZE,), np.int8)
        self._observed = {
            agent: spaces.Dict({"observation": box, "action_mask": mask})
            for agent in self.possible_agents
        }
        self._chosen = {agent: spaces.Discrete(action_space.SIZE) for agent in self.possible_agents}
        self._seed = secrets.token_hex(8)
        self._number = -1
        self._game: LocalGame | None = None
        self._built_in: dict[int, BuiltInPlayer] = {}

    def observation_space(self, agent: str) -> spaces.Dict:
        """The space of an agent's observations; the same object each time."""
        return self._observed[agent]

    def action_space(self, agent: str) -> spaces.Discrete:
        """The space of an agent's actions; the same object each time."""
        return self._chosen[agent]

    def reset(self, seed: int | None = None, options: dict[str, Any] | None = None) -> None:
        """Begin a game: the first of the seed, or the next of the seed before."""
        if seed is not None:
            self._seed, self._number = str(seed), -1
        self._number += 1
        names = [f"seat_{seat}" for seat in range(len(self._policies))]
        setting = TableOptions(house=self._house)
        game, _ = set_up(self._ruleset, self._policies, names, self._seed, self._number, setting)
        self._game = game
        luck = BuiltInLuck(self._seed, game.header.game_id)
        self._built_in = {
            seat: BuiltInPlayer(seat, SeatReport(names[seat]), policy, luck)
            for seat, policy in enumerate(self._policies)
            if policy
        }
        self.agents = self.possible_agents[:]
        self.rewards = dict.fromkeys(self.agents, 0.0)
        self._cumulative_rewards = dict.fromkeys(self.agents, 0.0)
        self.terminations = dict.fromkeys(self.agents, False)
        self.truncations = dict.fromkeys(self.agents, False)
        self.infos: dict[str, dict[str, Any]] = {agent: {} for agent in self.agents}
        self.agent_selection = self.agents[0]
        self._go_on()

    def step(self, action: int | None) -> None:
        """Carry out the action of the selected agent.

        Raises:
            ValueError: the action is masked, or none at all; nothing has changed.
        """
        agent, game = self.agent_selection, self._running()
        if self.terminations[agent] or self.truncations[agent]:
            self._was_dead_step(action)
            return
        seat = self._seats[agent]
        if action is None or not self._chosen[agent].contains(action):
            raise ValueError(f"action {action!r} is none of 0 to {action_space.SIZE - 1}")
        wanted = action_space.action_of(int(action), seat)
        refusal = engine.check(game.state, wanted)
        if refusal is not None:
            raise ValueError(f"action {action} is masked: {refusal}")
        self._cumulative_rewards[agent] = 0.0
        self._clear_rewards()
        game.act(wanted)
        self._go_on()
        self._accumulate_rewards()

    def observe(self, agent: str) -> dict[str, Any]:
        """What an agent sees now."""
        state, seat = self._running().state, self._seats[agent]
        mask = np.zeros(action_space.SIZE, dtype=np.int8)
        if not state.over and awaited_seat(state) == seat:
            for action in awaited_actions(state, seat):
                number = action_space.number_of(action)
                if number is not None:
                    mask[number] = 1
        return {"observation": observe(state, seat), "action_mask": mask}

    def render(self) -> str | None:
        """The table in a few lines, with `render_mode` "ansi"; else nothing."""
        if self.render_mode != "ansi":
            return None
        view = self._running().view
        lines = [f"round {view.turn.round}, {view.turn.phase.name}"]
        for one in view.players:
            owned = len(view.properties_of(one.seat))
            lines.append(
                f"seat {one.seat}: {one.cash}k on square {one.position}, {owned} properties"
            )
        return "\n".join(lines)

    def close(self) -> None:
        """Nothing is open."""

    def _running(self) -> LocalGame:
        if self._game is None:
            raise RuntimeError("call reset first")
        return self._game

    def _go_on(self) -> None:
        """Let built-in bots play until an agent is awaited or the game is over."""
        game = self._running()
        while not game.over:
            seat, offer = game.asked()
            if seat not in self._built_in and offer is None:
                self.agent_selection = f"seat_{seat}"
                return
            game.act(self._answered(game, seat, offer))
        for agent, reward in zip(self.possible_agents, self._rewards(game.state), strict=True):
            self.rewards[agent] = reward
            self.terminations[agent] = True

    def _answered(self, game: LocalGame, seat: int, offer: Offer | None) -> tuple[int, ...]:
        player = self._built_in.get(seat)
        return default_answer(game.state, offer) if player is None else player.answer(game, offer)

    def _rewards(self, state: State) -> list[float]:
        """From 1 for the first place to -1 for the last, for the agents in order."""
        ended = engine.result(state)
        return [
            (ended.places + 1 - 2 * ended.seats[seat].place) / (ended.places - 1)
            for seat in self._seats.values()
        ]


def _check_opponents(seats: int, opponents: Mapping[int, str]) -> None:
    for seat, policy in opponents.items():
        if policy not in BUILT_IN:
            raise ValueError(f"no built-in bot {policy!r}; there are {', '.join(BUILT_IN)}")
        if not 0 <= seat < seats:
            raise ValueError(f"no seat {seat}: there are 0 to {seats - 1}")
    if len(opponents) >= seats:
        raise ValueError("no seat is left for an agent")
