"""The precompiled launcher against what the launchers of released Triton wheels did (README.md here).

Equal events and exception type, or exactly what the listed divergences make of the legacy outcome: of a regenerated
launcher's, or of the recorded one where the released launcher is native.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import divergence, golden, pool
from relaunch.differential.case import DIALECTS, Case
from relaunch.differential.outcome import Outcome

from relaunch import generator

HERE = Path(__file__).parent
SHOWN = 15
FLAGS = ("pending", "undefined")


def files(pattern: str) -> list[Any]:
    """The golden files, each with all its tests in one worker process, so that launchers are built once."""
    found = sorted(path.name for path in HERE.glob(pattern))
    return [pytest.param(name, marks=pytest.mark.xdist_group(f"golden {name}")) for name in found]


def test_every_dialect_is_recorded() -> None:
    recorded = {next(golden.read(path)).dialect for path in HERE.glob("triton-*.jsonl")}
    assert recorded == set(DIALECTS)


def expectation(case: Case) -> Mapping[str, Any]:
    assert case.expect is not None
    return case.expect


def legacy_of(cases: Sequence[Case], workers: pool.Workers) -> Callable[[Case], Outcome]:
    """What legacy does with a case that divergences hold for, and with all that they rewrite it to."""
    if cases[0].dialect not in generator.dialects():
        return lambda case: {key: value for key, value in expectation(case).items() if key not in FLAGS}
    diverging = [case for case in cases if divergence.applicable(case)]
    runs = {divergence.call_key(run): run for case in diverging for run in divergence.legacy_runs(case)}
    outcomes = dict(zip(runs, pool.run_cases(runs.values(), "generated", workers=workers), strict=True))
    return lambda case: outcomes[divergence.call_key(case)]


@pytest.mark.parametrize("name", files("triton-*.jsonl"))
def test_does_what_was_recorded_or_wanted(name: str, workers: pool.Workers) -> None:
    cases = list(golden.read(HERE / name))
    legacy = legacy_of(cases, workers)
    wrong = []
    used: Counter[str] = Counter()
    for case, outcome in zip(cases, pool.run_cases(cases, "precompiled", workers=workers), strict=True):
        expect, ids = expectation(case), divergence.applicable(case)
        if ids:
            wanted, decisive = divergence.expected(case, legacy)
            used.update(decisive)
            kept = {flag: expect[flag] for flag in FLAGS if flag in expect and not decisive}
            expect = {**wanted, **kept}
        found = golden.matches(expect, outcome, texts=False)
        if found:
            wrong.append(f"  {case.id} {' '.join(ids)}: {'; '.join(found)}")
    assert wrong == [], "\n".join([f"{len(wrong)} cases differ:", *wrong[:SHOWN]])
    assert used, "no divergence made a difference, though the file holds cases of several"


@pytest.mark.parametrize("name", files("descriptors-*.jsonl"))
def test_takes_descriptor_objects_as_released_launcher_objects_do(name: str, workers: pool.Workers) -> None:
    cases = list(golden.read(HERE / name))
    wrong = []
    for case, outcome in zip(cases, pool.run_cases(cases, "precompiled", workers=workers), strict=True):
        found = golden.matches(expectation(case), outcome, texts=False)
        if found:
            wrong.append(f"  {case.id}: {'; '.join(found)}")
    assert wrong == [], "\n".join([f"{len(wrong)} cases differ:", *wrong[:SHOWN]])
