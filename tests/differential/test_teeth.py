"""The comparison has teeth: each thing broken on purpose in a copy of the generator is found and named.

The copy takes the generator's place in a process of its own and in that process's workers; no code of the product
knows of it. Nothing else differs from `relaunch diff` as people run it.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from relaunch import generator

CUDA = "triton-3.6-cuda"
HIP = "triton-3.6-hip"

# Python runs this module at its start: it lets every process below find the copy as `relaunch.generator`.
PUT_COPY_FIRST = """
import sys
from importlib.machinery import PathFinder
from pathlib import Path

HERE = Path(__file__).parent


class CopyFinder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == "relaunch.generator":
            return PathFinder.find_spec(name, [str(HERE)])
        if name.startswith("relaunch.generator."):
            return PathFinder.find_spec(name, path)
        return None


sys.meta_path.insert(0, CopyFinder)
"""


@dataclass(frozen=True)
class Break:
    """One thing broken: `old` becomes `new` once in `file`, and `found` must occur in what diff says first."""

    name: str
    file: str
    old: str
    new: str
    signature: str
    found: str
    dialect: str = CUDA
    only: str = ""  # every fault must match this where it is given
    least: int = 1  # faults
    also: tuple[str, str] = ("", "")  # a second edit of the same file

    def apply(self, copied: Path) -> None:
        """Break the copy whose files lie in `copied`."""
        text = (copied / self.file).read_text()
        for old, new in ((self.old, self.new), self.also):
            assert not old or text.count(old) == 1, f"{self.file} no longer has what this test breaks"
            text = text.replace(old, new) if old else text
        (copied / self.file).write_text(text)


BREAKS = [
    Break(
        "a width",
        "dialects/scalars.py",
        '"i64": TypeFacts("int64_t", "L", "int64_t", 8)',
        '"i64": TypeFacts("int64_t", "L", "int32_t", 4)',
        "*fp32, i64",
        r"slots\[1\]: expected 4, got 8",
    ),
    Break(
        "a width in C alone",
        "dialects/scalars.py",
        '"fp32": TypeFacts("double", "d", "uint32_t", 4, ',
        '"fp32": TypeFacts("double", "d", "uint16_t", 4, ',
        "*fp32, fp32",
        r"\(cuLaunchKernelEx\): params\[1\]: byte [23]: expected",
    ),
    Break(
        "an offset",
        "dialects/triton_3_5_cuda.py",
        "offset=128",
        "offset=0",
        "i32, nvTmaDesc",
        r"\(cuLaunchKernelEx\): params\[1\]: byte \d+: expected",
    ),
    Break(
        "a sign",
        "dialects/scalars.py",
        '"i16": TypeFacts("int16_t", "h", "int16_t", 2)',
        '"i16": TypeFacts("int16_t", "H", "int16_t", 2)',
        "i16",
        r'error: expected null, got \{"type":"OverflowError"\}',
    ),
    Break(
        "the order of attributes",
        "dialects/triton_3_6_cuda.py",
        "attributes.PDL,\n                    attributes.COOPERATIVE,",
        "attributes.COOPERATIVE,\n                    attributes.PDL,",
        "*fp32",
        r"\(cuLaunchKernelEx\): attributes\[0\]\[0\]: expected 2, got 6",
        only=r"attributes\[",
    ),
    Break(
        "the order of attributes on HIP",
        "dialects/triton_3_6_hip.py",
        "attributes=(attributes.HIP_CLUSTER, attributes.HIP_COOPERATIVE)",
        "attributes=(attributes.HIP_COOPERATIVE, attributes.HIP_CLUSTER)",
        "*fp32",
        r"\(hipDrvLaunchKernelEx\): attributes\[0\]\[0\]: expected 2, got 4",
        HIP,
        only=r"attributes\[",
    ),
    Break(
        "a missing hidden parameter",
        "dialects/triton_3_6_cuda.py",
        '        calls.scratch("profile_scratch", "CUdeviceptr", _ALLOCATED),\n',
        "",
        "i32",
        r"slots\[2\]: not expected",
    ),
    Break(
        "swapped grid dimensions",
        "templates/cuda/run.c.j2",
        ".gridDimY = blocks[1],\n      .gridDimZ = blocks[2]",
        ".gridDimY = blocks[2],\n      .gridDimZ = blocks[1]",
        "*fp32",
        r"\(cuLaunchKernelEx\): grid\[[12]\]: expected \d+, got \d+",
        only=r"grid\[[12]\]",
    ),
    Break(
        "swapped grid dimensions on HIP",
        "templates/hip/run.c.j2",
        "function, blocks[0], blocks[1]",
        "function, blocks[1], blocks[0]",
        "*fp32",
        r"\(hipModuleLaunchKernel\): grid\[[01]\]: expected \d+, got \d+",
        HIP,
        only=r"grid\[[01]\]",
    ),
    Break(
        "a dropped pointer check",
        "templates/cuda/query.c.j2",
        "const CUresult status = cuPointerGetAttribute(&mapped, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, *address);",
        "CUresult status = CUDA_SUCCESS;\n  mapped = *address;",
        "*fp32",
        r"event \d+: expected (cuLaunchKernelEx|data_ptr), got cuPointerGetAttribute",
    ),
    Break(
        "the GIL held",
        "templates/steps/launch.c.j2",
        "Py_BEGIN_ALLOW_THREADS;",
        "Py_BEGIN_ALLOW_THREADS;\n  Py_BLOCK_THREADS;",
        "*fp32",
        r"\(cuLaunchKernelEx\): gil_held: expected 1, got 0",
        also=("Py_END_ALLOW_THREADS;", "Py_UNBLOCK_THREADS;\n  Py_END_ALLOW_THREADS;"),
        only=r"gil_held",
    ),
    Break(
        "the order of hooks",
        "dialects/triton_3_4_cuda.py",
        "*calls.PARSED,\n        Step.SCRATCH,\n        Step.POINTERS,\n",
        "*calls.PARSED[:2],\n        Step.SCRATCH,\n        Step.POINTERS,\n        Step.ENTER_HOOK,\n",
        "*fp32",
        r"event 0: expected data_ptr, got enter",
    ),
    Break(
        "an error's type",
        "templates/cuda/query.c.j2",
        'PyErr_Format(PyExc_ValueError, "Pointer argument (at %d)',
        'PyErr_Format(PyExc_TypeError, "Pointer argument (at %d)',
        "*fp32",
        r'error\.type: expected "TypeError", got "ValueError"',
        only=r"error\.type",
    ),
    Break(
        "the order of attributes in 3.3",
        "dialects/triton_3_3_cuda.py",
        "attributes=(attributes.CLUSTER_OF_METADATA, attributes.SPREAD, attributes.COOPERATIVE)",
        "attributes=(attributes.COOPERATIVE, attributes.CLUSTER_OF_METADATA, attributes.SPREAD)",
        "*fp32",
        r"\(cuLaunchKernelEx\): attributes\[0\]\[0\]: expected 2, got 4",
        "triton-3.3-cuda",
        only=r"attributes\[",
    ),
    Break(
        "the cluster's meaning in 3.0",
        "dialects/triton_3_0_cuda.py",
        'factors=("cluster_x", "cluster_y", "cluster_z")',
        'factors=("num_ctas", "1", "1")',
        "*fp32",
        r"\(cuLaunchKernelEx\): grid\[[012]\]: expected \d+, got \d+",
        "triton-3.0-cuda",
    ),
    Break(
        "the cluster's meaning where each call differs as the list wants",
        "dialects/triton_3_0_cuda.py",
        'factors=("cluster_x", "cluster_y", "cluster_z")',
        'factors=("num_ctas", "1", "1")',
        "*fp32, bf16",
        r"\(cuLaunchKernelEx\): grid\[[012]\]: expected \d+, got \d+",
        "triton-3.0-cuda",
        least=40,
    ),
    Break(
        "an fp16 or bf16 of 3.0 that is not half of a float",
        "dialects/scalars.py",
        '"bf16": TypeFacts("float", "f", "float", 4, read=2)',
        '"bf16": TypeFacts("double", "d", "float", 4, read=2)',
        "*fp32, bf16",
        r"\(cuLaunchKernelEx\): params\[1\]: byte \d: expected",
        "triton-3.0-cuda",
        least=40,
    ),
    Break(
        "the width of a boolean in 3.4",
        "dialects/scalars.py",
        '"u1": TypeFacts("uint32_t", "I", "uint32_t", 4, read=1)',
        '"u1": TypeFacts("uint8_t", "B", "uint8_t", 1)',
        "u1",
        r"slots\[0\]: expected 1, got 4",
        "triton-3.4-hip",
    ),
    Break(
        "how 3.2 reads an i64",
        "dialects/scalars.py",
        '"i64": TypeFacts("int64_t", "l", "int64_t", 8)',
        '"i64": TypeFacts("int64_t", "K", "int64_t", 8)',
        "i64",
        r'error: expected null, got \{"type":"OverflowError"\}',
        "triton-3.2-hip",
    ),
    Break(
        "the alignment of a tensor map by its address",
        "dialects/triton_3_2_cuda.py",
        "128, alignment=64",
        "128, alignment=16",
        "nvTmaDesc, nvTmaDesc, nvTmaDesc",
        r'error: expected null, got \{"type":"ValueError"\}',
        "triton-3.3-cuda",
        only=r"error",
    ),
]


def copy_generator(folder: Path) -> Path:
    """A copy of the generator that Python processes with `folder` on PYTHONPATH use; where its files lie."""
    source = Path(generator.__file__).parent
    shutil.copytree(source, folder / "generator", ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "sitecustomize.py").write_text(PUT_COPY_FIRST)
    return folder / "generator"


def run_relaunch(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """The command line with the generator in `folder`, run there."""
    return subprocess.run(
        [sys.executable, "-c", "from relaunch.cli import main; main()", *arguments],
        env={**os.environ, "PYTHONPATH": str(folder), "RELAUNCH_CACHE": str(folder / "cache")},
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )


def run_diff(
    folder: Path, dialect: str, signature: str, cases: int, shrink: int = 0
) -> tuple[int, list[dict[str, Any]], str]:
    """`relaunch diff` with the generator in `folder`: exit code, JSON lines, standard error."""
    options = ("--seed", "7", "--cases", str(cases), "--jobs", "1", "--faults", "faults", "--shrink", str(shrink))
    done = run_relaunch(folder, "diff", "--json", "--dialect", dialect, *options, signature)
    return done.returncode, [json.loads(line) for line in done.stdout.splitlines()], done.stderr


@pytest.mark.parametrize("broken", BREAKS, ids=[entry.name for entry in BREAKS])
def test_what_is_broken_is_found_and_named(broken: Break, tmp_path: Path) -> None:
    broken.apply(copy_generator(tmp_path))
    code, lines, errors = run_diff(tmp_path, broken.dialect, broken.signature, 400)
    assert code == 1, errors
    faults = [line["fault"] for line in lines if "fault" in line]
    assert lines[-1]["faults"] == len(faults) >= broken.least
    assert any(re.search(broken.found, fault) for fault in faults), faults[:10]
    assert all(re.search(broken.only, fault) for fault in faults), faults[:10]
    assert len(list((tmp_path / "faults").glob("*.jsonl"))) == len(faults)


def test_what_is_found_is_shrunk_and_stored(tmp_path: Path) -> None:
    broken = next(entry for entry in BREAKS if entry.name == "a sign")
    broken.apply(copy_generator(tmp_path))
    code, lines, errors = run_diff(tmp_path, broken.dialect, "*fp32, (i32, i16), *i8", 800, shrink=240)
    assert code == 1, errors
    found = [(line["fault"], line["smallest"]) for line in lines if "smallest" in line]
    plain = {"grid": [1, 1, 1], "stream": "0x0", "function": "0xf00", "metadata": [1, 1, 0], "args": [32768]}
    assert [(fault, case["signature"], case["call"]) for fault, case in found] == [
        # Legacy takes the value and fails later: in what was found at a pointer, in the smallest case at the launch.
        (
            'error.type: expected "ValueError", got "OverflowError"',
            ["i16"],
            {**plain, "fail": ["cuLaunchKernelEx", 0, 1]},
        ),
        ('error: expected null, got {"type":"OverflowError"}', ["i16"], plain),
    ]
    for _, case in found:
        stored = json.loads((tmp_path / "faults" / "smallest" / f"{case['id']}.jsonl").read_text())
        assert {name: stored[name] for name in case} == case
        assert stored["expect"]["error"] != {"type": "OverflowError"}


def test_demo_fails_and_shows_what_differs(tmp_path: Path) -> None:
    broken = next(entry for entry in BREAKS if entry.name == "the order of attributes on HIP")
    broken.apply(copy_generator(tmp_path))
    (tmp_path / "signatures").write_text("*fp32, i32\n")
    done = run_relaunch(tmp_path, "demo", "signatures", "--comparisons", "400")
    assert done.returncode == 1
    shown = re.search(
        r"(\S+): event \d+ \(hipDrvLaunchKernelEx\): attributes\[0\]\[0\]: expected 2, got 4", done.stdout
    )
    assert shown is not None
    case = Path("relaunch-faults") / "smallest" / f"{shown[1]}.jsonl"
    assert shown[1].endswith("-smallest")
    assert f"relaunch replay {case} --launcher precompiled" in done.stdout
    assert (tmp_path / case).is_file()
    assert re.search(r"^unexplained +[1-9]", done.stdout, re.MULTILINE)


@pytest.mark.parametrize("dialect", [CUDA, HIP])
def test_copy_that_is_not_broken_passes(dialect: str, tmp_path: Path) -> None:
    copied = copy_generator(tmp_path)
    source = copied / "templates" / "module.c.j2"
    source.write_text(source.read_text() + "/* from the copy */\n")  # proof below that the copy was used
    signature = "*fp32, i64, i32, i16, nvTmaDesc" if dialect == CUDA else "*fp32, i64, i32, i16"
    code, lines, errors = run_diff(tmp_path, dialect, signature, 400)
    assert (code, errors) == (0, "")
    assert [line["faults"] for line in lines] == [0]
    assert lines[0]["cases"] == 400
    assert not (tmp_path / "faults").exists()
    probe = subprocess.run(
        [
            sys.executable,
            "-c",
            "import relaunch.generator as g; print(g.render(g.LauncherSpec('" + dialect + "', ())))",
        ],
        env={**os.environ, "PYTHONPATH": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "/* from the copy */" in probe.stdout
