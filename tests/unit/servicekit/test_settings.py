"""Settings come from the environment, are checked and never show a secret."""

from pathlib import Path

import pytest
from pydantic import SecretStr, ValidationError
from pydantic_settings import SettingsConfigDict

from opolyx_servicekit.settings import ServiceSettings


class ShopSettings(ServiceSettings):
    """A service's own settings."""

    model_config = SettingsConfigDict(env_prefix="OPOLYX_SHOP_")

    admin_token: str = ""
    """A secret by its name."""

    pepper: SecretStr = SecretStr("salt")
    """A secret by its type."""


def test_defaults_need_no_environment() -> None:
    settings = ServiceSettings()

    assert settings.listen_address == "127.0.0.1:0"
    assert settings.grace_seconds == 20
    assert settings.token_algorithms == ("EdDSA",)
    assert settings.verification_keys_file is None


def test_a_service_reads_its_own_prefix(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPOLYX_SHOP_LISTEN_ADDRESS", "0.0.0.0:7")
    monkeypatch.setenv("OPOLYX_SHOP_TOKEN_ALGORITHMS", "EdDSA, ES256")
    monkeypatch.setenv("OPOLYX_OTHER_LISTEN_ADDRESS", "0.0.0.0:8")

    settings = ShopSettings()

    assert settings.listen_address == "0.0.0.0:7"
    assert settings.token_algorithms == ("EdDSA", "ES256")


def test_unknown_names_and_bad_values_are_refused() -> None:
    with pytest.raises(ValidationError, match="listen_adress"):
        ServiceSettings(listen_adress="x")  # type: ignore[call-arg]
    with pytest.raises(ValidationError, match="grace_seconds"):
        ServiceSettings(grace_seconds=-1)


def test_a_typo_in_the_environment_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPOLYX_SHOP_LISTEN_ADRESS", "0.0.0.0:7")
    monkeypatch.setenv("OPOLYX_SHOP_LISTEN_ADDRESS", "0.0.0.0:7")
    monkeypatch.setenv("OPOLYX_OTHER_THING", "1")

    assert ShopSettings().unknown_names() == ["OPOLYX_SHOP_LISTEN_ADRESS"]


def test_settings_are_frozen() -> None:
    with pytest.raises(ValidationError, match="frozen"):
        ServiceSettings().grace_seconds = 1  # type: ignore[misc]


def test_describe_masks_secrets_and_keeps_paths() -> None:
    settings = ShopSettings(
        admin_token="hunter2",
        pepper=SecretStr("hunter3"),
        store_url="redis://me:hunter4@host/0",
        verification_keys_file=Path("/etc/keys.json"),
    )

    described = settings.describe()

    assert "hunter" not in str(described)
    assert described["store_url"] == "redis://***@host/0"
    assert described["verification_keys_file"] == "/etc/keys.json"
    assert described["listen_address"] == "127.0.0.1:0"


def test_every_field_says_what_it_is() -> None:
    assert all(field.description for field in ServiceSettings.model_fields.values())
