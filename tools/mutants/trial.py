"""What the tests say of one fault: it is put into a copy, what it touches is built, the quick part of the tests runs.

The quick part are the C++ unit tests and the files below; it ends at the first failure. Texts that are compared with
what is checked in (rendered sources, pages of facts) are no part of it: they notice any change, also one that means
nothing. A launch that hangs is noticed where it runs in a worker, which has a time limit; the tests themselves have
none, so a run that does not end is no fault noticed.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from tools.mutants.copies import CORE, NATIVE, RECORDERS, UNIT, UNIT_PROGRAM, Copy, CopyError
from tools.mutants.patches import Mutant

QUICK_PART = (
    "tests/golden/test_matches.py",
    "tests/differential/test_divergence.py",
    "tests/differential/test_variadic.py",
    "tests/differential/test_older.py",
    "tests/differential/test_lacking.py",
    "tests/python/test_recorder.py",
    "tests/python/test_recorder_reset.py",
    "tests/python/test_recorder_pool.py",
    "tests/python/launcher",
    "tests/python/test_generator_descriptors.py",
    "tests/python/test_generator_dialects.py",
    "tests/python/test_generator_launches.py",
    "tests/python/test_generator_signatures.py",
    "tests/python/test_generator_build.py",
    "tests/python/test_contract_recordings.py",
    "tests/python/test_verify.py",
    "tests/golden/test_precompiled.py",
    "tests/golden/test_golden.py",
    "tests/differential/test_diff.py",
    "tests/differential/test_sampler.py",
)

# Run before the others for the faults of a group, most likely to notice first.
FIRST: Mapping[str, Sequence[str]] = {
    "templates": ("tests/python/test_generator_launches.py", "tests/golden/test_golden.py"),
    "facts": ("tests/python/test_generator_dialects.py", "tests/golden/test_golden.py"),
    "plan": ("tests/python/launcher/test_launcher_tree.py", "tests/python/launcher"),
    "packing": ("tests/python/launcher/test_launcher_scalars.py", "tests/python/launcher/test_dialect_scalars.py"),
    "attributes": ("tests/python/launcher/test_launcher_options.py", "tests/python/launcher/test_dialect_calls.py"),
    "intake": ("tests/python/launcher/test_launcher_pointers.py", "tests/python/launcher/test_launcher_dlpack.py"),
    "hooks": ("tests/python/launcher/test_launcher_calls.py", "tests/python/launcher/test_dialect_calls.py"),
    "recorder": ("tests/python/test_recorder_reset.py", "tests/python/test_recorder.py"),
    "comparison": ("tests/golden/test_matches.py", "tests/differential"),
    "triton": ("tests/triton/test_launch_entry.py", "tests/triton/test_behaviour.py"),
}

# What is built after a change of a file, by the start of its path; the first that fits. Other files are not built.
_BUILT: Sequence[tuple[str, Sequence[str]]] = (
    ("differential/recorder/", (RECORDERS,)),
    ("differential/native/", (NATIVE, UNIT)),
    ("precompiled/", (CORE, UNIT)),
    ("migrate/", (CORE, UNIT)),
)

Outcome = Literal["caught", "survived", "hung", "not built", "not run"]
_NO_TESTS = (3, 4, 5)  # pytest's own: its error, wrong usage, nothing collected
_FAILED = re.compile(r"^(?:FAILED|ERROR) (.+?)(?: - .*)?$", re.MULTILINE)
_PASSED = re.compile(r"\b\d+ passed\b")
_RUNNING = re.compile(r"^(tests/\S+::.*?)\s*(?:PASSED|FAILED|SKIPPED|ERROR|$)", re.MULTILINE)
_STATIC = re.compile(r"^(?:\.\./)*(tests/unit/\S+?):\d+: error: static assertion failed", re.MULTILINE)
_UNIT_FAILED = re.compile(r"^\[  FAILED  \] (\S+)", re.MULTILINE)


@dataclass(frozen=True)
class Verdict:
    """What became of one fault."""

    id: str
    outcome: Outcome
    by: str  # the test that noticed it
    seconds: float
    log: str = ""

    def as_json(self) -> dict[str, Any]:
        return asdict(self)


def built_parts(file: str) -> Sequence[str]:
    """The parts of `copies.TARGETS` to build after a change of a file."""
    if not file.endswith((".cpp", ".hpp", ".h", ".def", ".map")):
        return ()
    return next((parts for start, parts in _BUILT if file.startswith(start)), ())


class Trials:
    """Runs trials; `with_unit` says whether the C++ unit tests are built."""

    def __init__(self, with_unit: bool, only_named: bool, build_jobs: int, limit: float) -> None:
        self.with_unit = with_unit
        self.only_named = only_named
        self.build_jobs = build_jobs
        self.limit = limit
        self.stopped = False
        self.log = ""  # of the run without a fault
        self._left_out: list[str] = []
        self._unit_left_out: list[str] = []
        self._running: set[subprocess.Popen[str]] = set()

    def stop(self) -> None:
        """End what runs; what is started later ends at once."""
        self.stopped = True
        for process in list(self._running):
            end_group(process)

    def parts(self, mutants: Sequence[Mutant]) -> list[str]:
        """What must be built for those faults."""
        found = {part for mutant in mutants for part in built_parts(mutant.file)}
        return sorted(found if self.with_unit else found - {UNIT})

    def tests(self, mutant: Mutant) -> list[str]:
        """The files to run for a fault, most likely to notice first."""
        first = mutant.by or tuple(FIRST.get(mutant.group, ()))
        return list(first if self.only_named else dict.fromkeys([*first, *QUICK_PART]))

    def baseline(self, copy: Copy, mutants: Sequence[Mutant], parts: Sequence[str], jobs: int) -> list[str]:
        """Run the tests without a fault. The names of those that fail, all of which later runs leave out."""
        files = {file: None for mutant in mutants for file in self.tests(mutant)}
        spread = ("-n", str(jobs), "--dist=worksteal") if jobs > 1 else ()
        command = _pytest(copy, [*files], *spread, "--continue-on-collection-errors")
        status, text = self._execute(command, copy, 10 * self.limit)
        failed = _FAILED.findall(text)
        if status != 0 and not failed:
            raise CopyError(f"the tests could not be run without a fault: status {status}\n{text[-6000:]}")
        self._left_out = [f"--deselect={name}" if "::" in name else f"--ignore={name}" for name in failed]
        self.log = text
        if UNIT in parts:
            status, text = self._execute([str(copy.build_folder / UNIT_PROGRAM), "--gtest_brief=1"], copy, self.limit)
            unit = sorted(set(_UNIT_FAILED.findall(text)))
            if status != 0 and not unit:
                raise CopyError(f"the unit tests could not be run without a fault: status {status}\n{text[-6000:]}")
            self._unit_left_out = unit
            failed += unit
            self.log += text
        return failed

    def run(self, copy: Copy, mutant: Mutant) -> Verdict:
        """Try one fault in a copy, which is as before afterwards, apart from what is built."""
        begin = time.monotonic()
        original = (copy.folder / mutant.file).read_text()
        copy.write(mutant.file, mutant.apply(original))
        try:
            outcome, by, log = self._judge(copy, mutant)
        finally:
            copy.write(mutant.file, original)
            copy.tidy()
        return Verdict(mutant.id, outcome, by, round(time.monotonic() - begin, 1), log[-6000:])

    def _judge(self, copy: Copy, mutant: Mutant) -> tuple[Outcome, str, str]:
        parts = self.parts([mutant])
        try:
            copy.build(parts, self.build_jobs)
        except CopyError as error:
            text = str(error)
            noticed = _STATIC.search(text)  # a test that the compiler runs
            return ("caught", noticed[1], text) if noticed else ("not built", "", text)
        deadline = time.monotonic() + self.limit
        for name, command in self._commands(copy, mutant, parts):
            status, text = self._execute(command, copy, deadline - time.monotonic())
            if status is None:
                return "hung", "", text
            if status in _NO_TESTS or (status == 0 and name == "pytest" and not _PASSED.search(text)):
                return "not run", "", text
            if status != 0:
                return "caught", _noticed_by(name, status, text), text
        return "survived", "", ""

    def _commands(self, copy: Copy, mutant: Mutant, parts: Sequence[str]) -> Iterator[tuple[str, list[str]]]:
        if UNIT in parts:
            options = ["--gtest_brief=1", "--gtest_fail_fast", f"--gtest_filter=-{':'.join(self._unit_left_out)}"]
            yield "tests/unit", [str(copy.build_folder / UNIT_PROGRAM), *options]
        yield "pytest", _pytest(copy, self.tests(mutant), "-x", *self._left_out)

    def _execute(self, command: Sequence[str], copy: Copy, limit: float) -> tuple[int | None, str]:
        """Exit status, None after `limit` seconds, and what the command wrote."""
        process = subprocess.Popen(
            command,
            cwd=copy.build_folder if Path(command[0]).name == UNIT_PROGRAM.name else copy.folder,
            env=copy.environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,  # so that all of it can be ended
        )
        self._running.add(process)
        try:
            if self.stopped:
                end_group(process)
            text, _ = process.communicate(timeout=max(limit, 1))
        except subprocess.TimeoutExpired:
            end_group(process)
            return None, process.communicate()[0]
        finally:
            self._running.discard(process)
        return process.returncode, text


def end_group(process: subprocess.Popen[str]) -> None:
    """Kill a process that leads its own session, and what it started there."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def _pytest(copy: Copy, files: Sequence[str], *options: str) -> list[str]:
    # In the order of the files: the first are the most likely to notice. pytest-benchmark, where it is installed, warns
    # of xdist.
    quiet = ("-v", "--tb=short", "-p", "no:cacheprovider", "-p", "no:randomly", "-p", "no:benchmark")
    return [str(copy.python_path), "-m", "pytest", *quiet, *options, *files]


def _noticed_by(name: str, status: int, text: str) -> str:
    """The test that failed first, or that was running when its process died."""
    failed = (_UNIT_FAILED if name == "tests/unit" else _FAILED).search(text)
    if failed is not None:
        return f"tests/unit {failed[1]}" if name == "tests/unit" else failed[1]
    running = _RUNNING.findall(text)
    what = f"died of signal {-status}" if status < 0 else f"status {status}"
    return f"{running[-1] if running else name} ({what})"
