"""Commands and their options.

A command imports what it needs when it runs: `opolyx --help` loads neither gRPC nor the rules.
"""

import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

from cyclopts import App, Parameter
from cyclopts.validators import Number

from opolyx_sdk.cli.admin import admin
from opolyx_sdk.cli.admin_engine import drain, games, inspect, pause, resume, void
from opolyx_sdk.cli.arena import arena
from opolyx_sdk.cli.bot import bot
from opolyx_sdk.cli.language import Lang, chosen_language
from opolyx_sdk.cli.leaderboard import leaderboard
from opolyx_sdk.cli.load import load
from opolyx_sdk.cli.play import play
from opolyx_sdk.cli.profile import profile
from opolyx_sdk.cli.replay import replay
from opolyx_sdk.cli.watch import watch
from opolyx_sdk.errors import ConnectionLost, OpolyxError


def _version() -> str:
    from importlib.metadata import version

    return version("opolyx-sdk")


def _shown_default(value: object) -> str | None:
    """A default that says something: that a switch is off or a list empty goes without saying."""
    if value is None or value is False or value in ("", ()):
        return None
    return " ".join(map(str, value)) if isinstance(value, tuple) else str(value)


app = App(
    name="opolyx",
    help="Play, serve and verify opolyx games.",
    help_format="plaintext",  # the default loads a Markdown renderer first
    version=_version,
    default_parameter=Parameter(show_default=_shown_default),
)
app.command(play)
app.command(watch)
app.command(bot)
app.command(profile)
app.command(leaderboard)
app.command(admin)
for one in (games, inspect, void, pause, resume, drain):
    admin.command(one)
app.command(arena)
app.command(load)
app.command(replay)

_FAILED = 1
_UNUSABLE = 2


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the command line, by default the process's own; ends the process."""
    os.environ.setdefault("GRPC_VERBOSITY", "ERROR")
    try:
        sys.exit(app(sys.argv[1:] if arguments is None else arguments))
    except ConnectionLost as error:
        _complain(OpolyxError(f"{error}; is one running there? `opolyx serve` starts one here"))
        sys.exit(_UNUSABLE)
    except OpolyxError as error:
        _complain(error)
        sys.exit(_UNUSABLE)
    except BrokenPipeError:
        # Whoever read has seen enough, as `head` has; nothing is left to be flushed into the pipe.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(_FAILED)
    except KeyboardInterrupt:
        sys.exit(130)


def _complain(error: Exception) -> None:
    """Say what is wrong with what the user asked for."""
    what = str(error)
    if isinstance(error, OSError) and error.strerror:
        what = f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    print(f"opolyx: {what}", file=sys.stderr)


@app.command
def serve(
    *,
    host: str = "127.0.0.1",
    port: Annotated[int, Parameter(validator=Number(gte=0, lte=65535))] = 7443,
    data: Path = Path("opolyx-data"),
    bot_delay_ms: Annotated[int, Parameter(validator=Number(gte=0, lte=60_000))] = 600,
    store: str = "",
) -> int:
    """Serve all three services in this process, until SIGTERM or Ctrl-C.

    Everything is in one SQLite file, or in Redis.

    Parameters
    ----------
    host
        Address to listen on.
    port
        Port to listen on; 0 takes a free one.
    data
        Directory of the database and of the keys, made if absent.
    bot_delay_ms
        How long built-in bots wait before they act, milliseconds.
    store
        URL of a Redis to keep everything in but the keys, redis://host:port/0 or
        redis+cluster://host:port; a SQLite file in the directory when absent.
    """
    from opolyx_sdk.cli.embedded import find_embedded

    def ready(address: str) -> None:
        where = f"keys in {data}, the rest in Redis" if store else f"data in {data}"
        print(f"opolyx serves on {address}, {where}; Ctrl-C stops it", flush=True)

    where = f"[{host}]" if ":" in host and not host.startswith("[") else host
    try:
        return find_embedded().run(
            data,
            listen=f"{where}:{port}",
            bot_delay_ms=bot_delay_ms,
            on_ready=ready,
            store=store,
        )
    except BrokenPipeError:
        raise
    except OSError as error:
        _complain(error)
        return _UNUSABLE


@app.command
def demo(
    *,
    seed: int | None = None,
    ruleset: str = "classic@full",
    keep: Path | None = None,
    lang: Lang = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Serve, play a whole game of four bots over gRPC, print it, and verify it.

    Parameters
    ----------
    seed
        Makes the game reproducible: the same seed gives the same game.
    ruleset
        The ruleset, mode@edition.
    keep
        Directory to keep the database and the replay in; else only the replay is kept.
    as_json
        Print nothing but one JSON object, as the last line.
    """
    from opolyx_sdk.cli.demo import run_demo
    from opolyx_sdk.local.rule_pages import check_ruleset

    try:
        check_ruleset(ruleset)
    except ValueError as error:
        _complain(error)
        return _UNUSABLE
    try:
        language = chosen_language(lang)
        return run_demo(seed=seed, ruleset=ruleset, keep=keep, as_json=as_json, language=language)
    except BrokenPipeError:
        raise
    except OSError as error:
        _complain(error)
        return _UNUSABLE


@app.command
def verify(
    file: Path,
    /,
    *,
    lang: Lang = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Recompute a replay: its key, every die and card, every record and digest, the result.

    The exit code is 0 only for a complete replay in which everything is right.

    Parameters
    ----------
    file
        The replay.
    as_json
        Print one JSON object.
    """
    from opolyx_sdk.local.verify import verify_file

    language = chosen_language(lang)
    try:
        found = verify_file(file)
    except OSError as error:
        _complain(OSError(f"can't read {file}: {error.strerror}"))
        return _UNUSABLE
    if as_json:
        fields = {name: getattr(found, name) for name in found.__dataclass_fields__}
        print(json.dumps({**fields, "verified": found.fair}))
    else:
        print(found.sentence(language))
    return 0 if found.fair else _FAILED


@app.command
def rules(
    ruleset: str = "classic@full",
    /,
    *,
    diff: Annotated[tuple[str, str] | None, Parameter(negative="")] = None,
    lang: Lang = None,
    as_json: Annotated[bool, Parameter(name="--json", negative="")] = False,
) -> int:
    """Print the rules of a ruleset with its values, or what differs between two rulesets.

    Parameters
    ----------
    ruleset
        The ruleset, mode@edition.
    diff
        Two rulesets: print only the fields in which they differ.
    as_json
        Print one JSON object.
    """
    from opolyx_sdk.cli.rules import show_differences, show_rules

    language = chosen_language(lang)
    try:
        if diff:
            show_differences(*diff, as_json=as_json, language=language)
        else:
            show_rules(ruleset, as_json=as_json, language=language)
    except ValueError as error:
        _complain(error)
        return _UNUSABLE
    return 0


@app.command(name="version")
def show_version(*, as_json: Annotated[bool, Parameter(name="--json", negative="")] = False) -> int:
    """Print the version.

    Parameters
    ----------
    as_json
        Print one JSON object.
    """
    number = _version()
    print(json.dumps({"version": number}) if as_json else f"opolyx {number}")
    return 0
