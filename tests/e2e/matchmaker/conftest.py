"""A matchmaker with fake peers for each test."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from support_matchmaker import Peers, Running, fake_peers, running_matchmaker


@pytest.fixture
async def peers() -> AsyncIterator[Peers]:
    async with fake_peers() as found:
        yield found


@pytest.fixture
async def mm(tmp_path: Path, peers: Peers) -> AsyncIterator[Running]:
    async with running_matchmaker(tmp_path, peers) as running:
        yield running
