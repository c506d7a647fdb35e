"""The reports of `relaunch diff`, of what a test compared."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from pathlib import Path

import pytest
from relaunch.differential import report
from relaunch.differential.diff import Tally

from relaunch.commands.reports import Files, Finding, write

Reported = Callable[[Tally, int], None]
"""Told a tally and its seed."""


@pytest.fixture
def reported(request: pytest.FixtureRequest) -> Reported:
    """Writes a page, JUnit's XML and JSON lines, named for the test, where RELAUNCH_REPORTS names a folder."""

    def write_all(tally: Tally, seed: int) -> None:
        if "RELAUNCH_REPORTS" not in os.environ:
            return
        folder = Path(os.environ["RELAUNCH_REPORTS"])
        folder.mkdir(parents=True, exist_ok=True)
        stored = folder / "cases"
        report.store(tally.faults, stored)
        name = re.sub(r"[^\w.-]+", "-", request.node.name).strip("-")
        files = Files(*(folder / f"{name}.{kind}" for kind in ("html", "xml", "jsonl")))
        write(Finding([tally], [], f"{request.node.name}, seed {seed}", seed, stored), files, 2, "diff")

    return write_all
