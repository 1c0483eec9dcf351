"""`opolyx-keys`: makes and rotates the keys that sign tokens, and signs those of services.

For operators who have no identity provider of their own. What it writes is what the services' settings
name: `keys.json` (private, for the matchmaker alone), `keys.public.json` (for all), and tokens. A service
that signs its own has keys of its own, made with `--roles service`: with them it makes no operators.
"""

import argparse
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

from opolyx_servicekit.key_rotation import add_key, key_ids, promote_key, retire_keys
from opolyx_servicekit.key_set import add_public_keys, create_keys
from opolyx_servicekit.tokens import TokenSigner

_USAGE: Final = 2
_ROLES: Final = ("service", "operator")
_DAY_SECONDS: Final = 86_400
_MOST_DAYS: Final = 400


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; 0, or 2 with a line on standard error if it can't be done."""
    chosen = _parser().parse_args(arguments)
    run: Callable[[argparse.Namespace], None] = chosen.run
    try:
        run(chosen)
    except (OSError, ValueError) as error:
        sys.stderr.write(f"opolyx-keys: {error}\n")
        return _USAGE
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="opolyx-keys", description=__doc__)
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    for name, run, told in (
        ("make", _make, "write a new key set and the public one beside it"),
        ("list", _list, "print the keys' ids, the one that signs first"),
        ("add", _add, "step 1 of a rotation: add a key that signs nothing yet"),
        ("promote", _promote, "step 2, once all services have the new public set: let it sign"),
        ("retire", _retire, "step 3, once the last token of the old keys has expired: drop them"),
    ):
        command = commands.add_parser(name, help=told, description=told)
        command.add_argument("keys", type=Path, help="the private key set, such as keys.json")
        command.set_defaults(run=run)
        if run is _make:
            command.add_argument("--roles", nargs="+", help="whose tokens it may sign; else all")
            command.add_argument("--add-to", type=Path, help="public set to put its keys into too")
    told = "print a token for a service or an operator"
    token = commands.add_parser("token", help=told, description=told)
    token.add_argument("keys", type=Path, help="the private key set, such as keys.json")
    token.add_argument("--subject", required=True, help="who, such as s_engine or o_jane")
    token.add_argument("--role", choices=_ROLES, default="service")
    token.add_argument("--days", type=_days, default=90, help="how long it is good (90)")
    token.add_argument("--issuer", default="opolyx")
    token.add_argument("--audience", default="opolyx")
    token.set_defaults(run=_token)
    return parser


def _days(text: str) -> int:
    days = int(text)
    if not 1 <= days <= _MOST_DAYS:
        raise argparse.ArgumentTypeError(f"must be 1 to {_MOST_DAYS}")
    return days


def _make(chosen: argparse.Namespace) -> None:
    try:
        public = create_keys(chosen.keys, chosen.roles or ())
    except FileExistsError:
        raise ValueError(f"{chosen.keys} is there already, and is left as it is") from None
    if chosen.add_to is not None:
        add_public_keys(public, chosen.add_to)
    _say(f"{chosen.keys} (secret) and {public}")


def _list(chosen: argparse.Namespace) -> None:
    for kid in key_ids(chosen.keys):
        _say(kid)


def _add(chosen: argparse.Namespace) -> None:
    _say(add_key(chosen.keys))


def _promote(chosen: argparse.Namespace) -> None:
    _say(promote_key(chosen.keys))


def _retire(chosen: argparse.Namespace) -> None:
    for kid in retire_keys(chosen.keys):
        _say(kid)


def _token(chosen: argparse.Namespace) -> None:
    signer = TokenSigner(chosen.keys, issuer=chosen.issuer, audience=chosen.audience)
    seconds = chosen.days * _DAY_SECONDS
    _say(signer.sign(subject=chosen.subject, role=chosen.role, ttl_seconds=seconds))


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")


if __name__ == "__main__":
    sys.exit(main())
