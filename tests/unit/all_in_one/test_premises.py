"""What a server refuses to start on, and how it says so."""

import socket
from pathlib import Path

import pytest

from opolyx_server.embedded import DATABASE, KEYS, EmbeddedServer
from opolyx_server.premises import CannotStart, check_address, held_directory


def test_a_data_directory_has_one_server_at_a_time(tmp_path: Path) -> None:
    with (
        held_directory(tmp_path),
        pytest.raises(CannotStart, match="another server"),
        held_directory(tmp_path),
    ):
        pytest.fail("two hold it")
    with held_directory(tmp_path):
        pass


def test_a_data_directory_that_is_a_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "file"
    path.touch()

    with pytest.raises(CannotStart, match=f"can't use the data directory {path}"):
        held_directory(path).__enter__()


def test_an_address_in_use_is_named() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        with pytest.raises(CannotStart, match=f"can't listen on {address}: "):
            check_address(address)
    check_address(address)


def test_a_host_that_does_not_exist_is_named() -> None:
    with pytest.raises(CannotStart, match=r"can't listen on nowhere\.invalid:7443: "):
        check_address("nowhere.invalid:7443")


@pytest.mark.parametrize("name", [KEYS, DATABASE])
async def test_a_spoilt_file_in_the_data_directory_is_named(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"spoilt " * 1000)

    with pytest.raises(CannotStart, match=f"can't use the .* {path}: "):
        async with EmbeddedServer(tmp_path):
            pytest.fail("it started")
