"""A worker process: `python -m relaunch.differential.worker BACKEND`; batches on standard input, one outcome a
line on standard output.

The process itself never launches: it loads the recorder and forks a child that runs the batch. A child's death is
one case's result, and the next child, which costs a fork and no start of Python, goes on behind that case.
"""

from __future__ import annotations

import contextlib
import json
import mmap
import os
import resource
import select
import signal
import struct
import sys
import time
from collections.abc import Callable
from typing import NoReturn, Protocol

from relaunch.differential import tasks, volume
from relaunch.differential.launching import Runner

from relaunch import generator

_STATE = struct.Struct("<Qd")
_POLL_SECONDS = 0.05

FAULT_STATUS = 113
"""How a child ends when the worker's own code failed, not a launcher's."""


class Watched(Protocol):
    """What a child shares with the worker."""

    def read(self) -> tuple[int, float]:
        """Tasks answered, or the number of the case in work, and when it began (0.0: none is in work)."""
        ...


class Progress:
    """Shared with the child: tasks answered so far, and when the present one began (0.0 between tasks)."""

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _STATE.size)

    def write(self, answered: int, began: float) -> None:
        _STATE.pack_into(self._memory, 0, answered, began)

    def read(self) -> tuple[int, float]:
        answered, began = _STATE.unpack_from(self._memory, 0)
        return answered, began


def write_line(line: bytes) -> None:
    """Writes to standard output at once: what a child has answered must outlive it."""
    rest = memoryview(line + b"\n")
    while rest:
        rest = rest[os.write(1, rest) :]


def run_child(runner: Runner, batch: tasks.Batch, start: int, progress: Progress) -> NoReturn:
    """Answers the batch's tasks from `start` on, then ends the process."""
    status = FAULT_STATUS
    try:
        for i in range(start, len(batch.tasks)):
            progress.write(i, time.monotonic())
            line = runner.run(batch.tasks[i])
            progress.write(i, 0.0)
            write_line(line)
            progress.write(i + 1, 0.0)
        status = 0
    except BaseException:  # noqa: BLE001 - the process ends here, whatever it was
        sys.excepthook(*sys.exc_info())
    finally:
        os._exit(status)


def await_child(child: int, end: int, progress: Watched, timeout: float) -> tuple[int, bool]:
    """Waits until the child has ended; kills it when a task takes longer than `timeout`.

    `end` reads end-of-file when the child has ended. Gives its wait status and whether it was killed.
    """
    hung = False
    while not select.select([end], [], [], _POLL_SECONDS)[0]:
        _, began = progress.read()
        if began and time.monotonic() - began > timeout:
            hung = True
            os.kill(child, signal.SIGKILL)
            break
    return os.waitpid(child, 0)[1], hung


def run_in_child(run: Callable[[], None], progress: Watched, timeout: float) -> None:
    """Runs a function in a forked child, until it ends, dies, or is killed in a case that takes too long."""
    end, child_end = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(end)
        status = FAULT_STATUS
        try:
            run()
            status = 0
        except BaseException:  # noqa: BLE001 - the process ends here, whatever it was
            sys.excepthook(*sys.exc_info())
        finally:
            os._exit(status)
    os.close(child_end)
    with contextlib.closing(os.fdopen(end, "rb")):
        status, _ = await_child(child, end, progress, timeout)
    if os.WIFEXITED(status) and os.WEXITSTATUS(status) == FAULT_STATUS:
        raise SystemExit("cases could not be run")


def run_batch(runner: Runner, batch: tasks.Batch) -> None:
    """Answers every task of the batch, in order, with as many children as it takes."""
    progress = Progress()
    start = 0
    while start < len(batch.tasks):
        progress.write(start, 0.0)
        end, child_end = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(end)
            run_child(runner, batch, start, progress)
        os.close(child_end)
        with contextlib.closing(os.fdopen(end, "rb")):
            status, hung = await_child(child, end, progress, batch.timeout)
        answered, _ = progress.read()
        if os.WIFEXITED(status) and os.WEXITSTATUS(status) == FAULT_STATUS:
            raise SystemExit(f"task {answered} of a batch could not be run")
        if hung:
            write_line(json.dumps({"hang": True, "reason": f"no answer in {batch.timeout:g} s"}).encode())
            start = answered + 1
        elif answered == len(batch.tasks) and status == 0:
            return
        elif answered == start:  # a fresh process died of this task alone
            write_line(json.dumps({"crash": True, "reason": reason_of(status)}).encode())
            start += 1
        else:  # it may have died of what an earlier task left behind: the next child decides
            start = answered


def reason_of(status: int) -> str:
    """A wait status in words: SIGSEGV, or exit status 3."""
    if os.WIFSIGNALED(status):
        return signal.Signals(os.WTERMSIG(status)).name
    return f"exit status {os.waitstatus_to_exitcode(status)}"


def main(backend: str) -> None:
    """Serves batches until standard input ends."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    generator.load_noted()
    runner = Runner(backend)
    while (batch := tasks.receive(sys.stdin.buffer)) is not None:
        if isinstance(batch, tasks.Duels):
            volume.run_duels(runner, batch, write_line, run_in_child)
        else:
            run_batch(runner, batch)


if __name__ == "__main__":
    main(sys.argv[1])
