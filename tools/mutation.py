"""Break the rules one comparison and one value at a time, and see whether a test notices.

Comparisons are those of `mechanics` and `phases`; each mutant is tried in a copy of the repository,
never in the working tree. The tests written by hand are asked first, the golden files only about
what those let pass, because the golden files are made by the code. A run that hangs is a kill.
The values are all fields of all presets; the table kept by hand in tests/rules/test_presets.py is
asked, not the lock, which is made by the code.

Fails if a mutant survives that tests/rules/equivalent_mutants.toml doesn't name, or if that file
names one that doesn't survive.
"""

import argparse
import importlib.util
import json
import os
import queue
import re
import resource
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Final

from mutants import Key, Mutant, accepted, mutants_of, presets_of
from opolyx_rules import RULESETS

ROOT: Final = Path(__file__).resolve().parents[1]
CORE: Final = Path("services/engine/rules")
PACKAGE: Final = CORE / "opolyx_rules"
MUTATED: Final = ("mechanics", "phases")
EQUIVALENT: Final = ROOT / "tests/rules/equivalent_mutants.toml"
PRESETS: Final = ROOT / "tests/rules/test_presets.py"
IMPORTED: Final = (str(CORE), "services/engine/server", "services/kit", "proto")
"""Where the tests import from: each before what is installed, which is the working tree."""
COPIED: Final = ("CONTRIBUTING.md", "pyproject.toml", "docs", *IMPORTED, "tests", "tools")
BY_HAND: Final = ("tests/rules", "tests/unit/rules")
GOLDEN: Final = ("tests/golden",)
PYTEST: Final = ("-x", "-q", "-p", "no:randomly", "-p", "no:cacheprovider", "--timeout=20")
JUDGE_SECONDS: Final = 600
"""After which a run of the tests counts as hanging; one test may take 20 seconds."""
MEMORY: Final = 4 << 30
"""Bytes that a run may take: an endless loop that writes events stops here."""

SURVIVED: Final = "survived"
HUNG: Final = "hung"


class Copy:
    """A copy of what the rules' tests need, in which one file at a time is wrong.

    Compiled files are written by the first, sound run only: a mutant can have the length of the
    sound file, and must never be taken for it.

    Attributes:
        folder: Its root; made here.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        ignored = shutil.ignore_patterns("__pycache__")
        folder.mkdir()
        for name in COPIED:
            if (ROOT / name).is_dir():
                shutil.copytree(ROOT / name, folder / name, ignore=ignored)
            else:
                shutil.copy2(ROOT / name, folder / name)

    def sources(self) -> dict[str, str]:
        """The files to mutate, by their path in the package."""
        package = self.folder / PACKAGE
        paths = sorted(path for name in MUTATED for path in (package / name).glob("*.py"))
        return {str(path.relative_to(package)): path.read_text("utf-8") for path in paths}

    def check(self) -> None:
        """See that the copy is what gets tested, and that its tests pass as they are.

        Raises:
            RuntimeError: They don't, or the tests would import the rules from elsewhere.
        """
        show = [sys.executable, "-c", "import opolyx_rules; print(opolyx_rules.__file__)"]
        imported = self._run(show, compiled=True).strip()
        if imported != str(self.folder / PACKAGE / "__init__.py"):
            raise RuntimeError(f"the tests would import {imported}")
        verdict = self._judge((*BY_HAND, *GOLDEN), compiled=True)
        if verdict != SURVIVED:
            raise RuntimeError(f"a test fails without a mutant: {verdict}")

    def try_out(self, mutant: Mutant, likely: list[str]) -> str:
        """The test that notices the mutant, or how else the trial ended.

        Args:
            mutant: What to try.
            likely: Files of tests to ask before the others.
        """
        path = self.folder / PACKAGE / mutant.key.file
        sound = path.with_suffix(".sound")
        path.rename(sound)
        try:
            path.write_text(mutant.source, "utf-8")
            for tests in filter(None, (tuple(likely), BY_HAND, GOLDEN)):
                verdict = self._judge(tests)
                if verdict != SURVIVED:
                    return verdict
            return SURVIVED
        finally:
            sound.replace(path)

    def _judge(self, tests: tuple[str, ...], *, compiled: bool = False) -> str:
        try:
            output = self._run([sys.executable, "-m", "pytest", *PYTEST, *tests], compiled=compiled)
        except subprocess.TimeoutExpired:
            return HUNG
        except subprocess.CalledProcessError as failure:
            noticed = re.search(r"^(?:FAILED|ERROR) (\S+)", failure.stdout, re.MULTILINE)
            return noticed[1] if noticed else f"pytest stopped with {failure.returncode}"
        return SURVIVED if re.search(r"\d passed", output) else "no test was run"

    def _run(self, command: list[str], *, compiled: bool) -> str:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.folder),
            "PYTHONPATH": os.pathsep.join(str(self.folder / name) for name in IMPORTED),
            "PYTHONDONTWRITEBYTECODE": "" if compiled else "1",
        }
        return subprocess.run(  # noqa: S603 - our own interpreter and arguments
            command,
            cwd=self.folder,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
            timeout=JUDGE_SECONDS,
        ).stdout


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


def try_comparisons(report: Report, workers: int, only: str) -> None:
    """Try the mutants of all files whose path in the package begins with `only`."""
    killers: dict[str, list[str]] = {}
    with tempfile.TemporaryDirectory(prefix="mutation-") as name:
        copies: queue.SimpleQueue[Copy] = queue.SimpleQueue()
        first = Copy(Path(name) / "0")
        first.check()
        copies.put(first)
        for number in range(1, workers):
            copies.put(Copy(Path(name) / str(number)))
        mutants = [
            mutant
            for file, source in first.sources().items()
            if file.startswith(only)
            for mutant in mutants_of(file, source)
        ]

        def tried(mutant: Mutant) -> str:
            copy = copies.get()
            likely = killers.setdefault(mutant.key.file, [])
            verdict = copy.try_out(mutant, likely[:2])
            copies.put(copy)
            file = verdict.partition("::")[0]
            if file.startswith(BY_HAND):
                likely[:] = [file, *[other for other in likely if other != file]]
            return verdict

        with ThreadPoolExecutor(workers) as pool:
            trials = {pool.submit(tried, mutant): mutant for mutant in mutants}
            for done, trial in enumerate(as_completed(trials), start=1):
                verdict = report.verdicts[trials[trial]] = trial.result()
                print(f"{done}/{len(mutants)} {trials[trial]}: {verdict}", file=sys.stderr)


def try_values(report: Report) -> None:
    """Try every field of every preset against the table kept by hand."""
    spec = importlib.util.spec_from_file_location("presets_by_hand", PRESETS)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{PRESETS} is no module")
    by_hand = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(by_hand)
    tests = [
        by_hand.test_preset_has_its_values,
        by_hand.test_a_preset_is_called_by_mode_and_edition,
    ]
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
    try_comparisons(report, arguments.workers, arguments.only)
    if arguments.json:
        arguments.json.write_text(report.as_json(), "utf-8")
    print("\n".join(report.lines(equivalent)))
    problems = report.problems(equivalent)
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
