"""The channels to other replicas."""

from typing import Any

import grpc

from opolyx_engine.replica import Replica
from opolyx_engine.rpc.replica_channels import ReplicaChannels


class Channel:
    def __init__(self, address: str) -> None:
        self.address = address
        self.closed = False

    async def close(self) -> None:
        self.closed = True


def replica(number: int) -> Replica:
    return Replica(f"r{number}", f"host{number}:1")


def opened(most: int = 3) -> tuple[ReplicaChannels, list[Any]]:
    made: list[Any] = []

    def open_channel(address: str) -> grpc.aio.Channel:
        made.append(Channel(address))
        return made[-1]  # type: ignore[no-any-return]

    return ReplicaChannels(open_channel, most=most), made


async def test_all_calls_to_a_replica_share_a_channel() -> None:
    channels, made = opened()
    assert channels.to(replica(1)) is channels.to(replica(1))
    assert ["host1:1"] == [channel.address for channel in made]
    await channels.close()
    assert [True] == [channel.closed for channel in made]
    assert 0 == len(channels)


async def test_the_one_used_least_lately_makes_room() -> None:
    channels, made = opened(most=3)
    for number in (1, 2, 3, 1, 4):
        channels.to(replica(number))
    assert 3 == len(channels)
    await channels.close()
    assert [True] * 4 == [channel.closed for channel in made]
    assert made[0] is not channels.to(replica(1))


async def test_a_dead_replicas_channel_is_closed_and_the_others_kept() -> None:
    channels, made = opened()
    kept, _ = channels.to(replica(1)), channels.to(replica(2))
    channels.keep({"r1", "r9"})
    assert kept is channels.to(replica(1))
    assert 1 == len(channels)
    await channels.close()
    assert made[1].closed
