"""One game in this process: the rules' state, its clock, and what a player sees of both."""

from opolyx_rules import engine, replay
from opolyx_rules.actions import KIND, SEAT, TIME_OUT
from opolyx_rules.actions import Action as CoreAction
from opolyx_rules.chance import Chance
from opolyx_rules.events import Event as CoreEvent
from opolyx_rules.queries import awaited_seat
from opolyx_rules.state import Offer, State
from opolyx_rules.views import state_digest
from opolyx_sdk.actions import Action
from opolyx_sdk.decisions import Decision
from opolyx_sdk.enums import GameState, SeatKind
from opolyx_sdk.local._core_decisions import DecisionMaker, offered_decision
from opolyx_sdk.local._core_events import sdk_event
from opolyx_sdk.local._core_views import ViewMaker
from opolyx_sdk.local._game_clock import GameClock
from opolyx_sdk.seats import Seat, SeatCard
from opolyx_sdk.updates import GameInfo, HouseRules, Update
from opolyx_sdk.views import GameView

_KINDS = {"person": SeatKind.PERSON, "bot": SeatKind.BOT, "built_in": SeatKind.BUILT_IN}


class LocalGame:
    """A game, its last update, and its view: made only when somebody looks, and then once."""

    def __init__(self, header: replay.Header, chance: Chance) -> None:
        """Set the game up.

        Raises:
            KeyError: no ruleset has this name.
            ValueError: the ruleset isn't for so many seats, or a house option is out of bounds.
        """
        self.header = header
        """What is fixed."""
        self._chance = chance
        self.events: list[CoreEvent] = []
        """What happened in the last step."""
        self.state: State = header.start(chance, self.events)
        """The state; `act` changes it in place."""
        self.clock = GameClock(self.state, header.started_unix_ms)
        """The game's clock."""
        self.seq = 0
        """Number of the last update."""
        self.actor: int | None = None
        """Seat that acted last; None for the clock."""
        self._views = ViewMaker()
        self._decisions = DecisionMaker()
        self._view: GameView | None = None
        self._open: tuple[Decision, ...] | None = None
        self._update: Update | None = None

    @property
    def over(self) -> bool:
        """Whether the game has ended."""
        return self.state.over

    @property
    def view(self) -> GameView:
        """The public state; the same object until something happens."""
        if self._view is None:
            self._view = self._views.view(self.state, self.clock)
        return self._view

    def act(self, action: CoreAction) -> None:
        """Carry out an action that `check` of the rules has just accepted."""
        self.events = []
        engine.apply_checked(self.state, action, self._chance, self.events)
        self.clock.settle(self.state)
        self.seq += 1
        self.actor = action[SEAT] if action[KIND] < TIME_OUT else None
        self._view = None
        self._open = None
        self._update = None

    def asked(self) -> tuple[int, Offer | None]:
        """Whose answer is wanted next, and the offer it is about; None for the table's decision.

        Offers come first, by ascending id: in a live game both may be answered in any order.
        """
        if self.state.offers:
            offer = self.state.offers[0]
            return offer[2], offer
        return awaited_seat(self.state), None

    def decision(self, offer: Offer | None) -> Decision:
        """The decision about an offer, or the table's."""
        if offer is None:
            if self._open is not None:
                return self._open[0]
            return self._decisions.awaited(self.state, self.clock)
        return offered_decision(self.state, offer, self.clock)

    def listed(self, decision: Decision, action: Action) -> CoreAction | None:
        """The rules' form of one of the actions that the table's decision lists; None for others.

        Args:
            decision: the table's, of this moment.
            action: what a bot gave back.
        """
        return self._decisions.listed(decision, action)

    def decisions(self) -> tuple[Decision, ...]:
        """All open decisions, the awaited seat's first."""
        if self._open is None:
            self._open = self._decisions.all_open(self.state, self.clock)
        return self._open

    def info(self, seat: int | None) -> GameInfo:
        """What stays the same, as `seat` is told it."""
        rules = self.state.ruleset
        return GameInfo(
            game_id=self.header.game_id,
            ruleset=self.header.ruleset,
            ruleset_hash=rules.digest(),
            seats=tuple(
                _seat(number, record, rules.sides)
                for number, record in enumerate(self.header.seats)
            ),
            commitment=bytes.fromhex(self.header.commitment),
            your_seat=seat,
            house=HouseRules(**self.header.options),
        )

    def update(self, *, with_events: bool = True) -> Update:
        """The last update, the same for all who listen; without events, the game as it is now."""
        if not with_events:
            return self._made_update(with_events=False)
        if self._update is None:
            self._update = self._made_update(with_events=True)
        return self._update

    def _made_update(self, *, with_events: bool) -> Update:
        return Update(
            game_id=self.header.game_id,
            seq=self.seq,
            at_unix_ms=self.clock.now_ms if with_events else 0,
            events=tuple([sdk_event(event) for event in self.events]) if with_events else (),
            view=self.view,
            decisions=self.decisions(),
            actor=self.actor if with_events else None,
            command_id="",
            state=GameState.FINISHED if self.over else GameState.RUNNING,
        )

    def digest(self) -> bytes:
        """Digest of the public state."""
        return state_digest(self.state)


def _seat(number: int, record: replay.SeatRecord, sides: int) -> Seat:
    built_in = record.kind == "built_in"
    return Seat(
        seat=number,
        player_id="" if built_in else f"local_{number}",
        name=record.name,
        kind=_KINDS.get(record.kind, SeatKind.UNSPECIFIED),
        side=number % sides if sides else number,
        policy=record.policy,
        cards=tuple(
            SeatCard(square=int(square), bonus_bp=bonus) for square, bonus in record.cards.items()
        ),
        vip=record.vip,
    )
