"""Launching where there is no C compiler, installing by the environment, and how long a launcher takes to make."""

from __future__ import annotations

import json
import shutil
import statistics
from pathlib import Path
from typing import Any

import pytest

from tests.triton.beds import each_bed, made
from tests.triton.releases import Bed


def launch(bed: Bed, mode: str, cache: Path, task: str = "launch", **environment: str) -> dict[str, Any]:
    """What first_launch.py says; its complaint under "died" where it does not come to an end."""
    done = bed.run("-m", "tests.triton.first_launch", mode, task, TRITON_CACHE_DIR=str(cache), **environment)
    if done.returncode != 0:
        return {"died": done.stderr}
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def path_without_compiler(folder: Path) -> Path:
    """Only `file` is there, where this machine has it: Python's platform module asks it, and Triton's cache key has the
    answer in it.
    """
    folder.mkdir()
    found = shutil.which("file")
    if found is not None:
        (folder / "file").symlink_to(found)
    return folder


@pytest.mark.parametrize("bed", each_bed("cuda"))
def test_no_compiler(bed: Bed, tmp_path: Path) -> None:
    """With kernels in the cache, installed launches without a compiler on PATH; to 3.6 Triton alone cannot."""
    hidden = {"PATH": str(path_without_compiler(tmp_path / "path"))}
    cache = tmp_path / "cache"
    assert launch(made(bed), "installed", cache).get("launches") == 3
    assert launch(bed, "installed", cache, **hidden).get("launches") == 3
    alone = launch(bed, "plain", cache, **hidden)
    if bed.short in ("3.3", "3.4", "3.5", "3.6"):
        assert "compiler" in alone.get("died", ""), alone
    else:
        assert alone.get("launches") == 3, alone
    assert "died" in launch(bed, "installed", tmp_path / "cold", **hidden), "a compiler was found"


@pytest.mark.parametrize("bed", each_bed("cuda"))
def test_time_to_make_a_launcher(bed: Bed, tmp_path: Path) -> None:
    """To 3.6, a thousand times faster than generating and building one; the first of Triton's is the built one."""
    cache = tmp_path / "cache"
    launch(made(bed), "installed", cache)
    ours = launch(bed, "installed", cache, "time")["made"]
    if bed.short not in ("3.3", "3.4", "3.5", "3.6"):
        assert ours < 50
        return
    built = statistics.median(launch(bed, "plain", cache, f"build-{number}")["built"] for number in range(3))
    assert built / ours >= 1000, f"{built} ms to build, {ours} ms to bind"


STARTS = """
import sys
assert "relaunch" not in sys.modules
import triton
print("relaunch.triton" in sys.modules and sys.modules["relaunch.triton"].is_installed())
print(type(triton.__spec__.loader).__name__, type(triton.__loader__).__name__)
"""


@pytest.mark.parametrize(("value", "is_installed"), [("1", True), ("strict", True), ("0", False), ("", False)])
@pytest.mark.parametrize("bed", each_bed("cuda"))
def test_environment_variable(bed: Bed, value: str, is_installed: bool) -> None:
    done = made(bed).run("-c", STARTS, RELAUNCH_TRITON=value)
    assert done.stderr == ""
    assert done.stdout == f"{is_installed}\nSourceFileLoader SourceFileLoader\n"


def test_environment_variable_without_triton(tmp_path: Path) -> None:
    """Another module named triton goes on as it is, with one complaint."""
    (tmp_path / "triton.py").write_text("value = 3\n")
    bed = Bed("none", "cuda")
    done = bed.run_with(
        {"RELAUNCH_TRITON": "1", "PYTHONPATH": str(tmp_path)}, "-c", "import triton; print(triton.value)"
    )
    assert done.stdout == "3\n"
    assert "RELAUNCH_TRITON is set and does nothing: " in done.stderr
