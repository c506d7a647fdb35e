"""Both launchers on sampled cases, compared case by case.

Legacy runs in bulk: every input that a chunk of cases needs, rewritten ones included, goes through the worker pool in
one go, so that a divergence costs one more case and no round trip.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from relaunch.differential import pool
from relaunch.differential.case import Case, Signature
from relaunch.differential.compare import difference, launched
from relaunch.differential.divergence import RunLegacy, call_key, expected, legacy_runs
from relaunch.differential.outcome import Outcome
from relaunch.differential.sampler import sample

from relaunch import generator

RunCases = Callable[[list[Case], str], Iterable[Outcome]]  # cases, "generated" or "precompiled" -> outcomes in order
Advance = Callable[[float], None]  # told how many more cases are done; a case run by one launcher is half done
CHUNK = 4000  # cases whose outcomes are held at a time
PARAMETER_LIMIT = 32764  # bytes of kernel parameters that drivers take, alignment included
PARSED_LEVELS = 29  # of tuples; one more in its format and PyArg_ParseTuple ends the process, whatever the arguments


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
    """Signatures that legacy launchers can be made for and drivers launch, and the others with the reason."""
    fit: list[Signature] = []
    unfit: list[tuple[Signature, str]] = []
    for signature in signatures:
        try:
            taken = parameter_bytes(generator.slots(generator.LauncherSpec(dialect, signature)))
        except (generator.UnknownType, ValueError) as error:
            unfit.append((signature, str(error)))
            continue
        if levels(signature) > PARSED_LEVELS:
            reason = f"{dialect}: tuples nested deeper than {PARSED_LEVELS}, at which every legacy launcher dies"
            unfit.append((signature, reason))
        elif taken > PARAMETER_LIMIT:
            reason = f"{dialect}: {taken} bytes of kernel parameters, drivers take at most {PARAMETER_LIMIT}"
            unfit.append((signature, reason))
        else:
            fit.append(signature)
    return fit, unfit


def levels(signature: Signature) -> int:
    """How deep tuples are nested: 0 without any."""
    return max((1 + levels(entry) for entry in signature if not isinstance(entry, str)), default=0)


def parameter_bytes(slots: Iterable[int]) -> int:
    """Where the last of these parameters ends, each aligned to its size's largest power of two."""
    end = 0
    for size in slots:
        alignment = size & -size
        end = -(-end // alignment) * alignment + size
    return end


def cases_for(dialect: str, signatures: Iterable[Signature], count: int, seed: int) -> Iterator[Case]:
    """`count` sampled cases for each signature, all of which the dialect must support."""
    for signature in signatures:
        yield from sample(dialect, signature, count, seed)


def build_launchers(
    given: Mapping[str, Iterable[Signature]], seed: int, cache: Path, jobs: int, progress: pool.Progress
) -> int:
    """Builds every legacy launcher that the sampled cases will need; how many there are.

    Raise generator.BuildError, generator.ToolchainError.
    """
    first = (
        case for dialect, some in given.items() for case in cases_for(dialect, supported(dialect, some)[0], 1, seed)
    )
    specs = list(dict.fromkeys(pool.spec_of(case) for case in first))
    generator.build(specs, cache=cache, jobs=jobs, progress=progress)
    return len(specs)


def compare_cases(tally: Tally, cases: Iterable[Case], run_cases: RunCases, advance: Advance) -> None:
    """Run and count cases of one dialect, a chunk at a time."""
    remaining = iter(cases)
    while chunk := list(islice(remaining, CHUNK)):
        runs = {call_key(run): run for case in chunk for run in legacy_runs(case)}
        legacy: dict[str, Outcome] = {}
        for key, outcome in zip(runs, run_cases(list(runs.values()), "generated"), strict=True):
            legacy[key] = outcome
            advance(0.5 * len(chunk) / len(runs))
        for case, actual in zip(chunk, run_cases(chunk, "precompiled"), strict=True):
            wanted, ids = expected(case, _looked_up(legacy))
            tally.count(case, wanted, ids, actual)
            advance(0.5)


def _looked_up(legacy: dict[str, Outcome]) -> RunLegacy:
    return lambda run: legacy[call_key(run)]


def diff(
    dialect: str,
    signatures: Iterable[Signature],
    *,
    cases: int,
    seed: int,
    jobs: int = 2,
    cache: Path | None = None,
    advance: Advance = lambda _done: None,
) -> Tally:
    """`cases` sampled cases for every signature under one dialect, in worker processes.

    Raise generator.BuildError, generator.ToolchainError, pool.WorkerError.
    """
    fit, unfit = supported(dialect, signatures)
    tally = Tally(dialect, signatures=len(fit), unsupported=unfit)
    run_cases = partial(pool.run_cases, jobs=jobs, cache=cache)
    compare_cases(tally, cases_for(dialect, fit, cases, seed), run_cases, advance)
    return tally
