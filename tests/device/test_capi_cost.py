"""A launch through the C interface on a GPU, next to cuLaunchKernelEx written out by hand, at 19 arguments."""

from __future__ import annotations

import concurrent.futures
import importlib.util
import json
import os
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
# The lists in CMakeLists.txt that the target `relaunch` links, but for relaunch_driver, which would need HIP.
LISTS = {
    "precompiled/core": "add_library(relaunch_core STATIC",
    "migrate": "add_library(relaunch_migrate STATIC",
    "capi": "set(capi_sources",
}
SOURCES = ("precompiled/driver/cuda.cpp", "precompiled/driver/library.cpp", "tests/device/no_hip.cpp")
ROUNDS = 30
STORED = 1234
LIMIT = 1.02


def cuda_header_folders() -> Iterator[Path]:
    """Where cuda.h may be: a toolkit's folders, then the wheels' of this Python."""
    for home in (os.environ.get("CUDA_HOME"), "/usr/local/cuda"):
        if home:
            yield Path(home) / "include"
    spec = importlib.util.find_spec("nvidia")
    for place in spec.submodule_search_locations or () if spec else ():
        yield from sorted(Path(place).glob("*/include"))


def listed(folder: str, opening: str) -> list[Path]:
    """The sources that the folder's CMakeLists.txt names behind these words."""
    _, found, rest = (ROOT / folder / "CMakeLists.txt").read_text("utf-8").partition(opening)
    assert found, f"{folder}/CMakeLists.txt has no {opening!r}"
    return [ROOT / folder / name for name in rest.partition(")")[0].split()]


def build(folder: Path) -> Path:
    """librelaunch and the program, compiled with g++ alone: a device machine need not have HIP's headers."""
    headers = next(found for found in cuda_header_folders() if (found / "cuda.h").exists())
    flags = ["-std=c++20", "-O3", "-DNDEBUG", "-fPIC", f"-I{ROOT}", f"-I{ROOT / 'capi/include'}", f"-I{headers}"]
    hidden = ["-fvisibility=hidden", "-fvisibility-inlines-hidden"]
    sources = [source for name, opening in LISTS.items() for source in listed(name, opening)]
    sources += [ROOT / source for source in SOURCES]

    def compiled(source: Path) -> Path:
        target = folder / f"{source.parent.name}-{source.stem}.o"
        subprocess.run(["g++", *flags, *hidden, "-c", "-o", target, source], check=True)
        return target

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        objects = list(pool.map(compiled, sources))
    library = folder / "librelaunch.so.1"
    link = [f"-Wl,--version-script={ROOT / 'capi/relaunch.map'}", "-Wl,-soname,librelaunch.so.1", "-ldl"]
    subprocess.run(["g++", "-shared", "-o", library, *objects, *link], check=True)
    program = folder / "capi_rounds"
    source = ROOT / "tests/device/capi_rounds.cpp"
    subprocess.run(["g++", *flags, "-o", program, source, library, f"-Wl,-rpath,{folder}", "-ldl"], check=True)
    return program


def test_launch_costs_what_a_plain_one_does(device: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Within 2% of cuLaunchKernelEx by the median ratio of 30 interleaved rounds; the kernel saw its argument."""
    program = build(tmp_path)
    done = subprocess.run([program, "libcuda.so.1", str(ROUNDS)], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    found = json.loads(done.stdout)
    assert found.pop("stored") == STORED
    medians = {way: statistics.median(rounds) for way, rounds in found.items()}
    ratios = {
        way: statistics.median(mine / plain for mine, plain in zip(rounds, found["plain"], strict=True))
        for way, rounds in found.items()
    }
    with capsys.disabled():
        print()
        for way, rounds in found.items():
            print(
                f"{way:<9}{medians[way]:8.1f} ns median, {min(rounds):8.1f} ns minimum, "
                f"{medians[way] / medians['plain']:.4f} of plain, {ratios[way]:.4f} by rounds"
            )
    assert {way: ratio for way, ratio in ratios.items() if ratio > LIMIT} == {}
