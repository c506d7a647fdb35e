"""The programs of tests/triton on a GPU, with or without relaunch.triton: one JSON line each.

    python -m tests.device.triton_programs plain|installed PROGRAM...

Each gives what it computed and what that should be; `wrong` lists what differs.
"""

from __future__ import annotations

import contextlib
import io
import sys
from pathlib import Path
from typing import Any

import torch

from tests.triton.run_programs import load, print_outcomes


def compare(program: Any) -> list[str]:
    """A line for each result that is not right: exact for whole numbers, else as near as float16 is."""
    wrong = []
    pairs = program.main() or []
    torch.cuda.synchronize()
    for number, (got, wanted) in enumerate(pairs):
        near = 1e-2 if got.dtype.is_floating_point else 0
        try:
            torch.testing.assert_close(got, wanted(), rtol=near, atol=near, equal_nan=True, check_dtype=False)
        except AssertionError as error:
            wrong.append(f"result {number}: {error}")
    return wrong


def run(path: Path) -> dict[str, Any]:
    printed = io.StringIO()
    wrong: list[str] = []
    torch.manual_seed(0)
    with contextlib.redirect_stdout(printed):
        try:
            wrong = compare(load(path))
        except Exception as error:  # noqa: BLE001  is the outcome
            wrong = [f"{type(error).__name__}: {error}"]
    return {"program": path.stem, "wrong": wrong, "printed": printed.getvalue().splitlines()}


def main() -> None:
    mode, *programs = sys.argv[1:]
    print_outcomes(mode, programs, run)


if __name__ == "__main__":
    main()
