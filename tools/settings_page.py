"""Write `docs/settings.md`: every setting of every service, out of the settings' own classes.

With `--check` it only compares, and fails if the page is old.
"""

import argparse
import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined

from opolyx_engine.settings import EngineSettings
from opolyx_matchmaker.settings import MatchmakerSettings
from opolyx_progression.settings import ProgressionSettings
from opolyx_servicekit.settings import ServiceSettings

PAGE: Final = Path(__file__).resolve().parent.parent / "docs" / "settings.md"

SERVICES: Final[dict[str, type[ServiceSettings]]] = {
    "engine": EngineSettings,
    "matchmaker": MatchmakerSettings,
    "progression": ProgressionSettings,
}
"""The settings of each service, by its name."""

_HEAD: Final = """# Settings

Made by `make settings-page` from the settings' classes. Each is an environment variable of the service; one that can't be what it is
given ends the start with a line that names it. `opolyx serve` and `opolyx demo` need none.

A secret, and the store's address, which may hold a password, can stand in a file: the variable's name with `_FILE` at its end
names it. Logs show secrets as `***`.
"""


def main() -> int:
    """Write or compare the page; 1 if it is old."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="write nothing, fail if it differs")
    made = page()
    if not parser.parse_args().check:
        PAGE.write_text(made)
    elif not PAGE.exists() or PAGE.read_text() != made:
        sys.stderr.write("run `make settings-page`: docs/settings.md is old\n")
        return 1
    return 0


def variables(settings: type[ServiceSettings]) -> set[str]:
    """All variables that a service reads, those of secrets' files included."""
    found = set()
    for name, field in settings.model_fields.items():
        found.add(_variable(settings, name))
        if name == "store_url" or _is_secret(field):
            found.add(_variable(settings, name) + "_FILE")
    return found


def page() -> str:
    """The page's text."""
    shared = ServiceSettings.model_fields
    parts = [
        _HEAD,
        "\n## Of every service\n\n`<SERVICE>` is ENGINE, MATCHMAKER or PROGRESSION.\n\n",
    ]
    parts.append(
        _table((f"OPOLYX_<SERVICE>_{name.upper()}", field) for name, field in shared.items())
    )
    for service, settings in SERVICES.items():
        own = [
            (_variable(settings, name), field)
            for name, field in settings.model_fields.items()
            if name not in shared or field.default != shared[name].default
        ]
        parts.append(f"\n## Of the {service}\n\n{_table(own)}")
    return "".join(parts)


def _variable(settings: type[ServiceSettings], name: str) -> str:
    return f"{settings.model_config.get('env_prefix', '')}{name.upper()}"


def _table(rows: Iterable[tuple[str, FieldInfo]]) -> str:
    lines = ["| variable | default | what it is |\n|---|---|---|\n"]
    for variable, field in rows:
        told = " ".join((field.description or "").split()).replace("|", "\\|")
        lines.append(f"| `{variable}` | {_default(field)} | {told} |\n")
    return "".join(lines)


def _default(field: FieldInfo) -> str:
    default = field.default
    if default is None or default is PydanticUndefined:
        return ""
    if isinstance(default, tuple):
        return f"`{','.join(default)}`"
    return f"`{default}`" if default != "" else ""


def _is_secret(field: FieldInfo) -> bool:
    return SecretStr in (get_args(field.annotation) or (field.annotation,))


if __name__ == "__main__":
    raise SystemExit(main())
