"""Trees that nobody vouches for: a finding for each, memory within bounds, and no crash."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from relaunch.audit import Question, walk
from relaunch.audit.examine import examine
from relaunch.audit.reading import Unreadable, read

from relaunch import audit as room

Records = Callable[..., tuple[list[dict[str, Any]], dict[str, Any], int]]
Audit = Callable[..., Any]


def findings(kernels: list[dict[str, Any]]) -> list[tuple[str, str, str]]:
    """Key, file and message of every finding."""
    return [(one["key"], found["file"], found["message"]) for one in kernels for found in one["findings"]]


def test_links(kernel: Path, records: Records) -> None:
    """Loops are not walked, and what a link leads to is counted where it lies."""
    root = kernel.parent
    (root / "loop").symlink_to(root)
    (root / "twin").symlink_to(kernel)
    (root / "self.cubin").symlink_to("self.cubin")
    (root / "nowhere.ttir").symlink_to("nowhere")
    kernels, summary, code = records(root)
    assert (code, summary["kernels"], summary["totals"]["moves"]) == (1, 5, 1)
    assert findings(kernels) == [
        ("loop", "", "a link to a folder is not followed"),
        ("nowhere.ttir", "nowhere.ttir", "No such file or directory"),
        ("self.cubin", "", "Too many levels of symbolic links"),
        ("twin", "", "a link to a folder is not followed"),
    ]


def test_a_linked_file_is_read(kernel: Path, records: Records) -> None:
    moved = kernel.parent.parent / "elsewhere"
    shutil.move(kernel / "add.cubin", moved)
    (kernel / "add.cubin").symlink_to(moved)
    assert records(kernel.parent)[0][0]["verified"] == ["cubin", "ptx"]


def test_what_is_no_file(kernel: Path, records: Records) -> None:
    """A pipe without a writer would wait for ever."""
    (kernel / "add.ptx").unlink()
    os.mkfifo(kernel / "add.ptx")
    (kernel / "b.ttir").symlink_to("/dev/zero")
    (kernel / "c.cubin").mkdir()
    kernels, summary, _ = records(kernel.parent)
    assert summary["kernels"] == 2
    assert findings(kernels) == [
        ("k/add.json", "add.ptx", "not a regular file"),
        ("k/b.ttir", "b.ttir", "not a regular file"),
    ]


@pytest.mark.plain_build  # a sanitizer's shadow does not fit into the address space that is left
def test_huge_files(kernel: Path) -> None:
    """Holes of a terabyte; each process stays small."""
    for name in ("add.cubin", "add.ptx", "b.ttir", "c.json", "d.py"):
        with (kernel / name).open("ab") as file:
            file.truncate(2**40)
    program = (
        "import resource, runpy, sys\n"
        "resource.setrlimit(resource.RLIMIT_AS, (2**30, 2**30))\n"
        "sys.argv = ['relaunch', 'audit', sys.argv[1], '--json', '--jobs', '1']\n"
        "runpy.run_module('relaunch', run_name='__main__')\n"
    )
    script = kernel.parent.parent / "limited.py"
    script.write_text("if __name__ == '__main__':\n" + "".join(f"    {line}\n" for line in program.splitlines()))
    done = subprocess.run([sys.executable, script, kernel.parent], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (1, "")
    kernels = [json.loads(line) for line in done.stdout.splitlines()[:-1]]
    too_large = "too large: 1,099,511,627,776 bytes, of which {:,} are read"
    assert findings(kernels) == [
        ("k/add.json", "add.cubin", too_large.format(2**26)),
        ("k/add.json", "add.ptx", too_large.format(2**26)),
        ("k/b.ttir", "b.ttir", too_large.format(2**26)),
        ("k/c.json", "c.json", too_large.format(2**20)),
        ("k/d.py", "d.py", too_large.format(2**24)),
    ]


NAMES = [
    b"new\nline",
    b"\xff\xfe",
    b"<b>&amp;",
    b"\x1b[31mred",
    "\u202ertl".encode(),
    b"-",
    b"a b",
    b"x" * 200,
    b"%s{0}",
]


def test_names(kernel: Path, tmp_path: Path, records: Records, audit: Audit) -> None:
    """Any bytes but 0 and /: told on one line of UTF-8, without control of the terminal, and found again by a state."""
    root = tmp_path / "names"
    for name in NAMES:
        place = os.fsencode(root) + b"/" + name
        shutil.copytree(kernel, os.fsdecode(place))
        os.replace(place + b"/add.ttir", place + b"/gone")  # noqa: PTH105 - of bytes
        shutil.copytree(kernel, os.fsdecode(place + b"/" + name))
        for suffix in (b".json", b".ttir", b".cubin", b".ptx"):
            inner = place + b"/" + name + b"/"
            os.replace(inner + b"add" + suffix, inner + name + suffix)  # noqa: PTH105
    state = tmp_path / "state"
    kernels, summary, code = records(root, "--state", state)
    assert (code, summary["kernels"]) == (1, 2 * len(NAMES))
    assert summary["totals"]["moves"] == summary["totals"]["unreadable"] == len(NAMES)
    assert {os.fsencode(one["key"].split("/")[0]) for one in kernels} == set(NAMES)
    size = state.stat().st_size
    page = tmp_path / "page.html"
    result = audit(root, "--state", state, "--html", page)
    assert state.stat().st_size == size
    shown = result.stdout.split("\nunreadable\n")[1].splitlines()[: len(NAMES)]
    assert all(line.endswith(".ttir or .ttgir beside it") for line in shown)
    assert r"  new\nline/add.json: no signature" in result.stdout
    assert r"  \udcff\udcfe/add.json: no signature" in result.stdout
    assert r"\x1b[31mred/add.json" in result.stdout
    assert "\x1b" not in result.stdout
    assert "<b>&" not in page.read_text("utf-8")


def test_files_that_vanish(kernel: Path) -> None:
    """Between the walk and the reading; and a folder between its parent's listing and its own."""
    units = list(walk.walk(str(kernel.parent)))
    shutil.rmtree(kernel)
    (record,) = examine(str(kernel.parent), units[0], Question())
    assert record.outcome == room.OUTCOMES[4]
    assert record.findings == [{"file": "add.json", "message": "No such file or directory"}]


