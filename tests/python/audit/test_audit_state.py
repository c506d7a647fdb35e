"""A run that was killed goes on: nothing is counted twice, nothing is lost, and the state says whose it is."""

from __future__ import annotations

import fcntl
import json
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from relaunch.audit import PRECOMPILED, Question
from relaunch.audit.run import SchedulerError, run
from relaunch.audit.state import State, StateError, line_of
from relaunch.audit.walk import walk

from relaunch import audit as room

Records = Callable[..., tuple[list[dict[str, Any]], dict[str, Any], int]]
Audit = Callable[..., Any]

FROM = ("--from", "triton-3.0-cuda", "--from", "triton-3.0-hip")
ANY = Question.of(PRECOMPILED, ("triton-3.0-cuda", "triton-3.0-hip"))


def test_a_second_run_examines_nothing(cache: Path, tmp_path: Path, records: Records) -> None:
    state = tmp_path / "state"
    first = records(cache, *FROM, "--state", state)
    content = state.read_bytes()
    assert content.count(b"\n") == 1 + 34
    assert records(cache, *FROM, "--state", state) == first == records(cache, *FROM)
    assert state.read_bytes() == content


@pytest.mark.parametrize("kept", [0, 5, 20, 41])
def test_every_torn_line_is_done_again(cache: Path, tmp_path: Path, records: Records, kept: int) -> None:
    """Cut anywhere in the last line, the first one too."""
    state = tmp_path / "state"
    whole = records(cache, *FROM, "--state", state)
    lines = state.read_bytes().splitlines(keepends=True)
    number = 0 if kept in (0, 5) else 17
    state.write_bytes(b"".join(lines[:number]) + lines[number][:kept])
    assert records(cache, *FROM, "--state", state) == whole
    assert state.read_bytes().count(b"\n") == 1 + 34


def test_a_broken_line_in_the_middle_is_done_again(cache: Path, tmp_path: Path, records: Records) -> None:
    state = tmp_path / "state"
    whole = records(cache, *FROM, "--state", state)
    lines = state.read_bytes().splitlines(keepends=True)
    lines[9] = b"\0" * 40 + b"\n"
    lines[10] = b"[1]\n"
    lines.append(lines[12])  # and one that is there twice counts once
    state.write_bytes(b"".join(lines))
    assert records(cache, *FROM, "--state", state) == whole


@pytest.mark.xdist_group("large cache")
def test_a_killed_run_goes_on(large: Path, tmp_path: Path, records: Records) -> None:
    """Killed with all its processes' parent gone: the processes leave too, and the totals are those of one run."""
    copies = sum(1 for _ in large.iterdir())
    state = tmp_path / "state"
    command = [sys.executable, "-m", "relaunch", "audit", str(large), *FROM, "--state", str(state), "--jobs", "2"]
    killed = subprocess.Popen([*command, "--json"], stdout=subprocess.DEVNULL)
    while not state.exists() or state.read_bytes().count(b"\n") < 2:
        assert killed.poll() is None
        time.sleep(0.005)
    children = Path(f"/proc/{killed.pid}/task/{killed.pid}/children").read_text().split()
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert state.read_bytes().count(b"\n") < copies * 34
    _, summary, _ = records(large, *FROM, "--state", state)
    totals = {"moves": 26 * copies, "diverges": 8 * copies, "recompile": 0, "misfit": 0, "unreadable": 0}
    assert summary["totals"] == totals
    units = {json.loads(line)["unit"] for line in state.read_text().splitlines()[1:]}
    assert summary["kernels"] == len(units) == 34 * copies
    deadline = time.monotonic() + 20
    while any(Path(f"/proc/{child}").exists() for child in children):
        assert time.monotonic() < deadline, "processes outlived their parent"
        time.sleep(0.05)


def test_another_audits_state_is_refused(cache: Path, tmp_path: Path, audit: Audit) -> None:
    state = tmp_path / "state"
    assert audit(cache, *FROM, "--state", state).exit_code == 1
    content = state.read_bytes()
    for arguments, message in (
        ((cache, *FROM, "--to", "triton-3.6-cuda"), "to is 'precompiled' there, 'triton-3.6-cuda' here"),
        ((cache,), "from is ['triton-3.0-cuda', 'triton-3.0-hip'] there, [] here"),
        ((tmp_path, *FROM), f"root is '{cache}' there, '{tmp_path}' here"),
    ):
        result = audit(*arguments, "--state", state)
        assert (result.exit_code, result.stdout) == (2, "")
        assert result.stderr == f"relaunch audit: {state}: the state of another audit: {message}\n"
    assert state.read_bytes() == content


