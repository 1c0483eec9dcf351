"""What was promised to clients, held against the log, the replays and the ledger of awards."""

import asyncio
import collections
import json
from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from opolyx_engine.record import command_key
from opolyx_rules.actions import TIME_OUT
from opolyx_sdk import AsyncClient
from opolyx_sdk.local.verify import verify_replay
from support_chaos_ledger import Ledger, Summary

_LOOKS: Final = 300
_BEFORE_S: Final = 15.0

Rows = Iterable[tuple[str, int, bytes]]
"""Records of a game: command's key, seq and body."""

Awards = Iterable[tuple[str, int]]
"""Game and seat of each award."""


class Promises:
    """Checks what clients were told."""

    def __init__(self, ledgers: Mapping[str, Ledger], summary: Summary) -> None:
        """What is wrong goes to `summary`."""
        self._ledgers = ledgers
        self._summary = summary

    async def check_replays(self, reader: AsyncClient, directory: Path) -> None:
        """Each game's replay is whole, verifies, and is what the clients saw."""
        path = directory / "replay.jsonl"
        await reader.create_guest("Reader")
        for game_id, ledger in self._ledgers.items():
            complete = await reader.get_replay(game_id, path)
            data = await asyncio.to_thread(path.read_bytes)
            found = await asyncio.to_thread(verify_replay, data)
            if not (complete and found.ok and found.complete):
                self._summary.wrong(f"{game_id}: replay {found.problem or 'incomplete'}")
            else:
                self._summary.counts["replays verified with the revealed secret"] += 1
            records = {one["seq"]: one for one in map(json.loads, data.split(b"\n")[1:-2])}
            for seq, digest in ledger.digests.items():
                self._summary.counts["digests seen by clients and in the log"] += 1
                if records.get(seq, {}).get("log_digest") != digest:
                    self._summary.wrong(f"{game_id}: update {seq} was seen and is not in the log")
            self._check_clocks(game_id, ledger, records)

    def _check_clocks(self, game_id: str, ledger: Ledger, records: dict[int, Any]) -> None:
        """Nobody who plays loses a turn to an outage."""
        for record in records.values():
            action = record["action"]
            if action and action[0] == TIME_OUT and action[1] in ledger.seats:
                self._summary.counts["turns lost to the clock"] += 1
                before = records[record["seq"] - 1]
                silent_s = (record["at_unix_ms"] - before["at_unix_ms"]) / 1000
                seen = "seen" if before["seq"] in ledger.digests else "seen by no client"
                blows = self._summary.blows_before(
                    record["at_unix_ms"] / 1000, silent_s + _BEFORE_S
                )
                self._summary.wrong(
                    f"{game_id}: seat {action[1]} lost a turn to the clock at update {record['seq']}"
                    f" of {max(records)}, {_seconds_into(records, record)} s into the game;"
                    f" the update before was {silent_s:.0f} s earlier and {seen}; blows: {blows}"
                )

    async def check_awards(self, read: Callable[[], Awaitable[Awards]]) -> None:
        """Whoever played is paid once, also for a game that ended as a server died."""
        owed = {(game_id, seat) for game_id, one in self._ledgers.items() for seat in one.seats}
        paid: collections.Counter[tuple[str, int]] = collections.Counter()
        for _ in range(_LOOKS):
            paid = collections.Counter(await read())
            if owed <= paid.keys():
                break
            await asyncio.sleep(0.1)
        for key in owed:
            if paid[key] != 1:
                self._summary.wrong(f"{key[0]}: seat {key[1]} was paid {paid[key]} times")
        self._summary.counts["awards, one for each seat of a client"] = len(owed)

    async def check_log(self, read: Callable[[str], Awaitable[Rows]]) -> None:
        """The log holds each acknowledged command once, and no other of the clients'."""
        for game_id, ledger in self._ledgers.items():
            self._check_commands(game_id, ledger, await read(game_id))

    def _check_commands(self, game_id: str, ledger: Ledger, rows: Rows) -> None:
        log: dict[str, tuple[int, int]] = {}
        for key, seq, body in rows:
            if not key:
                continue
            seat = json.loads(body.split(b"\n")[0])["action"][1]
            command_id = key.removeprefix(command_key(seat, ""))
            if command_id in log:
                self._summary.wrong(f"{game_id}: command {command_id} was applied twice")
            log[command_id] = (seat, seq)
        for command_id, told in ledger.acknowledged.items():
            if log.get(command_id) != told:
                self._summary.wrong(
                    f"{game_id}: {command_id} was acknowledged as {told},"
                    f" the log has {log.get(command_id)}"
                )
        if extra := log.keys() - ledger.acknowledged.keys():
            self._summary.wrong(f"{game_id}: {len(extra)} commands in the log no client counted")
        self._summary.counts["commands in the log"] += len(log)


def _seconds_into(records: dict[int, Any], record: dict[str, Any]) -> int:
    """Seconds from the first record to this one."""
    return int((record["at_unix_ms"] - records[min(records)]["at_unix_ms"]) / 1000)
