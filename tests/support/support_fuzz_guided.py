"""The parsers fuzzed by coverage: atheris (libFuzzer) changes the inputs that reach new code.

atheris is not in the lock, as its one wheel is large and for few platforms: install it beside what is
there, `.venv/bin/pip install atheris`, for `make fuzz ARGS="--guided --kinds replays"`.
"""

import os
import random
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from support_fuzz_inputs import HostileInputs


def guided(kinds: Sequence[str], inputs: int, seed: int) -> int:
    """Feed so many inputs to each parser, each in a process of its own; 1 if one gave way.

    Raises:
        SystemExit: atheris isn't installed.
    """
    failed = False
    for kind in [kind for kind in kinds if kind in ("replays", "tokens")]:
        child = os.fork()  # libFuzzer ends its process
        if not child:
            _fuzz(kind, inputs, seed)
        failed |= os.waitpid(child, 0)[1] != 0
        sys.stdout.write(f"{kind}: {'gave way' if failed else 'held'}\n")
    return 1 if failed else 0


def _fuzz(kind: str, inputs: int, seed: int) -> None:
    try:
        import atheris
    except ImportError:
        raise SystemExit("needs atheris: .venv/bin/pip install atheris") from None
    with tempfile.TemporaryDirectory() as name:
        seeds = Path(name) / "seeds"
        seeds.mkdir()
        feed = _target(atheris, kind, seed, Path(name), seeds)
        arguments = [
            f"-runs={inputs}",
            f"-seed={seed % (1 << 31)}",
            "-max_len=20000",
            "-verbosity=0",
        ]
        atheris.Setup([sys.argv[0], *arguments, str(seeds)], feed)
        atheris.Fuzz()


def _target(atheris: Any, kind: str, seed: int, directory: Path, seeds: Path) -> Any:
    """What is fed, with its modules instrumented, and inputs to begin with."""
    with atheris.instrument_imports(include=["opolyx_rules", "opolyx_servicekit", "jwt"]):
        import support_fuzz_parsers
    luck = random.Random(seed)
    if kind == "tokens":
        gate = support_fuzz_parsers.TokenGate(directory)
        token = gate.signer.sign(subject="p_1", role="player", ttl_seconds=60).encode()
        (seeds / "token").write_bytes(token)
        return gate.try_token
    feed = support_fuzz_parsers.replays(HostileInputs(luck), luck)
    for number in range(20):
        (seeds / str(number)).write_bytes(feed())
    return support_fuzz_parsers.verify_replay
