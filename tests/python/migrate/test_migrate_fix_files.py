"""Files that `migrate --fix` may not, cannot or must not change: told, and left whole."""

from __future__ import annotations

import os
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import relaunch._core

PROGRAM = str(Path(relaunch._core.__file__).parent / "relaunch-migrate")
COMMANDS = {"native": [PROGRAM], "python": [sys.executable, "-m", "relaunch", "migrate"]}


def run(program: str, *arguments: str, before: tuple[str, ...] = (), **options: Any) -> tuple[int, bytes, bytes]:
    """Exit status, standard output and standard error."""
    command = [*before, *COMMANDS[program], *arguments]
    done = subprocess.run(command, capture_output=True, check=False, **options)
    return done.returncode, done.stdout, done.stderr


CAREFUL = () if os.geteuid() else ("setpriv", "--bounding-set=-dac_override,-dac_read_search")
"""Root for whom the modes of files count."""

programs = pytest.mark.parametrize("program", list(COMMANDS))


def refused(program: str, file: Path, why: str, **options: Any) -> None:
    before, beside = file.read_bytes(), sorted(file.parent.iterdir())
    code, _, err = run(program, "--fix", str(file), **options)
    assert (code, file.read_bytes()) == (2, before)
    assert f"relaunch migrate: {file}: not fixed: {why}\n" in err.decode()
    assert sorted(file.parent.iterdir()) == beside


@programs
def test_folder_and_file_that_may_not_be_written(program: str, tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    file = folder / "a"
    file.write_bytes(b"FP32\n")
    file.chmod(0o444)
    refused(program, file, "Permission denied", before=CAREFUL)
    file.chmod(0o644)
    folder.chmod(0o555)
    refused(program, file, "its folder takes no new file: Permission denied", before=CAREFUL)
    folder.chmod(0o755)


@programs
def test_a_limit_of_size(program: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"FP32\n" + b"# filler\n" * 10_000)
    refused(program, file, "File too large", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096)))


@programs
def test_other_names_of_a_file(program: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"FP32\n")
    (tmp_path / "b").hardlink_to(file)
    refused(program, file, "it has 2 names (hard links), and only one of them would be changed")
    (tmp_path / "b").unlink()
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "link").symlink_to("../a")
    code, _, err = run(program, "--fix", str(tmp_path / "far" / "link"))
    assert (code, err, file.read_bytes()) == (0, b"", b"fp32\n")
    assert (tmp_path / "far" / "link").is_symlink()


@programs
def test_mode_owner_and_attributes_are_kept(program: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"FP32\n")
    if os.geteuid() == 0:
        os.chown(file, 12345, 54321)
    file.chmod(0o2751)
    os.setxattr(file, "user.note", b"kept")
    before = file.stat()
    assert run(program, "--fix", str(file))[0] == 0
    after = file.stat()
    assert file.read_bytes() == b"fp32\n"
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert os.getxattr(file, "user.note") == b"kept"


@programs
def test_what_is_no_file(program: str, tmp_path: Path) -> None:
    code, _, err = run(program, "--fix", "/dev/stdin", input=b"FP32\n")
    assert (code, err) == (2, b"relaunch migrate: /dev/stdin: not fixed: it is no regular file\n")
    code, _, err = run(program, "--fix", str(tmp_path))
    assert (code, err) == (2, f"relaunch migrate: {tmp_path}: Is a directory\n".encode())


@programs
def test_a_file_that_changed_meanwhile(program: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"FP32, i32\n\n" * 40_000)  # its diff fills the pipe: the program waits
    process = subprocess.Popen([*COMMANDS[program], "--fix", str(file)], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.read(1) == b"-"
    file.write_bytes(b"i64\n")
    _, err = process.communicate()
    assert process.returncode == 2
    assert err.decode() == f"relaunch migrate: {file}: not fixed: it has changed since it was read\n"
    assert file.read_bytes() == b"i64\n"


@programs
def test_a_diff_that_cannot_be_shown_is_not_applied(program: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"FP32\n")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMANDS[program], "--fix", str(file)], stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    assert file.read_bytes() == b"FP32\n"


@programs
def test_killed_in_the_middle(program: str, tmp_path: Path) -> None:
    file = tmp_path / "a"
    before = b"FP32\n" + b"# filler of a line that is long enough\n" * 500_000
    after = b"fp32" + before[4:]
    killed = 0
    for _ in range(40):
        file.write_bytes(before)
        process = subprocess.Popen(
            [*COMMANDS[program], "--fix", str(file)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        while process.poll() is None and not list(tmp_path.glob(".relaunch-*")):
            time.sleep(0.0005)
        process.send_signal(signal.SIGKILL)
        process.wait()
        left = list(tmp_path.glob(".relaunch-*"))
        assert file.read_bytes() in ((before,) if left else (before, after))
        for one in left:
            one.unlink()
        killed += len(left)
        if killed == 2:
            break
    assert killed == 2
    assert run(program, "--fix", str(file))[0] == 0
    assert file.read_bytes() == after
