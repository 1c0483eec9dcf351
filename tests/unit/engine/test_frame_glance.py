"""Frames that are looked at without being parsed."""

import random

import pytest
from google.protobuf.message import DecodeError

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.rpc.frame_glance import frames_in

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


@pytest.mark.parametrize("game_id", ["", "g", "g" * 127, "g" * 128, "g" * 20_000])
def test_every_kind_is_told_and_every_byte_is_kept(game_id: str) -> None:
    frames = [pb.Frame(game_id=game_id, **{kind: value}) for kind, value in KINDS.items()]  # type: ignore[arg-type]
    response = pb.PlayResponse(frames=frames).SerializeToString()
    seen = list(frames_in(response))
    assert set(KINDS) == {kind.name for kind in pb.Frame.DESCRIPTOR.oneofs_by_name["kind"].fields}
    fields = pb.Frame.DESCRIPTOR.fields_by_name
    assert [fields[kind].number for kind in KINDS] == [each.kind for each in seen]
    assert response == b"".join(each.piece for each in seen)
    assert frames == [each.parsed() for each in seen]


def test_nothing_holds_no_frame_and_an_empty_frame_is_of_no_kind() -> None:
    assert [] == list(frames_in(b""))
    empty = pb.PlayResponse(frames=[pb.Frame(), pb.Frame(game_id="g")]).SerializeToString()
    assert [0, 0] == [each.kind for each in frames_in(empty)]


def test_what_a_later_version_adds_to_a_response_is_kept() -> None:
    frame = pb.PlayResponse(frames=[pb.Frame(pong=pb.Pong(nonce=1))]).SerializeToString()
    later = b"\x12\x03abc" + frame
    assert [0, pb.Frame.PONG_FIELD_NUMBER] == [each.kind for each in frames_in(later)]
    assert later == b"".join(each.piece for each in frames_in(later))


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
            pieces = [each.piece for each in frames_in(bytes(broken))]
        except (IndexError, ValueError, DecodeError):
            continue
        assert bytes(broken) == b"".join(pieces)
