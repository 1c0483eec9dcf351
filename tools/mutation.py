"""Break the rules one comparison and one value at a time, and see whether a test notices.

Comparisons are those of `mechanics` and `phases`. The tests are collected once; each mutant is then
tried in a fork of that process, in which one function gets its mutated code: no file is written,
and nothing of a mutant is left for the next. Only tests that call the function are asked, those
written by hand first, the golden files about what those let pass: these are made by the code. A
test that hangs has noticed.

The values are all fields of all presets; the table kept by hand in tests/rules/test_presets.py is
asked, not the lock, which is made by the code.

Fails if a mutant survives that tests/rules/equivalent_mutants.toml doesn't name, or if that file
names one that doesn't survive.
"""

import argparse
import gc
import importlib
import importlib.util
import json
import multiprocessing
import os
import resource
import signal
import sys
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkProcess
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Final

import pytest

import opolyx_rules
from mutants import NOTE, Key, Mutant, Place, accepted, mutants_of, noting_calls, presets_of
from opolyx_rules import RULESETS

ROOT: Final = Path(__file__).resolve().parents[1]
PACKAGE: Final = Path(opolyx_rules.__file__).parent
MUTATED: Final = ("mechanics", "phases")
EQUIVALENT: Final = ROOT / "tests/rules/equivalent_mutants.toml"
PRESETS: Final = ROOT / "tests/rules/test_presets.py"
GOLDEN: Final = "tests/golden/test_playouts.py"
TESTS: Final = ("tests/rules", "tests/unit/rules", GOLDEN)
PYTEST: Final = ("-q", "-s", "-p", "no:randomly", "-p", "no:cacheprovider", "--timeout=0")
TEST_SECONDS: Final = 10.0
"""Of computing, after which a test counts as hanging however busy the machine is."""
TRIAL_SECONDS: Final = 3_600
"""After which a fork is ended whatever it does or waits for."""
MEMORY: Final = 4 << 30
"""Bytes that a trial may take: an endless loop that writes events stops here."""

SURVIVED: Final = "survived"
HUNG: Final = "hung"
DIED: Final = "the process of the tests died"


def core_mutants(only: str = "") -> list[Mutant]:
    """The mutants of all files whose path in the package begins with `only`."""
    paths = sorted(path for name in MUTATED for path in (PACKAGE / name).glob("*.py"))
    files = {str(path.relative_to(PACKAGE)): path for path in paths}
    return [
        mutant
        for file, path in files.items()
        if file.startswith(only)
        for mutant in mutants_of(file, path.read_text("utf-8"))
    ]


def put_in(key: Key, source: str, module: ModuleType) -> None:
    """Give the function that the comparison is in the code that it has in `source`, for all users.

    Raises:
        TypeError: The comparison is in no function, or in one that is no plain Python function.
    """
    changed = ModuleType(module.__name__)
    exec(compile(source, key.file, "exec"), changed.__dict__)  # noqa: S102 - the core's own
    function_of(key, module).__code__ = function_of(key, changed).__code__


def function_of(key: Key, module: ModuleType) -> FunctionType:
    """The function of the module that the comparison is in.

    Raises:
        TypeError: It is in none, or in one that is no plain Python function.
    """
    found: object = module
    for name in key.function.split("."):
        if not isinstance(found, FunctionType):  # a function inside a function is part of its code
            found = vars(found).get(name)
    if not isinstance(found, FunctionType):
        raise TypeError(f"{key.file}: {key.function} is not a function whose code can be replaced")
    return found


