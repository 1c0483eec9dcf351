"""Tokens: what is accepted, what isn't, and that no error holds one."""

import json
from pathlib import Path
from typing import Any

import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from jwt.algorithms import ECAlgorithm, RSAAlgorithm

from opolyx_servicekit.access import Principal
from opolyx_servicekit.errors import Unauthenticated
from opolyx_servicekit.key_set import KeyFile, create_keys, ensure_keys, public_keys_path
from opolyx_servicekit.settings import ServiceSettings
from opolyx_servicekit.tokens import TokenSigner, TokenVerifier, verifier_of
from opolyx_servicekit.wall_clock import ManualClock


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock()


@pytest.fixture
def private_path(tmp_path: Path) -> Path:
    path = tmp_path / "keys.json"
    create_keys(path)
    return path


@pytest.fixture
def signer(private_path: Path, clock: ManualClock) -> TokenSigner:
    return TokenSigner(private_path, clock=clock)


@pytest.fixture
def verifier(private_path: Path, clock: ManualClock) -> TokenVerifier:
    return TokenVerifier(public_keys_path(private_path), roles=["guest", "clerk"], clock=clock)


def own_token(private_path: Path, headers: dict[str, Any] | None = None, **claims: Any) -> str:
    """A token signed with the right key, whatever it says."""
    kid, key = next(iter(KeyFile(private_path, private=True).keys().items()))
    return jwt.encode(claims, key.key, algorithm="EdDSA", headers={"kid": kid} | (headers or {}))


def good_claims(clock: ManualClock, **changes: Any) -> dict[str, Any]:
    claims = {
        "iss": "opolyx",
        "aud": "opolyx",
        "sub": "p_1",
        "role": "guest",
        "exp": clock.now_ms() // 1000 + 60,
    }
    merged = claims | changes
    return {name: value for name, value in merged.items() if value is not None}


def replace_keys(private_path: Path) -> None:
    """New keys in the place of the old."""
    private_path.unlink()
    create_keys(private_path)


def refusal(verifier: TokenVerifier, token: str) -> str:
    """The problem that `token` is refused for; fails if the error holds any part of it."""
    with pytest.raises(Unauthenticated) as caught:
        verifier.verify(token)
    shown = f"{caught.value!r} {caught.value.metadata} {caught.value.__cause__!r}"
    assert not any(part in shown for part in token.split(".") if len(part) > 3)
    problem = caught.value.metadata["problem"]
    once_good = {"revoked": "TOKEN_REVOKED", "expired": "TOKEN_EXPIRED"}
    assert caught.value.reason == once_good.get(problem, "TOKEN")
    return caught.value.metadata["problem"]


def test_a_signed_token_speaks_for_its_subject(
    signer: TokenSigner, verifier: TokenVerifier, clock: ManualClock
) -> None:
    token = signer.sign(
        subject="p_1", role="guest", name="Ann", ttl_seconds=60, extra={"owner": "o", "sub": "x"}
    )

    principal = verifier.verify(token)

    assert (principal.subject, principal.role, principal.name) == ("p_1", "guest", "Ann")
    assert principal.expires_unix == clock.now_ms() // 1000 + 60
    assert principal.token_id
    assert principal.claims["owner"] == "o"
    assert verifier.verify(token) is principal


async def test_a_token_ends_after_its_time_and_the_leeway(
    signer: TokenSigner, verifier: TokenVerifier, clock: ManualClock
) -> None:
    token = signer.sign(subject="p_1", role="guest", ttl_seconds=60)
    verifier.verify(token)

    await clock.advance(89_000)
    verifier.verify(token)
    await clock.advance(1_000)

    assert refusal(verifier, token) == "expired"


@pytest.mark.parametrize(
    "changes",
    [
        {"iss": "else"},
        {"aud": "else"},
        {"iss": None},
        {"aud": None},
        {"exp": None},
        {"exp": "never"},
        {"exp": True},
        {"sub": None},
        {"sub": ""},
        {"sub": "x" * 200},
        {"sub": 7},
        {"role": None},
        {"role": "king"},
        {"role": ["guest"]},
        {"name": 7},
        {"nbf": 9_000_000_000},
        {"nbf": "soon"},
    ],
    ids=str,
)
def test_wrong_claims_are_refused(
    verifier: TokenVerifier, private_path: Path, clock: ManualClock, changes: dict[str, Any]
) -> None:
    try:
        token = own_token(private_path, **good_claims(clock, **changes))
    except TypeError:
        pytest.skip("PyJWT won't sign that")

    assert refusal(verifier, token) == "invalid"


