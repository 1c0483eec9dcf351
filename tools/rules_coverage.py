"""Print which tests prove which rules; fail if a rule has none or a test names an unknown one.

A test says what it proves by `@pytest.mark.rule("TURN-2", ...)`; the rules are those of the rule
book. The same for the statements of the rule texts, see `statements`. Nothing is run here, only
collected.
"""

import argparse
import contextlib
import io
import sys
from pathlib import Path
from typing import Final

import pytest

import statements
from opolyx_rules.rule_book import rule_ids

ROOT: Final = Path(__file__).resolve().parents[1]


class Collector:
    """A plugin of pytest that notes the rules of every test.

    Attributes:
        tests: By id of the rule the names of its tests; a parametrised test is one.
    """

    def __init__(self) -> None:
        self.tests: dict[str, set[str]] = {}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """See pytest."""
        for item in items:
            name = item.nodeid.split("[")[0]
            for mark in item.iter_markers("rule"):
                for rule_id in mark.args:
                    self.tests.setdefault(str(rule_id), set()).add(name)


def collect(folder: Path, *others: object) -> dict[str, set[str]]:
    """The names of the tests in `folder` by the id of the rule that they prove.

    Args:
        folder: Where to look.
        others: Further plugins of pytest that look at the tests.

    Raises:
        RuntimeError: Some test could not be collected.
    """
    collector, output = Collector(), io.StringIO()
    arguments = ["--collect-only", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", str(folder)]
    with contextlib.redirect_stdout(output):
        status = pytest.main(arguments, plugins=[collector, *others])
    if status not in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED):
        lines = [line for line in output.getvalue().splitlines() if "::" not in line]
        raise RuntimeError("\n".join(["the tests can't be collected:", *lines]))
    return collector.tests


def problems(tests: dict[str, set[str]]) -> list[str]:
    """What is wrong, a sentence each: rules without a test, tests of unknown rules."""
    known = rule_ids()
    wrong = [f"{rule_id} has no test" for rule_id in known if not tests.get(rule_id)]
    for rule_id in sorted(tests.keys() - set(known)):
        wrong += [f"{name} names {rule_id}, which is no rule" for name in sorted(tests[rule_id])]
    return wrong


def print_table(tests: dict[str, set[str]]) -> None:
    """A line for each rule: how many tests it has, and in which files."""
    for rule_id in rule_ids():
        names = tests.get(rule_id, set())
        files = sorted({name.split("::")[0] for name in names})
        print(f"{rule_id:<11} {len(names):>4}  {', '.join(files)}")
    proven = sum(1 for rule_id in rule_ids() if tests.get(rule_id))
    print(f"{proven} of {len(rule_ids())} rules are proven")


def main() -> int:
    """Print the table and what is wrong; with --write only bring the page of statements up to date."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true", help="write docs/rules/statements.md")
    write = parser.parse_args().write
    said = statements.StatementCollector()
    tests = collect(ROOT / "tests", said)
    known = statements.read()
    page = statements.page(known, said.tests)
    if write:
        statements.PAGE.write_text(page, "utf-8")
        return 0
    print_table(tests)
    unproven = statements.problems(known, said.tests)
    print(f"{statements.proven(known, said.tests)} of {len(known)} statements are proven")
    wrong = problems(tests) + unproven
    if page != statements.PAGE.read_text("utf-8"):
        wrong.append("docs/rules/statements.md is stale: make statements")
    for problem in wrong:
        print(problem, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
