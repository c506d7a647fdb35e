"""Counting: the arithmetic over callgrind's files, the tables, and that every program launches."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from relaunch.differential.recorder import path
from typer.testing import CliRunner

from relaunch.cli import app
from relaunch.commands.bench import callgrind, figures, instructions

RECORDER = Path(path("cuda"))


def test_signatures_have_their_sizes() -> None:
    sizes = list(figures.SIZES)
    assert sizes == [0, 5, 19, 58, 200]
    assert [len(figures.signature(size)) for size in sizes] == sizes
    assert figures.signature(19)[4:6] == ("*fp32", "i32")
    assert figures.text(figures.signature(0)) == "{}"


# One launch calls the driver twice and the interpreter once, which calls the driver itself: 500 in all, 80 + 40 of it
# in the driver on the launcher's account. The interpreter's own call of the driver is the launcher's cost.
DUMP = """
desc: Trigger: --dump-before=getppid
positions: line
totals: 4200

ob=(1) /lib/python
fl=(1) eval.c
fn=(1) eval
10 200
cob=(2) /x/launcher.so
cfi=(2) launch.c
cfn=(2) launch
calls=3 0
11 1500

ob=(2)
fl=(2)
fn=(2)
5 60
cfn=(3) inner
calls=3 0
6 90
cob=(3) /x/driver.so
cfn=(4) cuLaunchKernelEx
calls=3 0
7 240
cob=(3)
cfn=(5) cuCtxGetCurrent
calls=6 0
8 120
cob=(1)
cfn=(6) vectorcall
calls=3 0
9 990

ob=(1)
fn=(6)
4 900
cob=(3)
cfn=(7) cuPointerGetAttribute
calls=3 0
5 90
"""


def test_driver_is_taken_off() -> None:
    found = list(callgrind.crossings(DUMP))
    assert [(c.caller, c.called, c.calls, c.instructions) for c in found] == [
        ("/lib/python", "/x/launcher.so", 3, 1500),
        ("/x/launcher.so", "/x/driver.so", 3, 240),
        ("/x/launcher.so", "/x/driver.so", 6, 120),
        ("/x/launcher.so", "/lib/python", 3, 990),
        ("/lib/python", "/x/driver.so", 3, 90),
    ]
    assert callgrind.between(DUMP, "/x/launcher.so".__eq__, "/x/driver.so".__eq__) == (3, (1500 - 240 - 120) / 3)
    assert callgrind.total(DUMP) == 4200


STAND_IN = """
import pathlib, sys
out = pathlib.Path(next(w for w in sys.argv if w.startswith("--callgrind-out-file=")).split("=")[1])
parts = [(9000, "--dump-before=getppid"), (250, "--dump-before=getppid"), (650, "--dump-before=getppid")]
for part, (total, trigger) in enumerate(parts, 1):
    out.with_suffix(f".{part}").write_text(f"desc: Trigger: {trigger}\\ntotals: {total}\\n")
out.write_text("desc: Trigger: Program termination\\ntotals: 77\\n")
"""


def stand_in(folder: Path, monkeypatch: pytest.MonkeyPatch, script: str) -> None:
    """Something else runs where valgrind is called."""
    valgrind = folder / "valgrind"
    valgrind.write_text(script)
    valgrind.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


def test_start_up_cancels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loops cost 250 for 10 turns and 650 for 30: 20 each, and 50 that are no launch."""
    (tmp_path / "stand_in.py").write_text(STAND_IN)
    stand_in(tmp_path, monkeypatch, f'#!/bin/sh\nexec "{sys.executable}" "{tmp_path}/stand_in.py" "$@"\n')
    launch, turn = instructions.count_floor(Path("program"), 58, 0, RECORDER, turns=10)
    assert (launch.value, turn.value) == (20, 20)
    assert (turn.what, turn.size, turn.pointers, turn.unit) == ("floor", 58, "ready", instructions.TURN)


def test_failing_program_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    stand_in(tmp_path, monkeypatch, "#!/bin/sh\necho why >&2\nexit 3\n")
    with pytest.raises(RuntimeError) as raised:
        callgrind.counted(["program", "5"])
    assert str(raised.value) == "program 5: exit 3\nwhy\n"


