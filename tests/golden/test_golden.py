"""Both launchers against what the launchers of released Triton wheels did (README.md here)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import divergence, golden, pool
from relaunch.differential.case import Case

HERE = Path(__file__).parent
FILES = ("triton-3.6.0-cuda.jsonl", "triton-3.6.0-hip.jsonl")
SHOWN = 15


def differing(differences: Iterable[tuple[str, list[str]]]) -> str:
    """The first cases that differ, one a line, and how many there are."""
    wrong = [f"  {name}: {'; '.join(found)}" for name, found in differences if found]
    return "\n".join([f"{len(wrong)} cases differ:", *wrong[:SHOWN]]) if wrong else ""


@pytest.fixture(scope="module", params=FILES)
def cases(request: pytest.FixtureRequest) -> list[Case]:
    return list(golden.read(HERE / request.param))


def expectation(case: Case) -> Mapping[str, Any]:
    assert case.expect is not None
    return case.expect


@pytest.mark.xdist_group("golden")
def test_files_are_whole(cases: list[Case]) -> None:
    assert len(cases) == 720
    assert len({case.id for case in cases}) == 720
    assert all(case.expect is not None and case.slots is not None for case in cases)


@pytest.mark.xdist_group("golden")
def test_generated_launcher_does_what_was_recorded(cases: list[Case]) -> None:
    outcomes = pool.run_cases(cases, "generated")
    differences = (
        (case.id, golden.matches(expectation(case), outcome, texts=golden.compares_texts(), may_die=True))
        for case, outcome in zip(cases, outcomes, strict=True)
    )
    assert differing(differences) == ""


@pytest.mark.xdist_group("golden")
def test_running_reads_nothing_of_what_was_recorded(cases: list[Case]) -> None:
    """With every `expect` reduced to its slots the outcomes are the same, so nothing else of it was read."""
    some = cases[::9]
    blind = [Case.from_json({**case.to_json(), "expect": {"slots": case.slots}}) for case in some]
    without_slots = [Case.from_json({**case.to_json(), "expect": None}) for case in some]
    seen = list(pool.run_cases(some, "generated"))
    settled = [i for i, case in enumerate(some) if not {"pending", "undefined"} & set(expectation(case))]
    for other in (blind, without_slots):
        again = list(pool.run_cases(other, "generated"))
        assert [seen[i] for i in settled] == [again[i] for i in settled]


@pytest.mark.xdist_group("golden")
def test_precompiled_launcher_does_what_was_recorded_or_wanted(cases: list[Case]) -> None:
    """Equal events and exception type, or exactly what a listed divergence makes of the legacy outcome."""
    diverging = [case for case in cases if divergence.applicable(case)]
    runs = {divergence.call_key(run): run for case in diverging for run in divergence.legacy_runs(case)}
    legacy = dict(zip(runs, pool.run_cases(runs.values(), "generated"), strict=True))
    differences = []
    used: Counter[str] = Counter()
    for case, outcome in zip(cases, pool.run_cases(cases, "precompiled"), strict=True):
        expect, ids = expectation(case), divergence.applicable(case)
        if ids:
            wanted, decisive = divergence.expected(case, lambda run: legacy[divergence.call_key(run)])
            used.update(decisive)
            kept = {flag: expect[flag] for flag in ("pending", "undefined") if flag in expect and not decisive}
            expect = {**wanted, **kept}
        found = golden.matches(expect, outcome, texts=False)
        differences.append((f"{case.id} {' '.join(ids)}".strip(), found))
    assert differing(differences) == ""
    assert used, "no divergence made a difference, though the files hold cases of several"
