"""A launcher that lacks one wanted behaviour, and has all others, is caught: in every dialect, for every entry.

Such a launcher does what the list without that entry makes of legacy.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from relaunch.differential import divergence, golden, pool
from relaunch.differential.case import DIALECTS, Case
from relaunch.differential.compare import difference
from relaunch.differential.divergence import Divergence, applicable, divergences, expected, legacy_runs
from relaunch.differential.outcome import Outcome
from relaunch.differential.sampler import sample

from relaunch import generator

GOLDEN = Path(__file__).resolve().parents[1] / "golden"
EACH = 40  # cases of an entry that are looked at

PLAIN: list[tuple[Any, ...]] = [("*i8", "fp16", "i8", "*fp32", "bf16"), ("fp16",), ("*i8", "*i8")]
WITH_TUPLES: list[tuple[Any, ...]] = [("*i8", ("fp16", "i8", ("*fp32",)), "bf16")]


def entries_of(dialect: str) -> list[Divergence]:
    return [entry for entry in divergences() if dialect in entry.dialects]


def some_for_each(cases: Iterable[Case], entries: list[Divergence]) -> dict[str, list[Case]]:
    """A few cases that each entry holds for, those first for which it holds alone."""
    held: dict[str, list[tuple[int, Case]]] = defaultdict(list)
    for case in cases:
        ids = applicable(case)
        for name in ids:
            held[name].append((len(ids), case))
    assert set(held) == {entry.id for entry in entries}
    return {name: [case for _, case in sorted(found, key=lambda one: one[0])[:EACH]] for name, found in held.items()}


@pytest.mark.parametrize("dialect", generator.dialects())
def test_launcher_that_lacks_one_behaviour_is_caught(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = entries_of(dialect)
    signatures = PLAIN + (WITH_TUPLES if generator.facts(dialect).tuples else [])
    chosen = some_for_each((case for one in signatures for case in sample(dialect, one, 1500, 1)), entries)
    runs: dict[str, Case] = {}
    for entry in entries:
        for shown in (entries, without(entries, entry)):
            monkeypatch.setattr(divergence, "divergences", lambda shown=shown: tuple(shown))
            for case in chosen[entry.id]:
                runs.update((divergence.call_key(run), run) for run in legacy_runs(case))
    outcomes = dict(zip(runs, pool.run_cases(runs.values(), "generated"), strict=True))
    for entry in entries:
        found = caught(entry, entries, chosen[entry.id], lambda run: outcomes[divergence.call_key(run)], monkeypatch)
        assert found, f"{entry.id} {entry.title}"


@pytest.mark.parametrize("dialect", sorted(set(DIALECTS) - set(generator.dialects())))
def test_native_launcher_is_caught_by_what_was_recorded(dialect: str, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = entries_of(dialect)
    _, release, backend = dialect.split("-")
    cases = list(golden.read(GOLDEN / f"triton-{release}.0-{backend}.jsonl"))
    chosen = some_for_each([*cases, *map(by_dlpack, cases)], entries)
    for entry in entries:
        found = caught(entry, entries, chosen[entry.id], recorded, monkeypatch)
        assert found, f"{entry.id} {entry.title}"


def by_dlpack(case: Case) -> Case:
    """Its tensors offer their addresses by DLPack too, which a released launcher does not look at."""
    args = [
        {"dlpack": arg["tensor"]} if isinstance(arg, dict) and "tensor" in arg else arg for arg in case.call["args"]
    ]
    return replace(case, call={**case.call, "args": args})


def recorded(case: Case) -> Outcome:
    assert case.expect is not None
    return case.expect


def without(entries: list[Divergence], left_out: Divergence) -> list[Divergence]:
    return [entry for entry in entries if entry is not left_out]


def caught(
    entry: Divergence,
    entries: list[Divergence],
    cases: list[Case],
    legacy: divergence.RunLegacy,
    monkeypatch: pytest.MonkeyPatch,
) -> list[str]:
    """The differences that are found between what a launcher without `entry` does and what ours must do."""
    found = []
    for case in cases:
        monkeypatch.setattr(divergence, "divergences", lambda: tuple(entries))
        wanted, _ = expected(case, legacy)
        monkeypatch.setattr(divergence, "divergences", lambda: tuple(without(entries, entry)))
        lacking, _ = expected(case, legacy)
        found.append(difference(wanted, lacking))
    return [one for one in found if one is not None]