def test_every_loop_launches(tmp_path: Path) -> None:
    """All cases in one process, without callgrind: it prints nothing and exits 0."""
    todo = [*instructions.cases(tmp_path, [0, 19], instructions.LAUNCHERS, instructions.POINTERS), *instructions.ramp()]
    assert [case.pointers for case in todo[:12]] == ["none"] * 3 + ["dlpack"] * 3 + ["object"] * 3 + ["int"] * 3
    listed = tmp_path / "cases.json"
    tensor = instructions.compile_shared(figures.PROGRAMS / "tensor.c")
    cases = [vars(case) for case in todo]
    listed.write_text(json.dumps({"recorder": str(RECORDER), "tensor": str(tensor), "turns": 2, "cases": cases}))
    command = [sys.executable, str(figures.PROGRAMS / "launch_loop.py"), str(listed)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_floor_refuses_wrong_use(tmp_path: Path) -> None:
    floor = instructions.build_floor(tmp_path)
    for words, text in (
        ([], "usage: floor DRIVER PARAMETERS QUERIES TURNS\n"),
        (["/no/such/driver", "0", "0", "1"], "floor: /no/such/driver: cannot open shared object file: "),
        ([str(RECORDER), "257", "0", "1"], "floor: no recorder, or not 0 to 256 parameters\n"),
    ):
        done = subprocess.run([floor, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith(text)


TENSORS = """
import sys
sys.path.insert(0, sys.argv[1])
import spelling
Tensor = spelling.import_extension(sys.argv[2], "bench_tensor").Tensor
import relaunch
from relaunch.differential.recorder import Recorder
recorder = Recorder("cuda")
launcher = relaunch.Launcher("*fp32, *fp32", dialect="triton-3.6-cuda", function=1, driver=str(recorder.path))
recorder.set_slots(launcher.slots)
launcher(1, 1, 1, 0, Tensor(0x7F0012345000), spelling.Tensor(0x7F0000001000))
print([event["call"] for event in recorder.events()], recorder.events()[-1]["params"][:2])
try:
    launcher(1, 1, 1, 0, Tensor(0xBA0000001000, device=1), None)  # a host tensor, whose data_ptr() no device reaches
except ValueError as error:
    print(error)
print(Tensor(5).data_ptr())
"""


def test_tensors_are_taken_by_dlpack() -> None:
    """bench_tensor's address reaches the kernel without a pointer query; the plain object's is queried."""
    tensor = instructions.compile_shared(figures.PROGRAMS / "tensor.c")
    command = [sys.executable, "-c", TENSORS, str(figures.PROGRAMS), str(tensor)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    calls, refused, address = done.stdout.splitlines()
    assert calls == "['cuPointerGetAttribute', 'cuLaunchKernelEx'] ['0050341200 7f0000', '0010000000 7f0000']".replace(
        " 7f", "7f"
    )
    assert refused.startswith("argument 1 of kernel(*fp32, *fp32): ")
    assert address == "5"


def test_tables_have_a_row_per_launcher() -> None:
    shown = [
        figures.Figure("floor", 0, "ready", 241.4, "instructions"),
        figures.Figure("floor", 58, "ready", 1241.0, "instructions"),
        figures.Figure("bind precompiled, median", 19, "-", 0.0123, "ms of processor time"),
        figures.Figure("generated / precompiled.call", 58, "dlpack", 5.38, "times"),
    ]
    assert list(figures.tables(shown)) == [
        "",
        "| instructions | pointers | 0 arguments | 58 arguments |",
        "|---|---|---:|---:|",
        "| floor | ready | 241 | 1,241 |",
        "",
        "| ms of processor time | pointers | 19 arguments |",
        "|---|---|---:|",
        "| bind precompiled, median | - | 0.012 |",
        "",
        "| times | pointers | 58 arguments |",
        "|---|---|---:|",
        "| generated / precompiled.call | dlpack | 5.4 |",
    ]


@pytest.mark.parametrize("words", [[], ["instructions"]])
def test_missing_valgrind_is_named(words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda tool: None if tool == "valgrind" else tool)
    result = CliRunner().invoke(app, ["bench", *words])
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", "relaunch bench: valgrind not found\n")


def test_package_runs_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "relaunch", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("relaunch ")
