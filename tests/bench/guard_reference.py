"""The reference loop of the guard: the rules core as it was when the guard was last renewed.

It lies in `guard_core.zip` and is imported beside the core of today. Because it is the same kind of work,
a machine or a version of Python that is slow at one is as slow at the other: a made-up loop of plain
Python was not, by 15 % between a quiet and a busy machine alone.
"""

import importlib
import sys
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from guard_works import Work, works_of_imported_core

FILE: Final = Path(__file__).with_name("guard_core.zip")
_SOURCE: Final = Path(__file__).resolve().parents[2] / "services/engine/rules"
_PACKAGE: Final = "opolyx_rules"
_SAME_DAY: Final = (1980, 1, 1, 0, 0, 0)
"""The date of all files in the archive, so that the same source makes the same bytes."""


def reference_works(file: Path = FILE) -> dict[str, Work]:
    """The works, done by the core in the archive."""
    with _imported_from(file):
        return works_of_imported_core()


def pack(file: Path = FILE, source: Path = _SOURCE) -> None:
    """Make the core as it is now the reference."""
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as archive:
        for path in sorted((source / _PACKAGE).rglob("*.py")):
            info = zipfile.ZipInfo(path.relative_to(source).as_posix(), _SAME_DAY)
            info.compress_type = zipfile.ZIP_DEFLATED
            archive.writestr(info, path.read_bytes())


@contextmanager
def _imported_from(file: Path) -> Iterator[None]:
    """Let imports of the core find the archive, and later ones the core that is there now."""
    now = {name: module for name, module in sys.modules.items() if _is_core(name)}
    for name in now:
        del sys.modules[name]
    sys.path.insert(0, str(file))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        sys.path.remove(str(file))
        for name in [name for name in sys.modules if _is_core(name)]:
            del sys.modules[name]
        sys.modules.update(now)


def _is_core(name: str) -> bool:
    return name == _PACKAGE or name.startswith(_PACKAGE + ".")
