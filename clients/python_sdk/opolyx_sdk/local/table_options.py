"""How a simulated game is set up beside its ruleset, its players and its seed."""

from collections.abc import Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class TableOptions:
    """What a room or the accounts would bring in; nothing of it by default."""

    names: tuple[str, ...] = ()
    """Names in seat order; the bots' classes when empty."""

    nonces: tuple[bytes, ...] = ()
    """Each seat's share in the dice, in seat order; none when empty."""

    house: Mapping[str, int] = field(default_factory=dict)
    """What the house changes: `start_cash` in k, `round_cap`, `turn_seconds`."""

    cards: Mapping[int, Mapping[int, int]] = field(default_factory=dict)
    """By seat, by square, the bonus of the collection card in basis points (RENT-5)."""

    vip: frozenset[int] = frozenset()
    """Seats that may finance (FIN-1)."""
