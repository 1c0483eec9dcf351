"""A mode is fields, never a question: the core's source is read for it.

No function decides by a mode's, an edition's or a ruleset's name, and each policy (a field with a
few named answers) is read in exactly one function, so that a new answer costs one function.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

import opolyx_rules

PACKAGE: Final = Path(opolyx_rules.__file__).parent
DECLARED: Final = ("ruleset.py", "editions.py", "modes", "rule_book")
"""Where fields are declared, set and printed; everything else is the rules of play."""

POLICIES: Final = ("third_corner", "bail_timing", "last_attempt", "team_bankruptcy", "financing")
TOLD_ONLY: Final = ("xp", "theme")
"""Fields for awards and for people, which no rule of play reads."""


def sources(*, play_only: bool) -> dict[str, ast.Module]:
    """The modules of the core by their path in the package."""
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        inside = path.relative_to(PACKAGE)
        if not play_only or inside.parts[0] not in DECLARED:
            found[str(inside)] = ast.parse(path.read_text())
    return found


def functions(tree: ast.Module) -> Iterator[tuple[str, ast.AST]]:
    """Every function of a module, and the module's own statements as `<module>`."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef):
            for part in node.body:
                name = part.name if isinstance(part, ast.FunctionDef) else "<class>"
                yield f"{node.name}.{name}", part
        else:
            yield node.name if isinstance(node, ast.FunctionDef) else "<module>", node


def reads_of(tree: ast.AST, names: tuple[str, ...]) -> Iterator[ast.Attribute]:
    """Attributes of these names that are read below a node."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr in names:
            yield node


def is_of_a_ruleset(node: ast.Attribute) -> bool:
    """Whether the attribute is read of something called `ruleset`, or of `self` in Ruleset."""
    owner = node.value
    return (isinstance(owner, ast.Name) and owner.id == "ruleset") or (
        isinstance(owner, ast.Attribute) and owner.attr == "ruleset"
    )


def deciding_parts(tree: ast.AST) -> Iterator[ast.AST]:
    """What the course of a function hangs on: tests, comparisons, subjects, keys."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare | ast.BoolOp):
            yield node
        elif isinstance(node, ast.If | ast.IfExp | ast.While | ast.Assert):
            yield node.test
        elif isinstance(node, ast.Match):
            yield node.subject
        elif isinstance(node, ast.Subscript):
            yield node.slice
        elif isinstance(node, ast.comprehension):
            yield from node.ifs


def test_no_rule_of_play_reads_the_mode_or_the_edition() -> None:
    reads = [
        f"{module}:{node.lineno}"
        for module, tree in sources(play_only=True).items()
        for node in reads_of(tree, ("mode", "edition"))
    ]

    assert [] == reads


def test_nothing_is_decided_by_the_name_of_a_ruleset() -> None:
    decisions = [
        f"{module}:{node.lineno}"
        for module, tree in sources(play_only=False).items()
        for part in deciding_parts(tree)
        for node in reads_of(part, ("mode", "edition", "name"))
        if node.attr != "name" or is_of_a_ruleset(node)
    ]

    assert [] == decisions


@pytest.mark.rule(
    "CORNER-1", "CORNER-2", "CORNER-3", "JAIL-2", "JAIL-4", "DEBT-8", "FIN-1", "FIN-2"
)
@pytest.mark.parametrize("policy", POLICIES)
def test_policy_is_read_in_exactly_one_function(policy: str) -> None:
    readers: dict[str, list[int]] = defaultdict(list)
    for module, tree in sources(play_only=True).items():
        for function, node in functions(tree):
            for read in reads_of(node, (policy,)):
                readers[f"{module}:{function}"].append(read.lineno)

    assert 1 == len(readers), dict(readers)


@pytest.mark.parametrize("field", TOLD_ONLY)
def test_fields_for_people_are_read_by_no_rule(field: str) -> None:
    for module, tree in sources(play_only=True).items():
        assert [] == [node for node in reads_of(tree, (field,)) if is_of_a_ruleset(node)], module


@pytest.mark.statement("R015")
def test_policies_are_all_of_the_fields_with_named_answers() -> None:
    """A new block of answers in ruleset.py is a policy, and is held to the same."""
    lines = (PACKAGE / "ruleset.py").read_text().splitlines()
    answered = [line.split()[3].rstrip(":") for line in lines if line.startswith("# Answers of ")]

    assert sorted((*POLICIES, "xp")) == sorted(answered)


def test_fields_are_never_read_by_a_computed_name() -> None:
    """`getattr` would hide a read from the tests above."""
    calls = [
        f"{module}:{node.lineno}"
        for module, tree in sources(play_only=True).items()
        if module != "codec.py"  # writes every slot of the state, of which the ruleset is one
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id == "getattr"
    ]

    assert [] == calls
