"""What is installed: symbols, headers in every language they are for, a CMake package, the example."""

from __future__ import annotations

import json
import re
import shutil
import struct
import subprocess
from pathlib import Path

import pytest
from relaunch.differential.recorder import Recorder, path

import relaunch

pytestmark = pytest.mark.xdist_group("capi")

HANDLE = 0xF00
WARNINGS = ("-Wall", "-Wextra", "-Wpedantic", "-Wconversion", "-Werror")
ROOT = Path(__file__).resolve().parents[3]
SIGNATURE = (
    "x: *fp32, y: *fp16, out: *i64, n: i32, m: i64, a: i1, b: i8, c: u8, d: i16, e: u16, f: u32, g: u64, "
    "BLOCK: constexpr, h: fp16, s: fp32, t: fp64, (k: i32, (*fp32, l: i32)), last: i8"
)
# The words that the example takes, and what a Python caller passes for them.
VALUES = {
    "0x7f0000001000": 0x7F0000001000,
    "0x7f0000002000": 0x7F0000002000,
    "0": None,
    "-5": -5,
    "-6000000000": -6000000000,
    "1": True,
    "-8": -8,
    "200": 200,
    "-3000": -3000,
    "60000": 60000,
    "4000000000": 4000000000,
    "18446744073709551615": 2**64 - 1,
    str(struct.unpack("<H", struct.pack("<e", 1.5))[0]): 1.5,
    "0.25": 0.25,
    "-1e300": -1e300,
    "7": 7,
    "0x7f0000003000": 0x7F0000003000,
    "9": 9,
    "-1": -1,
}

CUBIN = str(ROOT / "tests/device/binaries/add-3.6.0-sm90.cubin")
LOADED = (
    "--load",
    CUBIN,
    "add",
    "x: *fp32, y: *fp32, out: *fp32, n: i32, BLOCK: constexpr",
    "2",
    *["@1024"] * 3,
    "256",
)


def test_only_the_interface_is_exported(library_file: Path) -> None:
    """Every function of the header and nothing else, all versioned; the SONAME ends in the ABI version."""
    listed = subprocess.run(["nm", "-D", "--defined-only", library_file], capture_output=True, text=True, check=True)
    symbols = {line.split()[-1] for line in listed.stdout.splitlines() if " A " not in line}
    header = (ROOT / "capi/include/relaunch/relaunch.h").read_text()
    declared = re.findall(r"RELAUNCH_API (?:[^;(]*?)(relaunch_\w+)\(", header)
    assert symbols == {f"{function}@@RELAUNCH_1" for function in declared}
    dynamic = subprocess.run(["readelf", "-d", library_file], capture_output=True, text=True, check=True).stdout
    assert "[librelaunch.so.1]" in dynamic


@pytest.mark.parametrize(
    ("compiler", "language", "header"),
    [
        ("gcc", "c11", "relaunch.h"),
        ("gcc", "c17", "relaunch.h"),
        ("g++", "c++11", "relaunch.h"),
        ("g++", "c++20", "relaunch.hpp"),
        ("clang-19", "c11", "relaunch.h"),
        ("clang++-19", "c++20", "relaunch.hpp"),
    ],
)
def test_headers_compile(prefix: Path, tmp_path: Path, compiler: str, language: str, header: str) -> None:
    """Each header by itself, with every warning an error."""
    if shutil.which(compiler) is None:
        pytest.skip(f"no {compiler}")
    source = tmp_path / ("use.cpp" if "++" in language else "use.c")
    source.write_text(f"#include <relaunch/{header}>\nint main(void) {{ return (int)relaunch_abi_version(); }}\n")
    command = [compiler, f"-std={language}", *WARNINGS, "-fsyntax-only", f"-I{prefix}/include", str(source)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def launch_example(example: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [str(example / "launch"), str(path("cuda")), *words]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def test_example_launches_as_python_does(example: Path) -> None:
    """The same bytes of every parameter, attributes, grid, block and stream as relaunch.Launcher's."""
    done = launch_example(example, SIGNATURE, "7", *VALUES)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0].endswith(" for triton-3.6-cuda: 21 parameters, 120 bytes")
    assert lines[-2] == "launched 7 blocks, status 0"

    recorder = Recorder("cuda")
    recorder.reset()
    launcher = relaunch.Launcher(SIGNATURE, dialect="triton-3.6-cuda", function=HANDLE, driver=str(recorder.path))
    recorder.set_slots(launcher.slots)
    values = list(VALUES.values())
    k, pointer, inner, last = values[15:]
    launcher(7, 1, 1, 0, *values[:12], None, *values[12:15], (k, (pointer, inner)), last)
    expected = [event for event in recorder.events() if event["call"] == "cuLaunchKernelEx"]
    assert json.loads(lines[-1]) == expected


def test_example_loads_a_kernel(example: Path) -> None:
    """A binary by --load, and device memory for @N."""
    done = launch_example(example, *LOADED)
    assert (done.returncode, done.stderr) == (0, "")
    assert f"add(*fp32, *fp32, *fp32, i32, constexpr) for {'triton-3.6-cuda'}" in done.stdout
    assert "out:" + " 00" * 16 in done.stdout


REFUSALS = [
    (("i32, i33", "1"), 1, "launch: parse: unknown type 'i33'"),
    (("tensordesc<fp16[8]>, (tensordesc<fp16[8]>,)", "1"), 1, "launch: bind: parameter "),
    (("i32, i32", "1", "5"), 1, "launch: launch: kernel(i32, i32) takes 2 arguments, got 1"),
    (("i32", "2147483648", "5"), 1, "launch: launch: grid_x of kernel(i32): expected at most 2147483647 blocks"),
    (("i32", "1", "x"), 2, "launch: 'x' is no i32"),
]


@pytest.mark.parametrize(("words", "code", "text"), REFUSALS)
def test_example_reports_refusals(example: Path, words: tuple[str, ...], code: int, text: str) -> None:
    """The exit status, the words, and no launch."""
    done = launch_example(example, *words)
    assert done.returncode == code
    assert done.stderr.startswith(text)
    assert "cuLaunchKernelEx" not in done.stdout


@pytest.mark.parametrize(
    "words",
    [
        ("launch", path("cuda"), SIGNATURE, "7", *VALUES),
        ("launch", path("cuda"), *LOADED),
        *(("launch", path("cuda"), *words) for words, _, _ in REFUSALS[:4]),
        ("add", path("cuda")),
    ],
)
def test_examples_are_clean_under_valgrind(example: Path, words: tuple[str | Path, ...]) -> None:
    """No byte is read or written out of place, none is used before it is set, and none is lost. Nothing is excused."""
    if shutil.which("valgrind") is None:
        pytest.skip("no valgrind")
    errors = ("--error-exitcode=99", "--leak-check=full", "--errors-for-leak-kinds=definite,possible")
    command = ("valgrind", "--quiet", *errors, example / words[0], *words[1:])
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr


def test_typed_example(example: Path) -> None:
    """relaunch.hpp launches what fits and names what does not."""
    done = subprocess.run([example / "add", path("cuda")], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "launched add(*fp32, *fp32, *fp32, i32, constexpr)",
        (
            "refused: argument 4 'n' of add(*fp32, *fp32, *fp32, i32, constexpr): expected i32, "
            "got a floating-point number of 4 bytes"
        ),
    ]