def test_not_before_has_the_leeway_too(
    verifier: TokenVerifier, private_path: Path, clock: ManualClock
) -> None:
    now_s = clock.now_ms() // 1000

    verifier.verify(own_token(private_path, **good_claims(clock, nbf=now_s + 30)))

    late = own_token(private_path, **good_claims(clock, nbf=now_s + 31))
    assert refusal(verifier, late) == "invalid"


@pytest.mark.parametrize("token", ["", "x", "a.b.c", "é.b.c", "eyJhbGciOiJub25lIn0", "x" * 5_000])
def test_garbage_is_malformed(verifier: TokenVerifier, token: str) -> None:
    assert refusal(verifier, token) == "malformed"


def test_an_unsigned_or_symmetric_token_is_refused(
    verifier: TokenVerifier, private_path: Path, clock: ManualClock
) -> None:
    """The public key used as an HMAC secret is the classic trick."""
    kid = next(iter(KeyFile(private_path, private=True).keys()))
    claims = good_claims(clock)
    (public,) = json.loads(public_keys_path(private_path).read_text())["keys"]
    secret = jwt.utils.base64url_decode(public["x"])
    unsigned = jwt.encode(claims, "", algorithm="none", headers={"kid": kid})
    symmetric = jwt.encode(claims, secret, algorithm="HS256", headers={"kid": kid})

    assert refusal(verifier, unsigned) == "invalid"
    assert refusal(verifier, symmetric) == "invalid"


def test_a_token_of_another_key_or_an_altered_one_is_refused(
    verifier: TokenVerifier, private_path: Path, clock: ManualClock, tmp_path: Path
) -> None:
    other = tmp_path / "other.json"
    create_keys(other)
    kid = next(iter(KeyFile(private_path, private=True).keys()))
    unknown = own_token(other, **good_claims(clock))
    pretending = own_token(other, {"kid": kid}, **good_claims(clock))
    own = own_token(private_path, **good_claims(clock))
    altered = own[:-8] + ("AAAAAAAA" if not own.endswith("AAAAAAAA") else "BBBBBBBB")

    assert refusal(verifier, unknown) == "invalid"
    assert refusal(verifier, pretending) == "invalid"
    assert refusal(verifier, altered) == "invalid"


def test_a_kid_that_is_no_text_is_refused(verifier: TokenVerifier) -> None:
    header = jwt.utils.base64url_encode(b'{"alg":"EdDSA","kid":[1]}').decode()

    assert refusal(verifier, f"{header}.e30.AAAA") == "malformed"


def test_a_revoked_token_is_refused_at_once(private_path: Path, clock: ManualClock) -> None:
    revoked: set[str] = set()
    verifier = TokenVerifier(
        public_keys_path(private_path),
        roles=["guest"],
        clock=clock,
        is_revoked=lambda principal: principal.token_id in revoked,
    )
    signer = TokenSigner(private_path, clock=clock)
    token = signer.sign(subject="p", role="guest", ttl_seconds=60, token_id="t1")
    assert verifier.verify(token) == Principal(
        "p", "guest", "", "t1", clock.now_ms() // 1000 + 60, verifier.verify(token).claims
    )

    revoked.add("t1")

    assert refusal(verifier, token) == "revoked"


async def test_keys_rotate_while_running(
    signer: TokenSigner, verifier: TokenVerifier, private_path: Path, clock: ManualClock
) -> None:
    old = signer.sign(subject="p", role="guest", ttl_seconds=60)
    verifier.verify(old)
    replace_keys(private_path)
    assert verifier.verify(old).subject == "p", "looked at the file too early"

    await clock.advance(2_000)

    new = signer.sign(subject="q", role="guest", ttl_seconds=60)
    assert verifier.verify(new).subject == "q"
    assert refusal(verifier, old) == "invalid"


async def test_a_broken_key_file_leaves_the_old_keys(
    signer: TokenSigner, verifier: TokenVerifier, private_path: Path, clock: ManualClock
) -> None:
    token = signer.sign(subject="p", role="guest", ttl_seconds=60)
    public_keys_path(private_path).write_text('{"keys": [')
    await clock.advance(2_000)
    assert verifier.verify(token).subject == "p"

    public_keys_path(private_path).unlink()
    await clock.advance(2_000)

    assert verifier.verify(token).subject == "p"


