"""The native program relaunch-migrate: byte for byte what `relaunch migrate` writes."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import relaunch._core
from relaunch._core import EMITTED, FORMS

ROOT = Path(__file__).parents[3]
SAMPLES = sorted((Path(__file__).parent / "samples").glob("*.txt"))
ROWS = ROOT / "tests" / "signatures" / "signatures.jsonl"
PROGRAM = Path(relaunch._core.__file__).parent / "relaunch-migrate"


def run(command: list[str], stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """Exit status, standard output and standard error."""
    done = subprocess.run(command, input=stdin, capture_output=True, check=False, env=os.environ | {"PYTHONUTF8": "1"})
    return done.returncode, done.stdout, done.stderr


def both(*arguments: str, stdin: bytes = b"") -> tuple[int, bytes, bytes]:
    """What both programs write, which must be the same."""
    native = run([str(PROGRAM), *arguments], stdin)
    python = run([sys.executable, "-m", "relaunch", "migrate", *arguments], stdin)
    assert native == python
    return native


def test_is_installed() -> None:
    assert shutil.which(PROGRAM), "relaunch-migrate is not built: install libcli11-dev and set up again"


@pytest.mark.parametrize("emit", ["", *EMITTED])
def test_every_sample(emit: str) -> None:
    files = [str(ROWS), *map(str, SAMPLES)]
    code, out, err = both(*(["--emit", emit] if emit else []), *files)
    assert code == 1
    assert len(out) > 10_000
    assert b"signatures: " in (err if emit else out)


@pytest.mark.parametrize("form", FORMS)
def test_every_form(form: str) -> None:
    code, out, _ = both("--form", form, "--json", str(SAMPLES[0]), str(ROWS))
    assert code == 1
    assert out


@pytest.mark.parametrize(
    "stdin",
    [b"", b"*fp32, \xc3\xa9: i33\n", b"i32, \0\n\xff\xfe\n", b"\xef\xbb\xbfi32\r\n(i32", "é: i1, ü: (i32,)\n".encode()],
)
def test_standard_input(stdin: bytes) -> None:
    both("-", stdin=stdin)
    both("--json", "-", stdin=stdin)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "empty").write_bytes(b"")
    code, out, err = both(str(tmp_path / "none"), str(tmp_path), str(tmp_path / "empty"))
    assert code == 2
    assert out.endswith(b"1 signature: 0 read, 1 failed, 2 files could not be read\n")
    assert err.count(b"\n") == 2


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ([], b"FILE is required"),
        (["--form", "nonsense", "-"], b"no reader for 'nonsense': the forms read are auto, csv"),
        (["--emit", "nonsense", "-"], b"no writer for 'nonsense': written are json"),
        (["--json", "--emit", "csv", "-"], b"excludes --emit csv"),
        (["--nonsense", "-"], b"nonsense"),
    ],
)
def test_wrong_usage(arguments: list[str], text: bytes) -> None:
    code, out, err = run([str(PROGRAM), *arguments])
    assert (code, out) == (2, b"")
    assert text in err


def test_help_names_every_form_and_writer() -> None:
    code, out, _ = run([str(PROGRAM), "--help"])
    assert code == 0
    shown = re.sub(rb"\s+", b" ", out).decode()
    assert ", ".join(FORMS) in shown
    assert ", ".join(EMITTED) in shown


def test_full_disk_is_told() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([PROGRAM, "-"], input=b"i32\n", stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert b"No space left on device" in done.stderr
