"""Generate Python from the `.proto` files, beside them; `--check` only tells what differs.

Made are `*_pb2.py` by protoc, `*_pb2_grpc.py` by its gRPC plugin where a service is declared, and
`.pyi` stubs of both by mypy-protobuf. Proto packages are the Python packages, so no import has to be
rewritten. No network is used.
"""

import argparse
import re
import sys
import tempfile
from importlib import resources
from pathlib import Path
from typing import Final

from grpc_tools import protoc

ROOT: Final = Path(__file__).resolve().parent.parent
PROTO: Final = ROOT / "proto"
BIN: Final = Path(sys.executable).parent
PATTERNS: Final = ("*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")
PLUGINS: Final = ("protoc-gen-mypy", "protoc-gen-mypy_grpc")
SERVICE: Final = re.compile(r"^service\s", re.MULTILINE)
MARKER: Final = "py.typed"


def main() -> int:
    """Generate, or compare; return 0 if all is well."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell what differs")
    check: bool = parser.parse_args().check
    with tempfile.TemporaryDirectory() as name:
        fresh = Path(name)
        if (code := generate(fresh)) != 0:
            return code
        differing = differences(fresh)
        if not check:
            replace(fresh, differing)
    if check:
        for path in differing:
            print(f"generated code differs: proto/{path} (run `make proto`)", file=sys.stderr)
        return 1 if differing else 0
    print(f"generated code: {len(differing)} files changed")
    return 0


def generate(target: Path) -> int:
    """Generate all files into `target`; return protoc's exit code."""
    protos = sorted(str(path.relative_to(PROTO)) for path in PROTO.rglob("*.proto"))
    if not protos:
        return 0
    serving = [proto for proto in protos if SERVICE.search((PROTO / proto).read_text())]
    code = run_protoc(target, ("python_out=", "mypy_out=quiet:"), protos)
    if code == 0 and serving:
        code = run_protoc(target, ("grpc_python_out=", "mypy_grpc_out=quiet,only_async:"), serving)
    for proto in protos:
        (target / proto).with_name(MARKER).touch()
    return code


def run_protoc(target: Path, outputs: tuple[str, ...], protos: list[str]) -> int:
    """Run protoc on `protos`, giving each of `outputs` the directory `target`."""
    well_known = resources.files("grpc_tools") / "_proto"
    arguments = ["protoc", f"--proto_path={PROTO}", f"--proto_path={well_known}"]
    arguments += [f"--plugin={BIN / plugin}" for plugin in PLUGINS]
    arguments += [f"--{output}{target}" for output in outputs]
    code: int = protoc.main(arguments + protos)
    return code


def differences(fresh: Path) -> list[Path]:
    """Return the files, relative to the root of both trees, that are not the same in both."""
    paths = generated(fresh) | generated(PROTO)
    return sorted(path for path in paths if content(fresh / path) != content(PROTO / path))


def replace(fresh: Path, paths: list[Path]) -> None:
    """Bring `paths` to what they are in `fresh`; what isn't there is removed."""
    for path in paths:
        new = content(fresh / path)
        if new is None:
            (PROTO / path).unlink()
        else:
            (PROTO / path).write_bytes(new)


def generated(root: Path) -> set[Path]:
    """Return the generated files below `root`, relative to it."""
    return {
        path.relative_to(root) for pattern in (*PATTERNS, MARKER) for path in root.rglob(pattern)
    }


def content(path: Path) -> bytes | None:
    """Return what `path` holds, or None if there is no such file."""
    return path.read_bytes() if path.exists() else None


if __name__ == "__main__":
    raise SystemExit(main())
