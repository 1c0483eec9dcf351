"""The mutation tester: what it breaks, one thing each time, and what it lets pass."""

import ast
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

import pytest

import mutation
from mutants import NEIGHBOUR, NOTE, Key, Place, accepted, mutants_of, noting_calls, presets_of
from mutation import SURVIVED, Report, put_in
from opolyx_rules import RULESETS, get_ruleset

SAMPLE: Final = '''\
"""A sample; `a < b` in here is no comparison, nor is é."""

LIMIT = 3 if "é" == "e" else 4


class Bank:
    """The bank."""

    def lends(self, cash: int, seats: list[int]) -> bool:
        """Nested, chained, over several lines and in brackets."""
        if self is not None and (0 <= cash) < (
            LIMIT  # not in this comment, is it?
        ):
            return any([seat not in seats for seat in seats if seat != 2])
        return cash not   in seats or cash > 0 or cash >= 0 or self is None or 1 in seats


def same(a: int, b: int) -> bool:
    """Twice the same comparison."""
    return a == b or (a == b)
'''
FOUND: Final = [
    ("<module>", "'é' == 'e'", "'é' != 'e'"),
    ("Bank.lends", "self is not None", "self is None"),
    ("Bank.lends", "(0 <= cash) < LIMIT", "(0 <= cash) <= LIMIT"),
    ("Bank.lends", "0 <= cash", "0 < cash"),
    ("Bank.lends", "seat not in seats", "seat in seats"),
    ("Bank.lends", "seat != 2", "seat == 2"),
    ("Bank.lends", "cash not in seats", "cash in seats"),
    ("Bank.lends", "cash > 0", "cash >= 0"),
    ("Bank.lends", "cash >= 0", "cash > 0"),
    ("Bank.lends", "self is None", "self is not None"),
    ("Bank.lends", "1 in seats", "1 not in seats"),
    ("same", "a == b", "a != b"),
    ("same", "a == b", "a != b"),
]


def operators(source: str) -> list[type[ast.cmpop]]:
    """Every comparison operator, in one order for all mutants of a source."""
    compares = [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Compare)]
    return [type(operator) for compare in compares for operator in compare.ops]


def test_every_comparison_is_found_once() -> None:
    keys = [mutant.key for mutant in mutants_of("bank.py", SAMPLE)]

    assert FOUND == [(key.function, key.comparison, key.mutant) for key in keys]
    assert {"bank.py"} == {key.file for key in keys}


def test_operators_of_a_chain_are_flipped_one_by_one() -> None:
    keys = [mutant.key.mutant for mutant in mutants_of("a.py", "0 <= a < 9\n")]

    assert ["0 < a < 9", "0 <= a <= 9"] == keys


def test_a_mutant_differs_in_one_operator_and_nothing_else() -> None:
    sound = operators(SAMPLE)
    for mutant in mutants_of("bank.py", SAMPLE):
        broken = operators(mutant.source)
        changed = [pair for pair in zip(sound, broken, strict=True) if pair[0] is not pair[1]]
        assert 1 == len(changed)
        assert NEIGHBOUR[changed[0][0]] is changed[0][1]
        lines = zip(SAMPLE.splitlines(), mutant.source.splitlines(), strict=True)
        assert [mutant.line] == [
            number for number, pair in enumerate(lines, start=1) if pair[0] != pair[1]
        ]


def test_mutants_of_the_core_are_all_different() -> None:
    mutants = mutation.core_mutants()

    assert len(mutants) == len({(mutant.key.file, mutant.source) for mutant in mutants})
    assert 200 < len(mutants)


def test_every_accepted_survivor_is_one_mutant_of_the_core_with_a_reason() -> None:
    keys = [mutant.key for mutant in mutation.core_mutants()]

    for key, reason in accepted(mutation.EQUIVALENT).items():
        assert 1 == keys.count(key), key
        assert reason.strip()


def test_every_field_of_a_preset_is_changed() -> None:
    sound = get_ruleset("blitz@full")
    wrong = dict(presets_of(sound))

    assert wrong["blitz@full round_cap: 25 -> 24"].round_cap == 24
    assert wrong["blitz@full even_build: True -> False"].even_build is False
    assert wrong["blitz@full deck: 'standard' -> 'standardx'"].deck == "standardx"
    fields = {change.split()[1].rstrip(":") for change in wrong}
    assert set(type(sound).__slots__) == fields
    assert sound not in wrong.values()


def test_every_value_of_every_preset_is_held_by_hand() -> None:
    """The lock would notice as well, but it is made by the code that it checks."""
    sound, report = dict(RULESETS), Report()
    mutation.try_values(report)

    assert [] == report.unheld
    assert 12 * len(type(sound["blitz@full"]).__slots__) <= report.values
    assert sound == RULESETS


