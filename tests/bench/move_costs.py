"""What each part of a move costs the server, by itself and warm: `python tests/bench/move_costs.py`.

Four games of random players are planned once; then each part does its work for all their moves, a
few rounds in turn, and the least CPU time of a round counts. A running server has cold caches and
threads that wait for each other, so the parts add up to less than an action costs there: they say
where it is worth looking.
"""

import argparse
import gc
import random
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

sys.path.append(str(Path(__file__).parents[1] / "support"))

from opolyx.engine.v1 import engine_service_pb2 as pb
from opolyx_engine.admission import admit
from opolyx_engine.command import Answer, Command
from opolyx_engine.header import PERSON, GameHeader, Holder
from opolyx_engine.hub import Hub, Subscription
from opolyx_engine.metrics import EngineMetrics
from opolyx_engine.outbox import Outbox
from opolyx_engine.rpc.convert_actions import action_from_proto, action_to_proto
from opolyx_engine.rpc.convert_answers import answer_to_proto
from opolyx_engine.rpc.frame_encoder import FrameEncoder
from opolyx_engine.rpc.frames import result_frame
from opolyx_engine.table import Step, Table
from opolyx_rules.actions import Action
from opolyx_rules.engine import legal_actions
from opolyx_rules.queries import awaited_seat
from opolyx_servicekit.wall_clock import SystemClock

GAMES: Final = 4
_SEATS: Final = 4
_MOVES: Final = 200
_SNAPSHOT_EVERY: Final = 32
_START_MS: Final = 1_700_000_000_000


@dataclass(frozen=True, slots=True)
class Move:
    """One move of a game, with all that its parts begin with."""

    table: Table
    """The game before it."""

    action: Action
    """What is done."""

    command: Command
    """What asks for it."""

    request: bytes
    """The same on the wire."""

    step: Step
    """What comes of it."""


def planned() -> list[Move]:
    """The moves of all games, in their order."""
    return [move for number in range(GAMES) for move in _game(number)]


def _game(number: int) -> list[Move]:
    holders = tuple(Holder(f"p_{seat}", "", PERSON) for seat in range(_SEATS))
    header = GameHeader(f"g_{number:026}", "classic@full", holders)
    table, _ = Table.begin(header, number.to_bytes(32), _START_MS)
    luck, moves = random.Random(number), list[Move]()
    while len(moves) < _MOVES and not table.state.over:
        seat = awaited_seat(table.state)
        action = luck.choice(legal_actions(table.state, seat))
        command_id, decision_id = f"c{len(moves)}", f"d{table.state.decision}"
        message = pb.Command(
            game_id=header.game_id,
            command_id=command_id,
            decision_id=decision_id,
            action=action_to_proto(action),
        )
        command = Command(command_id, decision_id, seat, action, _START_MS, _told)
        step = table.plan(action, command_id, _START_MS)
        request = pb.PlayRequest(command=message).SerializeToString()
        moves.append(Move(table, action, command, request, step))
        table = table.after(step)
    return moves


def _told(answer: Answer) -> None:
    """Whom a command's answer would reach."""


def _parts() -> list[tuple[str, Callable[[Move], object]]]:
    encoder = FrameEncoder(SystemClock())
    metrics = EngineMetrics()
    hub = Hub(lambda _: b"")
    boxes = [Outbox(1 << 30, 1 << 40, metrics) for _ in range(_SEATS)]
    for box in boxes:  # spectators': who is connected isn't told of them
        hub.add(Subscription(box, None, lambda _: b""), list)
    frame = encoder.update(planned()[0].table, planned()[0].step)

    def read(move: Move) -> None:
        action_from_proto(pb.PlayRequest.FromString(move.request).command.action, 0)

    def answer(move: Move) -> None:
        told = answer_to_proto(move.command.command_id, Answer(seq=move.step.entry.seq))
        result_frame(move.table.header.game_id, told)

    def publish(_: Move) -> None:
        hub.publish(frame)

    return [
        ("request: parsed, its action converted", read),
        ("admission, the rules' check", lambda move: admit(move.table, move.command)),
        ("rules: clone, apply, record, digest", lambda move: move.table.plan(move.action, "", 1)),
        (
            "record: its bytes for the store",
            lambda move: move.table.append_of(move.step, with_snapshot=False),
        ),
        (
            f"snapshot, one in {_SNAPSHOT_EVERY}",
            lambda move: (
                None
                if move.step.entry.seq % _SNAPSHOT_EVERY
                else move.table.after(move.step).to_snapshot()
            ),
        ),
        ("update: its bytes for all", lambda move: encoder.update(move.table, move.step)),
        ("update: queued for four", publish),
        ("answer: its bytes", answer),
    ]


def run(rounds: int) -> None:
    """Measure, and print the table."""
    moves, parts = planned(), _parts()
    least = [float("inf")] * len(parts)
    gc.disable()
    for _ in range(rounds):
        for number, (_, work) in enumerate(parts):
            least[number] = min(least[number], _time_of(work, moves))
    for (name, _), seconds in zip(parts, least, strict=True):
        print(f"{name:42}{seconds / len(moves) * 1e6:8.1f} µs")
    print(f"{'together':42}{sum(least) / len(moves) * 1e6:8.1f} µs")


def _time_of(work: Callable[[Move], object], moves: Sequence[Move]) -> float:
    began = time.thread_time()
    for move in moves:
        work(move)
    return time.thread_time() - began


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15, help="of which the least counts")
    run(parser.parse_args().rounds)
