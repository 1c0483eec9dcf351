"""The page of security says what is so: its table of roles, its limits, its tests."""

import re
from pathlib import Path
from typing import Final

import pytest

from opolyx_engine.settings import EngineSettings
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_progression.settings import ProgressionSettings
from opolyx_servicekit.settings import ServiceSettings
from rpc_roles import BEGIN, END, PAGE, renewed

ROOT: Final = Path(__file__).resolve().parents[3]
TEXT: Final = PAGE.read_text("utf-8")
SERVICES: Final[tuple[type[ServiceSettings], ...]] = (
    EngineSettings,
    MatchmakerSettings,
    ProgressionSettings,
)
LIMIT_ROW: Final = re.compile(r"^\| `(OPOLYX_[A-Z_]+)` \| ([^|]+) \|", re.MULTILINE)
LIMITS: Final = dict(LIMIT_ROW.findall(TEXT))
BOUNDS: Final = re.compile(r"(^|_)most_|_burst$|_per_(second|minute|owner|player)$")
"""Names of settings that bound what a client sends or holds."""
NO_BOUNDS: Final = {"match_widen_per_second", "adoptions_per_second", "most_forwarded_streams"}
"""What bounds the servers themselves, or nothing."""
TEST: Final = re.compile(r"`(test_\w+)`")
DEFINED: Final = re.compile(r"^(?:async )?def (test_\w+)", re.MULTILINE)


def variables() -> dict[str, tuple[str, object]]:
    """Every setting by its name in the environment: its field's name and default."""
    return {
        f"{settings.model_config.get('env_prefix', '')}{name.upper()}": (name, field.default)
        for settings in SERVICES
        for name, field in settings.model_fields.items()
    }


def written(default: object) -> str:
    """A default as the page writes it."""
    return f"{default:,.10g}" if isinstance(default, int | float) else str(default)


def test_table_of_roles_is_what_the_services_are_given() -> None:
    """If it differs: `.venv/bin/python tools/rpc_roles.py`."""
    assert renewed(TEXT) == TEXT


def test_table_of_roles_cannot_be_lost() -> None:
    for mark in (BEGIN, END):
        with pytest.raises(ValueError, match="marks"):
            renewed(TEXT.replace(mark, ""))


def test_every_limit_is_a_setting_with_this_default() -> None:
    defaults = {variable: written(default) for variable, (_, default) in variables().items()}

    assert LIMITS == {variable: defaults.get(variable) for variable in LIMITS}


def test_every_setting_that_bounds_clients_is_a_limit_of_the_page() -> None:
    """A setting that every service has stands there once, with the engine's prefix."""
    shared = ServiceSettings.model_fields.keys()
    bounds = {
        variable
        for variable, (name, _) in variables().items()
        if BOUNDS.search(name) and name not in NO_BOUNDS
        if name not in shared or variable.startswith("OPOLYX_ENGINE_")
    }

    assert bounds
    assert bounds - LIMITS.keys() == set()


def test_every_test_that_is_named_exists() -> None:
    sources = [path.read_text("utf-8") for path in (ROOT / "tests").rglob("test_*.py")]
    defined = {name for source in sources for name in DEFINED.findall(source)}
    named = set(TEST.findall(TEXT))

    assert named
    assert named - defined == set()
