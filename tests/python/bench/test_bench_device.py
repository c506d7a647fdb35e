"""`relaunch bench device`: all of it over the recorder in place of a driver, and launchers that fail."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential.recorder import path
from typer.testing import CliRunner

from relaunch.cli import app
from relaunch.commands.bench import device, figures, plot

pytestmark = pytest.mark.xdist_group("bench")
# Leaves an empty file where a cubin is asked for: the recorder reads none.
NVCC = '#!/bin/sh\nwhile [ $# -gt 0 ]; do [ "$1" = -o ] && : > "$2"; shift; done\n'
LAUNCHERS = ["generated", "precompiled.launch", "precompiled.call"]
OURS = ["floor", *LAUNCHERS, *(f"{name} *" for name in LAUNCHERS)]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> list[dict[str, Any]]:
    """The lines of a short run: libcuda.so.1 is the recorder, which lies first on the loader's path."""
    folder = tmp_path_factory.mktemp("nvcc")
    (folder / "nvcc").write_text(NVCC)
    (folder / "nvcc").chmod(0o755)
    variables = {"LD_LIBRARY_PATH": str(Path(path("cuda")).parent), "PATH": f"{folder}:{os.environ['PATH']}"}
    command = [sys.executable, "-m", "relaunch", "bench", "device", "--json", "--rounds", "2", "--burst", "5"]
    done = subprocess.run(command, capture_output=True, text=True, env={**os.environ, **variables}, check=False)
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_group_has_its_twins(run: list[dict[str, Any]]) -> None:
    found = {
        (f["what"], f["size"], f["pointers"], f["cache"]) for f in (line["figure"] for line in run if "figure" in line)
    }
    for size, pointers in device.GROUPS:
        for what in OURS:
            assert {(what, size, pointers, "warm"), (what, size, pointers, "cold")} <= found
    assert [line["done"] for line in run if "done" in line] == ["pieces", *map(list, device.GROUPS)]


def test_figures_are_times(run: list[dict[str, Any]]) -> None:
    for figure in (line["figure"] for line in run if "figure" in line):
        assert 0 < figure["minimum"] <= figure["median"] < 1e9
    pieces = {line["figure"]["what"] for line in run if "figure" in line and line["figure"]["cache"] == "piece"}
    assert {
        "data_ptr() of a tensor",
        "address of a tensor by DLPack's C exchange",
        "cuPointerGetAttribute",
        "release and acquire of the interpreter's lock",
        "cuCtxGetCurrent",
    } <= pieces


def test_machine_and_missing_launchers_are_named(run: list[dict[str, Any]]) -> None:
    assert run[0]["machine"]["device"] == "relaunch recorder"
    assert (run[0]["rounds"], run[0]["burst"]) == (2, 5)
    for name in ("triton", "torch static", "torch fast", "cuda.core", "cupy"):
        reasons = [line["reason"] for line in run if line.get("left_out") == name]
        measured = [line for line in run if line.get("figure", {}).get("what") == name]
        assert bool(reasons) or bool(measured)
        assert all(reason.strip() for reason in reasons)


def test_share_of_what_lies_above_the_floor() -> None:
    rows = {"floor": 100, "generated": 500, "precompiled.call": 200, "cupy": 900}
    rows |= {"generated *": 300, "precompiled.call *": 120}
    group = {"size": 58, "pointers": "dlpack", "cache": "warm"}
    made = [
        {"what": what, **group, "median": value, "minimum": value, "above_floor": value - 100.0}
        for what, value in rows.items()
    ]
    shares = device.above_floor(made, "warm")
    wanted = [("precompiled.call", 0.25), ("cupy", 2.0), ("precompiled.call *", 0.1)]
    assert [(share.what, share.value) for share in shares] == wanted
    text = list(device.shown([{"figure": figure} for figure in made]))
    assert "| precompiled.call | dlpack | 0.25 |" in text