def test_a_state_in_use_is_refused(cache: Path, tmp_path: Path, audit: Audit) -> None:
    state = tmp_path / "state"
    with state.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        result = audit(cache, "--state", state)
    assert result.exit_code == 2
    assert result.stderr == f"relaunch audit: {state}: another audit is writing it\n"


def test_other_files_are_not_overwritten(tmp_path: Path) -> None:
    for content in (b"precious", b"precious\n", b'{"audited": 1}\n', b'{"audit": null}\n', b"\xff\xfe\n"):
        path = tmp_path / "file"
        path.write_bytes(content)
        with pytest.raises(StateError, match=r"^no state of an audit: it begins with "):
            State.open(path, "/", ANY)
        assert path.read_bytes() == content


def test_a_unit_is_written_once(tmp_path: Path) -> None:
    state = State.open(tmp_path / "state", "/", ANY)
    line = line_of("a\udcff\n", [{"key": "a"}])
    state.add([("a\udcff\n", line)])
    state.add([("a\udcff\n", line)])
    assert [kernel for _, kernel in state.kernels()] == [{"key": "a"}]
    state.close()
    assert (tmp_path / "state").read_bytes().count(line) == 1
    again = State.open(tmp_path / "state", "/", ANY)
    assert again.done == {"a\udcff\n"}
    again.close()


class DyingPool:
    """Workers that die on some units, as a process pool tells it."""

    workers = 2

    def __init__(self, deadly: str) -> None:
        self.deadly = deadly
        self.begun = 0
        self.closed = 0

    def executor(self) -> Executor:
        self.begun += 1
        return DyingExecutor(self.deadly)

    def close(self) -> None:
        self.closed += 1


class BrokenProcessPool(RuntimeError):
    """By its name, as `run` knows it."""


class DyingExecutor(ThreadPoolExecutor):
    def __init__(self, deadly: str) -> None:
        super().__init__(1)
        self.deadly = deadly
        self.broken = False

    def submit(self, call: Any, /, *args: Any, **options: Any) -> Future[Any]:
        if self.broken:
            raise BrokenProcessPool
        if any(self.deadly in unit.key for unit in args[1]):
            self.broken = True
            died: Future[Any] = Future()
            died.set_exception(BrokenProcessPool())
            return died
        return super().submit(call, *args, **options)


def test_a_kernel_that_ends_its_worker_is_found(multiplied: Callable[[Path, int], Path], tmp_path: Path) -> None:
    """It alone is unreadable; all others are judged as ever."""
    tree = multiplied(tmp_path / "tree", 5)
    keys = [unit.key for unit in walk(str(tree))]
    pool = DyingPool(keys[70])
    state = State.open(tmp_path / "state", str(tree), ANY)
    counted: list[int] = []
    run(str(tree), ANY, state, pool, counted.append, lambda: None)
    found = [kernel for _, kernel in state.kernels()]
    assert sum(counted) == len(found) == 170
    assert [one["key"] for one in found if one["outcome"] == room.OUTCOMES[4]] == [keys[70]]
    bad = next(one for one in found if one["key"] == keys[70])
    assert bad["findings"] == [{"file": "", "message": "reading it ended the process that did"}]
    assert (pool.begun, pool.closed) == (3, 1)
    state.close()


def test_workers_that_cannot_do_the_work(cache: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cluster's that lack the package, say."""

    class Lacking(DyingPool):
        def executor(self) -> Executor:
            return ThreadPoolExecutor(1)

    state = State.open(tmp_path / "state", str(cache), ANY)
    pool = Lacking("")
    counted: list[int] = []
    monkeypatch.setattr("relaunch.audit.run.examine_batch", lacking)
    with pytest.raises(SchedulerError) as raised:
        run(str(cache), ANY, state, pool, counted.append, lambda: None)
    assert str(raised.value) == "a worker cannot do the work: ModuleNotFoundError: No module named 'relaunch'"
    assert pool.closed == 1
    state.close()


def lacking(*_: Any) -> Any:
    raise ModuleNotFoundError("No module named 'relaunch'")


@pytest.mark.xdist_group("large cache")
def test_an_interrupted_run_says_how_to_go_on(large: Path, tmp_path: Path) -> None:
    state = tmp_path / "state"
    command = [sys.executable, "-m", "relaunch", "audit", str(large), *FROM, "--state", str(state), "--jobs", "1"]
    command[:0] = ["env", "--default-signal=INT"]  # a shell's job in the background ignores it, and so do its children
    begun = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    while not state.exists() or state.read_bytes().count(b"\n") < 2:
        assert begun.poll() is None
        time.sleep(0.005)
    begun.send_signal(signal.SIGINT)
    output, errors = begun.communicate(timeout=60)
    assert (begun.returncode, output) == (2, "")
    assert errors == f"relaunch audit: interrupted; {state} has what was found: run it again\n"
