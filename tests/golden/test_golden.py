"""Generated launchers against what the launchers of released Triton wheels did (README.md here)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import golden, pool
from relaunch.differential.case import Case

from relaunch import generator

HERE = Path(__file__).parent
GENERATED = tuple(map(generator.facts, generator.dialects()))
CALLS = {f"triton-{found.recorded}-{found.backend}.jsonl": 720 for found in GENERATED}
DESCRIPTORS = {
    f"descriptors-triton-{found.recorded}-cuda.jsonl": 100
    for found in GENERATED
    if found.backend == "cuda" and found.descriptor.metadata
}
FILES = {**CALLS, **DESCRIPTORS}
SHOWN = 15


def differing(differences: Iterable[tuple[str, list[str]]]) -> str:
    """The first cases that differ, one a line, and how many there are."""
    wrong = [f"  {name}: {'; '.join(found)}" for name, found in differences if found]
    return "\n".join([f"{len(wrong)} cases differ:", *wrong[:SHOWN]]) if wrong else ""


@pytest.fixture(scope="module", params=FILES)
def cases(request: pytest.FixtureRequest) -> list[Case]:
    found = list(golden.read(HERE / request.param))
    assert len(found) == FILES[request.param]
    return found


def expectation(case: Case) -> Mapping[str, Any]:
    assert case.expect is not None
    return case.expect


@pytest.mark.xdist_group("golden")
def test_files_are_whole(cases: list[Case]) -> None:
    assert len({case.id for case in cases}) == len(cases)
    assert all(case.slots is not None or "bind_error" in expectation(case) for case in cases)


def test_every_file_of_generated_launchers_is_read() -> None:
    native = {found.recorded for found in map(generator.facts, generator.all_dialects()) if found.native}
    there = {path.name for path in HERE.glob("*triton-*.jsonl") if path.stem.split("-")[-2] not in native}
    assert there == set(FILES)


@pytest.mark.xdist_group("golden")
def test_generated_launcher_does_what_was_recorded(cases: list[Case], workers: pool.Workers) -> None:
    outcomes = pool.run_cases(cases, "generated", workers=workers)
    differences = (
        (case.id, golden.matches(expectation(case), outcome, texts=golden.compares_texts(), may_die=True))
        for case, outcome in zip(cases, outcomes, strict=True)
    )
    assert differing(differences) == ""


@pytest.mark.xdist_group("golden")
def test_running_reads_nothing_of_what_was_recorded(cases: list[Case], workers: pool.Workers) -> None:
    """With every `expect` reduced to its slots the outcomes are the same, so nothing else of it was read."""
    some = cases[::9]
    blind = [Case.from_json({**case.to_json(), "expect": {"slots": case.slots}}) for case in some]
    without_slots = [Case.from_json({**case.to_json(), "expect": None}) for case in some]
    seen = list(pool.run_cases(some, "generated", workers=workers))
    settled = [i for i, case in enumerate(some) if not {"crash", "pending", "undefined"} & set(expectation(case))]
    for other in (blind, without_slots):
        again = list(pool.run_cases(other, "generated", workers=workers))
        assert [seen[i] for i in settled] == [again[i] for i in settled]
