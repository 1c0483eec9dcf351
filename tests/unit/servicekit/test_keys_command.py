"""`opolyx-keys`: no good token is refused during a rotation, and nothing is overwritten."""

import stat
from pathlib import Path

import pytest

from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import Unauthenticated
from opolyx_servicekit.key_set import public_keys_path
from opolyx_servicekit.keys_command import main
from opolyx_servicekit.tokens import TokenVerifier


@pytest.fixture
def keys(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    assert main(["make", str(path)]) == 0
    return path


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> list[str]:
    capsys.readouterr()
    assert main(arguments) == 0
    return capsys.readouterr().out.split()


def verified(keys: Path, token: str) -> Principal:
    """By a service that has the public keys as they are now."""
    verifier = TokenVerifier(public_keys_path(keys), roles=("service", "operator"))
    return verifier.verify(token)


def token(capsys: pytest.CaptureFixture[str], keys: Path) -> str:
    return run(capsys, "token", str(keys), "--subject", "s_engine")[0]


def test_made_keys_sign_a_service_s_token(keys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    principal = verified(keys, token(capsys, keys))

    assert (principal.subject, principal.role) == ("s_engine", "service")
    assert stat.S_IMODE(keys.stat().st_mode) == 0o600


def test_a_rotation_refuses_no_token_before_the_old_key_is_retired(
    keys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    old = token(capsys, keys)
    before = public_keys_path(keys).read_text()
    run(capsys, "add", str(keys))
    during = token(capsys, keys)
    public_keys_path(keys).write_text(before)  # a service that has not got the new set yet
    assert verified(keys, during).subject == "s_engine"

    run(capsys, "promote", str(keys))
    new = token(capsys, keys)
    assert [verified(keys, each).subject for each in (old, during, new)] == ["s_engine"] * 3

    run(capsys, "retire", str(keys))
    assert verified(keys, new).subject == "s_engine"
    with pytest.raises(Unauthenticated):
        verified(keys, old)


def test_promotion_lets_the_new_key_sign(keys: Path, capsys: pytest.CaptureFixture[str]) -> None:
    first = run(capsys, "list", str(keys))
    added = run(capsys, "add", str(keys))
    assert run(capsys, "list", str(keys)) == first + added

    assert run(capsys, "promote", str(keys)) == added
    assert run(capsys, "list", str(keys)) == added + first
    assert run(capsys, "retire", str(keys)) == first
    assert run(capsys, "list", str(keys)) == added


def test_keys_that_are_there_are_not_made_anew(
    keys: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = keys.read_bytes()

    assert main(["make", str(keys)]) == 2

    assert keys.read_bytes() == before
    assert "left as it is" in capsys.readouterr().err


@pytest.mark.parametrize("content", ["", "{}", '{"keys": []}', '{"keys": [{"kid": "a"}]}', "[1]"])
@pytest.mark.parametrize("command", ["list", "add", "promote", "retire"])
def test_a_file_that_is_no_key_set_is_named_and_kept(
    command: str, content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "keys.json"
    path.write_text(content)

    assert main([command, str(path)]) == 2

    assert str(path) in capsys.readouterr().err
    assert path.read_text() == content
