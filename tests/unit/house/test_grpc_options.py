"""Options of channels and servers: gRPC ignores names that it doesn't know, so we must not."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
NAME = re.compile(r'"(grpc\.[a-z0-9_.]+)",')
SOURCES = [
    path
    for part in ("services", "clients", "tests")
    for path in (ROOT / part).rglob("*.py")
    if path != Path(__file__)
]


def names() -> list[str]:
    return sorted({name for path in SOURCES for name in NAME.findall(path.read_text())})


@pytest.fixture(scope="module")
def library() -> bytes:
    spec = find_spec("grpc._cython.cygrpc")
    assert spec is not None
    assert spec.origin is not None
    return Path(spec.origin).read_bytes()


@pytest.mark.parametrize("name", names())
def test_grpc_knows_the_option(name: str, library: bytes) -> None:
    assert name.encode() in library, f"gRPC has no option {name}: it would be ignored"


def test_the_search_finds_options_and_misspelt_ones_fail(library: bytes) -> None:
    assert "grpc.keepalive_time_ms" in names()
    assert b"grpc.http2.min_recv_ping_interval_without_data_ms" not in library
