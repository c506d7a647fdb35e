"""A launch of up to 256 parameters takes nothing from the heap.

Python's own objects come from the C library's allocator here (PYTHONMALLOC), so theirs would be counted too.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from pathlib import Path

import pytest

HERE = Path(__file__).parent
BENCH = HERE.parents[1] / "bench"
TURNS = 1000

pytestmark = pytest.mark.plain_build  # what counts takes the place of malloc, as a sanitizer does

# Launches with ints, tensors or tuples, `count` parameters in all, TURNS times; says how many allocations that made.
PROGRAM = """
import ctypes, itertools, json, sys
import relaunch
from relaunch.differential.recorder import Recorder

folder, backend, shape, count, entry, turns = json.loads(sys.argv[1])
counter = ctypes.PyDLL(None).count_allocations
recorder = Recorder(backend)
recorder.record(False)
sys.path.insert(0, folder)
import bench_tensor

kind = "i32" if shape == "ints" else "*fp32"
values = [1000 + i if shape == "ints" else bench_tensor.Tensor(4096 * i + 4096, 2 if backend == "cuda" else 10)
          for i in range(count)]
signature = ", ".join([kind] * count)
if shape in ("tuple", "list"):
    signature, values = f"({signature})", [tuple(values) if shape == "tuple" else values]
elif shape == "tuples":
    signature, values = ", ".join([f"({kind},)"] * count), [(value,) for value in values]
launcher = relaunch.Launcher(signature, dialect=f"triton-3.6-{backend}", function=1, driver=str(recorder.path))
if entry == "call":
    launch, arguments = launcher, (1, 1, 1, 0, *values)
else:
    launch, arguments = launcher.launch, (1, 1, 1, 0, 1, (4, 1, 0), None, None, None, *values)
launch(*arguments)
repeat = itertools.repeat(None, turns)
counter(1)
for _ in repeat:
    launch(*arguments)
print(counter(0))
counter(1)
kept = [bytearray(1) for _ in range(10)]
assert counter(0) >= 10  # it does count
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds the counter and the tensors of the benchmarks, compiled."""
    made = tmp_path_factory.mktemp("allocations")
    flags = ("-O1", "-shared", "-fPIC", f"-I{sysconfig.get_paths()['include']}")
    for source, built in ((HERE / "count_allocations.c", "counter.so"), (BENCH / "tensor.c", "bench_tensor.so")):
        subprocess.run(["cc", *flags, str(source), "-o", str(made / built)], check=True)
    return made


def allocations(folder: Path, *what: object) -> int:
    request = json.dumps([str(folder), *what, TURNS])
    environment = {**os.environ, "LD_PRELOAD": str(folder / "counter.so"), "PYTHONMALLOC": "malloc"}
    command = [sys.executable, "-c", PROGRAM, request]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    return int(done.stdout)


@pytest.mark.parametrize("entry", ["call", "launch"])
@pytest.mark.parametrize("shape", ["ints", "tensors", "tuple", "list", "tuples"])
@pytest.mark.parametrize("backend", ["cuda", "hip"])
def test_256_parameters_take_nothing_from_the_heap(folder: Path, backend: str, shape: str, entry: str) -> None:
    assert allocations(folder, backend, shape, 256, entry) == 0


def test_a_larger_launch_takes_its_frame_and_nothing_else(folder: Path) -> None:
    assert allocations(folder, "cuda", "ints", 2000, "call") == TURNS
