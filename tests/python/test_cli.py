"""The command line as a whole: how it ends when it cannot write what it has to say."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = [sys.executable, "-c", "from relaunch.cli import main; main()"]
VERBS = [
    ["migrate", "FILE"],
    ["migrate", "--json", "FILE"],
    ["generate", "--dialect", "triton-3.6-cuda", "i32"],
    ["doctor"],
]


@pytest.fixture
def signatures(tmp_path: Path) -> Path:
    """More than fits a pipe."""
    path = tmp_path / "signatures.txt"
    path.write_text("*fp32, i32\n" * 10_000)
    return path


def command(verb: list[str], file: Path) -> list[str]:
    return COMMAND + [str(file) if word == "FILE" else word for word in verb]


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_full_disk_is_named(verb: list[str], signatures: Path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            command(verb, signatures), stdout=full, stderr=subprocess.PIPE, text=True, timeout=300, check=False
        )
    assert (done.returncode, done.stderr.splitlines()[-1:]) == (2, ["relaunch: No space left on device"])
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_reader_that_left_is_no_news(verb: list[str], signatures: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        command(verb, signatures), stdout=writer, stderr=subprocess.PIPE, text=True, timeout=300, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (2, "")


@pytest.mark.parametrize("verb", VERBS, ids=" ".join)
def test_a_closed_standard_output_takes_everything(verb: list[str], signatures: Path) -> None:
    line = ["/bin/sh", "-c", 'exec "$@" >&- <&-', "sh", *command(verb, signatures)]
    done = subprocess.run(line, stderr=subprocess.PIPE, text=True, timeout=300, check=False)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False)