def test_no_gpu_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "DRIVER", "libcuda-that-is-not-there.so.1")
    result = CliRunner().invoke(app, ["bench", "device"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("relaunch bench device: no GPU: libcuda-that-is-not-there.so.1: ")


def test_missing_matplotlib_is_named_before_anything_is_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr(device, "make_plan", lambda rounds, burst: pytest.fail("measured"))
    result = CliRunner().invoke(app, ["bench", "device", "--svg", "plot.svg"])
    assert (result.exit_code, result.stdout) == (2, "")
    assert result.stderr.startswith("relaunch bench device: --svg needs matplotlib (")
    assert result.stderr.endswith("): pip install matplotlib\n")


def test_kernels_have_the_parameters_of_their_signature() -> None:
    lines = device.kernel_source().splitlines()
    assert lines[0] == 'extern "C" __global__ void empty_0(void* p0, void* p1) {}'
    assert lines[1] == 'extern "C" __global__ void empty_5(float* p0, float* p1, int p2, int p3, void* p4, void* p5) {}'
    assert [line.count(" p") for line in lines] == [sum(figures.SIZES[size][:2]) + 2 for size in figures.SIZES]


# Measures nothing: dies as its plan says, in front of a launcher or among a group's rounds.
DYING = """
import json, os, pathlib, signal, sys, time
plan = json.loads(pathlib.Path(sys.argv[1]).read_text())
def say(**line): print(json.dumps(line), flush=True)
if plan["pieces"]: say(done="pieces")
print("a library's chatter")
for size, pointers in plan["groups"]:
    for name in ("floor", "cupy"):
        if name not in plan["left_out"]:
            say(trying=name)
            if name == plan.get("dies_in") : os.kill(os.getpid(), signal.SIGSEGV)
    say(trying=None)
    if size == plan.get("dies_at"): os.kill(os.getpid(), signal.SIGABRT)
    if size == plan.get("hangs_at"): time.sleep(60)
    say(done=[size, pointers])
"""


@pytest.fixture
def dying(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "device_rounds.py").write_text(DYING)
    monkeypatch.setattr(device, "PROGRAMS", tmp_path)
    monkeypatch.setattr(device, "FOLDER", tmp_path)


def measured(seconds: float = 30, **plan: Any) -> list[dict[str, Any]]:
    lines = device.measure({"left_out": {}, **plan}, [(0, "none"), (5, "dlpack"), (19, "dlpack")], seconds)
    return [line for line in lines if "trying" not in line]


def test_a_launcher_that_kills_the_process_is_left_out_of_the_next(dying: None) -> None:
    plan: dict[str, Any] = {"left_out": {}, "dies_in": "cupy"}
    lines = list(device.measure(plan, [(0, "none"), (5, "dlpack")], 30))
    assert plan["left_out"] == {"cupy": "the process died of SIGSEGV"}
    assert [line["done"] for line in lines if "done" in line] == ["pieces", [0, "none"], [5, "dlpack"]]


def test_a_group_that_kills_the_process_is_passed_over(dying: None) -> None:
    assert measured(dies_at=5) == [
        {"done": "pieces"},
        {"done": [0, "none"]},
        {"left_out": "the group", "size": 5, "pointers": "dlpack", "reason": "the process died of SIGABRT"},
        {"done": [19, "dlpack"]},
    ]


def test_time_that_is_up_ends_the_run(dying: None) -> None:
    lines = measured(seconds=2, hangs_at=5)
    assert lines[:2] == [{"done": "pieces"}, {"done": [0, "none"]}]
    assert lines[2:] == [
        {"left_out": "everything", "groups": [(5, "dlpack"), (19, "dlpack")], "reason": "stopped after 2 s"}
    ]


TWINS = """
import sys
sys.path.insert(0, sys.argv[1])
import spelling
calls = []
class Pointer:
    def data_ptr(self):
        return 7
def call(*arguments): calls.append(arguments)
spelled = ["a0.data_ptr()", "a1", "None"]
loops = spelling.loops("call(1, NAME, ({}), 0)", spelled, {"call": call, "NAME": "n"}, [Pointer(), 5])
loops["loop"](1)
assert loops["burst"](2, iter((10, 25)).__next__) == 15
assert loops["cold"](2, iter((10, 25, 40, 41)).__next__, lambda: calls.append("walk")) == [15, 1]
launch = (1, "n", (7, 5, None), 0)
assert calls == [launch, launch, launch, "walk", launch, "walk", launch], calls
spelling.loops("call({})", [], {"call": call}, [])["loop"](1)
assert calls[-1] == ()
"""


def test_launches_are_spelled_out() -> None:
    done = subprocess.run(
        [sys.executable, "-c", TWINS, str(figures.PROGRAMS)], capture_output=True, text=True, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")


class Axes:
    """Stands in for a panel of matplotlib and notes the lines."""

    def __init__(self) -> None:
        self.lines: dict[str, tuple[Any, Any]] = {}

    def plot(self, x: Any, y: Any, label: str, **style: Any) -> None:
        self.lines[label] = (x, y)

    def __getattr__(self, name: str) -> Any:
        return lambda *args, **options: None


def test_plot_has_a_line_per_launcher(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    panels = [Axes(), Axes()]

    class Library(Axes):
        def subplots(self, rows: int, columns: int, **options: Any) -> tuple[Axes, list[Axes]]:
            return Axes(), panels

    monkeypatch.setattr(plot, "pyplot", Library)
    rows = [("floor", 0, "none", 3500.0), ("floor", 5, "dlpack", 3600.0), ("cupy", 5, "dlpack", 9000.0)]
    made = [
        {"what": w, "size": s, "pointers": p, "cache": c, "median": m} for w, s, p, m in rows for c in ("warm", "cold")
    ]
    plot.draw(made, {"device": "a GPU"}, tmp_path / "plot.svg")
    assert panels[0].lines == {"floor": ((0, 5), [3.5, 3.6]), "cupy": ((5,), [9.0])}
    assert panels[1].lines == {"floor": ((0,), [3.5])}
