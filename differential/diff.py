"""Both launchers on sampled cases, compared case by case.

Volume is run where both launchers live, in worker processes (volume.py). What differs there, or kills one, is run
again here, each case by itself. That runs in bulk too: every input that a chunk of cases needs, rewritten ones
included, goes through the worker pool in one go.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path

from relaunch.differential import pool
from relaunch.differential.case import Case, Signature
from relaunch.differential.compare import VERDICTS, Verdict, difference, verdict
from relaunch.differential.divergence import RunLegacy, call_key, expected, legacy_runs
from relaunch.differential.outcome import Outcome
from relaunch.differential.predicted import predicted
from relaunch.differential.sampler import Source
from relaunch.differential.tasks import Duel, DuelResult

from relaunch import generator

RunCases = Callable[[list[Case], str], Iterable[Outcome]]  # cases, "generated" or "precompiled" -> outcomes in order
Advance = Callable[[int], None]  # told how many more cases are done
OPTIMIZE = "-O0"  # of legacy launchers: each makes few calls, and gcc takes half the time of -O1
CHUNK = 4000  # cases whose outcomes are held at a time
PARAMETER_LIMIT = 32764  # bytes of kernel parameters that drivers take, alignment included
ALIKE: tuple[Verdict, ...] = ("launches", "rejections", "nothing", "deaths")  # verdicts on cases that do not differ
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
    compared: tuple[Signature, ...] = ()
    unsupported: list[tuple[Signature, str]] = field(default_factory=list)  # with the reason
    launches: int = 0  # launched with equal records
    rejections: int = 0  # refused or failed alike
    nothing: int = 0  # neither: an empty grid
    deaths: int = 0  # legacy died, ours raised, and no divergence says so
    wanted: int = 0  # different from legacy exactly as the list says
    divergences: Counter[str] = field(default_factory=Counter)  # by id; a case may count for several
    faults: list[Fault] = field(default_factory=list)
    examples: dict[str, Case] = field(default_factory=dict, compare=False)  # by id: the first case
    seconds: float = field(default=0.0, compare=False)

    @property
    def signatures(self) -> int:
        return len(self.compared)

    @property
    def cases(self) -> int:
        return sum(self.alike().values()) + self.wanted + len(self.faults)

    def alike(self) -> dict[str, int]:
        """How many cases came out alike, by the name of each count."""
        return {name: getattr(self, name) for name in ALIKE}

    def count(self, case: Case, wanted: Outcome, ids: list[str], actual: Outcome) -> None:
        found = difference(wanted, actual)
        if found is not None:
            self.faults.append(Fault(case, wanted, actual, found, tuple(ids)))
            return
        self.divergences.update(ids)
        for one in ids:
            self.examples.setdefault(one, case)
        self._add(verdict(wanted, ids, actual), 1)

    def add(self, result: DuelResult) -> None:
        """Count what a batch of duels came to, the cases apart that must be run alone."""
        self.divergences.update(result.divergences)
        for name in VERDICTS:
            self._add(name, result.counts[name])

    def _add(self, name: Verdict, count: int) -> None:
        setattr(self, name, getattr(self, name) + count)


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


def sources(dialect: str, signatures: Iterable[Signature], seed: int) -> list[Source]:
    """Where the cases of each signature come from, all of which the dialect must support."""
    return [Source(dialect, signature, seed) for signature in signatures]


def build_launchers(
    given: Mapping[str, Iterable[Signature]], seed: int, cache: Path, jobs: int, progress: pool.Progress
) -> int:
    """Builds every legacy launcher that the sampled cases will need; how many there are.

    Raise generator.BuildError, generator.ToolchainError.
    """
    specs = [
        source.spec()
        for dialect, some in given.items()
        if not generator.facts(dialect).native
        for source in sources(dialect, supported(dialect, some)[0], seed)
    ]
    generator.build(specs, cache=cache, jobs=jobs, optimize=OPTIMIZE, progress=progress)
    return len(specs)


def compare_cases(tally: Tally, cases: Iterable[Case], run_cases: RunCases) -> None:
    """Run and count cases of one dialect, each by itself, a chunk at a time."""
    remaining = iter(cases)
    while chunk := list(islice(remaining, CHUNK)):
        native = generator.facts(tally.dialect).native
        runs = {} if native else {call_key(run): run for case in chunk for run in legacy_runs(case)}
        outcomes = run_cases(list(runs.values()), "generated") if runs else ()
        legacy = dict(zip(runs, outcomes, strict=True))
        for case, actual in zip(chunk, run_cases(chunk, "precompiled"), strict=True):
            if native:
                tally.count(case, predicted(case, generator.slots(pool.spec_of(case))), [], actual)
            else:
                tally.count(case, *expected(case, _looked_up(legacy)), actual)


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
    workers: pool.Workers | None = None,
) -> Tally:
    """`cases` sampled cases for every signature under one dialect, in worker processes: those given, or some that end
    with the run.

    Raise generator.BuildError, generator.ToolchainError, pool.WorkerError.
    """
    fit, unfit = supported(dialect, signatures)
    tally = Tally(dialect, tuple(fit), unfit)
    began = time.monotonic()
    found = {signature: Source(dialect, signature, seed) for signature in fit}
    kept = cache or generator.default_cache()
    built: list[generator.Built | None] = [None] * len(fit)
    if not generator.facts(dialect).native:
        built = list(
            generator.build([source.spec() for source in found.values()], cache=kept, jobs=jobs, optimize=OPTIMIZE)
        )
    duels = [Duel(dialect, signature, seed, 0, cases, launcher) for signature, launcher in zip(fit, built, strict=True)]
    alone: list[tuple[Case, str]] = []
    with ExitStack() as stack:
        running = workers or stack.enter_context(pool.Workers())
        for batch, result in pool.run_duels(duels, running, jobs=jobs):
            tally.add(result)
            for place, number, difference_found in result.alone:
                alone.append((found[batch[place].signature].case(number), difference_found))
            for name, (place, number) in result.examples.items():
                if name not in tally.examples:
                    tally.examples[name] = found[batch[place].signature].case(number)
            advance(sum(duel.stop - duel.start for duel in batch))
        _run_alone(tally, alone, partial(pool.run_cases, jobs=jobs, cache=kept, workers=running))
    tally.seconds = time.monotonic() - began
    return tally


def _run_alone(tally: Tally, cases: list[tuple[Case, str]], run_cases: RunCases) -> None:
    """Judge cases in which a child died or a difference was found, each in a fresh process.

    A difference that a case does not show alone is a fault as well: something before it left it behind.
    """
    compare_cases(tally, (case for case, found in cases if not found), run_cases)
    again = Tally(tally.dialect)
    compare_cases(again, (case for case, found in cases if found), run_cases)
    tally.faults += again.faults
    shown = {fault.case.id for fault in again.faults}
    nothing: Outcome = {"events": [], "error": None}
    for case, found in cases:
        if found and case.id not in shown:
            tally.faults.append(Fault(case, nothing, nothing, f"{found} (after other cases; not alone)", ()))
