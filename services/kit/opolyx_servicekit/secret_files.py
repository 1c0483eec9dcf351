"""Secrets out of files: `<NAME>_FILE` in the environment names where the secret `<NAME>` stands.

So it is in no process's environment, which others on the machine may read, and in no manifest.
"""

import os
from pathlib import Path
from typing import Any, Final, get_args

from pydantic import SecretStr
from pydantic.fields import FieldInfo
from pydantic_settings import BaseSettings, PydanticBaseSettingsSource

FILE: Final = "_FILE"
"""What a variable's name ends with that names a secret's file."""

_STORE: Final = "store_url"  # may hold a password
_LONGEST: Final = 65_536


class SecretFiles(PydanticBaseSettingsSource):
    """Reads the secrets among a service's settings from the files that the environment names."""

    def __init__(self, settings: type[BaseSettings]) -> None:
        """Read for this class of settings."""
        super().__init__(settings)
        self._prefix = str(settings.model_config.get("env_prefix", ""))
        self._environment = {name.upper(): value for name, value in os.environ.items()}

    def get_field_value(self, field: FieldInfo, field_name: str) -> tuple[Any, str, bool]:
        """The secret, if there is a file for it.

        Raises:
            ValueError: the file can't be read, or is no text of a sensible size.
        """
        variable = f"{self._prefix}{field_name}{FILE}".upper()
        path = self._environment.get(variable)
        if path is None or not _is_secret(field, field_name):
            return None, field_name, False
        return read_secret(Path(path)), field_name, False

    def __call__(self) -> dict[str, Any]:
        """All secrets that have files, by field."""
        found = {
            name: self.get_field_value(field, name)[0]
            for name, field in self.settings_cls.model_fields.items()
        }
        return {name: value for name, value in found.items() if value is not None}


def read_secret(path: Path) -> str:
    """The secret in a file, without the line's end.

    Raises:
        ValueError: the file can't be read, or is no text of a sensible size; it says nothing of
            what is in it.
    """
    try:
        with path.open("rb") as file:
            content = file.read(_LONGEST + 1)
    except OSError as error:
        raise ValueError(f"can't read the secret in {path}: {error.strerror}") from None
    try:
        text = content.decode("utf-8").strip()
    except UnicodeDecodeError:
        text = ""
    if not text or len(content) > _LONGEST:
        raise ValueError(f"{path} holds no secret of 1 to {_LONGEST} bytes of text")
    return text


def _is_secret(field: FieldInfo, name: str) -> bool:
    kinds = get_args(field.annotation) or (field.annotation,)
    return name == _STORE or SecretStr in kinds
