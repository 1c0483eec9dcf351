"""The command `opolyx`."""

from opolyx_sdk.cli.app import main

__all__ = ["main"]
