"""Passes of guests, kept so that the same command on the same machine is the same player again.

A file of this user's, readable by nobody else. It holds tokens: losing it loses seats, nothing more.
"""

import json
import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Final

_FILE: Final = "guests.json"


def passes_file(environ: Mapping[str, str]) -> Path:
    """Where passes are kept, by the XDG base directories."""
    state = environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(state) / "opolyx" / _FILE


def read_pass(file: Path, server: str) -> str | None:
    """The token for a server; None if there is none, or the file can't be read."""
    token = _read(file).get(server)
    return token if isinstance(token, str) and token else None


def write_pass(file: Path, server: str, token: str) -> None:
    """Keep the token for a server. A file that can't be written is no reason not to play."""
    passes = {**_read(file), server: token}
    with suppress(OSError):
        file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        fresh = file.with_suffix(f".{os.getpid()}")
        with os.fdopen(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(passes, out)
        fresh.replace(file)


def _read(file: Path) -> dict[str, object]:
    try:
        found = json.loads(file.read_text("utf-8"))
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}
