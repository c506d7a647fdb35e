"""Cases in volume: worker processes, batches, outcomes in order."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from relaunch.differential import tasks
from relaunch.differential.case import Case
from relaunch.differential.outcome import describe

from relaunch import generator

LAUNCHERS = ("generated", "precompiled")
BATCH_CASES = 128
FEWEST_DUEL_CASES, MOST_DUEL_CASES = 500, 16_000
TIMEOUT_SECONDS = 30.0
_SHOWN = 4000
# As `python -m relaunch.differential.worker`, but importing what this process imports, wherever it was started.
_START_WORKER = """
import sys
sys.path[:] = sys.argv[2:]
from relaunch.differential import worker
worker.main(sys.argv[1])
"""

Progress = Callable[[int, int], None]
"""Called with (cases answered, cases in all)."""


class WorkerError(RuntimeError):
    """A worker process itself failed (not a case in it); the text ends with what it wrote."""


def run_cases(
    cases: Iterable[Case],
    launcher: str,
    *,
    jobs: int = 2,
    progress: Progress | None = None,
    build_progress: Progress | None = None,
    cache: Path | None = None,
    timeout: float = TIMEOUT_SECONDS,
    batch_cases: int = BATCH_CASES,
    workers: Workers | None = None,
) -> Iterator[dict[str, Any]]:
    """The outcome of every case, in order: `{"slots"?, "events", "error"}`, `{"crash": true, "reason"}` where the
    process died, `{"hang": true, "reason"}` after `timeout` seconds, `{"bind_error"}` where there is no launcher.

    `launcher` is "generated" or "precompiled". Generated launchers are built first, in `cache`. Raises
    generator.BuildError, generator.ToolchainError, WorkerError; ValueError for another launcher. `workers` are used
    where they are given, else some that end with the run.
    """
    if launcher not in LAUNCHERS:
        raise ValueError(f"launcher must be one of {', '.join(LAUNCHERS)}, not {launcher!r}")
    todo = list(cases)
    prepared = _prepare(todo, launcher, jobs, cache or generator.default_cache(), build_progress)
    plan = _batches(todo, prepared, batch_cases)
    return _answers(plan, len(todo), jobs, timeout, progress, workers)


def run_duels(
    duels: Sequence[tasks.Duel], workers: Workers, *, jobs: int = 2, timeout: float = TIMEOUT_SECONDS
) -> Iterator[tuple[tuple[tasks.Duel, ...], tasks.DuelResult]]:
    """Runs duels of one dialect, several in a batch, and gives each batch with its result, in order. WorkerError."""
    if not duels:
        return
    backend = generator.facts(duels[0].dialect).backend
    batches = _duel_batches(duels, jobs)
    pool = ThreadPoolExecutor(max_workers=jobs)
    try:
        running = [pool.submit(workers.run, backend, tasks.Duels(batch, timeout)) for batch in batches]
        for batch, future in zip(batches, running, strict=True):
            yield batch, future.result()
    except BaseException:
        workers.close()  # what runs would be waited for
        raise
    finally:
        pool.shutdown(cancel_futures=True)


def _duel_batches(duels: Sequence[tasks.Duel], jobs: int) -> list[tuple[tasks.Duel, ...]]:
    """Batches of about as many cases each: enough to be worth a child, few enough to keep all jobs busy."""
    total = sum(duel.stop - duel.start for duel in duels)
    size = min(MOST_DUEL_CASES, max(FEWEST_DUEL_CASES, -(-total // (4 * jobs))))
    batches: list[list[tasks.Duel]] = [[]]
    room = size
    for duel in duels:
        start = duel.start
        while start < duel.stop:
            if room == 0:
                batches.append([])
                room = size
            stop = min(duel.stop, start + room)
            batches[-1].append(replace(duel, start=start, stop=stop))
            room -= stop - start
            start = stop
    return [tuple(batch) for batch in batches if batch]


def spec_of(case: Case) -> generator.LauncherSpec:
    """What the generator needs to know of a case."""
    warp_size = case.call.get("warp_size")
    more = {} if warp_size is None else {"warp_size": warp_size}
    return generator.LauncherSpec(
        case.dialect, case.signature, constants=case.constants, tensordesc_meta=case.tensordesc_meta, **more
    )


def spec_key(case: Case) -> str:
    """Equal for cases that one launcher serves."""
    given = [case.dialect, case.signature, case.constants, case.tensordesc_meta, case.call.get("warp_size")]
    return json.dumps(given, sort_keys=True)


@dataclass(frozen=True)
class _Prepared:
    """What all cases of one launcher share."""

    slots: list[int] | None
    built: generator.Built | None = None
    refusal: dict[str, Any] | None = None


def _prepare(
    cases: Sequence[Case], launcher: str, jobs: int, cache: Path, progress: Progress | None
) -> Callable[[Case], tasks.Task]:
    specs = {spec_key(case): spec_of(case) for case in cases}
    known: dict[str, _Prepared] = {}
    for key, spec in specs.items():
        try:
            known[key] = _Prepared(generator.slots(spec))
        except (AssertionError, KeyError, ValueError) as error:
            known[key] = _Prepared(None, refusal=describe(error))
    if launcher == "generated":
        good = [key for key, prepared in known.items() if prepared.refusal is None]
        built = generator.build([specs[key] for key in good], cache=cache, jobs=jobs, progress=progress)
        known.update((key, _Prepared(known[key].slots, one)) for key, one in zip(good, built, strict=True))

    def task_of(case: Case) -> tasks.Task:
        prepared = known[spec_key(case)]
        return tasks.Task(
            launcher,
            case.dialect,
            case.signature,
            case.call,
            case.slots if case.slots is not None else prepared.slots,
            constants=case.constants,
            wrapped=case.wrapped,
            tensordesc_meta=case.tensordesc_meta,
            built=prepared.built,
            refusal=prepared.refusal,
        )

    return task_of


@dataclass(frozen=True)
class _Chunk:
    backend: str
    places: tuple[int, ...]  # of its cases among all
    tasks: tuple[tasks.Task, ...]


def _batches(cases: Sequence[Case], task_of: Callable[[Case], tasks.Task], size: int) -> list[_Chunk]:
    chunks: list[_Chunk] = []
    for backend in dict.fromkeys(case.backend for case in cases):
        places = [i for i, case in enumerate(cases) if case.backend == backend]
        for start in range(0, len(places), size):
            some = tuple(places[start : start + size])
            chunks.append(_Chunk(backend, some, tuple(task_of(cases[i]) for i in some)))
    return sorted(chunks, key=lambda chunk: chunk.places[0])


def _answers(
    chunks: Sequence[_Chunk],
    total: int,
    jobs: int,
    timeout: float,
    progress: Progress | None,
    given: Workers | None,
) -> Iterator[dict[str, Any]]:
    waiting: dict[int, dict[str, Any]] = {}
    finished = place = 0
    workers = given or Workers()
    pool = ThreadPoolExecutor(max_workers=jobs)
    ended = False
    try:
        running: list[Future[Any]] = [
            pool.submit(workers.run, chunk.backend, tasks.Batch(chunk.tasks, timeout)) for chunk in chunks
        ]
        for chunk, future in zip(chunks, running, strict=True):
            for i, outcome in zip(chunk.places, future.result(), strict=True):
                waiting[i] = outcome
            finished += len(chunk.places)
            if progress is not None:
                progress(finished, total)
            while place in waiting:
                yield waiting.pop(place)
                place += 1
        ended = True
    finally:
        if given is None or not ended:
            workers.close()  # what runs would be waited for
        pool.shutdown(cancel_futures=True)


class Workers:
    """The worker processes that live, by backend; each runs one batch at a time. Leaving the context ends them."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._idle: dict[str, list[_Worker]] = {}
        self._all: list[_Worker] = []
        self._closed = False

    def run(self, backend: str, batch: tasks.Batch | tasks.Duels) -> Any:
        with self._lock:
            if self._closed:
                raise WorkerError("the pool is closed")
            idle = self._idle.setdefault(backend, [])
            worker = idle.pop() if idle else None
            if worker is None:
                worker = _Worker(backend)
                self._all.append(worker)
        outcomes = worker.run(batch)
        with self._lock:
            self._idle[backend].append(worker)
        return outcomes

    def __enter__(self) -> Workers:  # noqa: PYI034 - Self is newer than Python 3.10
        return self

    def __exit__(self, *_raised: object) -> None:
        self.close()

    def close(self) -> None:
        with self._lock:
            self._closed = True
            for worker in self._all:
                worker.close()


