"""Keys that sign for some roles alone: a service that is taken over makes no operators."""

import json
from pathlib import Path

import pytest

from opolyx_servicekit.errors import Unauthenticated
from opolyx_servicekit.key_set import KeyFile
from opolyx_servicekit.keys_command import main
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier


@pytest.fixture
def keys(tmp_path: Path) -> tuple[TokenSigner, TokenSigner, TokenVerifier]:
    """Signers with everybody's key and with a service's, and who believes both."""
    public = tmp_path / "all.json"
    assert 0 == main(["make", str(tmp_path / "identity.json"), "--add-to", str(public)])
    service = ["make", str(tmp_path / "engine.json"), "--roles", "service"]
    assert 0 == main([*service, "--add-to", str(public)])
    return (
        TokenSigner(tmp_path / "identity.json"),
        TokenSigner(tmp_path / "engine.json"),
        TokenVerifier(public, roles=["player", "service", "operator"]),
    )


def test_a_services_key_makes_services_and_nobody_else(
    keys: tuple[TokenSigner, TokenSigner, TokenVerifier],
) -> None:
    _, service, verifier = keys
    assert "s_engine" == verifier.verify(signed(service, "service")).subject
    for role in ("operator", "player"):
        with pytest.raises(Unauthenticated) as caught:
            verifier.verify(signed(service, role))
        assert {"problem": "invalid"} == caught.value.metadata


def signed(signer: TokenSigner, role: str) -> str:
    return signer.sign(subject="s_engine", role=role, ttl_seconds=60)


def test_a_key_without_roles_makes_everybody(
    keys: tuple[TokenSigner, TokenSigner, TokenVerifier],
) -> None:
    everybody, _, verifier = keys
    for role in ("player", "service", "operator"):
        assert role == verifier.verify(signed(everybody, role)).role


def test_a_rotated_key_is_bound_as_the_old_one_was(tmp_path: Path) -> None:
    path = tmp_path / "engine.json"
    assert 0 == main(["make", str(path), "--roles", "service"])
    for step in ("add", "promote", "retire"):
        assert 0 == main([step, str(path)])

    verifier = TokenVerifier(tmp_path / "engine.public.json", roles=["service", "operator"])
    assert "service" == verifier.verify(signed(TokenSigner(path), "service")).role
    with pytest.raises(Unauthenticated):
        verifier.verify(signed(TokenSigner(path), "operator"))


@pytest.mark.parametrize("content", ["[]", "{}", '{"keys": [{}]}', '{"keys": 3}', "no json"])
def test_a_set_that_is_none_is_left_alone(tmp_path: Path, content: str) -> None:
    public = tmp_path / "all.json"
    public.write_text(content)

    assert 2 == main(["make", str(tmp_path / "keys.json"), "--add-to", str(public)])
    assert content == public.read_text()


@pytest.mark.parametrize("roles", ["service", [1], None, {}])
def test_roles_that_are_no_list_are_no_bound_less(tmp_path: Path, roles: object) -> None:
    assert 0 == main(["make", str(tmp_path / "keys.json")])
    public = tmp_path / "keys.public.json"
    content = json.loads(public.read_text())
    content["keys"][0]["roles"] = roles
    public.write_text(json.dumps(content))

    with pytest.raises(ValueError, match="not a usable key set"):
        KeyFile(public)
