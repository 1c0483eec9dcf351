"""What guarded work may cost, and whether a cost is over that.

A cost is a ratio. That of core work is to the core at the last renewal, so that its limit is 1 on every
machine and every Python. That of the server is to a bare server: it differs little between machines,
more between versions of Python, of which each has a limit of its own.
"""

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

FILE: Final = Path(__file__).with_name("guard_limits.json")
SERVER: Final = "server"
"""What the server's cost is called."""

TOLERANCE: Final = 1.12
"""How many times its limit a piece of work may cost: in the middle between none and a loss of a quarter."""


_SURELY_SAME: Final = 1.05
_SURELY_SLOWER: Final = 1.2
"""Between them more is measured before anything is said."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What is said of one piece of work."""

    name: str
    """The work."""

    cost: float
    """What it costs now."""

    limit: float
    """What it cost at the last renewal."""

    @property
    def times(self) -> float:
        """How many times its limit it costs."""
        return self.cost / self.limit

    @property
    def slower(self) -> bool:
        """Whether that is more than noise."""
        return self.times > TOLERANCE

    @property
    def unclear(self) -> bool:
        """Whether it is near enough to that to be measured once more."""
        return _SURELY_SAME < self.times < _SURELY_SLOWER


def judge(costs: Mapping[str, float], server_limit: float | None) -> list[Verdict]:
    """A verdict for each cost; none for the server's if it has no limit."""
    limits = {name: 1.0 for name in costs if name != SERVER}
    if server_limit is not None:
        limits[SERVER] = server_limit
    return [Verdict(name, cost, limits[name]) for name, cost in costs.items() if name in limits]


def python_version() -> str:
    """The version of Python whose limit counts here."""
    return f"{sys.version_info.major}.{sys.version_info.minor}"


def load(file: Path = FILE, version: str = "") -> float | None:
    """The server's limit on a version of Python, by default this one; None if it has none."""
    limits: dict[str, float] = json.loads(file.read_text())[SERVER]
    return limits.get(version or python_version())


def save(cost: float, file: Path = FILE, version: str = "") -> None:
    """Make this the server's limit on a version of Python; those of others stay."""
    limits = json.loads(file.read_text())[SERVER] if file.exists() else {}
    limits[version or python_version()] = round(cost, 3)
    file.write_text(json.dumps({SERVER: limits}, indent=2, sort_keys=True) + "\n")