def test_folders_that_vanish_or_are_closed(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.scandir

    def scandir(path: str) -> Any:
        if path.endswith("/k"):
            raise PermissionError(13, "Permission denied")
        return real(path)

    monkeypatch.setattr("relaunch.audit.walk.os.scandir", scandir)
    (unit,) = walk.walk(str(kernel.parent))
    (record,) = examine(str(kernel.parent), unit, Question())
    assert (record.key, record.outcome) == ("k", room.OUTCOMES[4])
    assert record.findings == [{"file": "", "message": "Permission denied"}]


def test_a_growing_file(tmp_path: Path) -> None:
    """Files of /proc say that they have no bytes: what is there is read all the same, up to the limit."""
    assert read("/proc/self/status", "status", 2**20).startswith(b"Name:")
    with pytest.raises(Unreadable, match=r"^too large: still growing: 10 are read$"):
        read("/proc/self/status", "status", 10)


@pytest.mark.parametrize("file", ["add.cubin", "add.ptx", "add.ttir", "add.json"])
def test_files_cut_short_anywhere(kernel: Path, file: str) -> None:
    """Never anything but an outcome; never a kernel that moves without what was cut off being beside the point."""
    content = (kernel / file).read_bytes()
    (unit,) = walk.walk(str(kernel.parent))
    seen = set()
    for length in range(0, len(content), max(1, len(content) // 150)):
        (kernel / file).write_bytes(content[:length])
        (record,) = examine(str(kernel.parent), unit, Question())
        seen.add(record.outcome)
        if file == "add.cubin" and length < 0.9 * len(content):  # the table of sections stands at its end
            assert record.outcome == room.OUTCOMES[4], length
    assert room.OUTCOMES[4] in seen


def test_a_deep_tree(kernel: Path, tmp_path: Path, records: Records) -> None:
    """Deeper than a path may be long: the walk ends there and says so."""
    here = Path.cwd()
    try:
        os.chdir(kernel)
        for _ in range(30):
            Path("d" * 200).mkdir()
            os.chdir("d" * 200)
    finally:
        os.chdir(here)
    kernels, _, code = records(kernel.parent)
    assert code == 1
    assert [one["findings"] for one in kernels] == [[], [{"file": "", "message": "File name too long"}]]


def test_surprises_are_findings(kernel: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def surprise(*_: Any) -> Any:
        raise MemoryError

    monkeypatch.setattr("relaunch.audit.examine.read_kernels", surprise)
    (unit,) = walk.walk(str(kernel.parent))
    (record,) = examine(str(kernel.parent), unit, Question())
    assert record.findings == [{"file": "", "message": "MemoryError while it was examined: "}]
