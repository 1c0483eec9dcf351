"""Revoked tokens as a service knows them."""

from opolyx_servicekit.access import Principal
from opolyx_servicekit.revocations import RevokedTokens, family_of, new_token_id


def principal(token_id: str = "t_1", **claims: object) -> Principal:
    return Principal("p_1", "player", token_id=token_id, claims=claims)


def test_one_token_or_all_of_an_account_made_before_a_time_are_revoked() -> None:
    revoked = RevokedTokens()
    assert not revoked.is_revoked(principal())
    revoked.add_token("t_1")
    assert revoked.is_revoked(principal())
    assert not revoked.is_revoked(principal("t_2", iat=10))
    revoked.add_account("p_1", 10_000)
    revoked.add_account("p_1", 5_000)
    assert revoked.is_revoked(principal("t_2", iat=9))
    assert not revoked.is_revoked(principal("t_2", iat=10))
    assert revoked.is_revoked(principal("t_2", iat=10, iat_ms=9_999))
    assert revoked.is_revoked(principal("t_2")), "nobody knows when it was made"
    assert 2 == len(revoked)


def test_a_token_without_an_id_is_not_any_revoked_one() -> None:
    revoked = RevokedTokens()
    revoked.add_token("")
    assert not revoked.is_revoked(principal(""))


def test_what_matters_no_more_is_forgotten() -> None:
    revoked, fresh = RevokedTokens(), RevokedTokens()
    revoked.add_token("t_1")
    fresh.add_token("t_2")
    revoked.replace(fresh)
    assert not revoked.is_revoked(principal("t_1"))
    assert revoked.is_revoked(principal("t_2"))


def test_a_family_of_tokens_is_revoked_together() -> None:
    first = new_token_id()
    renewed = new_token_id(family_of(first))
    again = new_token_id(family_of(renewed))
    assert {first} == {family_of(one) for one in (first, renewed, again)}
    assert 3 == len({first, renewed, again})
    revoked = RevokedTokens()
    revoked.add_token(first)

    assert all(revoked.is_revoked(principal(one)) for one in (first, renewed, again))
    assert not revoked.is_revoked(principal(new_token_id()))


def test_an_owners_revocation_is_that_of_the_bots() -> None:
    revoked = RevokedTokens()
    revoked.add_account("p_owner", 10_000)

    assert revoked.is_revoked(principal("t_1", owner="p_owner", iat_ms=9_999))
    assert not revoked.is_revoked(principal("t_1", owner="p_owner", iat_ms=10_000))
    assert not revoked.is_revoked(principal("t_1", owner="p_other", iat_ms=1))
    assert not revoked.is_revoked(principal("t_1", owner=["p_owner"], iat_ms=1)), "no text"
