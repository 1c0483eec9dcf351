"""What holds for every test: the `--update-golden` option, logs, and nothing is skipped in CI."""

import logging
import os
from collections.abc import Generator

import pytest
import structlog
from hypothesis import settings

# The suite's own timeout bounds an example; a slow machine is no failure.
settings.register_profile("opolyx", deadline=None, print_blob=True)
settings.load_profile("opolyx")

# Commands print in the system's language, also those that tests start.
os.environ["LC_ALL"] = "C.UTF-8"


# Tests ask on one connection for more that is refused than any client would.
for _service in ("ENGINE", "MATCHMAKER", "PROGRESSION"):
    os.environ.setdefault(f"OPOLYX_{_service}_REFUSED_CALLS_PER_SECOND", "0")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add `--update-golden`."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write the golden files from what the code does now, instead of comparing",
    )


@pytest.fixture(scope="session")
def update_golden(request: pytest.FixtureRequest) -> bool:
    """True if the golden files are to be rewritten: `make golden`."""
    return bool(request.config.getoption("--update-golden"))


@pytest.fixture(autouse=True)
def usual_logs() -> None:
    """An earlier test may have set the process's logs, as a program does."""
    logging.getLogger().setLevel(logging.WARNING)
    logging.captureWarnings(False)
    structlog.reset_defaults()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """In CI a test that can't run fails: a missing program must not pass unseen."""
    report = yield
    if report.skipped and in_ci() and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped, which is not allowed in CI: {report.longrepr}"
    return report


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    """In CI a module that is skipped as a whole fails, too."""
    report = yield
    if report.skipped and in_ci():
        report.outcome = "failed"
        report.longrepr = f"skipped, which is not allowed in CI: {report.longrepr}"
    return report


def in_ci() -> bool:
    """Tell whether this is a CI run."""
    return os.environ.get("CI") == "true"
