"""A server in somebody's program leaves the program's logs as it found them."""

import logging
from pathlib import Path

import structlog

from opolyx_server.embedded import EmbeddedServer


async def test_logs_are_as_before_once_the_server_has_stopped(tmp_path: Path) -> None:
    root = logging.getLogger()
    before = (root.handlers[:], root.level)

    async with EmbeddedServer(tmp_path / "data"):
        assert structlog.is_configured()
        assert root.level == logging.ERROR

    assert (root.handlers, root.level) == before
    assert not structlog.is_configured()
