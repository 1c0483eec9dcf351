"""Mutants of the rules: the core with one comparison wrong, or a preset with one value wrong.

A comparison operator becomes its neighbour (`<` and `<=`, `>` and `>=`, `==` and `!=`, `is` and
`is not`, `in` and `not in`); a value of a preset becomes its nearest others. A mutant that no test
notices is a gap in the tests, or changes nothing that could be noticed.
"""

import ast
import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from itertools import accumulate
from pathlib import Path
from typing import Any, Final

from opolyx_rules.ruleset import Ruleset

Place = tuple[str, str]
"""File and qualified name of a function."""

NOTE: Final = "note_call"
"""What `noting_calls` has called, with the Place."""

_PAIRS: Final[tuple[tuple[type[ast.cmpop], type[ast.cmpop]], ...]] = (
    (ast.Lt, ast.LtE),
    (ast.Gt, ast.GtE),
    (ast.Eq, ast.NotEq),
    (ast.Is, ast.IsNot),
    (ast.In, ast.NotIn),
)
NEIGHBOUR: Final = dict([*_PAIRS, *[(second, first) for first, second in _PAIRS]])
"""What each operator is flipped to."""

_WRITTEN: Final[dict[type[ast.cmpop], str]] = {
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
    ast.Is: "is",
    ast.IsNot: "is not",
    ast.In: "in",
    ast.NotIn: "not in",
}
_OPERATOR: Final = re.compile(rb"<=|>=|==|!=|<|>|is\s+not\b|is\b|not\s+in\b|in\b")


@dataclass(frozen=True, slots=True)
class Key:
    """Which mutant it is, whatever the lines above it.

    Attributes:
        file: From the package, `mechanics/rent.py`.
        function: Qualified name of the function, or `<module>`.
        comparison: The whole comparison, as `ast.unparse` writes it.
        mutant: What it becomes.
    """

    file: str
    function: str
    comparison: str
    mutant: str


@dataclass(frozen=True, slots=True)
class Mutant:
    """One comparison operator that is flipped.

    Attributes:
        key: Which it is.
        line: Line of the operator.
        source: The whole mutated file.
    """

    key: Key
    line: int
    source: str

    def __str__(self) -> str:
        """Place and change, for people."""
        key = self.key
        where = f"{key.file}:{self.line} {key.function}"
        return f"{where}: `{key.comparison}` -> `{key.mutant}`"


def mutants_of(file: str, source: str) -> list[Mutant]:
    """Every mutant of a file, in the order of its comparisons."""
    text = source.encode()
    starts = list(accumulate(map(len, text.splitlines(keepends=True)), initial=0))
    return [
        mutant
        for function, compare in _comparisons(ast.parse(source), ())
        for mutant in _flipped(file, function, compare, text, starts)
    ]


def _comparisons(node: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[str, ast.Compare]]:
    for child in ast.iter_child_nodes(node):
        inside = path
        if isinstance(child, ast.FunctionDef | ast.ClassDef):
            inside = (*path, child.name)
        elif isinstance(child, ast.Compare):
            yield ".".join(path) or "<module>", child
        yield from _comparisons(child, inside)


def _flipped(
    file: str, function: str, compare: ast.Compare, text: bytes, starts: list[int]
) -> Iterator[Mutant]:
    parts = [compare.left, *compare.comparators]
    for index, operator in enumerate(compare.ops):
        left, right = parts[index], parts[index + 1]
        # Between two operands there is the operator, blanks and brackets.
        begin = starts[(left.end_lineno or 0) - 1] + (left.end_col_offset or 0)
        found = _OPERATOR.search(text, begin, starts[right.lineno - 1] + right.col_offset)
        if found is None:
            raise RuntimeError(f"{file}:{left.end_lineno}: no operator where the parser saw one")
        flipped = NEIGHBOUR[type(operator)]
        key = Key(file, function, ast.unparse(compare), _unparsed(compare, index, flipped()))
        source = text[: found.start()] + _WRITTEN[flipped].encode() + text[found.end() :]
        yield Mutant(key, text.count(b"\n", 0, found.start()) + 1, source.decode())


def _unparsed(compare: ast.Compare, index: int, operator: ast.cmpop) -> str:
    operators = [*compare.ops[:index], operator, *compare.ops[index + 1 :]]
    return ast.unparse(ast.Compare(compare.left, operators, compare.comparators))


def noting_calls(file: str, source: str) -> str:
    """The file with a first statement in each function that notes its call."""
    tree = ast.parse(source)
    for name, function in _functions(tree, ()):
        place = ast.Tuple([ast.Constant(file), ast.Constant(name)], ast.Load())
        function.body.insert(0, ast.Expr(ast.Call(ast.Name(NOTE, ast.Load()), [place], [])))
    return ast.unparse(ast.fix_missing_locations(tree))


def _functions(node: ast.AST, path: tuple[str, ...]) -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions of a module and of its classes, without those inside functions."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.ClassDef):
            yield from _functions(child, (*path, child.name))
        elif isinstance(child, ast.FunctionDef):
            yield ".".join((*path, child.name)), child


def presets_of(ruleset: Ruleset) -> Iterator[tuple[str, Ruleset]]:
    """The ruleset with one field wrong, for every field, with what was done to it."""
    for field in fields(Ruleset):
        value = getattr(ruleset, field.name)
        for wrong in _neighbours(value):
            changed: dict[str, Any] = {field.name: wrong}  # of the type that the field has
            yield (
                f"{ruleset.name} {field.name}: {value!r} -> {wrong!r}",
                replace(ruleset, **changed),
            )


def _neighbours(value: bool | int | str) -> tuple[bool | int | str, ...]:
    if isinstance(value, bool):
        return (not value,)
    return (value - 1, value + 1) if isinstance(value, int) else (f"{value}x",)


def accepted(path: Path) -> dict[Key, str]:
    """The mutants that may survive because they change nothing, with the reason."""
    entries = tomllib.loads(path.read_text("utf-8")).get("mutant", [])
    return {
        Key(entry["file"], entry["function"], entry["comparison"], entry["mutant"]): entry["reason"]
        for entry in entries
    }
