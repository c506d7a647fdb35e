"""Echo kernels without a device: each takes exactly the parameters of the plan, in PTX, in cubins and on AMD's GPUs."""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from functools import cache
from pathlib import Path

import pytest
from relaunch.differential import pool
from relaunch.differential.case import Case
from relaunch.differential.launching import tree
from relaunch.differential.on_device.cases import draw, drawn, read, taken
from relaunch.kernels import echo

import relaunch
from relaunch import generator, read_kernels, verify_kernel

ROOT = Path(__file__).resolve().parents[2]
SIGNATURES = ROOT / "tests/signatures/signatures.jsonl"
FEWEST = 500
WHOLE = ("triton-3.6-cuda", "triton-3.6-hip")
SOME = 24
GPUS = ("gfx90a", "gfx942")
OTHER_SIZE = {
    "i32": "i64",
    "fp32": "fp16",
    "i64": "u32",
    "fp64": "fp32",
    "i8": "i16",
    "u1": "u16",
    "bf16": "i8",
    "*fp32": "i32",
}
Kernel = tuple[Case, echo.Layout]


@cache
def kernels(dialect: str) -> list[Kernel]:
    """A call and the layout of its kernel for every signature that the dialect takes."""
    given = taken(dialect, [*read(SIGNATURES), *drawn(450, 1)])
    return [(case, echo.layout(pool.spec_of(case))) for case in draw(dialect, given, 1, 1)]


def compiled(dialect: str) -> list[Kernel]:
    """What compilers are given: every signature of one dialect of each backend, and some of the others'."""
    everything = kernels(dialect)
    return everything if dialect in WHOLE else everything[:: len(everything) // SOME]


def backends(backend: str) -> list[str]:
    return [name for name in generator.all_dialects() if name.endswith(backend)]


def misfits(dialect: str, image: bytes, given: list[Kernel]) -> list[str]:
    """What the image's parameter tables have otherwise than the plans of the signatures."""
    table = {one.kernel: one for one in read_kernels(image)}
    found = []
    for case, layout in given:
        kernel = table[echo.kernel_name(layout)]
        verified = verify_kernel(kernel, tree(case.signature), dialect=dialect, constants=case.constants or None)
        if not verified.fits:
            found.append(f"{case.id}: {verified.message}")
    return found


# Those of a backend are in one group: each dialect's kernels are laid out once.
@pytest.mark.xdist_group("cubin")
@pytest.mark.parametrize("dialect", backends("cuda"))
def test_ptx_takes_what_the_plan_passes(dialect: str) -> None:
    chosen = kernels(dialect)
    assert len({case.signature for case, _ in chosen}) >= FEWEST
    assert misfits(dialect, echo.ptx(layout for _, layout in chosen).encode(), chosen) == []


@pytest.mark.xdist_group("code objects")
@pytest.mark.parametrize("dialect", backends("hip"))
def test_ptx_stands_in_for_code_objects(dialect: str) -> None:
    """On a device of CUDA the kernels of HIP dialects are PTX: places and sizes are those of the plan too."""
    chosen = kernels(dialect)
    assert len({case.signature for case, _ in chosen}) >= FEWEST
    table = {one.kernel: one for one in read_kernels(echo.ptx(layout for _, layout in chosen).encode())}
    for case, layout in chosen:
        plan = relaunch.Plan(tree(case.signature), dialect=dialect, constants=case.constants or None)
        planned = [(one["offset"], one["size"]) for one in plan.parameters]
        assert [(one["offset"], one["size"]) for one in table[echo.kernel_name(layout)].parameters] == planned


@pytest.fixture(scope="session")
def cubin(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The kernels of all CUDA dialects, compiled by the ptxas of the environment or of a CUDA toolkit."""
    locked = Path(sysconfig.get_path("purelib")) / "nvidia/cuda_nvcc/bin/ptxas"
    ptxas = locked if locked.exists() else Path(shutil.which("ptxas") or "/usr/local/cuda/bin/ptxas")
    folder = tmp_path_factory.mktemp("cubin")
    text = echo.ptx(layout for dialect in backends("cuda") for _, layout in compiled(dialect))
    (folder / "echo.ptx").write_text(text)
    command: list[str | Path] = [ptxas, "-arch=sm_90", "-O1", folder / "echo.ptx", "-o", folder / "echo.cubin"]
    subprocess.run(command, check=True)
    return (folder / "echo.cubin").read_bytes()


@pytest.mark.xdist_group("cubin")
@pytest.mark.parametrize("dialect", backends("cuda"))
def test_cubins_take_what_the_plan_passes(dialect: str, cubin: bytes) -> None:
    assert misfits(dialect, cubin, compiled(dialect)) == []


@pytest.fixture(scope="session")
def code_objects(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    """The kernels of all HIP dialects for each GPU, compiled by clang 19 and linked by lld 19."""
    folder = tmp_path_factory.mktemp("code-objects")
    source = echo.hip(layout for dialect in backends("hip") for _, layout in compiled(dialect))
    (folder / "echo.hip").write_text(source)
    return {gpu: code_object(folder / "echo.hip", gpu) for gpu in GPUS}


def code_object(source: Path, gpu: str) -> bytes:
    """A HIP source without HIP's headers or device library, compiled for one GPU."""
    target = source.with_suffix(f".{gpu}")
    command = ["clang++-19", "-x", "hip", f"--offload-arch={gpu}", "-nogpuinc", "-nogpulib", "--offload-device-only"]
    subprocess.run([*command, "--no-gpu-bundle-output", "-O1", "-Werror", "-o", target, source], check=True)
    return target.read_bytes()


@pytest.mark.xdist_group("code objects")
@pytest.mark.parametrize("gpu", GPUS)
@pytest.mark.parametrize("dialect", backends("hip"))
def test_code_objects_take_what_the_plan_passes(dialect: str, gpu: str, code_objects: dict[str, bytes]) -> None:
    assert misfits(dialect, code_objects[gpu], compiled(dialect)) == []


@pytest.mark.xdist_group("cubin")
def test_a_parameter_of_another_size_is_a_misfit(cubin: bytes) -> None:
    """Every parameter of a few kernels, one at a time."""
    table = {one.kernel: one for one in read_kernels(cubin)}
    for case, layout in kernels("triton-3.6-cuda")[:200]:
        for i, entry in enumerate(case.signature):
            if isinstance(entry, str) and entry in OTHER_SIZE:
                other = (*case.signature[:i], OTHER_SIZE[entry], *case.signature[i + 1 :])
                verified = verify_kernel(table[echo.kernel_name(layout)], tree(other), dialect="triton-3.6-cuda")
                assert not verified.fits


@pytest.mark.parametrize("gpu", GPUS)
def test_kernels_for_amd_take_the_signature_above_them(gpu: str, tmp_path: Path) -> None:
    """kernels/amd.hip, by its metadata: what the 3.6 dialect passes fits, and what the 3.3 dialect passes does not."""
    source = tmp_path / "amd.hip"
    source.write_text((ROOT / "kernels/amd.hip").read_text())
    found = {one.kernel: one for one in read_kernels(code_object(source, gpu))}
    said = dict(re.findall(r'^// (.*)\nextern "C" GLOBAL void (\w+)', source.read_text(), re.MULTILINE))
    assert sorted(said.values()) == sorted(found) == ["pair", "scalars", "vector_add"]
    for signature, name in said.items():
        assert verify_kernel(found[name], relaunch.parse(signature), dialect="triton-3.6-hip").fits
        assert not verify_kernel(found[name], relaunch.parse(signature), dialect="triton-3.3-hip").fits