def test_report_fails_for_new_survivors_and_for_accepted_ones_that_are_gone() -> None:
    first, second, *_ = mutants_of("a.py", "a < b\nc < d\n")
    other = Key("other.py", "f", "a < b", "a <= b")
    report = Report({first: SURVIVED, second: "tests/rules/test_a.py::test_a"})

    assert [] == report.problems({first.key: "no two are equal", other: "not tried"})
    assert [f"survived: {first}"] == report.problems({})
    assert ["no survivor any more: a.py <module>: c <= d"] == report.problems(
        {first.key: "no two are equal", second.key: "wrong"}
    )
    report.unheld.append("a change")
    assert ["unnoticed: a change"] == report.problems({first.key: "no two are equal"})


def test_report_tells_the_score_and_what_only_golden_files_notice() -> None:
    first, second, third = mutants_of("a.py", "a < b\nc < d\ne in f\n")
    report = Report(
        {
            first: "tests/golden/test_playouts.py::test_a_seeded_game_goes_as_recorded",
            second: "tests/rules/test_a.py::test_a",
            third: SURVIVED,
        },
        values=5,
    )

    lines = report.lines({third.key: "nothing is in f"})
    assert f"by the golden files only: {first}" in lines
    assert [
        "comparisons: 2 of 3 mutants noticed, 1 of them by the golden files only; "
        "1 survivors are equivalent",
        "values of presets: 5 of 5 changes noticed",
    ] == lines[-2:]
    assert '"values": 5' in report.as_json()


def test_mutated_code_is_used_by_all_who_hold_the_function() -> None:
    module = ModuleType("bank")
    exec(SAMPLE, module.__dict__)
    same, bank = module.same, module.Bank()
    mutants = {mutant.key.mutant: mutant for mutant in mutants_of("bank.py", SAMPLE)}
    assert (True, False) == (same(1, 1), bank.lends(1, [2]))

    for change in ("seat == 2", "a != b"):
        put_in(mutants[change].key, mutants[change].source, module)

    assert (True, True) == (same(1, 2), same(1, 1))  # one of the two alike is flipped
    assert bank.lends(1, [2, 1]) is False
    with pytest.raises(TypeError, match="<module> is not a function"):
        put_in(mutants["'é' != 'e'"].key, SAMPLE, module)


def test_calls_of_functions_and_methods_are_noted() -> None:
    noted: list[Place] = []
    module = ModuleType("bank")
    vars(module)[NOTE] = noted.append
    exec(noting_calls("bank.py", SAMPLE), module.__dict__)

    assert (True, False) == (module.same(1, 1), module.Bank().lends(1, [2]))
    assert [("bank.py", "same"), ("bank.py", "Bank.lends")] == noted


def test_comparisons_of_the_core_are_all_in_functions_that_can_be_replaced() -> None:
    for mutant in mutation.core_mutants():
        function = mutation.function_of(mutant.key, mutation.module_of(mutant.key.file))
        assert function.__qualname__ == mutant.key.function


SMALL: Final = """
from opolyx_rules import events, get_ruleset, start
from opolyx_rules.chance import ScriptedChance
from opolyx_rules.ids import BANK
from opolyx_rules.mechanics.cash import move_cash


def test_bank_pays():
    state, log = start(get_ruleset("classic@full"), 2, ScriptedChance()), []
    move_cash(state, BANK, 0, 5, 0, log)
    assert ([15_005], 1) == (state.cash[:1], len(log))
"""
TRY: Final = """
import sys
import mutation

mutation.TESTS = (sys.argv[1],)
report = mutation.Report()
mutation.try_comparisons(report, mutation.core_mutants("mechanics/cash.py"), 2)
for mutant, verdict in report.verdicts.items():
    print(f"{mutant.key.mutant}: {verdict.partition('::')[2] or verdict}")
"""


def tried(tests: Path) -> subprocess.CompletedProcess[str]:
    """What a process of its own says that tries the mutants of mechanics/cash.py on these tests."""
    return subprocess.run(
        [sys.executable, "-c", TRY, str(tests)],
        env={**os.environ, "PYTHONPATH": str(mutation.ROOT / "tools")},
        capture_output=True,
        text=True,
        check=False,
        timeout=50,
    )


def test_each_mutant_has_the_test_that_noticed_it_or_survives(tmp_path: Path) -> None:
    """Nobody looks at the last seat, which pays when the bank is taken for a seat."""
    tests = tmp_path / "test_small.py"
    tests.write_text(SMALL)

    done = tried(tests)

    assert 0 == done.returncode, done.stderr
    assert {
        "amount != 0: test_bank_pays",
        "payer == BANK: survived",
        "payee == BANK: test_bank_pays",
    } <= set(done.stdout.splitlines())


def test_tests_that_fail_without_a_mutant_are_refused(tmp_path: Path) -> None:
    tests = tmp_path / "test_small.py"
    tests.write_text("def test_wrong():\n    assert False\n")

    done = tried(tests)

    assert 1 == done.returncode
    assert "RuntimeError: without a mutant: ::test_wrong" == done.stderr.splitlines()[-1]
