"""Kernels of released Triton with right results through both launchers, and Triton 3.6 beside them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent
BINARIES = HERE.parent / "binaries"


def run(program: str, folder: Path) -> list[dict[str, Any]]:
    """The lines of a program of this folder, which must end well."""
    done = subprocess.run([sys.executable, HERE / program, folder], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_binaries_through_both_launchers(need_device: None, tmp_path: Path) -> None:
    """Every cubin in the index, of every release, with the results worked out by torch."""
    index = [json.loads(line)["file"] for line in (BINARIES / "index.jsonl").read_text().splitlines()]
    wanted = [(name, how) for name in index if name.endswith(".cubin") for how in ("generated", "precompiled")]
    lines = run("binary_launches.py", tmp_path)
    assert [(line["file"], line["launcher"]) for line in lines] == wanted
    assert [line for line in lines if not line["right"]] == []


def test_triton_launching_the_same_kernels(need_device: None, tmp_path: Path) -> None:
    """Triton 3.6 compiles and launches; each of ours then writes the same with the same kernel and arguments."""
    lines = run("triton_launches.py", tmp_path)
    assert len(lines) == 10
    assert [line for line in lines if not line["right"]] == []


def test_hip_calls_end_on_the_gpu(need_device: None, tmp_path: Path) -> None:
    """Parameters as one buffer and one by one, and refusals that are the driver's own."""
    seen = {line.pop("what"): line for line in run("hip_launches.py", tmp_path)}
    shape = {"launches": 1, "block_y": 1, "block_z": 1, "cluster_x": 1, "cluster_y": 1, "cluster_z": 1}
    values = [2**63 + 5, 0xA5, 0x12345678, 0xBEEF]
    wide = {"blocks": 6, "grid_x": 2, "grid_y": 3, "grid_z": 1, "block_x": 128, "shared": 65536}
    deep = {"blocks": 2, "grid_x": 1, "grid_y": 1, "grid_z": 2, "block_x": 64, "shared": 0}
    assert seen["one buffer"] == {**shape, **wide, "parameters": values}
    assert seen["each by its address"] == {**shape, **deep, "parameters": values}
    assert seen["block too large"] == {"status": 1, "text": "invalid argument"}
    refused = seen["no image of CUDA"]
    assert (refused["status"] != 0, refused["loaded"]) == (True, False)
    assert seen["device"]["status"] == 0
    assert seen["device"]["for"].startswith("sm_")
