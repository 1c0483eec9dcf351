"""Finds a bot by its name on a command line: `my_bot:MyBot`, or `bots/my_bot.py:MyBot`."""

import importlib
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import cast

from opolyx_sdk._bot_faults import FAULTS, told_error
from opolyx_sdk.bots import Bot
from opolyx_sdk.errors import OpolyxError


def load_bot(name: str) -> Callable[[], Bot]:
    """What makes the bot of a game, out of a module in the current directory or installed.

    Args:
        name: `MODULE:CLASS` or `FILE.py:CLASS`; anything that gives a bot when called without
            arguments may stand for the class.

    Raises:
        OpolyxError: there is no such thing, or it makes no bot; the message says which.
    """
    module_name, _, attribute = name.rpartition(":")
    if not module_name or not attribute:
        raise OpolyxError(f"{name!r} names no bot: write MODULE:CLASS, for instance my_bot:MyBot")
    module = _module(module_name)
    make: object = module
    for part in attribute.split("."):
        try:
            make = getattr(make, part)
        except AttributeError as error:
            has = ", ".join(_bots_in(module)) or "no bots"
            raise OpolyxError(f"{module_name} has no {attribute}; it has {has}") from error
    if not callable(make):
        raise OpolyxError(f"{name} can't be called to make a bot")
    made(make, name)
    return cast(Callable[[], Bot], make)


def made(make: Callable[[], object], name: str) -> Bot:
    """A bot out of what makes it.

    Raises:
        OpolyxError: it fails, or makes no bot.
    """
    try:
        bot = make()
    except FAULTS as error:
        raise OpolyxError(f"{name}() failed: {told_error(error)}") from error
    if not isinstance(bot, Bot):
        raise OpolyxError(f"{name}() makes a {type(bot).__name__}, which is no opolyx_sdk.Bot")
    return bot


def _bots_in(module: ModuleType) -> list[str]:
    """Names of the bots that the module defines itself, rather than imports."""
    return [
        name
        for name, one in vars(module).items()
        if isinstance(one, type) and issubclass(one, Bot) and one.__module__ == module.__name__
    ]


def _module(name: str) -> ModuleType:
    try:
        if name.endswith(".py"):
            return _module_of_file(Path(name))
        if (here := os.getcwd()) not in sys.path:
            sys.path.insert(0, here)
        return importlib.import_module(name)
    except FAULTS as error:
        raise OpolyxError(f"can't import {name}: {told_error(error)}") from error


def _module_of_file(path: Path) -> ModuleType:
    """The module of a file, which may import its neighbours."""
    path = path.resolve()
    if not path.is_file():
        raise FileNotFoundError(f"there is no {path}")
    if (folder := str(path.parent)) not in sys.path:
        sys.path.insert(0, folder)
    module = importlib.import_module(path.stem)
    if Path(module.__file__ or "").resolve() != path:
        raise ImportError(f"another module is called {path.stem}: give the file another name")
    return module
