"""One stream on which nothing happens for long: is it the same one afterwards, and does it work?

`python tests/chaos/quiet_stream.py --minutes 31`: the default SDK and the default server, each in a
process of its own. The stream watches a game that is over, so that not even a clock moves on it.
Afterwards a whole game is played on the very same stream.
"""

import argparse
import asyncio
import logging
import sys
import tempfile
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "support"))

from opolyx_sdk import AsyncClient, BotRunner, RoomOptions, SteadyBot
from support_sdk import ServeProcess


async def new_game(client: AsyncClient) -> str:
    """A short game of the client's guest and a built-in bot."""
    room = await client.create_room("blitz@full", 2, options=RoomOptions(round_cap=3))
    await client.add_bot(room.room_id, policy="steady")
    return await client.start_game(room.room_id)


async def stay_quiet(minutes: float) -> int:
    """The exit code: 0 if the stream was never opened anew."""
    opened = 0
    with tempfile.TemporaryDirectory() as directory:
        async with (
            ServeProcess(Path(directory)) as server,
            AsyncClient(server.address) as client,
        ):
            open_stream = client._transport.play

            def count(game_id: str) -> object:
                nonlocal opened
                opened += 1
                return open_stream(game_id)

            client._transport.play = count  # type: ignore[assignment,method-assign]
            await client.create_guest("Quiet")
            over = await new_game(client)
            await BotRunner(client, SteadyBot).play(over)
            opened = 0
            async with client.watch(over) as game:
                began = time.monotonic()
                print(f"watching a game that is over: {game.over}, streams {opened}", flush=True)
                while time.monotonic() - began < minutes * 60:
                    await asyncio.sleep(min(60.0, minutes * 60))
                    if opened != 1:
                        break
                quiet_s = time.monotonic() - began
                report = await BotRunner(client, SteadyBot).play(await new_game(client))
            print(
                f"quiet for {quiet_s / 60:.1f} min; streams opened: {opened}; "
                f"then a game of {report.updates} updates, {report.decisions} decisions, "
                f"ended: {report.result is not None}",
                flush=True,
            )
    return 0 if opened == 1 and report.result is not None else 1


def main() -> None:
    """Run it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=31.0, help="how long nothing happens")
    logging.basicConfig(level=logging.WARNING)
    sys.exit(asyncio.run(stay_quiet(parser.parse_args().minutes)))


if __name__ == "__main__":
    main()