@pytest.mark.parametrize("algorithm", ["ES256", "RS256"])
def test_an_operator_s_own_provider_may_use_other_algorithms(
    tmp_path: Path, clock: ManualClock, algorithm: str
) -> None:
    key: Any
    if algorithm == "ES256":
        key = ec.generate_private_key(ec.SECP256R1())
        jwk = ECAlgorithm.to_jwk(key.public_key(), as_dict=True)
    else:
        key = rsa.generate_private_key(65537, 2048)
        jwk = RSAAlgorithm.to_jwk(key.public_key(), as_dict=True)
    path = tmp_path / "provider.json"
    path.write_text(json.dumps({"keys": [jwk | {"kid": "k"}]}))
    token = jwt.encode(good_claims(clock), key, algorithm=algorithm, headers={"kid": "k"})

    allowed = TokenVerifier(path, roles=["guest"], algorithms=[algorithm], clock=clock)

    assert allowed.verify(token).subject == "p_1"
    with pytest.raises(ValueError, match="no key for"):
        TokenVerifier(path, roles=["guest"], clock=clock)


def test_created_keys_are_private_and_never_replaced(private_path: Path) -> None:
    before = private_path.read_text()

    with pytest.raises(FileExistsError):
        create_keys(private_path)
    public = ensure_keys(private_path)

    assert private_path.read_text() == before
    assert private_path.stat().st_mode & 0o777 == 0o600
    assert public == private_path.with_name("keys.public.json")
    assert all("d" not in key for key in json.loads(public.read_text())["keys"])
    assert sorted(path.name for path in private_path.parent.iterdir()) == [
        "keys.json",
        "keys.public.json",
    ]


@pytest.mark.parametrize(
    "content",
    [
        "nonsense",
        "[]",
        "{}",
        '{"keys": []}',
        '{"keys": [7]}',
        '{"keys": [{"kty": "OKP"}]}',
        '{"keys": [{"kty": "oct", "k": "AAAA", "kid": "1"}]}',
        '{"keys": [{"kty": "OKP", "crv": "Ed25519", "kid": "1"}]}',
    ],
)
def test_files_that_are_no_public_key_set_are_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "bad.json"
    path.write_text(content)

    with pytest.raises(ValueError, match=r"."):
        TokenVerifier(path, roles=["guest"])


def test_a_private_set_is_no_verification_file_and_the_reverse(private_path: Path) -> None:
    with pytest.raises(ValueError, match="public keys only"):
        TokenVerifier(private_path, roles=["guest"])
    with pytest.raises(ValueError, match="private keys only"):
        TokenSigner(public_keys_path(private_path))


def test_unknown_algorithms_are_refused(private_path: Path) -> None:
    with pytest.raises(ValueError, match="HS256"):
        TokenVerifier(public_keys_path(private_path), roles=["guest"], algorithms=["HS256"])


def test_the_verifier_that_settings_describe(private_path: Path, signer: TokenSigner) -> None:
    settings = ServiceSettings(verification_keys_file=public_keys_path(private_path))
    verifier = verifier_of(settings, roles=["guest"], clock=ManualClock())

    token = signer.sign(subject="p", role="guest", ttl_seconds=60)

    assert verifier.verify(token).subject == "p"
    with pytest.raises(ValueError, match="not set"):
        verifier_of(ServiceSettings(), roles=["guest"])


@pytest.mark.parametrize("expires", [float("nan"), float("inf"), 1 << 60, -1])
def test_an_end_that_is_no_time_is_refused(
    verifier: TokenVerifier, private_path: Path, clock: ManualClock, expires: float
) -> None:
    """Even a good key may sign nonsense; it must not reach an answer, or the store."""
    token = own_token(private_path, **good_claims(clock, exp=expires))

    assert refusal(verifier, token) == "invalid"


def test_keys_that_could_not_be_read_once_are_read_again(
    private_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The change is still there, so it must not be forgotten."""
    keys = KeyFile(private_path, private=True)
    (old,) = keys.keys()
    replace_keys(private_path)

    def fail(*_: object) -> str:
        raise OSError("too many open files")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_text", fail)
        assert list(keys.keys()) == [old]

    assert list(keys.keys()) != [old]
