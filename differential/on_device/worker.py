"""A process that runs one job: calls of one dialect, each by both launchers on a device. Generated launchers are
unsafe, and a kernel's fault ends a process's use of the device, so the process that judges runs none of this."""

from __future__ import annotations

import json
import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from relaunch.differential.case import Case
from relaunch.differential.launching import Runner
from relaunch.differential.on_device import released
from relaunch.differential.on_device.cases import placed
from relaunch.differential.on_device.device import CUDA_DRIVER, Device, EchoJournal
from relaunch.differential.tasks import Task
from relaunch.kernels import echo

_SHOWN = 4000
# As `python -m relaunch.differential.on_device.worker`, but importing what this process imports.
_START = """
import sys
sys.path[:] = sys.argv[1:]
from relaunch.differential.on_device import worker
worker.main()
"""


class JobError(RuntimeError):
    """The process ended before its job did; the text says at which call and ends with what it wrote."""


@dataclass(frozen=True)
class Entry:
    """One call. `built` is the generated launcher, None where the dialect has none."""

    case: Case
    layout: echo.Layout
    built: Any = None


@dataclass(frozen=True)
class Job:
    """Calls of one backend. `image` has their kernels; `library` is HIP's, None for the CUDA driver itself."""

    backend: str
    image: bytes
    entries: tuple[Entry, ...]
    library: str | None = None
    triton: bool = False  # the installed Triton's launchers too


@dataclass(frozen=True)
class Answer:
    """What came of an entry: its case with the addresses and the function that the device gave, and the outcome of
    each launcher, whose one event is the hexadecimal text of what the kernel wrote."""

    case: Case
    outcomes: dict[str, dict[str, Any]]


class EchoRunner(Runner):
    """Launchers are bound to the kernel that they launch, so that its own table is compared too.

    With `triton`, launchers of the installed Triton are there as well, and its driver module is not stood in for.
    """

    def __init__(self, backend: str, journal: EchoJournal, triton: released.Launchers | None = None) -> None:
        modules = {name: module for name, module in sys.modules.items() if name.partition(".")[0] == "triton"}
        super().__init__(backend, journal)
        sys.modules.update(modules)
        self._triton = triton

    def _bound_to(self, task: Task) -> int:
        return int(task.call["function"], 16)

    def generated(self, task: Task) -> Callable[..., Any]:
        if task.launcher == "triton":
            assert self._triton is not None
            return self._triton.launch(task.signature)
        return super().generated(task)


def run(job: Job) -> list[Answer]:
    """Runs a job in a process of its own. Raises JobError."""
    done = subprocess.run(
        [sys.executable, "-c", _START, *sys.path], input=pickle.dumps(job), capture_output=True, check=False
    )
    lines = done.stdout.splitlines()
    if done.returncode != 0 or len(lines) != len(job.entries):
        where = job.entries[len(lines)].case.id if len(lines) < len(job.entries) else "its end"
        wrote = done.stderr.decode(errors="replace")[-_SHOWN:].strip()
        raise JobError(f"a device process ended with status {done.returncode} at {where}: {wrote}")
    return [Answer(Case.from_json(answer["case"]), answer["outcomes"]) for answer in map(json.loads, lines)]


def answers(job: Job) -> Iterator[dict[str, Any]]:
    """Runs the job's calls in this process."""
    journal = EchoJournal(Device(), job.image, job.library or CUDA_DRIVER)
    triton = released.Launchers(entry.case.signature for entry in job.entries) if job.triton else None
    runner = EchoRunner(job.backend, journal, triton)
    launchers = ("generated", "precompiled", "triton") if job.triton else ("generated", "precompiled")
    for entry in job.entries:
        handle = hex(journal.function(echo.kernel_name(entry.layout)))
        case = replace(entry.case, call={**placed(dict(entry.case.call), journal.arena), "function": handle})
        journal.written = echo.written_bytes(entry.layout)
        outcomes = {}
        for launcher in launchers:
            if launcher != "generated" or entry.built is not None:
                task = Task(launcher, case.dialect, case.signature, case.call, None, case.constants, built=entry.built)
                outcomes[launcher] = json.loads(runner.run(task))
        yield {"case": case.to_json(), "outcomes": outcomes}


def main() -> None:
    """Reads a job from standard input and writes an answer a line."""
    job = pickle.loads(sys.stdin.buffer.read())
    for answer in answers(job):
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
