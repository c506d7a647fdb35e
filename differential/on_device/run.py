"""Signatures of one dialect on a device: each launcher held against its record, and ours against legacy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path

from relaunch.differential import pool
from relaunch.differential.case import Signature
from relaunch.differential.divergence import applicable
from relaunch.differential.on_device import worker
from relaunch.differential.on_device.cases import draw, taken
from relaunch.differential.on_device.device import hip_on_cuda
from relaunch.differential.on_device.judge import difference
from relaunch.kernels import echo

from relaunch import generator

_SEEN_BY_KERNELS = ("D14",)
"""Of the listed differences, those that change what reaches a kernel which both launchers launch."""


@dataclass
class Seen:
    """What came of one dialect."""

    dialect: str
    signatures: int = 0
    kernels: int = 0  # distinct parameter layouts
    launches: int = 0  # calls of either launcher whose kernel saw what was recorded
    divergent: dict[str, int] = field(default_factory=dict)  # calls in which the two differ, by the listed difference
    released: int = 0  # calls of the installed Triton's launcher that gave the kernel what the generated one did
    faults: list[str] = field(default_factory=list)


def prepared(dialect: str, signatures: Iterable[Signature], count: int, seed: int, cache: Path) -> worker.Job:
    """The job of one dialect: `count` calls for each signature that it takes. Builds what generated launchers lack.

    Raise generator.BuildError, generator.ToolchainError.
    """
    found = generator.facts(dialect)
    drawn = list(draw(dialect, taken(dialect, signatures), count, seed))
    specs = {pool.spec_key(case): pool.spec_of(case) for case in drawn}
    layouts = {key: echo.layout(spec) for key, spec in specs.items()}
    built = {} if found.native else dict(zip(specs, generator.build(list(specs.values()), cache=cache), strict=True))
    entries = tuple(
        worker.Entry(case, layouts[key], built.get(key)) for case in drawn for key in (pool.spec_key(case),)
    )
    library = str(hip_on_cuda()) if found.backend == "hip" else None
    return worker.Job(found.backend, echo.ptx(layouts.values()).encode(), entries, library)


def judged(dialect: str, job: worker.Job, answers: list[worker.Answer], cache: Path) -> Seen:
    """Every answer against the record of the same call, made here by the recording driver."""
    seen = Seen(dialect, len({entry.case.signature for entry in job.entries}))
    seen.kernels = len({entry.layout for entry in job.entries})
    cases = [answer.case for answer in answers]
    for launcher in [name for name in (answers[0].outcomes if answers else ()) if name in pool.LAUNCHERS]:
        records = pool.run_cases(cases, launcher, jobs=1, cache=cache)
        for entry, answer, record in zip(job.entries, answers, records, strict=True):
            found = difference(answer.outcomes[launcher], record, entry.layout)
            if found is None:
                seen.launches += 1
            else:
                seen.faults.append(f"{answer.case.id}, {launcher}: {found}")
    for answer in answers:
        _compare_launchers(seen, answer)
        _compare_released(seen, answer)
    return seen


def _compare_launchers(seen: Seen, answer: worker.Answer) -> None:
    if len(answer.outcomes) < 2 or _written(answer, "generated") == _written(answer, "precompiled"):
        return
    listed = [identity for identity in applicable(answer.case) if identity in _SEEN_BY_KERNELS]
    if not listed:
        seen.faults.append(f"{answer.case.id}: the two launchers' kernels saw different bytes")
    for identity in listed:
        seen.divergent[identity] = seen.divergent.get(identity, 0) + 1


def _compare_released(seen: Seen, answer: worker.Answer) -> None:
    """Whether the installed Triton's own launcher gave the kernel what the generated one did."""
    outcome = answer.outcomes.get("triton")
    if outcome is None:
        return
    if outcome.get("error") is None and _written(answer, "triton") == _written(answer, "generated"):
        seen.released += 1
    else:
        seen.faults.append(f"{answer.case.id}: Triton's own launcher: {outcome}")


def _written(answer: worker.Answer, launcher: str) -> object:
    return answer.outcomes[launcher].get("events")


def run(dialect: str, signatures: Iterable[Signature], count: int, seed: int, cache: Path) -> Seen:
    """All of it. Raise what `prepared` does, worker.JobError, pool.WorkerError."""
    job = prepared(dialect, signatures, count, seed, cache)
    return judged(dialect, job, worker.run(job), cache)
