"""A link that swallows everything and closes nothing: how long until it is noticed and replaced?

`python tests/chaos/dead_link.py`: the default SDK and the default server. Takes up to a minute and
ends with 1 if that isn't enough.
"""

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))
os.environ.setdefault("GRPC_VERBOSITY", "NONE")

from opolyx_sdk import AsyncClient
from support_proxy import FlakyProxy
from support_sdk import ServeProcess, start_game

MOST_SECONDS = 60.0


async def measure() -> int:
    """The exit code."""
    with tempfile.TemporaryDirectory() as name:
        async with (
            ServeProcess(Path(name)) as server,
            FlakyProxy(server.port) as network,
            AsyncClient(network.address) as client,
            client.play(await start_game(client)) as game,
        ):
            seq, replaced = game.seq, asyncio.Event()
            for link in network.links:
                link.swallows_up = link.swallows_down = True
            network.on_link = lambda link: replaced.set()
            began = time.monotonic()
            await asyncio.wait_for(replaced.wait(), 2 * MOST_SECONDS)
            noticed = time.monotonic() - began
            assert game.decision is not None
            await game.submit(game.decision.legal_actions[0])
    print(
        f"dead link noticed after {noticed:.1f} s (allowed: {MOST_SECONDS:.0f} s),"
        f" then on from update {seq} to {game.seq}"
    )
    return int(noticed > MOST_SECONDS)


if __name__ == "__main__":
    sys.exit(asyncio.run(measure()))
