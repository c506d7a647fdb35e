"""relaunch.triton in front of the Triton that is installed, on a GPU: right results, and what a launch costs."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.triton.programs import PROGRAMS, Program
from tests.triton.releases import Bed

ROOT = Path(__file__).parents[2]


def lines_of(*command: str) -> list[dict[str, Any]]:
    """The JSON lines of a Python program that must end well."""
    done = subprocess.run([sys.executable, *command], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def bed() -> Bed:
    import triton

    return Bed(triton.__version__, "cuda")


def chosen() -> list[Program]:
    return [program for program in PROGRAMS if program.on_gpu and program.is_for(bed())]


@pytest.fixture(scope="module")
def outcomes() -> dict[str, dict[str, dict[str, Any]]]:
    """By mode and program: all of a mode in one process."""
    pytest.importorskip("triton", reason="no Triton here")
    paths = [str(program.path) for program in chosen()]
    found = {}
    for mode in ("plain", "installed"):
        lines = lines_of("-m", "tests.device.triton_programs", mode, *paths)
        found[mode] = {line["program"]: line for line in lines}
    return found


def test_right_results(need_device: None, outcomes: dict[str, dict[str, dict[str, Any]]]) -> None:
    """What a program computes is right with Triton's launchers, and so it is with ours."""
    for mode, by_program in outcomes.items():
        assert {name: line["wrong"] for name, line in by_program.items() if line["wrong"]} == {}, mode
    assert len(outcomes["installed"]) == len(chosen()) >= 40


def test_prints_the_same(need_device: None, outcomes: dict[str, dict[str, dict[str, Any]]]) -> None:
    for program in chosen():
        if not program.may_differ(bed()):
            plain, installed = (outcomes[mode][program.name]["printed"] for mode in ("plain", "installed"))
            assert plain == installed, program.name


def test_all_taken(need_device: None, outcomes: dict[str, dict[str, dict[str, Any]]]) -> None:
    for program in chosen():
        report = outcomes["installed"][program.name]["report"]
        reasons = [one["reason"] for one in report["fallen_back"]]
        assert all(program.falls_back and program.falls_back in reason for reason in reasons), (program.name, reasons)
        assert bool(reasons) == bool(program.falls_back)
        assert report["unchecked"] == {}


def test_inductor(need_device: None) -> None:
    """torch.compile with install() on: results right, and kernels launched by us where Inductor asks Triton to."""
    pytest.importorskip("torch._inductor", reason="no torch here")
    found = {line["program"]: line for line in lines_of("tests/device/triton_inductor.py")}
    assert {name: line["wrong"] for name, line in found.items() if line["wrong"]} == {}
    assert {name: line["report"]["fallen_back"] for name, line in found.items() if line["report"]["fallen_back"]} == {}
    kernels = {name: sum(line["report"]["taken"].values()) for name, line in found.items()}
    kernels.pop("own launcher", None)
    assert min(kernels.values()) >= 1, kernels
