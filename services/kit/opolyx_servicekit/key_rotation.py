"""Changing a private key set without a moment in which a good token is refused.

Three steps, each of which must have reached every service before the next: `add_key` (the new key is
known and signs nothing), `promote_key` (it signs), `retire_keys` (the others are no longer good).
Every step writes the private set whole and the public one beside it, so a service never reads half.
"""

import json
import os
import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from opolyx_servicekit.key_set import ROLES, new_private_key, write_key_file, write_public_keys

Key = dict[str, Any]


def key_ids(private_path: Path) -> list[str]:
    """The ids of the keys, the one that signs first.

    Raises:
        ValueError: it is no private key set.
        OSError: it can't be read.
    """
    return [key["kid"] for key in _read(private_path)]


def add_key(private_path: Path) -> str:
    """Add a new key that signs nothing yet, for the same roles; its id. Raises as `key_ids`."""
    added: Key = new_private_key(_read(private_path)[0].get(ROLES, ()))
    _change(private_path, lambda keys: [*keys, added])
    return str(added["kid"])


def promote_key(private_path: Path) -> str:
    """Let the newest key sign; its id. The others stay good. Raises as `key_ids`."""
    _change(private_path, lambda keys: [keys[-1], *keys[:-1]])
    return key_ids(private_path)[0]


def retire_keys(private_path: Path) -> list[str]:
    """Drop every key but the one that signs; the dropped ids. Raises as `key_ids`."""
    dropped = key_ids(private_path)[1:]
    _change(private_path, lambda keys: keys[:1])
    return dropped


def _read(private_path: Path) -> list[Key]:
    try:
        keys: list[Key] = json.loads(private_path.read_text("utf-8"))["keys"]
        if not keys or not all(key["kid"] and key["d"] for key in keys):
            raise ValueError("no private keys")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"{private_path} is not a private key set") from error
    return keys


def _change(private_path: Path, change: Callable[[list[Key]], list[Key]]) -> None:
    changed = change(_read(private_path))
    temporary = private_path.with_name(f".{private_path.name}.{secrets.token_hex(6)}")
    write_key_file(temporary, {"keys": changed}, mode=0o600)
    os.replace(temporary, private_path)
    write_public_keys(private_path)
