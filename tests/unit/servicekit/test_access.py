"""Roles: least needed, deny by default."""

import asyncio

import pytest
from google.protobuf import descriptor_pb2, descriptor_pool

from opolyx_servicekit import access
from opolyx_servicekit.access import PUBLIC, AccessTable, Principal
from opolyx_servicekit.errors import PermissionDenied, Unauthenticated


class NamedVerifier:
    """Takes `<role>-token` for that role."""

    def verify(self, token: str) -> Principal:
        role, _, word = token.partition("-")
        if word != "token":
            raise access.bad_token("invalid", "no")
        return Principal(subject=f"s_{role}", role=role)


TABLE = AccessTable(
    {
        "/shop.v1.Shop/Look": PUBLIC,
        "/shop.v1.Shop/Buy": frozenset({"guest", "clerk"}),
        "/shop.v1.Shop/Close": frozenset({"clerk"}),
        "/shop.v1.Shop/Never": frozenset(),
    },
    NamedVerifier(),
)


def bearer(token: str) -> list[tuple[str, str | bytes]]:
    return [("user-agent", "x"), ("authorization", f"Bearer {token}")]


@pytest.mark.parametrize(
    ("method", "role", "allowed"),
    [
        ("Look", "guest", True),
        ("Buy", "guest", True),
        ("Buy", "clerk", True),
        ("Close", "guest", False),
        ("Close", "clerk", True),
        ("Never", "clerk", False),
        ("Unlisted", "clerk", False),
    ],
)
def test_a_role_may_call_what_is_listed_and_nothing_else(
    method: str, role: str, allowed: bool
) -> None:
    name = f"/shop.v1.Shop/{method}"
    if allowed:
        assert TABLE.admit(name, bearer(f"{role}-token")) == Principal(f"s_{role}", role)
        return
    with pytest.raises(PermissionDenied) as caught:
        TABLE.admit(name, bearer(f"{role}-token"))
    assert caught.value.metadata == {"role": role, "method": name}


@pytest.mark.parametrize(
    "metadata",
    [
        [],
        [("authorization", "")],
        [("authorization", "Basic abc")],
        [("authorization", b"Bearer guest-token")],
        [("authorization", "Bearer nonsense")],
        [("authorization", "Bearer guest-token"), ("authorization", "Bearer clerk-token")],
    ],
)
def test_without_one_valid_bearer_token_the_caller_is_unauthenticated(
    metadata: list[tuple[str, str | bytes]],
) -> None:
    with pytest.raises(Unauthenticated):
        TABLE.admit("/shop.v1.Shop/Buy", metadata)
    assert TABLE.admit("/shop.v1.Shop/Look", metadata) is None


def test_health_and_reflection_are_public() -> None:
    assert TABLE.admit("/grpc.health.v1.Health/Check", []) is None
    assert TABLE.admit("/grpc.reflection.v1alpha.ServerReflection/X", []) is None


def test_without_a_verifier_only_public_methods_work() -> None:
    table = AccessTable({"/a.B/C": PUBLIC, "/a.B/D": frozenset({"guest"})}, None)

    assert table.admit("/a.B/C", bearer("guest-token")) is None
    with pytest.raises(Unauthenticated):
        table.admit("/a.B/D", bearer("guest-token"))


async def test_the_principal_belongs_to_one_task_and_those_it_starts() -> None:
    async def serve(name: str) -> str:
        access.set_principal(Principal(name, "guest"))
        await asyncio.sleep(0)
        return await asyncio.create_task(started_by_it())

    async def started_by_it() -> str:
        return access.current_principal().subject

    assert list(await asyncio.gather(serve("a"), serve("b"))) == ["a", "b"]
    with pytest.raises(Unauthenticated):
        access.current_principal()


def test_a_principal_s_repr_shows_no_claims() -> None:
    assert "hidden" not in repr(Principal("a", "b", claims={"x": "hidden"}))


def test_methods_of_a_service() -> None:
    file = descriptor_pb2.FileDescriptorProto(name="kit_methods.proto", package="kit.v1")
    file.message_type.add(name="M")
    service = file.service.add(name="S")
    for name in ("Two", "One"):
        service.method.add(name=name, input_type=".kit.v1.M", output_type=".kit.v1.M")
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)

    assert access.methods_of(pool.FindServiceByName("kit.v1.S")) == [
        "/kit.v1.S/Two",
        "/kit.v1.S/One",
    ]
