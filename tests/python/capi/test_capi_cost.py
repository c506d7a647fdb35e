"""What a launch through the C interface costs, counted."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.xdist_group("capi"),
    pytest.mark.plain_build,  # counts instructions
]

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.usefixtures("prefix")
def test_instructions_stay_near_the_floor() -> None:
    """At most 1.5 times a hand-written cuLaunchKernelEx call at 19 arguments, every way of launching."""
    if shutil.which("valgrind") is None:
        pytest.skip("no valgrind")
    program = ROOT / "tests" / "bench" / "capi_instructions.py"
    done = subprocess.run([sys.executable, program, "--turns", "100"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert [line.split()[0] for line in done.stdout.splitlines()] == [
        "floor",
        "gathered",
        "pointers",
        "packed",
        "typed",
    ]
