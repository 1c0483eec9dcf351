"""Log lines: one pipe, no locals, no tokens."""

import io
import json
import logging
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import pytest
import structlog

from opolyx_servicekit.logs import BorrowedLogs, configure_logs, redacted

JWT = "eyJhbGciOiJFZERTQSJ9.eyJzdWIiOiJwXzEifQ.c2lnbmF0dXJl-_x"


@pytest.fixture(autouse=True)
def restored_logging() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    structlog.reset_defaults()


@pytest.fixture
def stream() -> io.StringIO:
    return io.StringIO()


def lines(stream: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def test_structlog_and_the_standard_library_make_the_same_lines(stream: io.StringIO) -> None:
    configure_logs(form="json", stream=stream)
    structlog.contextvars.bind_contextvars(request_id="r1")
    structlog.get_logger("kit").info("thing_happened", count=3)
    logging.getLogger("other").warning("said %s", "hello")
    structlog.contextvars.clear_contextvars()

    own, foreign = lines(stream)

    assert (own["event"], own["count"], own["logger"]) == ("thing_happened", 3, "kit")
    assert (foreign["event"], foreign["level"]) == ("said hello", "warning")
    assert own["request_id"] == foreign["request_id"] == "r1"
    assert own.keys() - {"count"} == foreign.keys()


def test_lower_levels_are_left_out(stream: io.StringIO) -> None:
    configure_logs(form="json", level="warning", stream=stream)
    structlog.get_logger().info("quiet")
    logging.getLogger("x").info("quiet")
    structlog.get_logger().error("loud")

    assert [line["event"] for line in lines(stream)] == ["loud"]


@pytest.mark.parametrize("form", ["json", "console"])
def test_tracebacks_show_no_locals_and_no_token(
    stream: io.StringIO, form: Literal["json", "console"]
) -> None:
    configure_logs(form=form, stream=stream)

    def fail() -> None:
        secret_local = "hunter" + str(2)  # the value itself is in no source line
        raise ValueError(f"bad token {JWT}{secret_local[:0]}")

    for logger in (structlog.get_logger(), logging.getLogger("foreign")):
        try:
            fail()
        except ValueError:
            logger.exception("failed")

    text = stream.getvalue()
    assert text.count("in fail") == 2
    assert "hunter2" not in text
    assert "eyJ" not in text
    assert text.count("bad token [redacted]") == 2


@pytest.mark.parametrize("form", ["json", "console"])
def test_a_token_is_blotted_out_wherever_it_hides(
    stream: io.StringIO, form: Literal["json", "console"]
) -> None:
    configure_logs(form=form, stream=stream)
    headers = {"deep": [("authorization", f"Bearer {JWT}")], "set": {JWT}}

    structlog.get_logger().info(f"event {JWT}", headers=headers, opaque="bearer abcdefghij")
    logging.getLogger("foreign").warning("got %s", JWT)

    text = stream.getvalue()
    assert "eyJ" not in text
    assert "abcdefghij" not in text
    assert text.count("[redacted]") >= 5


def test_any_value_can_be_logged(stream: io.StringIO) -> None:
    configure_logs(form="json", stream=stream)
    structlog.get_logger().info(
        "odd", path=Path("/a"), names={"b", "a"}, view=MappingProxyType({"k": 1})
    )

    (line,) = lines(stream)
    assert (line["path"], line["names"], line["view"]) == ("/a", ["a", "b"], {"k": 1})


def test_words_that_are_no_tokens_stay() -> None:
    assert redacted("the bearer of eyJ news") == "the bearer of eyJ news"


def test_console_is_for_terminals(stream: io.StringIO) -> None:
    configure_logs(stream=stream)
    structlog.get_logger().info("piped")

    assert lines(stream)[0]["event"] == "piped"


@pytest.mark.parametrize("name", ["grpc", "grpc._cython.cygrpc", "asyncio", "redis", "py.warnings"])
def test_foreign_lines_go_through_the_same_pipe(stream: io.StringIO, name: str) -> None:
    configure_logs(form="json", stream=stream)
    structlog.contextvars.bind_contextvars(request_id="r1", subject="p_1", game_id="g_1")
    logging.getLogger(name).error("trouble with %s", JWT)
    structlog.contextvars.clear_contextvars()

    (line,) = lines(stream)
    assert (line["event"], line["logger"]) == ("trouble with [redacted]", name)
    assert (line["request_id"], line["subject"], line["game_id"]) == ("r1", "p_1", "g_1")


def test_warnings_of_libraries_are_lines_too(stream: io.StringIO) -> None:
    configure_logs(form="json", stream=stream)
    with warnings.catch_warnings():
        warnings.simplefilter("always")
        warnings.warn("old", DeprecationWarning, stacklevel=1)
    logging.captureWarnings(False)

    (line,) = lines(stream)
    assert line["logger"] == "py.warnings"
    assert "DeprecationWarning: old" in line["event"]


def test_borrowed_logs_are_given_back_by_the_last(stream: io.StringIO) -> None:
    root = logging.getLogger()
    before, level = root.handlers[:], root.level
    borrowed = BorrowedLogs()

    with borrowed.at("error"):
        with borrowed.at("debug"):
            assert root.level == logging.ERROR
        assert structlog.is_configured()
        assert root.handlers != before
    assert (root.handlers, root.level) == (before, level)
    assert not structlog.is_configured()


def test_a_program_that_has_its_own_logs_keeps_them(stream: io.StringIO) -> None:
    configure_logs(form="json", level="warning", stream=stream)
    with BorrowedLogs().at("error"):
        structlog.get_logger().warning("own")
    structlog.get_logger().warning("own")

    assert [line["event"] for line in lines(stream)] == ["own", "own"]
