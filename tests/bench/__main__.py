"""How fast everything is: the rules core, bots in process, the server, the stores, the leaderboards.

`make bench`, or `make bench-quick`. Prints tables and asserts nothing: figures of two machines, or of
two hours of a busy one, can't be compared. Compare lines of one run, or two commits measured in turn.
"""

import argparse
import os
import platform
import sys
import time
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/support"))
sys.path.append(str(Path(__file__).resolve().parents[2] / "tools"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

import compiled_core
from parts import PARTS, choose
from results import CORE, RUN, write

COMPILED = "compiled core"


def main() -> None:
    """Measure what was chosen, and print the tables."""
    parser = _parser()
    options = parser.parse_args()
    try:
        chosen = choose(options.only)
    except ValueError as error:
        parser.error(str(error))
    if options.json and not options.json.parent.is_dir():
        parser.error(f"can't write {options.json}: there is no directory {options.json.parent}")
    if options.core != "compiled":
        python = f"{platform.python_implementation()} {platform.python_version()}"
        print(f"{python}, {CORE} rules", flush=True)
        for part in chosen:
            print(f"\n{part.name}", flush=True)
            begun = time.perf_counter()
            part.run(quick=options.quick)
            RUN.seconds[part.name] = time.perf_counter() - begun
            if options.json:  # what is interrupted keeps what it has
                write(options.json, quick=options.quick)
    of_the_core = [part.name for part in chosen if part.of_the_core]
    if options.core != "this" and of_the_core:
        print(f"\n{COMPILED}", flush=True)
        begun = time.perf_counter()
        whole = not options.only and not options.quick
        may_build = options.core == "compiled" or whole
        compiled_core.measure(of_the_core, quick=options.quick, may_build=may_build)
        RUN.seconds[COMPILED] = time.perf_counter() - begun
    if options.core != "this":
        _print_seconds()
    if options.json:
        write(options.json, quick=options.quick)


def _parser() -> argparse.ArgumentParser:
    usual = ", ".join(part.name for part in PARTS if part.usual)
    others = ", ".join(part.name for part in PARTS if not part.usual)
    parser = argparse.ArgumentParser(
        prog="make bench",
        description=__doc__,
        epilog=f"parts: {usual}; only when they are asked for, as they take minutes: {others}",
    )
    parser.add_argument("--quick", action="store_true", help="a first look: a few seconds a part")
    parser.add_argument("--json", type=Path, help="where to write all figures too")
    parser.add_argument(
        "--only", nargs="+", default=[], metavar="PART", help="parts, or pieces of their names"
    )
    parser.add_argument(
        "--core",
        choices=("both", "compiled", "this"),
        default="both",
        help="builds of the rules core: both, the compiled one alone, or what this Python imports",
    )
    return parser


def _print_seconds() -> None:
    """What took how long."""
    print("\nseconds of each part")
    for name, took in RUN.seconds.items():
        print(f"{name:20}{took:8.1f}")
    print(f"{'in all':20}{sum(RUN.seconds.values()):8.1f}")


if __name__ == "__main__":
    main()
