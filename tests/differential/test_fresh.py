"""20,000 cases that no run had before: the seed is new in each, is printed at the top, and a failure says how to
repeat it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from relaunch.differential.case import DIALECTS
from relaunch.differential.diff import Tally, diff
from relaunch.differential.invented import invented

SIGNATURES = 10  # for each of the 16 dialects
CASES = 125  # for each signature


def test_there_are_twenty_thousand() -> None:
    assert len(DIALECTS) * SIGNATURES * CASES == 20_000


@pytest.mark.parametrize("dialect", DIALECTS)
def test_launchers_agree_on_fresh_cases(dialect: str, tmp_path: Path, reported: Callable[[Tally, int], None]) -> None:
    seed = int(os.environ["RELAUNCH_SEED"])
    tally = diff(dialect, invented(dialect, SIGNATURES, seed), cases=CASES, seed=seed, cache=tmp_path)
    reported(tally, seed)
    repeat = f"./run relaunch diff --random {SIGNATURES} --cases {CASES} --seed {seed} --dialect {dialect}"
    found = [f"{fault.case.id}: {fault.difference}" for fault in tally.faults]
    assert found == [], f"repeat with {repeat}"
    assert tally.cases == SIGNATURES * CASES
    assert tally.launches + tally.wanted > 0.4 * tally.cases
