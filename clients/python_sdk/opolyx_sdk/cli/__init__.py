"""The command `opolyx`."""

import sys
from collections.abc import Sequence

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, by default the process's own; ends the process."""
    try:
        from opolyx_sdk.cli import app  # takes its time, in which Ctrl-C may come

        app.main(arguments)
    except KeyboardInterrupt:
        sys.exit(130)
