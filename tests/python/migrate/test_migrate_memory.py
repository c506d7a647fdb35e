"""What a run of `relaunch migrate` holds of a file at a time, however long the file, its lines and its nesting are."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Callable, Iterable
from itertools import repeat
from pathlib import Path

import pytest

import relaunch._core

MEBI = 1 << 20
GIGABYTE = 1 << 30
NATIVE = [str(Path(relaunch._core.__file__).parent / "relaunch-migrate")]
PYTHON = [sys.executable, "-m", "relaunch", "migrate"]

# A window of 8 MiB and what signatures of up to 1 MiB become; the interpreter and its modules come on top.
NATIVE_MOST = 64 * MEBI
PYTHON_MOST = 160 * MEBI

pytestmark = pytest.mark.plain_build  # a sanitizer keeps what is freed and a shadow of all memory

TOO_LONG = "RL024 longer than the 1048576 bytes that a signature may have: not read"


# A child starts with the peak of the process it was forked from: this one has next to nothing.
MEASURE = """
import resource, subprocess, sys
code = subprocess.call(sys.argv[2:])
with open(sys.argv[1], "w") as file:
    file.write(str(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024))
sys.exit(code)
"""


def peak(folder: Path, command: list[str], file: str, pieces: Iterable[bytes] = ()) -> tuple[int, str, int]:
    """Exit status, the first and last 1000 bytes of the output, and the most memory that was held, in bytes."""
    measured = folder / "peak"
    child = subprocess.Popen(
        [sys.executable, "-I", "-S", "-c", MEASURE, str(measured), *command, file],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert child.stdin
    assert child.stdout
    feeding = threading.Thread(target=feed, args=(child.stdin, pieces))
    feeding.start()
    first, last = b"", b""
    while piece := os.read(child.stdout.fileno(), MEBI):
        first = (first + piece)[:1000]
        last = (last + piece)[-1000:]
    feeding.join()
    child.stdout.close()
    return child.wait(), (first + last).decode(errors="replace"), int(measured.read_text())


def feed(stream: object, pieces: Iterable[bytes]) -> None:
    """Write all pieces, as far as they are wanted."""
    assert hasattr(stream, "write")
    assert hasattr(stream, "close")
    try:
        for piece in pieces:
            stream.write(piece)
    finally:
        stream.close()


def test_endless_line_of_a_gigabyte_from_a_pipe(tmp_path: Path) -> None:
    code, out, most = peak(tmp_path, NATIVE, "-", repeat(b"*fp32, " * (MEBI // 7), GIGABYTE // MEBI))
    assert code == 1
    assert f"<stdin>:1:1: {TOO_LONG}\n" in out
    assert out.endswith("1 signature: 0 read, 1 failed\n")
    assert most < NATIVE_MOST


def test_endless_line_in_python(tmp_path: Path) -> None:
    code, out, most = peak(tmp_path, PYTHON, "-", repeat(b"*fp32, " * (MEBI // 7), 256))
    assert code == 1
    assert f"<stdin>:1:1: {TOO_LONG}\n" in out
    assert most < PYTHON_MOST


@pytest.mark.parametrize(("command", "bound"), [(NATIVE, NATIVE_MOST), (PYTHON, PYTHON_MOST)], ids=["native", "python"])
def test_file_of_a_gigabyte_of_nothing_with_a_signature_at_its_end(
    command: list[str], bound: int, tmp_path: Path
) -> None:
    file = tmp_path / "sparse"
    with file.open("wb") as out:
        out.write(b"i32\n")
        out.seek(GIGABYTE)
        out.write(b"\ni64\n")
    code, shown, most = peak(tmp_path, command, str(file))
    assert code == 1
    assert f"{file}:1:1: i32\n{file}:2:1: {TOO_LONG}\n" in shown
    assert f"{file}:3:1: i64\n" in shown
    assert "3 signatures: 2 read, 1 failed" in shown
    assert most < bound


def lines(text: bytes, ending: bytes = b"\n") -> Callable[[], Iterable[bytes]]:
    """24 MiB of one line, again and again, each some 4 KiB long."""
    line = text + b"  #" + b"x" * 4000 + ending
    return lambda: repeat(line * (MEBI // len(line)), 24)


@pytest.mark.parametrize(
    "pieces",
    [
        lines(b""),
        lambda: repeat(b" \r\n" * (MEBI // 3), 24),
        lines(b"(" * 1000 + b"i32" + b")" * 1000),
        lines("\ufeffx: i32, é: i32, x: i32, \0".encode()),
        lines(b"\xff\xfei\x003\x002\x00", b"\n\x00"),
        lambda: [b"import x\n", *repeat(b"ASTSource(" * 100_000, 24)],
        lambda: [b"module {\n", *lines(b"tt.func @k(%x: i32, %x: i32) {")()],
        lines(b"{'a': 'i32',"),
        lines(b"triton_meta={"),
    ],
    ids=["comments", "blanks", "nested", "mixed", "utf16", "calls", "functions", "unclosed", "dicts"],
)
def test_many_lines(pieces: Callable[[], Iterable[bytes]], tmp_path: Path) -> None:
    code, out, most = peak(tmp_path, [*NATIVE, "--json"], "-", pieces())
    assert code == 1
    assert '"code": "RL0' in out
    assert most < NATIVE_MOST


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (b"(" * 1_000_000, "RL006"),
        (b"[" * 1_000_000, "RL006"),
        (b"%x: " + b"!tt.ptr<" * 100_000 + b"i32" + b">" * 100_000, "RL006"),
        (b"x: i32, " * 100_000, "RL022"),
        (b"{" + b"'x': 'i32', " * 80_000 + b"}", "RL022"),
        (b"\0" * 1_000_000, "RL003"),
        (b"i32, " * 209_000 + b"i33", "RL010"),
        (b"{" + b"1:'i1'," * 149_000 + b"2:'i33'}", "RL022"),
        (b'{"a": [' + b"[1]," * 250_000 + b"[1]]}", "RL016"),
    ],
    ids=["tuples", "lists", "pointers", "names", "keys", "nul", "types", "indices", "values"],
)
def test_one_signature_as_long_as_is_read(text: bytes, code: str, tmp_path: Path) -> None:
    status, out, most = peak(tmp_path, [*NATIVE, "--json"], "-", [text])
    assert status == 1
    assert f'"code": "{code}"' in out
    assert most < 8 * NATIVE_MOST
