"""Every unit of a tree examined, by processes of this machine or of a Dask cluster, and its line kept.

Both are used through `concurrent.futures`: batches go out, lines come back, and only lines that came back are written,
once. A batch whose worker died is taken apart and its units are tried again one at a time, alone; the one during which
a worker dies then is a finding, and the rest go on.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, CancelledError, Executor, Future, ProcessPoolExecutor, wait
from typing import Protocol

from relaunch.audit.examine import Record, examine
from relaunch.audit.question import UNREADABLE, Question
from relaunch.audit.state import State, line_of
from relaunch.audit.walk import Unit, walk

BATCH = 64  # units: long enough that sending it costs nothing, short enough that little is lost with a worker
Lines = list[tuple[str, bytes]]


class SchedulerError(RuntimeError):
    """A cluster that cannot be reached, or is gone."""


class Pool(Protocol):
    """Where batches are examined."""

    workers: int

    def executor(self) -> Executor:
        """One that works: a new one where the last has broken."""

    def close(self) -> None:
        """Leave nothing running."""


class Processes:
    """Processes of this machine. They start afresh, end with their parent and leave interrupts to it."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._executor: ProcessPoolExecutor | None = None

    def executor(self) -> Executor:
        """A pool; the last one is given up where there was one."""
        self.close()
        context = multiprocessing.get_context("spawn")
        self._executor = ProcessPoolExecutor(self.workers, context, initializer=_begin_worker)
        return self._executor

    def close(self) -> None:
        """End the pool without waiting for what was not begun."""
        if self._executor is not None:
            self._executor.shutdown(wait=True, cancel_futures=True)
            self._executor = None


def _begin_worker() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    """A parent that was killed tells nobody to leave."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def examine_batch(root: str, units: list[Unit], question: Question) -> Lines:
    """The lines of some units."""
    return [(unit.key, line_of(unit.key, [vars(one) for one in examine(root, unit, question)])) for unit in units]


def run(
    root: str,
    question: Question,
    state: State,
    pool: Pool,
    advance: Callable[[int], None],
    opened: Callable[[], None],
) -> None:
    """Examine what the state does not have yet. `advance` is told how many units are done, `opened` as in `walk`.

    Raises OSError (the root, the state) and SchedulerError.
    """
    batches = _batches(walk(root, opened), state, advance)
    try:
        _Work(root, question, state, pool, advance).all_of(batches)
    except CancelledError:
        raise SchedulerError("the scheduler is gone; what it had found is kept in the state") from None
    finally:
        pool.close()


def _batches(units: Iterator[Unit], state: State, advance: Callable[[int], None]) -> Iterator[list[Unit]]:
    batch: list[Unit] = []
    for unit in units:
        if unit.key in state.done:
            advance(1)
            continue
        batch.append(unit)
        if len(batch) == BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


class _Work:
    """Batches on their way."""

    def __init__(self, root: str, question: Question, state: State, pool: Pool, advance: Callable[[int], None]) -> None:
        self._root = root
        self._question = question
        self._state = state
        self._pool = pool
        self._advance = advance
        self._executor = pool.executor()
        self._pending: dict[Future[Lines], list[Unit]] = {}
        self._suspects: list[Unit] = []

    def all_of(self, batches: Iterator[list[Unit]]) -> None:
        """Until none is left. A few are under way at any time, so that memory does not grow with the tree."""
        for batch in batches:
            self._submit(batch)
            while len(self._pending) >= 3 * self._pool.workers:
                self._collect()
            self._clear_suspects()
        while self._pending:
            self._collect()
            self._clear_suspects()

    def _submit(self, batch: list[Unit]) -> None:
        try:
            future = self._executor.submit(examine_batch, self._root, batch, self._question)
        except RuntimeError:  # broken since it was last asked
            self._suspects += batch
        else:
            self._pending[future] = batch

    def _collect(self) -> None:
        for future in wait(self._pending, return_when=FIRST_COMPLETED).done:
            batch = self._pending.pop(future)
            lines = self._lines(future)
            if lines is None:
                self._suspects += batch
            else:
                self._keep(lines)

    @staticmethod
    def _lines(future: Future[Lines]) -> Lines | None:
        """None where the worker died. Raises CancelledError, and SchedulerError where workers cannot do the work."""
        try:
            return future.result()
        except CancelledError:
            raise
        except Exception as error:
            if _is_death(error):
                return None
            raise SchedulerError(f"a worker cannot do the work: {type(error).__name__}: {error}") from error

    def _clear_suspects(self) -> None:
        """Each alone, with nothing else under way, so that a death is its own."""
        if not self._suspects:
            return
        while self._pending:
            self._collect()
        suspects, self._suspects = self._suspects, []
        self._executor = self._pool.executor()
        for unit in suspects:
            lines = self._lines(self._executor.submit(examine_batch, self._root, [unit], self._question))
            if lines is None:
                self._executor = self._pool.executor()
                record = Record(unit.key, unit.stem)
                record.find(UNREADABLE, "reading it ended the process that did")
                lines = [(unit.key, line_of(unit.key, [vars(record)]))]
            self._keep(lines)

    def _keep(self, lines: Lines) -> None:
        self._state.add(lines)
        self._advance(len(lines))


def _is_death(error: Exception) -> bool:
    """Whether a worker died: as a process pool tells it, or as Dask does."""
    return type(error).__name__ in ("BrokenProcessPool", "KilledWorker")