class Trials:
    """A plugin of pytest that runs the collected tests against mutants instead of once.

    Attributes:
        verdicts: Of each mutant the test that noticed it, or how else its trial ended.
        unchanged: The same of the rules as they are: must be `survived`.
    """

    def __init__(self, mutants: list[Mutant], workers: int) -> None:
        self.verdicts: dict[Mutant, str] = {}
        self.unchanged = ""
        self._waiting = mutants[::-1]
        self._total = len(mutants)
        self._workers = workers
        self._running: dict[Connection, tuple[ForkProcess, Mutant | None]] = {}
        self._calls: list[set[Place]] = []
        self._noticing: dict[str, set[str]] = defaultdict(set)
        self._failed = ""

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Note the test that fails."""
        if report.failed:
            self._failed = report.nodeid

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """See that the tests pass as they are; if so, try the mutants."""
        gc.freeze()  # what is there already is shared with the forks
        self._start(None, session.items)
        self._end_one()
        while self.unchanged == SURVIVED and (self._waiting or self._running):
            while self._waiting and len(self._running) < self._workers:
                self._start(self._waiting.pop(), session.items)
            self._end_one()
        return True

    def _start(self, mutant: Mutant | None, items: list[pytest.Item]) -> None:
        fork = multiprocessing.get_context("fork")
        ours, theirs = fork.Pipe(duplex=False)
        if mutant is None:
            process = fork.Process(target=self._run_unchanged, args=(items, theirs))
        else:
            process = fork.Process(
                target=self._try_out, args=(mutant, self._asked(mutant, items), theirs)
            )
        process.start()
        theirs.close()
        self._running[ours] = (process, mutant)

    def _end_one(self) -> None:
        """Wait for a fork to end, and note what it has found."""
        ended = wait(list(self._running))[0]
        assert isinstance(ended, Connection)  # noqa: S101 - as they went in
        process, mutant = self._running.pop(ended)
        try:
            verdict, calls = ended.recv()
        except EOFError:
            verdict, calls = "", []
        process.join()
        ended.close()
        if not verdict:
            late = process.exitcode in (-signal.SIGVTALRM, -signal.SIGALRM)
            verdict = HUNG if late else DIED
        if mutant is None:
            self.unchanged, self._calls = verdict, calls
        else:
            self.verdicts[mutant] = verdict
            self._noticing[mutant.key.file].add(verdict.partition("::")[0])
            print(f"{len(self.verdicts)}/{self._total} {mutant}: {verdict}", file=sys.stderr)

    def _asked(self, mutant: Mutant, items: list[pytest.Item]) -> list[pytest.Item]:
        """The tests that call the mutated function, those that call little else first.

        Before them come the files of tests that have noticed mutants of the same file.
        """
        place = mutant.key.file, function_of(mutant.key, module_of(mutant.key.file)).__qualname__
        asked = [index for index, calls in enumerate(self._calls) if place in calls]
        asked.sort(key=lambda index: len(self._calls[index]))
        tests, noticing = [items[index] for index in asked], self._noticing[mutant.key.file]
        tests.sort(key=lambda test: test.nodeid.partition("::")[0] not in noticing)
        tests.sort(key=lambda test: test.nodeid.startswith(GOLDEN))
        return tests

    def _run_unchanged(self, items: list[pytest.Item], out: Connection) -> None:
        """In a fork: run all tests, and note which functions with mutants each calls."""
        _begin_fork()
        called: set[Place] = set()
        for key in {(m.key.file, m.key.function): m.key for m in self._waiting}.values():
            module, source = module_of(key.file), (PACKAGE / key.file).read_text("utf-8")
            vars(module)[NOTE] = called.add
            put_in(key, noting_calls(key.file, source), module)
        calls: list[set[Place]] = []
        for item, following in zip(items, [*items[1:], None], strict=True):
            called.clear()
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            calls.append(set(called))
            if self._failed:
                break
        out.send((self._failed or SURVIVED, calls))

    def _try_out(self, mutant: Mutant, items: list[pytest.Item], out: Connection) -> None:
        """In a fork: run tests until one notices the mutant."""
        _begin_fork()
        put_in(mutant.key, mutant.source, module_of(mutant.key.file))
        for item, following in zip(items, [*items[1:], None], strict=False):
            signal.setitimer(signal.ITIMER_VIRTUAL, TEST_SECONDS)  # ends the process
            item.config.hook.pytest_runtest_protocol(item=item, nextitem=following)
            if self._failed:
                break
        out.send((self._failed or SURVIVED, []))


def _begin_fork() -> None:
    """Nothing of the tests is printed, and nothing goes on for ever."""
    signal.alarm(TRIAL_SECONDS)
    nothing = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nothing, sys.stdout.fileno())
    os.dup2(nothing, sys.stderr.fileno())


def module_of(file: str) -> ModuleType:
    """The module `opolyx_rules.mechanics.rent` of `mechanics/rent.py`."""
    return importlib.import_module(".".join((PACKAGE.name, *Path(file).with_suffix("").parts)))


@dataclass(slots=True)
class Report:
    """What became of the mutants.

    Attributes:
        verdicts: Of each mutant of a comparison, the test that noticed it, or `survived`.
        values: How many values were made wrong.
        unheld: The changes of values that went unnoticed.
    """

    verdicts: dict[Mutant, str] = field(default_factory=dict)
    values: int = 0
    unheld: list[str] = field(default_factory=list)

    def survivors(self) -> list[Mutant]:
        """The mutants that no test noticed."""
        return [mutant for mutant, verdict in self.verdicts.items() if verdict == SURVIVED]

    def by_golden_only(self) -> list[Mutant]:
        """The mutants that only the golden files noticed."""
        return [m for m, verdict in self.verdicts.items() if verdict.startswith(GOLDEN)]

    def problems(self, equivalent: dict[Key, str]) -> list[str]:
        """Why the run fails, a sentence each; entries for files that were not tried are not judged."""
        survived = {mutant.key for mutant in self.survivors()}
        tried = {mutant.key.file for mutant in self.verdicts}
        wrong = [f"survived: {m}" for m in self.survivors() if m.key not in equivalent]
        wrong += [f"unnoticed: {change}" for change in self.unheld]
        for key in equivalent:
            if key.file in tried and key not in survived:
                wrong.append(f"no survivor any more: {key.file} {key.function}: {key.mutant}")
        return wrong

    def lines(self, equivalent: dict[Key, str]) -> list[str]:
        """The score, and what is worth a look."""
        total, survivors = len(self.verdicts), self.survivors()
        known = [mutant for mutant in survivors if mutant.key in equivalent]
        said = [f"equivalent: {mutant}\n    {equivalent[mutant.key]}" for mutant in known]
        said += [f"by the golden files only: {mutant}" for mutant in self.by_golden_only()]
        said += [f"{v}: {mutant}" for mutant, v in self.verdicts.items() if v in (HUNG, DIED)]
        held = self.values - len(self.unheld)
        return [
            *said,
            f"comparisons: {total - len(survivors)} of {total} mutants noticed, "
            f"{len(self.by_golden_only())} of them by the golden files only; "
            f"{len(known)} survivors are equivalent",
            f"values of presets: {held} of {self.values} changes noticed",
        ]

    def as_json(self) -> str:
        """All of it, for programs."""
        tried = [
            {**asdict(mutant.key), "line": mutant.line, "verdict": verdict}
            for mutant, verdict in self.verdicts.items()
        ]
        whole = {"comparisons": tried, "values": self.values, "unnoticed_values": self.unheld}
        return json.dumps(whole, indent=2) + "\n"


def try_comparisons(report: Report, mutants: list[Mutant], workers: int) -> None:
    """Try each mutant on all tests.

    Raises:
        RuntimeError: The tests can't be collected, or fail without a mutant.
    """
    trials = Trials(mutants, workers)
    tests = [str(ROOT / name) for name in TESTS]
    status = pytest.main([*PYTEST, "-c", str(ROOT / "pyproject.toml"), *tests], plugins=[trials])
    if status != pytest.ExitCode.OK:
        raise RuntimeError(f"the tests can't be run: {status!r}")
    if trials.unchanged != SURVIVED:
        raise RuntimeError(f"without a mutant: {trials.unchanged}")
    report.verdicts.update(trials.verdicts)


def try_values(report: Report) -> None:
    """Try every field of every preset against the table kept by hand."""
    tests = tests_of_values()
    for name, sound in list(RULESETS.items()):
        for change, wrong in presets_of(sound):
            report.values += 1
            RULESETS[name] = wrong
            try:
                for test in tests:
                    test(name)
                report.unheld.append(change)
            except AssertionError:
                continue
            finally:
                RULESETS[name] = sound


def tests_of_values() -> list[Callable[[str], None]]:
    """The tests of the table kept by hand that take the name of a preset."""
    spec = importlib.util.spec_from_file_location("presets_by_hand", PRESETS)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{PRESETS} is no module")
    by_hand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(by_hand)
    return [by_hand.test_preset_has_its_values, by_hand.test_a_preset_is_called_by_mode_and_edition]


def main() -> int:
    """Try everything, print what came of it, and return 1 if something went unnoticed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--workers", type=int, default=1, help="mutants tried at once")
    parser.add_argument("--only", default="", help="files, as `mechanics/rent.py` or `phases`")
    parser.add_argument("--json", type=Path, help="write all verdicts to this file")
    arguments = parser.parse_args()
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    report, equivalent = Report(), accepted(EQUIVALENT)
    try_values(report)
    try_comparisons(report, core_mutants(arguments.only), arguments.workers)
    if arguments.json:
        arguments.json.write_text(report.as_json(), "utf-8")
    print("\n".join(report.lines(equivalent)))
    problems = report.problems(equivalent)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
