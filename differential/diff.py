"""Both launchers on sampled cases, compared case by case.

Legacy runs in bulk: every input that a chunk of cases needs, rewritten ones included, goes through the worker pool in
one go, so that a divergence costs one more case and no round trip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice

from relaunch import generator
from relaunch.differential import pool
from relaunch.differential.case import Case, Signature
from relaunch.differential.compare import difference, launched
from relaunch.differential.divergence import RunLegacy, call_key, expected, legacy_runs
from relaunch.differential.outcome import Outcome
from relaunch.differential.sampler import sample
from relaunch.differential.situation import expanded

RunCases = Callable[[list[Case], str], Iterable[Outcome]]  # cases, "generated" or "precompiled" -> outcomes in order
CHUNK = 4000  # cases whose outcomes are held at a time


@dataclass(frozen=True)
class Fault:
    """A case in which ours did not do what it had to."""

    case: Case
    expected: Outcome
    actual: Outcome
    difference: str
    divergences: tuple[str, ...]


@dataclass
class Tally:
    """What came out for one dialect. Every case is counted in exactly one of `launches` to `faults`."""

    dialect: str
    signatures: int = 0
    unsupported: list[tuple[Signature, str]] = field(default_factory=list)  # with the reason
    launches: int = 0  # launched with equal records
    rejections: int = 0  # refused or failed alike
    nothing: int = 0  # neither: an empty grid
    deaths: int = 0  # legacy died, ours raised, and no divergence says so
    wanted: int = 0  # different from legacy exactly as the list says
    divergences: Counter[str] = field(default_factory=Counter)  # by id; a case may count for several
    faults: list[Fault] = field(default_factory=list)

    @property
    def cases(self) -> int:
        alike = self.launches + self.rejections + self.nothing + self.deaths
        return alike + self.wanted + len(self.faults)

    def count(self, case: Case, wanted: Outcome, ids: list[str], actual: Outcome) -> None:
        found = difference(wanted, actual)
        if found is not None:
            self.faults.append(Fault(case, wanted, actual, found, tuple(ids)))
        elif ids:
            self.wanted += 1
            self.divergences.update(ids)
        elif "crash" in wanted:
            self.deaths += 1
        elif launched(actual):
            self.launches += 1
        elif actual["error"] is not None:
            self.rejections += 1
        else:
            self.nothing += 1


def supported(dialect: str, signatures: Iterable[Signature]) -> tuple[list[Signature], list[tuple[Signature, str]]]:
    """Signatures that the dialect's legacy launchers can be made for, and the others with the reason."""
    fit: list[Signature] = []
    unfit: list[tuple[Signature, str]] = []
    for signature in signatures:
        try:
            expanded(dialect, signature)
            fit.append(signature)
        except (generator.UnknownType, ValueError) as problem:
            unfit.append((signature, str(problem)))
    return fit, unfit


def compare_cases(tally: Tally, cases: Iterable[Case], run_cases: RunCases, advance: Callable[[int], None]) -> None:
    """Run and count cases of one dialect, a chunk at a time. `advance` is told how many are done."""
    remaining = iter(cases)
    while chunk := list(islice(remaining, CHUNK)):
        runs = {call_key(run): run for case in chunk for run in legacy_runs(case)}
        legacy = dict(zip(runs, run_cases(list(runs.values()), "generated"), strict=True))
        ours = list(run_cases(chunk, "precompiled"))
        for case, actual in zip(chunk, ours, strict=True):
            wanted, ids = expected(case, _looked_up(legacy))
            tally.count(case, wanted, ids, actual)
        advance(len(chunk))


def _looked_up(legacy: dict[str, Outcome]) -> RunLegacy:
    return lambda run: legacy[call_key(run)]


def diff(
    dialect: str,
    signatures: Iterable[Signature],
    *,
    cases: int,
    seed: int,
    run_cases: RunCases | None = None,
    advance: Callable[[int], None] = lambda _done: None,
) -> Tally:
    """`cases` sampled cases for every signature under one dialect."""
    fit, unfit = supported(dialect, signatures)
    tally = Tally(dialect, signatures=len(fit), unsupported=unfit)
    compare_cases(tally, _sampled(dialect, fit, cases, seed), run_cases or _in_workers, advance)
    return tally


def _sampled(dialect: str, signatures: list[Signature], cases: int, seed: int) -> Iterator[Case]:
    for signature in signatures:
        yield from sample(dialect, signature, cases, seed)


def _in_workers(cases: list[Case], launcher: str) -> Iterable[Outcome]:
    return pool.run_cases(cases, launcher)
