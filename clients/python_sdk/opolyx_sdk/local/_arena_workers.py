"""An arena's processes: each is told which games to play, and sends a row for each.

One has always a game more to play than the one it is at, so that none waits for this process.

They are started afresh (spawn), so that they are the same on every system. The parent alone hears
Ctrl-C, and ends them: whoever closes the iterator leaves no process behind.
"""

import contextlib
import multiprocessing
import signal
import sys
import threading
from collections import deque
from collections.abc import Generator, Iterator
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess

from opolyx_sdk.errors import BotError, OpolyxError
from opolyx_sdk.local.arena_plan import ArenaPlan, play_game
from opolyx_sdk.local.standings import GameRow

_JOIN_S = 5.0
_AHEAD = 2


@dataclass(slots=True)
class _Worker:
    """One process, and the games that it plays or will play, in turn."""

    process: SpawnProcess
    pipe: "Connection[int, GameRow | Exception]"
    numbers: deque[int] = field(default_factory=deque)


def play_in_processes(
    plan: ArenaPlan, workers: int, *, first: int = 0
) -> Generator[GameRow, None, None]:
    """The plan's games from `first` on as they end.

    Raises:
        BotError: a bot failed and the plan is strict, or a bot ended its process.
    """
    waiting = iter(range(first, plan.games))
    staff: list[_Worker] = []
    try:
        with _deaf_to_interrupts():
            staff += [_hired(plan) for _ in range(workers)]
        for _ in range(_AHEAD):
            for worker in staff:
                _give_next(worker, waiting)
        while busy := [worker for worker in staff if worker.numbers]:
            ready = wait([worker.pipe for worker in busy])
            for worker in busy:
                if worker.pipe in ready:
                    yield _received(worker)
                    _give_next(worker, waiting)
    finally:
        for worker in staff:
            worker.process.kill()
        for worker in staff:
            worker.process.join(_JOIN_S)
            worker.pipe.close()


def _hired(plan: ArenaPlan) -> _Worker:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(
        target=_work, args=(theirs, plan, sys.path[:]), name="opolyx-arena", daemon=True
    )
    process.start()
    theirs.close()
    return _Worker(process, ours)


def _give_next(worker: _Worker, waiting: Iterator[int]) -> None:
    number = next(waiting, None)
    if number is None:
        return
    worker.numbers.append(number)
    with contextlib.suppress(ConnectionError):  # it has ended: seen when its answer is read
        worker.pipe.send(number)


def _received(worker: _Worker) -> GameRow:
    try:
        answer = worker.pipe.recv()
    except (EOFError, ConnectionError) as error:
        worker.process.join(_JOIN_S)
        code = worker.process.exitcode
        raise BotError(
            f"the process that played game {worker.numbers[0]} ended, with exit code {code}"
        ) from error
    if isinstance(answer, Exception):
        raise answer
    worker.numbers.popleft()
    return answer


def _work(pipe: "Connection[GameRow | Exception, int]", plan: ArenaPlan, path: list[str]) -> None:
    """Play what is asked for until it is ended; runs in a process of its own."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    sys.path[:] = path
    sys.stdout = sys.stderr  # results alone go to the standard output, whatever bots print
    with contextlib.suppress(EOFError, ConnectionError):  # the parent is gone
        while True:
            number = pipe.recv()
            try:
                pipe.send(play_game(plan, number))
            except (OpolyxError, OSError, ValueError) as error:
                pipe.send(error)


@contextlib.contextmanager
def _deaf_to_interrupts() -> Iterator[None]:
    """Processes begun within ignore Ctrl-C from their first moment on."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
