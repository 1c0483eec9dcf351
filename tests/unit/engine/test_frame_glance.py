"""Frames that are looked at without being parsed."""

import random

import pytest

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.rpc.frame_glance import find_frames

KINDS = {
    "snapshot": pb.Snapshot(seq=1 << 40, log_digest=b"x" * 40_000),
    "update": pb.Update(seq=7, command_id="c", log_digest=b"y" * 300),
    "command_result": pb.CommandResult(command_id="c1", accepted=pb.Accepted(seq=3)),
    "detached": pb.Detached(reason=pb.DETACH_REASON_FAULT),
    "draining": pb.Draining(),
    "pong": pb.Pong(nonce=1),
    "presence": pb.Presence(connected_seats=[0, 3]),
    "attached": pb.Attached(seq=200),
}


FIELDS = pb.Frame.DESCRIPTOR.fields_by_name
ALL = frozenset(field.number for field in FIELDS.values()) | {0}


@pytest.mark.parametrize("game_id", ["", "g", "g" * 127, "g" * 128, "g" * 20_000])
def test_every_kind_is_told_wherever_it_is(game_id: str) -> None:
    frames = [pb.Frame(game_id=game_id, **{kind: value}) for kind, value in KINDS.items()]  # type: ignore[arg-type]
    response = pb.PlayResponse(frames=frames).SerializeToString()
    found = find_frames(response, ALL)
    assert set(KINDS) == {kind.name for kind in pb.Frame.DESCRIPTOR.oneofs_by_name["kind"].fields}
    assert [FIELDS[kind].number for kind in KINDS] == [each.kind for each in found]
    assert response == b"".join(response[each.begin : each.end] for each in found)
    assert frames == [pb.Frame.FromString(response[each.body : each.end]) for each in found]


def test_only_what_is_looked_for_is_found() -> None:
    frames = [pb.Frame(game_id="g", **{kind: value}) for kind, value in KINDS.items()]  # type: ignore[arg-type]
    response = pb.PlayResponse(frames=frames).SerializeToString()
    wanted = {FIELDS["detached"].number, FIELDS["attached"].number}
    assert wanted == {each.kind for each in find_frames(response, wanted)}
    assert [] == find_frames(response, frozenset())


def test_nothing_holds_no_frame_and_an_empty_frame_is_of_no_kind() -> None:
    assert [] == find_frames(b"", ALL)
    empty = pb.PlayResponse(frames=[pb.Frame(), pb.Frame(game_id="g")]).SerializeToString()
    assert [0, 0] == [each.kind for each in find_frames(empty, ALL)]


def test_what_a_later_version_adds_is_passed_over() -> None:
    pong = pb.PlayResponse(frames=[pb.Frame(pong=pb.Pong(nonce=1))]).SerializeToString()
    later_kind = b"\x0a\x07\x0a\x02g1\xf2\x01\x00"
    found = find_frames(b"\x12\x03abc" + pong + later_kind, ALL)
    assert [FIELDS["pong"].number] == [each.kind for each in found]


def test_broken_bytes_are_errors_and_never_an_endless_loop() -> None:
    luck = random.Random(7)
    whole = pb.PlayResponse(frames=[pb.Frame(game_id="g", update=pb.Update(seq=9))] * 3)
    raw = whole.SerializeToString()
    for _ in range(3_000):
        broken = bytearray(raw[: luck.randrange(len(raw) + 1)])
        for _ in range(luck.randrange(4)):
            if broken:
                broken[luck.randrange(len(broken))] = luck.randrange(256)
        try:
            found = find_frames(bytes(broken), ALL)
        except (IndexError, ValueError):
            continue
        assert all(each.begin < each.body <= each.end <= len(broken) for each in found)
