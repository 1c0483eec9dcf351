"""Secrets out of files: read, never shown, and refused in words that say nothing of them."""

from pathlib import Path

import pytest
from pydantic import SecretStr
from pydantic_settings import SettingsConfigDict

from opolyx_servicekit.program import run_command
from opolyx_servicekit.settings import ServiceSettings


class ShopSettings(ServiceSettings):
    """A service's own settings."""

    model_config = SettingsConfigDict(env_prefix="OPOLYX_SHOP_")

    pepper: SecretStr | None = None
    """A secret."""

    colour: str = "red"
    """None."""


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    path = tmp_path / "secret"
    path.write_text("hunter2\n")
    return path


def test_a_secret_comes_out_of_its_file_and_is_masked(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPOLYX_SHOP_PEPPER_FILE", str(secret))

    settings = ShopSettings()

    assert settings.pepper == SecretStr("hunter2")
    assert "hunter2" not in str(settings.describe()) + repr(settings)
    assert settings.unknown_names() == []


def test_the_stores_address_with_its_password_may_lie_in_a_file(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret.write_text("redis://me:hunter2@host/0")
    monkeypatch.setenv("OPOLYX_SHOP_STORE_URL_FILE", str(secret))

    assert ShopSettings().store_url == "redis://me:hunter2@host/0"
    assert "hunter2" not in str(ShopSettings().describe())


def test_the_environment_goes_before_a_file_and_an_argument_before_both(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPOLYX_SHOP_PEPPER_FILE", str(secret))
    monkeypatch.setenv("OPOLYX_SHOP_PEPPER", "salt")

    assert ShopSettings().pepper == SecretStr("salt")
    assert ShopSettings(pepper=SecretStr("chili")).pepper == SecretStr("chili")


def test_what_is_no_secret_comes_out_of_no_file(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPOLYX_SHOP_COLOUR_FILE", str(secret))

    assert ShopSettings().colour == "red"


@pytest.mark.parametrize("content", [b"", b" \n", b"\xff\xfe", b"hunter2" * 10_000])
def test_a_file_that_holds_no_secret_is_refused_without_its_content(
    content: bytes, secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret.write_bytes(content)
    monkeypatch.setenv("OPOLYX_SHOP_PEPPER_FILE", str(secret))

    with pytest.raises(ValueError, match="holds no secret") as caught:
        ShopSettings()
    assert "hunter2" not in str(caught.value)


def test_a_missing_file_stops_the_program_with_one_line(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("OPOLYX_SHOP_PEPPER_FILE", "/no/such/file")

    assert run_command(ShopSettings, lambda settings: 0) == 2
    assert "can't read the secret in /no/such/file" in capsys.readouterr().err