class _Worker:
    """One worker process. It leads its own session, so that an interrupt at the terminal reaches us alone."""

    def __init__(self, backend: str) -> None:
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as the process
        self._process = subprocess.Popen(
            [sys.executable, "-c", _START_WORKER, backend, *sys.path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            start_new_session=True,
        )

    def run(self, batch: tasks.Batch | tasks.Duels) -> Any:
        """The outcomes of a batch's tasks, or the result of its duels."""
        assert self._process.stdin is not None
        try:
            tasks.send(self._process.stdin, batch)
        except BrokenPipeError:
            raise self._failure() from None
        if isinstance(batch, tasks.Duels):
            return tasks.DuelResult.read(self._line)
        return [json.loads(self._line()) for _ in batch.tasks]

    def _line(self) -> bytes:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line.endswith(b"\n"):
            raise self._failure()
        return line

    def _failure(self) -> WorkerError:
        status = self._process.wait()
        self._errors.seek(0)
        wrote = self._errors.read().decode(errors="replace")[-_SHOWN:].strip()
        return WorkerError(f"a worker process ended with status {status}: {wrote}")

    def close(self) -> None:
        """Ends the worker and whatever it forked."""
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                with contextlib.suppress(BrokenPipeError):
                    stream.close()
        self._errors.close()
