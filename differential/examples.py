"""One case for each kind of result of a diff, with what both launchers did."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice

from relaunch.differential.case import Case
from relaunch.differential.diff import ALIKE, RunCases, Tally, compare_cases
from relaunch.differential.outcome import Outcome
from relaunch.differential.sampler import sample

from relaunch import generator

TRIED = 64  # sampled cases, the first ones, among which the plain kinds are looked for


@dataclass(frozen=True)
class Example:
    """`kind` is an entry's id or a count of `Tally`. `legacy` is None where there is no legacy launcher."""

    kind: str
    case: Case
    legacy: Outcome | None
    ours: Outcome


class _Noting(Tally):
    """Keeps the first case of each of its counts in which nothing differs."""

    def count(self, case: Case, wanted: Outcome, ids: list[str], actual: Outcome) -> None:
        before = self.alike()
        super().count(case, wanted, ids, actual)
        for kind, number in self.alike().items():
            if number > before[kind]:
                self.examples.setdefault(kind, case)


def examples(tally: Tally, seed: int, run_cases: RunCases) -> list[Example]:
    """Of launches, rejections and so on the first among few sampled cases; of each entry the case that the diff kept.

    Raises what `run_cases` raises.
    """
    sampled = (case for signature in tally.compared for case in sample(tally.dialect, signature, TRIED, seed))
    noting = _Noting(tally.dialect)
    compare_cases(noting, islice(sampled, TRIED), run_cases)
    plain: dict[str, Case] = {
        kind: noting.examples[kind] for kind in ALIKE if kind in noting.examples and getattr(tally, kind)
    }
    found = {**plain, **dict(sorted(tally.examples.items()))}
    cases = list(found.values())
    ours = run_cases(cases, "precompiled")
    native = generator.facts(tally.dialect).native
    legacy: Iterable[Outcome | None] = [None] * len(cases) if native else run_cases(cases, "generated")
    return [Example(*one) for one in zip(found, cases, legacy, ours, strict=True)]
