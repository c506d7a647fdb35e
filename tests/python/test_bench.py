"""`relaunch bench`: its arithmetic, its tables, and that every program it counts runs (callgrind apart)."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from relaunch.differential import recorder
from typer.testing import CliRunner

from relaunch.cli import app
from relaunch.commands import bench


def test_signatures_have_their_sizes() -> None:
    assert {size: len(bench.signature(size)) for size in bench.SIZES} == {0: 0, 19: 19, 58: 58}
    assert bench.signature(19)[4:6] == ("*fp32", "i32")


def test_every_program_launches(tmp_path: Path) -> None:
    """Each prints one number or nothing, and exits 0; the numbers are callgrind's business."""
    for count in bench.counts(tmp_path, Path(recorder.path("cuda")), turns=2):
        done = subprocess.run(count.command, capture_output=True, text=True, check=False)
        assert (done.returncode, done.stderr) == (0, ""), count
        assert count.launcher == "floor" or float(done.stdout) > 0


def test_floor_refuses_wrong_use(tmp_path: Path) -> None:
    floor = bench.build_floor(tmp_path)
    for words, text in (
        ([], "usage: floor DRIVER PARAMETERS QUERIES TURNS\n"),
        (["/no/such/driver", "0", "0", "1"], "floor: /no/such/driver: cannot open shared object file: "),
        ([str(recorder.path("cuda")), "257", "0", "1"], "floor: no recorder, or not 0 to 256 parameters\n"),
    ):
        done = subprocess.run([floor, *words], capture_output=True, text=True, check=False)
        assert done.returncode == 2
        assert done.stderr.startswith(text)


STAND_IN = """
import pathlib, sys
out = pathlib.Path(next(w for w in sys.argv if w.startswith("--callgrind-out-file=")).split("=")[1])
parts = [(9000, "--dump-before=getppid"), (250, "--dump-before=getppid"), (650, "--dump-before=getppid")]
for part, (total, trigger) in enumerate(parts, 1):
    out.with_suffix(f".{part}").write_text(f"desc: Trigger: {trigger}\\ntotals: {total}\\n")
out.write_text("desc: Trigger: Program termination\\ntotals: 77\\n")
"""


def test_start_up_cancels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The loops cost 250 for 10 turns and 650 for 30: 20 each, and 50 that are no launch."""
    script = tmp_path / "stand_in.py"
    script.write_text(STAND_IN)
    valgrind = tmp_path / "valgrind"
    valgrind.write_text(f'#!/bin/sh\nexec python3 "{script}" "$@"\n')
    valgrind.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    assert bench.per_launch(["program"], turns=10) == 20


def test_failing_program_is_shown(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    valgrind = tmp_path / "valgrind"
    valgrind.write_text("#!/bin/sh\necho why >&2\nexit 3\n")
    valgrind.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    with pytest.raises(RuntimeError) as raised:
        bench.per_launch(["program", "5"], turns=10)
    assert str(raised.value) == "program 5: exit 3\nwhy\n"


def test_tables_have_a_row_per_launcher() -> None:
    figures = [
        bench.Figure("floor", 0, "ready", 241.4, "instructions/launch"),
        bench.Figure("floor", 58, "ready", 1241.0, "instructions/launch"),
        bench.Figure("bind precompiled, median", 19, "-", 0.0123, "ms"),
    ]
    assert list(bench.tables(figures)) == [
        "",
        "| instructions/launch | pointers | 0 arguments | 19 arguments | 58 arguments |",
        "|---|---|---:|---:|---:|",
        "| floor | ready | 241 |  | 1,241 |",
        "",
        "| ms | pointers | 0 arguments | 19 arguments | 58 arguments |",
        "|---|---|---:|---:|---:|",
        "| bind precompiled, median | - |  | 0.012 |  |",
    ]


def test_missing_valgrind_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda tool: None if tool == "valgrind" else tool)
    result = CliRunner().invoke(app, ["bench"])
    assert (result.exit_code, result.stdout, result.stderr) == (2, "", "relaunch bench: valgrind not found\n")
